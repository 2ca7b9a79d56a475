package frontier

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// oneQueue is a rig with n URLs of one PLD, of falling scores.
func oneQueue(t *testing.T, n int, edit func(*crawl.Definition)) *rig {
	t.Helper()
	r := newRig(t, edit)
	for i := range n {
		r.submit(fmt.Sprint("s", i), found(1-float64(i)/100, fmt.Sprintf("http://a.example/%d", i))...)
	}
	return r
}

func TestOneClaimPerQueue(t *testing.T) {
	r := oneQueue(t, 10, func(d *crawl.Definition) { d.Order.PerQueue = 3 })
	first := r.one()
	if len(first.URLs) != 3 {
		t.Fatalf("%+v", first)
	}
	r.submit("more", found(1, "http://a.example/more")...)
	if got := r.next(); len(got.Claims) != 0 {
		t.Fatalf("a second claim of the queue: %+v", got)
	}
	batch := r.start(first)
	r.reopen()
	if got := r.next(); len(got.Claims) != 0 {
		t.Fatalf("a second claim of the queue after reopening: %+v", got)
	}
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	if s := r.status(); s.Claimed != 0 || s.Waiting != 10 || s.Totals.Pages != 1 {
		t.Fatalf("%+v", s)
	}
	_, lanes := r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/more", "http://a.example/1", "http://a.example/2"}) {
		t.Fatalf("the next claim holds %q", got)
	}
}

func TestLostRoundIsGivenAgain(t *testing.T) {
	r := oneQueue(t, 3, nil)
	want := r.want()
	first, err := r.Claim(t.Context(), want)
	r.must(err)
	r.reopen()
	again, err := r.Claim(t.Context(), want)
	r.must(err)
	if len(again.Claims) != 1 || again.Claims[0].ID != first.Claims[0].ID || !slices.Equal(again.Claims[0].URLs, first.Claims[0].URLs) {
		t.Fatalf("%+v, then %+v", first, again)
	}
	r.start(first.Claims...)
	if again, err = r.Claim(t.Context(), want); err != nil || len(again.Claims) != 0 {
		t.Fatalf("a started claim is given again: %+v, %v", again, err)
	}
}

func TestStart(t *testing.T) {
	r := oneQueue(t, 2, nil)
	c := r.one()
	grants := r.grant(c)
	for range 2 { // idempotent
		started, err := r.Batch("b").Start(grants)
		if err != nil || len(started) != 1 || started[0].Batch != "b" || started[0].Ended {
			t.Fatalf("%+v, %v", started, err)
		}
	}
	if got := r.next(); len(got.Releases) != 0 {
		t.Fatalf("releases %+v", got.Releases)
	}
	// another batch has no right to it, and must not have its lease released
	if started, err := r.Batch("other").Start(grants); err != nil || len(started) != 0 {
		t.Fatalf("%+v, %v", started, err)
	}
	if got := r.next(); len(got.Releases) != 0 {
		t.Fatalf("a lease in use is released: %+v", got.Releases)
	}
	// a lease that nobody knows is released
	gone := []politeness.Grant{{Lease: "gone-1", IP: "192.0.2.9", Deadline: r.clock.Now().Add(time.Minute)}}
	for range 2 {
		if started, err := r.Batch("b2").Start(gone); err != nil || len(started) != 0 {
			t.Fatalf("%+v, %v", started, err)
		}
	}
	if got := r.next(); len(got.Releases) != 1 || got.Releases[0].Lease != "gone-1" || got.Releases[0].IP != "192.0.2.9" {
		t.Fatalf("releases %+v", got.Releases)
	}
	// a late answer of a start does not revive an ended lease
	r.must(r.endLane(c.ID, r.clock.Now(), false))
	if _, err := r.Batch("b").Start(grants); err != nil || !r.Lane(c.ID).LeaseUntil().IsZero() {
		t.Fatalf("the lease lasts until %v, %v", r.Lane(c.ID).LeaseUntil(), err)
	}
}

// A claim is started once, even if its grant comes twice: when a round is sent again, both answers may arrive together.
func TestStartTakesAGrantOnce(t *testing.T) {
	r := oneQueue(t, 3, nil)
	grants := r.grant(r.one())
	claims, err := r.Batch("b").Start(slices.Concat(grants, grants))
	r.must(err)
	if len(claims) != 1 {
		t.Errorf("%d claims started, want 1", len(claims))
	}
}

