package frontier

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestExtend: requisites of the claim's queue that nobody has asked for come to it, once, and are its own after a kill; others are left to the
// commit.
func TestExtend(t *testing.T) {
	r := newRig(t, nil)
	r.submit("links", found(0.9, "http://a.example/1", "http://a.example/2")...)
	r.submit("done", embedded("http://a.example/", "http://a.example/known.css")...)
	batch, lanes := r.take()
	claim := lanes[0].ID
	page := "http://a.example/1"
	links := append(embedded(page, "http://a.example/x.css", "http://cdn.example/y.css", "http://a.example/2", "http://a.example/known.css", "http://a.example/z.png"), found(1, "http://a.example/3")...)
	for i, want := range [][]string{{"http://a.example/x.css"}, {"http://a.example/z.png"}, nil} {
		targets, err := r.Lane(claim).Extend(links, 1)
		r.must(err)
		var got []string
		for _, x := range targets {
			got = append(got, x.URL)
			if x.Path != "SLE" || x.Via != page {
				t.Errorf("%+v", x)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	r.reopen()
	lanes, err := r.Batch(batch).Reopen([]Claim{lanes[0].Claim}, nil)
	r.must(err)
	got := targets(lanes...)
	if slices.Sort(got); !slices.Equal(got, []string{"http://a.example/1", "http://a.example/2", "http://a.example/known.css", "http://a.example/x.css", "http://a.example/z.png"}) {
		t.Errorf("after a kill: %q", got)
	}
	all, err := r.Lane(claim).Targets()
	if r.must(err); len(all) != 5 {
		t.Errorf("%+v", all)
	}
	r.finish(batch, lanes, links...)
	s := r.status()
	if s.Totals.Requisites != 4 || s.Totals.RequisitesArchived != 3 || s.Totals.Pages != 2 || s.Waiting != 2 {
		t.Errorf("%+v", s)
	}
	if none, err := r.Lane(claim).Extend(embedded(page, "http://a.example/late.css"), 10); err != nil || len(none) > 0 {
		t.Errorf("a claim that is gone: %v, %v", none, err)
	}
}

// TestRecoveredRequisites: a batch that is committed by the archive alone has the requisites that it has fetched with its pages, though the frontier has lost that
// it claimed them.
func TestRecoveredRequisites(t *testing.T) {
	r := newRig(t, nil)
	r.submit("links", found(0.9, "http://a.example/1")...)
	batch, lanes := r.take()
	r.must(r.endLane(lanes[0].ID, r.clock.Now(), false))
	style := done("http://a.example/x.css")
	style.Requisite = true
	r.must(r.Commit(Commit{
		Batch: batch, Recovered: true, Outcomes: []crawl.PageOutcome{done("http://a.example/1"), style},
		Discoveries: embedded("http://a.example/1", "http://a.example/x.css", "http://a.example/y.css"),
	}))
	if got := r.states(); got["http://a.example/x.css"] != "done" || got["http://a.example/y.css"] != "waiting" {
		t.Errorf("%v", got)
	}
	if s := r.status().Totals; s.Pages != 1 || s.RequisitesArchived != 1 || s.Requisites != 2 {
		t.Errorf("%+v", s)
	}
}
