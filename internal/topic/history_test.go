package topic

import (
	"fmt"
	"math"
	"testing"
)

func TestSiteHistory(t *testing.T) {
	const unknown = -1
	p := NewSiteHistory()
	add := func(url string, scores ...float64) {
		for i, s := range scores {
			p.Add(fmt.Sprintf(url, i), s)
		}
	}
	check := func(what, url string, want float64) {
		t.Helper()
		if got, known := p.Score(url); !known && want >= 0 || known && math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %s is worth %g, want %g", what, url, got, want)
		}
	}
	check("nothing is known", "http://a.example/ravens/1", unknown)
	add("http://a.example/ravens/%d", 0.9, 0.7)
	check("two pages are too few", "http://a.example/ravens/9", unknown)
	add("http://a.example/ravens/%d.html?q=/x/", 0.5)
	check("the mean of three", "http://a.example/ravens/9", 0.7)
	check("another query", "http://a.example/ravens/?a/b", 0.7)
	check("the scheme is not looked at", "https://a.example/ravens/9", 0.7)
	check("another folder: its host", "http://a.example/foxes/9", 0.7)
	check("a folder within: its host", "http://a.example/ravens/old/9", 0.7)
	check("the folder itself is not a folder of it", "http://a.example/ravens", 0.7)
	check("another host", "http://b.example/ravens/9", unknown)
	check("another port", "http://a.example:8080/ravens/9", unknown)
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

// TestForgetting: a generation has fifty thousand hosts and folders; those without a page for two generations are forgotten.
func TestForgetting(t *testing.T) {
	p := NewSiteHistory()
	for range leastSitePages {
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
	others(maxSites/2 - 3) // each has a host and a folder; two hosts were there
	if len(p.sites.Old) > 0 || meanScore(p, "http://left.example/") != 0.5 {
		t.Fatalf("a generation goes too early, with %d places", len(p.sites.Young))
	}
	others(1)
	if len(p.sites.Young) != 0 || len(p.sites.Old) != maxSites {
		t.Fatalf("%d young, %d old places", len(p.sites.Young), len(p.sites.Old))
	}
	p.Add("http://kept.example/", 0.1) // (3 · 0.5 + 0.1) / 4
	for _, url := range []string{"http://left.example/", "http://kept.example/"} {
		if _, known := p.Score(url); !known {
			t.Errorf("%s is forgotten after one generation", url)
		}
	}
	others(maxSites/2 - 1)
	if got, known := p.Score("http://left.example/"); known {
		t.Errorf("what was not seen for a generation is worth %g", got)
	}
	if got, _ := p.Score("http://kept.example/"); math.Abs(got-0.4) > 1e-6 {
		t.Errorf("what was seen is worth %g", got)
	}
	if n := len(p.sites.Young) + len(p.sites.Old); n > 2*maxSites {
		t.Errorf("%d places are remembered", n)
	}
}

func meanScore(p *SiteHistory, url string) float64 {
	mean, _ := p.Score(url)
	return mean
}