// A round that was sent twice is granted twice. If the lane has ended under the first grant when the second comes, the second is
// released, and the lane does not start again. The rest of the address is still reported, even if the batch is over by then.
func TestStartReleasesASecondGrant(t *testing.T) {
	for _, committed := range []bool{false, true} {
		r := oneQueue(t, 3, nil)
		c := r.one()
		first, second := r.grant(c), r.grant(c)
		_, err := r.Batch("b").Start(first)
		r.must(err)
		next := r.clock.Now().Add(time.Hour)
		r.must(r.endLane(c.ID, next, false))
		if committed {
			r.must(r.Commit(Commit{Batch: "b", Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
		}
		round := r.next()
		_, err = r.Batch("b").Start(second)
		r.must(err)
		r.confirm(round) // of the first alone
		r.reopen()
		got := r.next()
		if len(got.Releases) != 1 || got.Releases[0].Number != second[0].Number || !got.Releases[0].Next.Equal(next) {
			t.Errorf("committed %v: releases %+v, want that of the second grant", committed, got.Releases)
		}
		if !r.Lane(c.ID).LeaseUntil().IsZero() {
			t.Errorf("committed %v: the lane has come to life again", committed)
		}
	}
}

// A refused renewal ends the lease at once, unless the lease has a newer grant; a confirmation of another grant changes nothing.
func TestRefusedRenewal(t *testing.T) {
	r := oneQueue(t, 3, nil)
	c := r.one()
	first, second := r.grant(c), r.grant(c)
	_, err := r.Batch("b").Start(first)
	r.must(err)
	r.must(r.Batch("b").Lease(second))
	until := r.Lane(c.ID).LeaseUntil()
	old := []politeness.Key{{Lease: c.ID, Number: first[0].Number}}
	r.must(r.Confirm(Confirmed{Refused: old}))
	r.must(r.Confirm(Confirmed{Renewed: old, Until: until.Add(time.Hour)}))
	if got := r.Lane(c.ID).LeaseUntil(); !got.Equal(until) {
		t.Errorf("it lasts until %v, not %v", got, until)
	}
	r.must(r.Confirm(Confirmed{Refused: []politeness.Key{{Lease: c.ID, Number: second[0].Number}}}))
	r.reopen()
	if got := r.Lane(c.ID).LeaseUntil(); got.After(r.clock.Now()) {
		t.Errorf("refused, it lasts until %v", got)
	}
	if got := r.next(); len(got.Renewals) != 0 {
		t.Errorf("it is to be renewed again: %+v", got.Renewals)
	}
}

// A release names the grant that it ends, and none if the claim was never started.
func TestReleasesNameGrants(t *testing.T) {
	r := oneQueue(t, 3, nil)
	c := r.one()
	grants := r.grant(c)
	_, err := r.Batch("b").Start(grants)
	r.must(err)
	r.must(r.Batch("b").GiveBack(r.clock.Now()))
	gone := r.grant(c) // granted once more, to nobody
	if got := r.next(); len(got.Releases) != 1 || got.Releases[0].Number != grants[0].Number {
		t.Errorf("releases %+v, want number %d", got.Releases, grants[0].Number)
	}
	_, err = r.Batch("b").Start(gone)
	r.must(err)
	if got := r.next(); len(got.Releases) != 1 || got.Releases[0].Number != gone[0].Number {
		t.Errorf("releases %+v, want number %d", got.Releases, gone[0].Number)
	}
}

func TestWithdraw(t *testing.T) {
	r := oneQueue(t, 2, nil)
	c := r.one()
	r.must(r.Withdraw())
	if s := r.status(); s.Asking != 1 {
		t.Fatalf("withdrawn too early: %+v", s)
	}
	r.clock.pass(DefaultLeaseWait + time.Second)
	r.reopen()
	r.must(r.Withdraw())
	got := r.next()
	if len(got.Releases) != 1 || got.Releases[0].Lease != c.ID || len(got.Claims) != 1 || got.Claims[0].ID == c.ID {
		t.Fatalf("%+v", got)
	}
	if started, err := r.Batch("late").Start(r.grant(c)); err != nil || len(started) != 0 {
		t.Fatalf("a withdrawn claim was started: %+v, %v", started, err)
	}
	r.start(got.Claims...)
	r.clock.pass(time.Hour)
	r.must(r.Withdraw())
	if s := r.status(); s.Lanes != 1 {
		t.Fatalf("a started claim was withdrawn: %+v", s)
	}
}

func TestDeadlines(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch := r.start(r.one())
	if err := r.Batch("other").Renew(); !errors.Is(err, ErrNoBatch) {
		t.Fatalf("%v", err)
	}
	r.clock.pass(DefaultClaimTTL - time.Second)
	r.must(r.Batch(batch).Renew())
	r.clock.pass(DefaultClaimTTL - time.Second)
	if got := r.next(); len(got.Expired) != 0 {
		t.Fatalf("expired in spite of being renewed: %+v", got)
	}
	r.clock.pass(2 * time.Second)
	for range 2 { // reported until something is done
		if got := r.next(); !slices.Equal(got.Expired, []string{batch}) || got.Drained {
			t.Fatalf("%+v", got)
		}
	}
	lanes, err := r.Batch(batch).Reopen([]Claim{{ID: "a.example-0"}}, nil)
	r.must(err)
	if len(lanes) != 0 {
		t.Fatalf("lanes of a claim that never was: %+v", lanes)
	}
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	if err := r.Batch(batch).Renew(); !errors.Is(err, ErrNoBatch) {
		t.Fatalf("%v", err)
	}
}

func TestLeases(t *testing.T) {
	r := oneQueue(t, 2, nil)
	c := r.one()
	r.start(c)
	until := r.Lane(c.ID).LeaseUntil()
	if !until.Equal(r.clock.Now().Add(DefaultLeaseTTL)) {
		t.Fatalf("lasts until %v", until)
	}
	if got := r.next(); len(got.Renewals) != 0 {
		t.Fatalf("renewed too early: %+v", got)
	}
	r.clock.pass(DefaultLeaseTTL/2 + time.Second)
	for range 2 {
		if got := r.next(); len(got.Renewals) != 1 || got.Renewals[0].ID != c.ID || got.Renewals[0].IP != c.IP {
			t.Fatalf("%+v", got)
		}
	}
	longer := r.clock.Now().Add(DefaultLeaseTTL)
	r.must(r.Confirm(Confirmed{Renewed: []politeness.Key{{Lease: c.ID, Number: r.number.Load()}, {Lease: "gone"}}, Until: longer}))
	r.reopen()
	if got := r.Lane(c.ID).LeaseUntil(); !got.Equal(longer) {
		t.Fatalf("lasts until %v, not %v", got, longer)
	}
	rest := r.clock.Now().Add(90*time.Second + 123*time.Millisecond)
	for range 2 { // idempotent
		r.must(r.endLane(c.ID, rest, true))
	}
	r.reopen()
	if !r.Lane(c.ID).LeaseUntil().IsZero() {
		t.Fatal("the ended lease lasts")
	}
	got := r.next()
	if len(got.Releases) != 1 || !got.Releases[0].Next.Equal(rest) || len(got.Renewals) != 0 {
		t.Fatalf("%+v", got)
	}
	r.confirm(got)
	r.reopen()
	if got := r.next(); len(got.Releases) != 0 {
		t.Fatalf("confirmed, but released again: %+v", got)
	}
	if s := r.status(); len(s.Slow) != 1 || s.Slow[0].Fails != 1 || !s.Slow[0].Next.Equal(rest) || s.Slow[0].PLD != "a.example" {
		t.Fatalf("%+v", s)
	}
}

// The end of a batch releases leases that were not released before.
func TestCommitReleasesLeases(t *testing.T) {
	r := oneQueue(t, 1, nil)
	c := r.one()
	batch := r.start(c)
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	r.reopen()
	got := r.next()
	if len(got.Releases) != 1 || got.Releases[0].Lease != c.ID || got.Drained {
		t.Fatalf("%+v", got)
	}
	r.confirm(got)
	if got := r.next(); !got.Drained {
		t.Fatalf("%+v", got)
	}
}

func TestGiveBack(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, lanes := r.take()
	asked := r.clock.Now().Add(time.Hour)
	r.must(r.endLane(lanes[0].ID, asked, false)) // the host asked for an hour
	for range 2 {
		r.must(r.Batch(batch).GiveBack(r.clock.Now().Add(time.Minute)))
	}
	if s := r.status(); s.Totals.Failed != 1 || s.Claimed != 0 || s.Waiting != 2 {
		t.Fatalf("%+v", s)
	}
	r.clock.pass(2 * time.Minute)
	if got := r.next(); len(got.Claims) != 0 {
		t.Fatalf("the host is not left alone as it asked: %+v", got)
	}
	r.clock.pass(time.Hour)
	batch, lanes = r.take()
	if len(targets(lanes...)) != 2 {
		t.Fatalf("%+v", lanes)
	}
	r.must(r.Batch(batch).GiveBack(r.clock.Now().Add(time.Minute)))
	r.reopen()
	if got := r.next(); len(got.Claims) != 0 || len(got.Releases) != 2 {
		t.Fatalf("%+v", got)
	}
	r.clock.pass(time.Minute)
	if c := r.one(); len(c.URLs) != 2 {
		t.Fatalf("%+v", c)
	}
}

const maxDelay = 45 * time.Second

func slowly(d *crawl.Definition) { d.Politeness.MaxDelay = crawl.Duration(maxDelay) }

// A lease ends with the longest pause if fetching did not report when the address may be asked again, and without a pause if fetching
// never started. The rest of a host is its own: other hosts of the address do not wait for it.
func TestReleaseOfDropped(t *testing.T) {
	owe := func(d time.Duration) func(*rig, Claim) {
		return func(r *rig, c Claim) { r.must(r.owe(c.ID, r.clock.Now().Add(d))) }
	}
	giveBack := func(r *rig, batch string) { r.must(r.Batch(batch).GiveBack(r.clock.Now())) }
	commit := func(r *rig, batch string) {
		r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	}
	empty := func(r *rig, batch string) { // others have finished all of it
		r.must(r.Commit(Commit{Batch: "late", Outcomes: []crawl.PageOutcome{done("http://a.example/0"), done("http://a.example/1")}}))
		if lanes, err := r.Batch(batch).Reopen(r.Batch(batch).Claims(), nil); err != nil || len(lanes) != 0 {
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
		{"given back, owing much", owe(time.Hour), giveBack, maxDelay},
		{"committed, owing much", owe(time.Hour), commit, maxDelay},
		{"nothing left, owing much", owe(time.Hour), empty, maxDelay},
		{"owing much, then less", func(r *rig, c Claim) { owe(time.Hour)(r, c); owe(time.Minute)(r, c) }, giveBack, maxDelay},
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
	r.must(r.Withdraw())
	for range 2 {
		if got := r.next().Releases; len(got) != 1 || got[0].Lease != claim.ID || !got[0].Next.IsZero() {
			t.Fatalf("%+v", got)
		}
		r.reopen()
	}
}

// The end that fetching reported holds: a drop does not release the lease again.
func TestReleaseOfEnded(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	batch, lanes := r.take()
	next := r.clock.Now().Add(2 * time.Second)
	r.must(r.endLane(lanes[0].ID, next, false))
	r.must(r.owe(lanes[0].ID, next.Add(time.Hour))) // too late
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	got := r.next()
	if len(got.Releases) != 1 || !got.Releases[0].Next.Equal(next) {
		t.Fatalf("%+v", got)
	}
	r.confirm(got)
	if got := r.next(); len(got.Releases) != 0 {
		t.Fatalf("released once more: %+v", got)
	}
}

// A lease that has ended, or will end before a renewal arrives, may be another's by then: it is not renewed.
func TestExpiredLeaseIsNotRenewed(t *testing.T) {
	for _, c := range []struct {
		after          time.Duration
		renewed, lasts bool
	}{
		{DefaultLeaseTTL/2 - time.Second, false, true},
		{DefaultLeaseTTL/2 + time.Second, true, true},
		{DefaultLeaseTTL - claims.RenewalTime - time.Second, true, true},
		{DefaultLeaseTTL - claims.RenewalTime, false, true},
		{DefaultLeaseTTL - time.Second, false, true}, // a renewal that was in progress
		{DefaultLeaseTTL, false, false},
		{DefaultLeaseTTL + time.Minute, false, false},
	} {
		r := oneQueue(t, 2, nil)
		claim := r.one()
		batch := r.start(claim)
		until := r.clock.Now().Add(DefaultLeaseTTL)
		r.clock.pass(c.after)
		r.must(r.Batch(batch).Renew()) // the claim lasts
		for range 2 {
			got := r.next()
			if renewed := len(got.Renewals) == 1 && got.Renewals[0].ID == claim.ID; renewed != c.renewed || len(got.Renewals) > 1 || len(got.Expired) > 0 {
				t.Fatalf("after %v: %+v", c.after, got)
			}
			r.reopen()
		}
		longer := r.clock.Now().Add(DefaultLeaseTTL)
		r.must(r.Confirm(Confirmed{Renewed: []politeness.Key{{Lease: claim.ID, Number: r.number.Load()}}, Until: longer}))
		want := until
		if c.lasts {
			want = longer
		}
		for range 2 {
			if got := r.Lane(claim.ID).LeaseUntil(); !got.Equal(want) {
				t.Fatalf("confirmed after %v, it lasts until %v, not %v", c.after, got, want)
			}
			r.reopen()
		}
		r.must(r.Confirm(Confirmed{Renewed: []politeness.Key{{Lease: claim.ID, Number: r.number.Load()}}, Until: want.Add(-time.Minute)})) // neither is it shortened
		if got := r.Lane(claim.ID).LeaseUntil(); !got.Equal(want) {
			t.Fatalf("shortened to %v", got)
		}
	}
}

// Only a new grant revives an expired lease.
func TestExpiredLeaseIsGrantedAgain(t *testing.T) {
	r := oneQueue(t, 2, nil)
	claim := r.one()
	batch := r.start(claim)
	r.clock.pass(DefaultLeaseTTL + time.Minute)
	grants := r.grant(claim)
	r.must(r.Confirm(Confirmed{Renewed: []politeness.Key{{Lease: claim.ID, Number: claim.Grant}}, Until: grants[0].Deadline}))
	r.must(r.Batch(batch).Lease(grants))
	if got := r.Lane(claim.ID).LeaseUntil(); !got.Equal(grants[0].Deadline) {
		t.Fatalf("it lasts until %v", got)
	}
}
