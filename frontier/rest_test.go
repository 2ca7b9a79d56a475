package frontier

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

const maxDelay = 45 * time.Second

func slowly(d *crawl.Definition) { d.Politeness.MaxDelay = crawl.Duration(maxDelay) }

// due fails unless the only queue that rests does so until a time, also once the frontier was closed.
func (r *rig) due(until time.Time) {
	r.t.Helper()
	for _, when := range []string{"before", "after"} {
		if s := r.status(); len(s.Slow) != 1 || !s.Slow[0].Next.Equal(until) || s.Slow[0].PLD != "a.example" {
			r.t.Fatalf("%s reopening the frontier, the queue is due at %v, not %v", when, s.Slow, until)
		}
		r.reopen()
	}
}

// The queues of a failed batch rest, whatever their hosts' own pace. Once the batch has come to its end
// after all, they go by that alone.
func TestRest(t *testing.T) {
	for _, leased := range []bool{false, true} {
		r := oneQueue(t, 2, nil)
		start := r.clock.Now()
		own, rest := start.Add(time.Hour), start.Add(3*time.Hour)
		batch, lanes := r.take()
		r.must(r.EndLease(testCrawl, lanes[0].ID, own, false))
		r.due(own)
		r.must(r.GiveBack(testCrawl, batch, rest))
		r.due(rest)
		r.clock.pass(own.Sub(start))
		if got := r.next(); len(got.Claims) != 0 || got.Drained {
			t.Fatalf("claimed while it rests: %+v", got)
		}
		again, err := r.Reopen(testCrawl, batch, bare(lanes...), known(lanes...))
		r.must(err)
		if len(targets(again...)) != 2 {
			t.Fatalf("%+v", again)
		}
		if leased {
			own = own.Add(time.Minute)
			r.must(r.Lease(testCrawl, batch, r.grant(again[0].Claim)))
			r.must(r.EndLease(testCrawl, again[0].ID, own, false))
			r.reopen()
		}
		r.must(r.Commit(Commit{Crawl: testCrawl, Batch: batch, Outcomes: []crawl.Outcome{done("http://a.example/0")}}))
		if leased {
			r.due(own)
			if got := r.next(); len(got.Claims) != 0 {
				t.Fatalf("the host's own pace is forgotten: %+v", got)
			}
			r.clock.pass(time.Minute)
		}
		r.reopen()
		if c := r.one(); len(c.URLs) != 1 {
			t.Fatalf("%+v", c)
		}
	}
}

// A commit lifts the rest, and not what the host asked for before.
func TestHostsPaceOutlastsRest(t *testing.T) {
	r := oneQueue(t, 2, nil)
	own, rest := r.clock.Now().Add(time.Hour), r.clock.Now().Add(3*time.Hour)
	batch, lanes := r.take()
	r.must(r.EndLease(testCrawl, lanes[0].ID, own, false))
	r.must(r.GiveBack(testCrawl, batch, rest))
	_, err := r.Reopen(testCrawl, batch, bare(lanes...), known(lanes...))
	r.must(err)
	r.must(r.Commit(Commit{Crawl: testCrawl, Batch: batch, Outcomes: []crawl.Outcome{done("http://a.example/0")}}))
	r.due(own)
}

// A rest is not shortened by another failure, and goes on when the batch is up again but does not commit.
func TestRestIsNotShortened(t *testing.T) {
	r := oneQueue(t, 2, nil)
	rest := r.clock.Now().Add(time.Hour)
	batch, lanes := r.take()
	r.must(r.GiveBack(testCrawl, batch, rest))
	_, err := r.Reopen(testCrawl, batch, bare(lanes...), known(lanes...))
	r.must(err)
	r.must(r.GiveBack(testCrawl, batch, r.clock.Now().Add(time.Minute)))
	r.due(rest)
}

