package activities

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/share"
)

// TestIdle: a worker has something left to do while a URL waits or a claim is in progress, and nothing once its batch is committed. It names the ring that
// it has answered in, so that an answer of a ring that moves partitions is void.
func TestIdle(t *testing.T) {
	s := newSpreadRing(t, "w", "v")
	busy := s.ownerOf("a.example")
	rest := s.workers["w"]
	if rest == busy {
		rest = s.workers["v"]
	}
	in := IdleInput{Crawl: rigCrawl, Round: 7}
	ask := func(r *rig) IdleAnswer {
		t.Helper()
		out, err := call[IdleAnswer](r, r.Idle, in)
		r.must(err)
		slices.Sort(out.Workers)
		want := share.IdleReport{Worker: r.Settings.Worker, Epoch: s.state.Epoch(), Round: 7, Idle: out.Idle, Work: out.Work}
		if out.IdleReport != want || !out.Owned || !slices.Equal(out.Workers, []string{"v", "w"}) {
			t.Errorf("%+v, want %+v of a ring of both", out, want)
		}
		return out
	}
	seeded := ask(busy)
	if other := ask(rest); seeded.Idle || !other.Idle {
		t.Errorf("a seed waits at one worker alone: %+v, the other %+v", seeded, other)
	}
	batch := busy.batch()
	claimed := ask(busy)
	if claimed.Idle || claimed.Work <= seeded.Work {
		t.Errorf("a claim is in progress: %+v after %+v", claimed, seeded)
	}
	busy.open(batch, func(string) string { return "<title>A page</title><p>of some words, without a link" })
	busy.must(busy.do(busy.Process, batch))
	if ask(busy).Idle {
		t.Error("it is idle before its batch is committed")
	}
	busy.must(busy.do(busy.Commit, batch))
	if done := ask(busy); !done.Idle || done.Work != claimed.Work {
		t.Errorf("all is done: %+v after %+v", done, claimed)
	}

	s.state.Lost(time.Now(), "v", "v")
	w := s.workers["w"]
	w.Membership.Take(s.state.View("w"))
	if out := ask(w); len(out.Workers) != 2 {
		t.Errorf("a lost worker may come back, and is of the ring: %+v", out)
	}
	if _, err := w.Idle(t.Context(), IdleInput{Crawl: "other"}); !errors.Is(err, frontier.ErrNoCrawl) {
		t.Errorf("of a crawl that it does not know: %v", err)
	}
}

// TestIdleAway: a worker without a view of the ring does not answer.
func TestIdleAway(t *testing.T) {
	a, _, _, _ := ringRig(t)
	a.Now = time.Now
	if _, err := a.Idle(t.Context(), IdleInput{Crawl: rigCrawl}); !errors.Is(err, errAway) {
		t.Error(err)
	}
}
