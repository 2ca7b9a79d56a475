package frontier

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// With ClaimNothing, a round claims nothing. It reports releases and ends, and reports Idle when no claim is left and every release has
// arrived.
func TestHold(t *testing.T) {
	r := oneQueue(t, 2, nil)
	r.submit("b", found(0.5, "http://b.example/")...)
	hold := func(idle bool, releases, renewals int) Round {
		t.Helper()
		got := r.ask(func(w *Want) { w.ClaimNothing = true })
		if len(got.Claims) != 0 || got.Drained || got.Spent != "" || len(got.Releases) != releases || len(got.Renewals) != renewals || got.Idle != idle {
			t.Fatalf("%+v", got)
		}
		return got
	}
	hold(true, 0, 0)
	got := r.ask(func(w *Want) { w.Claims = 1 })
	if len(got.Claims) != 1 || got.Idle {
		t.Fatalf("%+v", got)
	}
	claim := got.Claims[0]
	hold(false, 0, 0)
	batch := r.start(claim)
	hold(false, 0, 0)
	r.clock.pass(DefaultLeaseTTL/2 + time.Second)
	hold(false, 0, 1)
	r.reopen()
	hold(false, 0, 1)
	r.must(r.endLane(claim.ID, r.clock.Now(), false))
	r.confirm(hold(false, 1, 0))
	hold(false, 0, 0) // the claim is still in progress
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	hold(true, 0, 0)

	batch, lanes := r.take()
	r.finish(batch, lanes)
	for range 2 {
		got = r.ask(func(w *Want) { w.ClaimNothing = true })
		if len(got.Releases) != 2 || got.Idle || got.Drained {
			t.Fatalf("%+v", got)
		}
		r.reopen()
	}
	r.confirm(got)
	if got := r.next(); got.Idle {
		t.Fatalf("a round that does not hold is idle: %+v", got)
	}
}

// A round that holds waits for the end of the last claim.
func TestHoldWaits(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, lanes := r.take()
	r.must(r.endLane(lanes[0].ID, r.clock.Now(), false))
	r.confirm(r.next())
	w := r.want()
	w.ClaimNothing, w.Until, w.Linger = true, r.clock.Now().Add(time.Hour), time.Hour
	type answer struct {
		round Round
		err   error
	}
	out := make(chan answer, 1)
	go func() {
		got, err := r.Claim(t.Context(), w)
		out <- answer{got, err}
	}()
	r.submit("more", found(1, "http://b.example/")...) // is not for it
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	select {
	case got := <-out:
		if got.err != nil || !got.round.Idle || len(got.round.Claims) != 0 {
			t.Fatalf("%+v", got)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing is in progress, and the round has no answer after two minutes")
	}
}

// A lost round's claims are given again also when it holds: their leases have been asked for.
func TestHoldGivesLostRoundAgain(t *testing.T) {
	r := oneQueue(t, 2, nil)
	w := r.want()
	first, err := r.Claim(t.Context(), w)
	r.must(err)
	w.ClaimNothing = true
	again, err := r.Claim(t.Context(), w)
	r.must(err)
	if !slices.Equal(plds(again.Claims), plds(first.Claims)) || again.Claims[0].ID != first.Claims[0].ID || again.Idle {
		t.Fatalf("%+v", again)
	}
	if _, err := r.Frontier.Crawl("no such crawl").Claims().Claim(t.Context(), Want{ClaimNothing: true}); !errors.Is(err, ErrNoCrawl) {
		t.Fatalf("%v", err)
	}
}