// A lease whose fetching did not say when the address may be asked again ends with the longest pause
// ahead, and at least what it owed. One that never started owes nothing.
func TestReleaseOfDropped(t *testing.T) {
	owe := func(d time.Duration) func(*rig, Claim) {
		return func(r *rig, c Claim) { r.must(r.Owe(testCrawl, c.ID, r.clock.Now().Add(d))) }
	}
	giveBack := func(r *rig, batch string) { r.must(r.GiveBack(testCrawl, batch, r.clock.Now())) }
	commit := func(r *rig, batch string) {
		r.must(r.Commit(Commit{Crawl: testCrawl, Batch: batch, Outcomes: []crawl.Outcome{done("http://a.example/0")}}))
	}
	empty := func(r *rig, batch string) { // others have finished all of it
		r.must(r.Commit(Commit{Crawl: testCrawl, Batch: "late", Outcomes: []crawl.Outcome{done("http://a.example/0"), done("http://a.example/1")}}))
		if lanes, err := r.Reopen(testCrawl, batch, r.ClaimsOf(testCrawl, batch), nil); err != nil || len(lanes) != 0 {
			r.t.Fatalf("%+v, %v", lanes, err)
		}
	}
	for _, c := range []struct {
		name  string
		fetch func(*rig, Claim) // before the clock passes a minute
		drop  func(*rig, string)
		want  time.Duration // from then on
	}{
		{"given back", nil, giveBack, maxDelay},
		{"committed", nil, commit, maxDelay},
		{"nothing left", nil, empty, maxDelay},
		{"given back, owing little", owe(90 * time.Second), giveBack, maxDelay},
		{"given back, owing much", owe(time.Hour), giveBack, 59 * time.Minute},
		{"committed, owing much", owe(time.Hour), commit, 59 * time.Minute},
		{"nothing left, owing much", owe(time.Hour), empty, 59 * time.Minute},
		{"owing much, then less", func(r *rig, c Claim) { owe(time.Hour)(r, c); owe(time.Minute)(r, c) }, giveBack, 59 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := oneQueue(t, 2, slowly)
			claim := r.one()
			batch := r.start(claim)
			if c.fetch != nil {
				c.fetch(r, claim)
			}
			r.clock.pass(time.Minute)
			r.reopen()
			c.drop(r, batch)
			for range 2 {
				got := r.next().Releases
				if len(got) != 1 || got[0].Lease != claim.ID || got[0].IP != claim.IP {
					t.Fatalf("%+v", got)
				}
				if want := r.clock.Now().Add(c.want); got[0].Next.Before(want) || got[0].Next.After(want.Add(time.Second)) {
					t.Fatalf("the address is asked again at %v, not %v", got[0].Next, want)
				}
				r.reopen()
			}
		})
	}
}

func TestReleaseOfUnstarted(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	claim := r.one()
	r.clock.pass(DefaultLeaseWait + time.Second)
	r.must(r.Withdraw(testCrawl))
	for range 2 {
		if got := r.next().Releases; len(got) != 1 || got[0].Lease != claim.ID || !got[0].Next.IsZero() {
			t.Fatalf("%+v", got)
		}
		r.reopen()
	}
}

// What fetching said of its end stands: a drop does not release the lease once more.
func TestReleaseOfEnded(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	batch, lanes := r.take()
	next := r.clock.Now().Add(2 * time.Second)
	r.must(r.EndLease(testCrawl, lanes[0].ID, next, false))
	r.must(r.Owe(testCrawl, lanes[0].ID, next.Add(time.Hour))) // too late
	r.must(r.GiveBack(testCrawl, batch, r.clock.Now()))
	got := r.next()
	if len(got.Releases) != 1 || !got.Releases[0].Next.Equal(next) {
		t.Fatalf("%+v", got)
	}
	r.confirm(got)
	if got := r.next(); len(got.Releases) != 0 {
		t.Fatalf("released once more: %+v", got)
	}
}

