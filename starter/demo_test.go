package starter

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// TestDemoSupply: the web of the demo has so many relevant pages, by the demo's own scores, that its budget is a choice. That of scale 1 has hardly more than half a budget of them: there no order can have a
// harvest above .55.
func TestDemoSupply(t *testing.T) {
	for _, c := range []struct{ scale, least, most int }{{1, 120, 145}, {demoScale, demoPages * 5 / 2, demoPages * 5}} {
		world := webworld.NewDemo(webworld.Options{Seed: 1, Scale: c.scale})
		if err := world.Build(); err != nil {
			t.Fatal(err)
		}
		pages, relevant, err := demoSupply(world)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("scale %d: %d pages, %d relevant", c.scale, pages, relevant)
		if relevant < c.least || relevant > c.most || pages < relevant {
			t.Errorf("scale %d: %d of %d pages are relevant, want %d to %d", c.scale, relevant, pages, c.least, c.most)
		}
	}
}
