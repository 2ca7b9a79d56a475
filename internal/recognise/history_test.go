package recognise

import (
	"fmt"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// TestHosts: a host has an application when enough of its pages have it. Pages of others count against it, and a host that
// changes is learned again.
func TestHosts(t *testing.T) {
	raven, crow := &kb.Profile{Application: &kb.Application{Name: "Raven"}}, &kb.Profile{Application: &kb.Application{Name: "Crow"}}
	for name, c := range map[string]struct {
		pages string // r, c: of an application; h: of what the host was; -: of none
		app   string
		share float64
	}{
		"nothing seen":           {"", "", 0},
		"one page says little":   {"r", "Raven", 0},
		"two pages":              {"rr", "Raven", 0},
		"enough pages":           {"rrr", "Raven", 1},
		"pages without a mark":   {"rrr-", "Raven", 0.75},
		"its own word is none":   {"rrrhhh", "Raven", 1},
		"some of another":        {"rrrc", "Raven", 0.75},
		"more of another":        {"rrrcccc", "Crow", 0},
		"none of a known one":    {"---", "", 0},
		"another, often enough":  {"rrccccc", "Crow", 1},
		"the same after another": {"rccc", "Crow", 1},
	} {
		hosts := NewHosts(10)
		for _, p := range c.pages {
			switch p {
			case '-':
				hosts.Miss("a.test")
			case 'r':
				hosts.Note("a.test", Result{Profile: raven, Rule: "a.xml:1", Version: "2"})
			case 'c':
				hosts.Note("a.test", Result{Profile: crow, Rule: "b.xml:1"})
			case 'h':
				hosts.Note("a.test", Result{Profile: raven, Rule: ByHost})
			}
		}
		h := hosts.Of("a.test")
		if h.app != c.app || h.share() != c.share {
			t.Errorf("%s: %s with a share of %g, want %s with %g", name, h.app, h.share(), c.app, c.share)
		}
		if h.app == "Raven" && h.version != "2" {
			t.Errorf("%s: version %q", name, h.version)
		}
	}
	hosts := NewHosts(2)
	for i := range 50 {
		hosts.Note(fmt.Sprint(i), Result{Profile: raven})
	}
	if n := hosts.Len(); n != 2 {
		t.Errorf("%d hosts are remembered, 2 may be", n)
	}
	hosts = NewHosts(10)
	for i := range 10 {
		hosts.Note(fmt.Sprint(i), Result{Profile: raven})
	}
	for i := range 10 { // 3 is seen all the time: the others go, the oldest first
		hosts.Of("3")
		hosts.Note(fmt.Sprint("new", i), Result{Profile: raven})
		if h := hosts.Of("3"); h.app != "Raven" {
			t.Fatalf("after %d new hosts, one that is seen all the time is forgotten", i+1)
		}
		gone := i
		if i >= 3 {
			gone = i + 1
		}
		if h := hosts.Of(fmt.Sprint(gone)); i < 9 && h.app != "" {
			t.Errorf("after %d new hosts, %d is not forgotten", i+1, gone)
		}
	}
}

// TestCarriers: a host that shows pages of other hosts has no application.
func TestCarriers(t *testing.T) {
	raven := Result{Profile: &kb.Profile{Application: &kb.Application{Name: "Raven"}}, Rule: "a.xml:1"}
	for host, known := range map[string]bool{"web.archive.org": false, "ravens-example.translate.goog": false, "webcache.googleusercontent.com": false, "archive.org": false, "archive.org.test": true, "myarchive.org": true} {
		hosts := NewHosts(10)
		for range 5 {
			hosts.Note(host, raven)
		}
		if got := hosts.Of(host).app != ""; got != known {
			t.Errorf("%s: %v", host, got)
		}
	}
}
