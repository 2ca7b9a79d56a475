package score

import (
	"fmt"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
)

func TestPast(t *testing.T) {
	p := NewPast()
	add := func(url string, scores ...float64) {
		for i, s := range scores {
			p.Add(fmt.Sprintf(url, i), s)
		}
	}
	check := func(what, url string, want float64) {
		t.Helper()
		if got := p.Score(url); !near(got, want) {
			t.Errorf("%s: %s is worth %g, want %g", what, url, got, want)
		}
	}
	check("nothing is known", "http://a.example/ravens/1", silent)
	add("http://a.example/ravens/%d", 0.9, 0.7)
	check("two pages are too few", "http://a.example/ravens/9", silent)
	add("http://a.example/ravens/%d.html?q=/x/", 0.5)
	check("the mean of three", "http://a.example/ravens/9", 0.7)
	check("another query", "http://a.example/ravens/?a/b", 0.7)
	check("the scheme is not looked at", "https://a.example/ravens/9", 0.7)
	check("another folder: its host", "http://a.example/foxes/9", 0.7)
	check("a folder within: its host", "http://a.example/ravens/old/9", 0.7)
	check("the folder itself is no folder of it", "http://a.example/ravens", 0.7)
	check("another host", "http://b.example/ravens/9", silent)
	check("another port", "http://a.example:8080/ravens/9", silent)
	add("http://a.example/foxes/%d", 0, 0)
	check("two pages of the folder: the host", "http://a.example/foxes/9", 2.1/5)
	add("http://a.example/foxes/%d", 0.3)
	check("three pages of the folder", "http://a.example/foxes/9", 0.1)
	check("the other folder stays", "http://a.example/ravens/9", 0.7)
	check("the root: the host", "http://a.example/", 2.4/6)
	add("http://a.example/%d", 0, 0, 0)
	check("the root is a folder too", "http://a.example/", 0)
	check("the host", "http://a.example/hares/1", 2.4/9)
	add("http://c.example/%d/", 1, 0.5, 0)
	check("three folders of one page each: the host", "http://c.example/1/", 0.5)
}

// TestForgetting: a generation is of fifty thousand hosts and folders; those that were not heard of for two are forgotten.
func TestForgetting(t *testing.T) {
	p := NewPast()
	for range leastPast {
		p.Add("http://left.example/", 0.5)
		p.Add("http://kept.example/", 0.5)
	}
	hosts := 0
	others := func(pages int) {
		for range pages {
			p.Add(fmt.Sprintf("http://%d.example/", hosts), 1)
			hosts++
		}
	}
	others(maxPast/2 - 3) // each has a host and a folder; two hosts were there
	if len(p.old) > 0 || p.Score("http://left.example/") != 0.5 {
		t.Fatalf("a generation goes too early, with %d places", len(p.young))
	}
	others(1)
	if len(p.young) != 0 || len(p.old) != maxPast {
		t.Fatalf("%d young, %d old places", len(p.young), len(p.old))
	}
	p.Add("http://kept.example/", 0.1) // (3 · 0.5 + 0.1) / 4
	for _, url := range []string{"http://left.example/", "http://kept.example/"} {
		if got := p.Score(url); got == silent {
			t.Errorf("%s is forgotten after one generation", url)
		}
	}
	others(maxPast/2 - 1)
	if got := p.Score("http://left.example/"); got != silent {
		t.Errorf("what was not heard of for a generation is worth %g", got)
	}
	if got := p.Score("http://kept.example/"); !near(got, 0.4) {
		t.Errorf("what was heard of is worth %g", got)
	}
	if n := len(p.young) + len(p.old); n > 2*maxPast {
		t.Errorf("%d places are remembered", n)
	}
}

// TestHistory: pages are remembered with their document scores, and those without one are not.
func TestHistory(t *testing.T) {
	m := Memory{Past: NewPast()}
	s := remembering(t, ravens, weigh(t, 1, "history"), nil, text.NewVocabulary(), m)
	page := func(url, text string) float64 {
		p := &crawl.Page{URL: url, Language: "en", Blocks: []string{text}, Links: []crawl.Outlink{{URL: "http://a.example/raven/x", Hop: crawl.HopSitemap, Block: -1}}}
		m.Take(s.Page(p, Context{Inherit: 0.123}).Visit)
		if got, spoke := p.Links[0].Parts.Of("history"); spoke {
			return got
		}
		return silent
	}
	for i, c := range []struct {
		url, text string
		want      float64 // of the link, before the page itself is known
	}{
		{"http://a.example/raven/1", "raven crow", silent}, // 1
		{"http://a.example/raven/2", "fox", silent},        // 0
		{"http://a.example/raven/3", "", silent},           // of no text nothing is said
		{"http://a.example/1", "raven crow", silent},       // 1
		{"http://a.example/raven/4", "raven crow", 2.0 / 3},
		{"http://a.example/2", "fox", 2.0 / 3}, // three pages of the folder: 1, 0, 1
		{"http://a.example/3", "fox", 2.0 / 3},
		{"http://a.example/raven/5", "fox", 2.0 / 3},
		{"http://b.example/", "fox", 0.5},
	} {
		if got := page(c.url, c.text); !near(got, c.want) {
			t.Errorf("before page %d, %s: %g, want %g", i, c.url, got, c.want)
		}
	}
	// A new scorer remembers it; one without memory is silent.
	link := crawl.Outlink{URL: "http://a.example/other/1", Hop: crawl.HopLink, Block: -1}
	p := &crawl.Page{URL: "http://c.example/", Links: []crawl.Outlink{link}}
	remembering(t, ravens, weigh(t, 1, "history"), nil, text.NewVocabulary(), m).Page(p, Context{})
	if got := p.Links[0].Score; !near(got, 3.0/7) { // 1, 0, 1, 1, 0, 0, 0
		t.Errorf("another scorer with the same memory: %g", got)
	}
	scorer(t, ravens, weigh(t, 1, "history"), nil).Page(p, Context{Inherit: 0.123})
	if len(p.Links[0].Parts) > 0 || p.Links[0].Score != 0.123 {
		t.Errorf("without memory: %v, %g", p.Links[0].Parts, p.Links[0].Score)
	}
}
