package searchtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Class is a kind of queries of Mix.
type Class struct {
	Name    string
	Queries []string
}

// The words of Big by their numbers: below frequent, 80 % of its pages and more have them; between middling and rarer, 25 % to 1 %; from rare on, a quarter of 1 %
// and less.
const (
	frequent = 20
	middling = 100
	rarer    = 2000
	rare     = 10_000
)

// mixPages is the number of pages of Big, its first, from which queries are drawn.
const mixPages = 5000

// Mix draws n queries of each class from pages of an index of so many Big documents. Those of pages with odd numbers are held back from tuning: what is measured is
// reported of them.
func Mix(documents, n int, held bool) ([]Class, error) {
	d := draw{random: rand.New(rand.NewSource(2)), numbers: map[string]int{}}
	for i := range 50_000 {
		d.numbers[Word(i)] = i
	}
	enough := errors.New("enough pages")
	err := Big(documents, func(s search.Segment) error {
		for i := range s.Documents {
			if (i%2 == 1) == held {
				d.pages = append(d.pages, &s.Documents[i].Facts)
			}
		}
		if len(d.pages) >= mixPages/2 {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	word := d.word
	classes := []struct {
		name string
		make func() string
	}{
		{"a rare word", func() string { return word(rare, 50_000) }},
		{"a middling word", func() string { return word(middling, rarer) }},
		{"a very frequent word", func() string { return word(0, frequent) }},
		{"two or three words", func() string { return word(middling, 50_000) + " " + word(0, rarer) + d.some(" "+word(0, 50_000)) }},
		{"two frequent words", func() string { return word(0, frequent) + " " + word(0, frequent) }},
		{"OR of three words", func() string {
			return word(middling, rarer) + " OR " + word(0, rarer) + " OR " + word(rarer, 50_000)
		}},
		{"OR of three frequent words", func() string { return word(0, frequent) + " OR " + word(0, frequent) + " OR " + word(0, frequent) }},
		{"a phrase", func() string { return d.phrase(2+d.random.Intn(2), 50_000) }},
		{"a phrase of frequent words", func() string { return d.phrase(2, frequent) }},
		{"a word in a site or period", func() string {
			p := d.page()
			return word(0, rarer) + " " + []string{"site:" + p.Value(query.Site), "date:2025-0" + string(rune('1'+d.random.Intn(9))), "date:2025-01-15..2025-03-10"}[d.random.Intn(3)]
		}},
		{"a word with a score or application", func() string {
			return word(0, rarer) + " " + []string{"score:>0.5", "app:phpbb", "app:mediawiki score:0.2..0.9"}[d.random.Intn(3)]
		}},
		{"a word without another", func() string { return word(0, rarer) + " -" + word(0, rarer) }},
		{"fields alone, the newest first", func() string {
			return []string{"", "app:wordpress", "level:thread score:>0.3", "site:" + d.page().Value(query.Site), "-app:phpbb", "date:2025-01-20..2025-11-03"}[d.random.Intn(6)]
		}},
	}
	var list []Class
	for _, c := range classes {
		made := Class{Name: c.name}
		for range n {
			made.Queries = append(made.Queries, c.make())
		}
		list = append(list, made)
	}
	return list, nil
}

// draw draws words and phrases from pages.
type draw struct {
	random  *rand.Rand
	pages   []*query.Facts
	numbers map[string]int // of words
}

func (d *draw) page() *query.Facts { return d.pages[d.random.Intn(len(d.pages))] }

func (d *draw) some(s string) string {
	if d.random.Intn(2) == 0 {
		return ""
	}
	return s
}

// word is one of a page, of those with numbers from low to below high.
func (d *draw) word(low, high int) string { return d.following(1, low, high) }

// phrase are words of a page that follow each other, of those with numbers below high.
func (d *draw) phrase(n, high int) string { return `"` + d.following(n, 0, high) + `"` }

func (d *draw) following(n, low, high int) string {
	for {
		words := strings.Fields(d.page().Text)
		start := d.random.Intn(len(words) - n)
		for at := start; at+n <= len(words); at++ {
			if !slices.ContainsFunc(words[at:at+n], func(w string) bool { return d.numbers[w] < low || d.numbers[w] >= high }) {
				return strings.Join(words[at:at+n], " ")
			}
		}
	}
}

// mixed is what answers to queries took.
type mixed struct{ took, cpu []time.Duration }

func (m *mixed) add(o mixed) { m.took, m.cpu = append(m.took, o.took...), append(m.cpu, o.cpu...) }

// row has p50 and p95 of the time, and those of the CPU time of this process, in milliseconds.
func (m *mixed) row() string {
	at := func(list []time.Duration, percent int) float64 {
		list = slices.Sorted(slices.Values(list))
		return float64(list[(len(list)-1)*percent/100].Microseconds()) / 1000
	}
	return fmt.Sprintf("%.1f | %.1f | %.1f | %.1f", at(m.took, 50), at(m.took, 95), at(m.cpu, 50), at(m.cpu, 95))
}

// mixQueries is the number of queries of a class.
const mixQueries = 20

// BenchMix asks an index of Big documents the queries of Mix, each once without and once with all facets, histogram and folding, and prints a table. With
// MUNINN_SEARCH_TUNING it takes the queries that are for tuning.
func BenchMix(b *testing.B, x search.Index) {
	held := os.Getenv("MUNINN_SEARCH_TUNING") == ""
	classes, err := Mix(Documents(b), mixQueries, held)
	if err != nil {
		b.Fatal(err)
	}
	others, err := Mix(Documents(b), 1, !held)
	if err != nil {
		b.Fatal(err)
	}
	full := search.Options{Limit: 20, Facets: true, Histogram: true, Fold: true}
	begin := time.Now()
	first := ask(b, x, []string{classes[2].Queries[0]}, search.Options{Limit: 20})
	b.Logf("the first query after the start: %s, CPU %s", time.Since(begin).Round(time.Millisecond), first.cpu[0].Round(time.Millisecond))
	for _, c := range others { // other queries, so that files and tables are in memory
		first.add(ask(b, x, c.Queries, full))
	}
	var plain, faceted mixed
	var out strings.Builder
	fmt.Fprintf(&out, "queries that are %s\n", map[bool]string{true: "held back", false: "for tuning"}[held])
	fmt.Fprintln(&out, "| class | p50 | p95 | CPU p50 | CPU p95 | with facets p50 | p95 | CPU p50 | CPU p95 | ms |")
	for _, c := range classes {
		p, f := ask(b, x, c.Queries, search.Options{Limit: 20}), ask(b, x, c.Queries, full)
		fmt.Fprintf(&out, "| %s | %s | %s |\n", c.Name, p.row(), f.row())
		plain.add(p)
		faceted.add(f)
	}
	fmt.Fprintf(&out, "| all | %s | %s |\n", plain.row(), faceted.row())
	fmt.Print("\n", out.String()) // a log of a benchmark is cut off
}

func ask(b *testing.B, x search.Index, queries []string, o search.Options) (m mixed) {
	b.Helper()
	for _, text := range queries {
		q, err := query.Parse(text)
		if err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		begin, cpu := time.Now(), cputime.Used()
		if _, err := x.Search(context.Background(), q, o); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		m.add(mixed{[]time.Duration{time.Since(begin)}, []time.Duration{cputime.Used() - cpu}})
	}
	return m
}
