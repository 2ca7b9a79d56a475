package frontier

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Rescoring changes the positions of waiting URLs. It neither adds URLs nor changes those that are done.
func TestRescore(t *testing.T) {
	f, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "c", []crawl.Seed{{URL: "http://a.example/"}}
	if _, err := f.Begin("c", "o", 0, d, seedsOf(d), false); err != nil {
		t.Fatal(err)
	}
	link := func(path string, score float64) crawl.Discovery {
		return crawl.Discovery{URL: "http://a.example" + path, Path: "SL", Score: score}
	}
	if err := f.Crawl("c").URLs().Offer("links", []crawl.Discovery{link("/low", 0.1), link("/high", 0.9)}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // idempotent
		err = f.Crawl("c").Commit(Commit{Batch: "reorder", Rescore: true, Discoveries: []crawl.Discovery{
			link("/low", 0.8), link("/high", 0.2), link("/unknown", 1),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	lanes, err := f.Crawl("c").Batch("b").Reopen([]Claim{{ID: "x-1", PLD: "a.example"}}, map[string][]string{
		"x-1": {"http://a.example/low", "http://a.example/high", "http://a.example/unknown"},
	})
	if err != nil || len(lanes) != 1 || len(lanes[0].Targets) != 2 {
		t.Fatalf("lanes %+v, %v", lanes, err)
	}
	for _, target := range lanes[0].Targets {
		want := map[string]float64{"http://a.example/low": 0.8, "http://a.example/high": 0.2}[target.URL]
		if diff := target.Priority - want; diff > 1e-3 || diff < -1e-3 {
			t.Errorf("%s has priority %.3f, want %.1f", target.URL, target.Priority, want)
		}
	}
}
