package activities

import (
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// TestRoute: links go to the owner of their partition by the view; those to the worker's own, and those that nobody takes, do not.
func TestRoute(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	view := s.state.View("w")
	var mine, others []int
	for p := range ring.Partitions {
		if owner, _ := view.Owner(p); owner.Name == "w" {
			mine = append(mine, p)
		} else {
			others = append(others, p)
		}
	}
	own := func(p int, _ uint64) error {
		if slices.Contains(mine, p) {
			return nil
		}
		return ring.ErrStale
	}
	never := func(int, uint64) error { return ring.ErrNotNow }
	s.state.Lost(time.Now(), "v", "v")
	lost := s.state.View("w")
	for _, c := range []struct {
		name  string
		view  *ring.View
		need  []int
		mine  func(int, uint64) error
		to    []int
		waits int
	}{
		{"none", view, nil, own, nil, 0},
		{"its own", view, mine[:3], own, nil, 0},
		{"another's", view, others[:3], own, others[:3], 0},
		{"both", view, []int{mine[0], others[0], mine[1], others[1]}, own, others[:2], 0},
		{"its own without a permit", view, []int{mine[0], others[0]}, never, others[:1], 1},
		{"the owner is silent", lost, []int{mine[0], others[0]}, own, nil, 1},
		{"without a view", nil, []int{mine[0], others[0]}, never, nil, 2},
	} {
		out, waiting := route(c.need, c.view, "w", c.mine)
		var to []int
		for _, d := range out.To {
			if to = append(to, d.Partitions...); d.Owner != "v" || d.Queue != "muninn/v" || d.Epoch != c.view.Epoch {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
		if !slices.Equal(to, c.to) || out.Waits != c.waits || len(waiting) != c.waits {
			t.Errorf("%s: to %v, %d wait", c.name, to, out.Waits)
		}
	}
}

// TestRouteEnds: a crawl holds while links are refused that a committed batch has left, and while they wait that is counted; neither when
// all is delivered, or the run has ended, or the crawl is forgotten, which ends the batch.
func TestRouteEnds(t *testing.T) {
	for name, end := range map[string]func(r *rig, in *RouteInput){
		"all is delivered": func(_ *rig, in *RouteInput) { in.Left.Partitions = nil },
		"a later run":      func(_ *rig, in *RouteInput) { in.Left.Run = 0 },
		"forgotten": func(r *rig, in *RouteInput) {
			_, err := r.Frontier.Forget(rigCrawl, "owner", false)
			r.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSpreadRing(t, "w").workers["w"]
			batch := BatchInput{Holder: r.holder(), Crawl: rigCrawl, Batch: "a.example-1@w.1", Spread: true, Refused: "worker v refuses them"}
			in := RouteInput{batch, DeliverInput{Crawl: rigCrawl, Batch: batch.Batch, Worker: "w", Run: 1, Partitions: []int{3}}}
			out, err := call[UndeliveredResult](r, r.Route, in)
			if hold := DeliveryHold(r.Activities)(rigCrawl); err != nil || len(out.To) != 1 || hold == "" || len(r.Behind.batches) != 1 {
				t.Fatalf("%+v, %v, holds %q, %v", out, err, hold, r.Behind.batches)
			}
			end(r, &in)
			out, err = call[UndeliveredResult](r, r.Route, in)
			if hold := DeliveryHold(r.Activities)(rigCrawl); err != nil || len(out.To)+out.Waits > 0 || hold != "" || len(r.Behind.batches) != 0 {
				t.Errorf("%+v, %v, holds %q, %v", out, err, hold, r.Behind.batches)
			}
		})
	}
}
