package traps_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/endless"
)

// The sites that are held back are as they say: honest ones end, and traps have more pages than a crawl of them gets to see.
func TestHeldBackSites(t *testing.T) {
	const most = 1500
	w := endless.Of(webworld.Options{Seed: 1}, append(endless.HeldBackTraps(), endless.HeldBackHonest()...))
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	for _, s := range endless.HeldBackTraps() {
		if whole := crawlSite(t, w, w.Host(s.Host).Base+"/", nil, 20, most); len(whole.pages) < most {
			t.Errorf("%s ends after %d pages", s.Host, len(whole.pages))
		}
	}
	for _, s := range endless.HeldBackHonest() {
		whole := crawlSite(t, w, w.Host(s.Host).Base+"/", nil, 20, most)
		if len(whole.pages) >= most || len(whole.pages) < 50 {
			t.Errorf("%s has %d pages", s.Host, len(whole.pages))
		}
		t.Log(s.Host, len(whole.pages))
	}
}