// A lease that is over, or will be before a renewal comes through, may be another's: it is left to end.
func TestExpiredLeaseIsNotRenewed(t *testing.T) {
	for _, c := range []struct {
		after           time.Duration
		renewed, lasts bool
	}{
		{DefaultLeaseTTL/2 - time.Second, false, true},
		{DefaultLeaseTTL/2 + time.Second, true, true},
		{DefaultLeaseTTL - renewalTime - time.Second, true, true},
		{DefaultLeaseTTL - renewalTime, false, true},
		{DefaultLeaseTTL - time.Second, false, true}, // a renewal that was under way
		{DefaultLeaseTTL, false, false},
		{DefaultLeaseTTL + time.Minute, false, false},
	} {
		r := oneQueue(t, 2, nil)
		claim := r.one()
		batch := r.start(claim)
		until := r.clock.Now().Add(DefaultLeaseTTL)
		r.clock.pass(c.after)
		r.must(r.Renew(testCrawl, batch)) // the claim lasts
		for range 2 {
			got := r.next()
			if renewed := len(got.Renewals) == 1 && got.Renewals[0].Lease == claim.ID; renewed != c.renewed || len(got.Renewals) > 1 || len(got.Expired) > 0 {
				t.Fatalf("after %v: %+v", c.after, got)
			}
			r.reopen()
		}
		longer := r.clock.Now().Add(DefaultLeaseTTL)
		r.must(r.Confirm(testCrawl, nil, []string{claim.ID}, longer))
		want := until
		if c.lasts {
			want = longer
		}
		for range 2 {
			if got := r.LeaseUntil(testCrawl, claim.ID); !got.Equal(want) {
				t.Fatalf("confirmed after %v, it lasts until %v, not %v", c.after, got, want)
			}
			r.reopen()
		}
		r.must(r.Confirm(testCrawl, nil, []string{claim.ID}, want.Add(-time.Minute))) // neither is it shortened
		if got := r.LeaseUntil(testCrawl, claim.ID); !got.Equal(want) {
			t.Fatalf("shortened to %v", got)
		}
	}
}

// An expired lease comes back by a new grant alone.
func TestExpiredLeaseIsGrantedAnew(t *testing.T) {
	r := oneQueue(t, 2, nil)
	claim := r.one()
	batch := r.start(claim)
	r.clock.pass(DefaultLeaseTTL + time.Minute)
	grants := r.grant(claim)
	r.must(r.Confirm(testCrawl, nil, []string{claim.ID}, grants[0].Deadline))
	r.must(r.Lease(testCrawl, batch, grants))
	if got := r.LeaseUntil(testCrawl, claim.ID); !got.Equal(grants[0].Deadline) {
		t.Fatalf("it lasts until %v", got)
	}
}

// With Hold, a round claims nothing; it tells what there is to tell, and of the end once nothing is out and
// every release has arrived.
func TestHold(t *testing.T) {
	r := oneQueue(t, 2, nil)
	r.submit("b", found(0.5, "http://b.example/")...)
	hold := func(idle bool, releases, renewals int) Round {
		t.Helper()
		got := r.ask(func(w *Want) { w.Hold = true })
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
	r.must(r.EndLease(testCrawl, claim.ID, r.clock.Now(), false))
	r.confirm(hold(false, 1, 0))
	hold(false, 0, 0) // the claim is still out
	r.must(r.GiveBack(testCrawl, batch, r.clock.Now()))
	hold(true, 0, 0)

	batch, lanes := r.take()
	r.finish(batch, lanes)
	for range 2 {
		got = r.ask(func(w *Want) { w.Hold = true })
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

// A round that holds waits for the end, and needs no more than the last word of it.
func TestHoldWaits(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, lanes := r.take()
	r.must(r.EndLease(testCrawl, lanes[0].ID, r.clock.Now(), false))
	r.confirm(r.next())
	w := r.want()
	w.Hold, w.Until = true, r.clock.Now().Add(time.Hour)
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
	r.must(r.Commit(Commit{Crawl: testCrawl, Batch: batch, Outcomes: []crawl.Outcome{done("http://a.example/0")}}))
	select {
	case got := <-out:
		if got.err != nil || !got.round.Idle || len(got.round.Claims) != 0 {
			t.Fatalf("%+v", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is out, and the round has no answer after 20 s")
	}
}

// A lost round's claims are given again also when it holds: their leases have been asked for.
func TestHoldGivesLostRoundAgain(t *testing.T) {
	r := oneQueue(t, 2, nil)
	w := r.want()
	first, err := r.Claim(t.Context(), w)
	r.must(err)
	w.Hold = true
	again, err := r.Claim(t.Context(), w)
	r.must(err)
	if !slices.Equal(plds(again.Claims), plds(first.Claims)) || again.Claims[0].ID != first.Claims[0].ID || again.Idle {
		t.Fatalf("%+v", again)
	}
	if _, err := r.Claim(t.Context(), Want{Crawl: "no such crawl", Hold: true}); !errors.Is(err, ErrNoCrawl) {
		t.Fatalf("%v", err)
	}
}
