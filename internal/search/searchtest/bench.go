package searchtest

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Benchmark sizes: the documents of an index that is searched, or what MUNINN_SEARCH_DOCUMENTS says.
const benchDocuments = 100_000

// Documents is the number of documents that benchmarks search.
func Documents(b *testing.B) int {
	text := os.Getenv("MUNINN_SEARCH_DOCUMENTS")
	if text == "" {
		return benchDocuments
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("MUNINN_SEARCH_DOCUMENTS is %q: set it to a number of documents", text)
	}
	return n
}

// Big makes segments of so many pages, one after the other: each page has about 300 words of 50,000, whose frequencies follow Zipf's law, and
// ten links. n pages are those of a year.
func Big(n int, fn func(search.Segment) error) error {
	r := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(r, 1.07, 4, 49_999)
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%s ", Word(int(zipf.Uint64())))
		}
		return b.String()
	}
	for at := 0; at < n; at += bigSegment {
		s := search.Segment{SegmentName: search.SegmentName{Crawl: "big", Name: strconv.Itoa(at)}}
		for i := range min(bigSegment, n-at) {
			p := search.Page{Facts: query.Facts{
				Crawl: "big", URL: fmt.Sprintf("https://www.site%d.example/page/%d", r.Intn(2000), at+i), Status: 200, MIME: "text/html", Language: "en",
				Date:   time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(at+i) * (365 * 24 * time.Hour / time.Duration(n))),
				Digest: fmt.Sprintf("sha256:%x", r.Int63()), Score: r.Float64(), Title: words(4), Text: words(200 + r.Intn(200)),
				Application: []string{"", "", "phpBB", "WordPress", "MediaWiki"}[r.Intn(5)], Level: []string{"", "thread", "article"}[r.Intn(3)],
			}}
			s.Documents = append(s.Documents, p.Documents()...)
			for range 10 {
				s.Anchors = append(s.Anchors, search.Anchor{URL: fmt.Sprintf("https://www.site%d.example/page/%d", r.Intn(2000), r.Intn(n)), Text: words(2), Language: "en"})
			}
		}
		if err := fn(s); err != nil {
			return err
		}
	}
	return nil
}

// FillBig fills an index with Big pages, unless it has them, or MUNINN_SEARCH_PARTIAL says that those which it has are enough.
func FillBig(b *testing.B, x search.Index, n int) {
	b.Helper()
	if os.Getenv("MUNINN_SEARCH_PARTIAL") != "" {
		return
	}
	last := search.SegmentName{Crawl: "big", Name: strconv.Itoa((n - 1) / bigSegment * bigSegment)}
	has, err := x.HasSegment(context.Background(), last)
	if err == nil && !has {
		err = Big(n, func(s search.Segment) error { return x.AddSegment(context.Background(), s) })
	}
	if err != nil {
		b.Fatal(err)
	}
}

// bigSegment is the number of pages in a segment of Big.
const bigSegment = 500

// Word is the word of a number: its letters look like those of a language.
func Word(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 70; n > 0; n /= 70 {
		b.WriteByte(consonants[n%14])
		b.WriteByte(vowels[n/14%5])
	}
	return b.String()
}

// BenchIndex indexes b.N pages and reports their cost, CPU time and bytes. The pages are those of Real, as often as it takes, if there is test
// data, else those of Big.
func BenchIndex(b *testing.B, x search.Index, size func() int64) {
	b.Helper()
	var segments []search.Segment
	var err error
	if data := os.Getenv("MUNINN_TESTDATA"); data != "" {
		segments, err = Real(data)
	} else {
		err = Big(b.N, func(s search.Segment) error { segments = append(segments, s); return nil })
	}
	if err != nil {
		b.Fatal(err)
	}
	texts := 0
	cpu := cputime.Used()
	b.ResetTimer()
	for i, left := 0, b.N; left > 0; i++ {
		s := segments[i%len(segments)]
		s.Name = strconv.Itoa(i)
		s.Documents = s.Documents[:min(left, len(s.Documents))]
		left -= len(s.Documents)
		for j := range s.Documents {
			texts += len(s.Documents[j].Text)
		}
		if err := x.AddSegment(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64((cputime.Used()-cpu).Microseconds())/1000/float64(b.N), "cpu-ms/page")
	b.ReportMetric(float64(size())/float64(b.N), "B/page")
	b.ReportMetric(float64(texts)/float64(b.N), "text-B/page")
}

// BenchSearch asks an index of Big documents, and reports the latency and the CPU time of queries.
func BenchSearch(b *testing.B, x search.Index) {
	rare, middle, common := Word(5000), Word(300), Word(3)
	for _, test := range []struct {
		name, text string
		o          search.Options
	}{
		{"Word", middle, search.Options{Limit: 20}},
		{"Two", rare + " " + common, search.Options{Limit: 20}},
		{"Or", middle + " OR " + common + " OR " + rare, search.Options{Limit: 20}},
		{"Phrase", `"` + Word(1) + " " + Word(3) + `"`, search.Options{Limit: 20}},
		{"Fields", middle + " app:phpbb date:2025-03..2025-06 score:>0.5", search.Options{Limit: 20}},
		{"WordFacets", middle, search.Options{Limit: 20, Facets: true, Histogram: true, Fold: true}},
		{"OrFacets", middle + " OR " + common + " OR " + rare, search.Options{Limit: 20, Facets: true, Histogram: true, Fold: true}},
		{"AllFacets", "", search.Options{Limit: 20, Facets: true, Histogram: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			q, err := query.Parse(test.text)
			if err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			total := 0
			cpu := cputime.Used()
			for b.Loop() {
				begin := time.Now()
				a, err := x.Search(context.Background(), q, test.o)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
				total = a.Total
			}
			b.ReportMetric(float64((cputime.Used()-cpu).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(total), "found")
		})
	}
}
