package traps

import (
	"fmt"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// A host that answers whatever it is asked for with one of its pages loses none: the first page of a run that reads like the answer is none that is missing. Pages of
// other hosts, with other requisites, or that read otherwise are not either, nor is any if the answer is an error.
func TestMissing(t *testing.T) {
	const here, there = "http://a.example/", "http://b.a.example/"
	answer := &crawl.Print{Words: 9, OwnWords: 5, All: 1 << 20, Requisites: 3}
	alike := &crawl.Print{Words: 9, OwnWords: 5, All: 1<<20 | 1, Requisites: 3}
	m := &Memory{}
	read := func(url string, p *crawl.Print) (missing bool) {
		missing = m.Missing(url, p)
		u, err := urls.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		m.Learn([]Page{{URL: url, Shape: ShapeOf(u), Print: p}})
		return missing
	}
	m.Answered(here+"probe", nil)
	if read(here+"1", answer) || read(here+"2", answer) {
		t.Error("a page is missing because there was an error")
	}
	m.Answered(here+"probe", answer)
	for run := uint32(1); run <= 2; run++ {
		m.Enter(run)
		if read(here+"other", &crawl.Print{Words: 9, All: 1<<40 - 1, Requisites: 3}) || read(here, answer) {
			t.Error("the first page that reads like the answer is missing, or one that does not")
		}
		raw, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		m = Decode(raw)
		if !read(here+"1", alike) || !read(here+"2", answer) {
			t.Error("pages that read like the answer are not missing")
		}
		unequal := *alike
		unequal.Requisites++
		if read(here+"3", &unequal) || read(there, answer) || read(there+"1", answer) {
			t.Error("pages with other requisites, or of another host, are missing")
		}
	}
}

// The page for which a host is probed has had its links followed: if the answer reads like it, the next such page is missing. A host is asked once, and some of a pay-level domain.
func TestProbes(t *testing.T) {
	m := &Memory{Probing: true}
	shell := &crawl.Print{Words: 9, OwnWords: 9, All: 7}
	page := func(host int, path string) Page {
		url := fmt.Sprintf("http://h%d.a.example/%s", host, path)
		u, err := urls.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return Page{URL: url, Shape: ShapeOf(u), Print: shell}
	}
	var all []Probe
	for host := range maxProbed + 3 {
		for _, path := range []string{"", "news/a.html", "news/b.html", "news/c.html"} {
			m.Learn([]Page{page(host, path)})
			all = append(all, m.Probes()...)
		}
	}
	if len(all) != maxProbed || len(m.Hosts) != maxProbed {
		t.Fatalf("%d probes of %d hosts", len(all), len(m.Hosts))
	}
	last := all[len(all)-1]
	if u, err := urls.Parse(last.URL); err != nil || u.String() != last.URL || !IsProbe(last.URL) || IsProbe(last.Via) {
		t.Errorf("the probe is %+v, %v", last, err)
	}
	if other := "http://a.example" + last.URL[len("http://a.example"):]; IsProbe(other) {
		t.Errorf("%s is a probe", other)
	}
	if m.Missing(last.Via, shell) {
		t.Error("a page is missing before the probe was answered")
	}
	if m.Answered(last.URL, shell); !m.Missing(last.Via, shell) {
		t.Error("a page is not missing that reads like the one for which the probe was")
	}
}
