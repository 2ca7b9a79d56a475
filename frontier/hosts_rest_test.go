package frontier

import (
	"context"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// twoCrawls is a rig whose host has two addresses, and a second crawl of it that finds it at the other one.
func twoCrawls(t *testing.T, edit func(*crawl.Definition)) (*rig, func() Round) {
	t.Helper()
	r := oneQueue(t, 4, edit)
	d := definition(edit)
	d.Name = "other"
	_, err := r.Begin("other", "owner", 0, d, seedsOf(d), false)
	r.must(err)
	r.must(r.Frontier.Crawl("other").URLs().Offer("s", found(1, "http://a.example/0", "http://a.example/1")))
	return r, func() Round {
		w := r.want()
		w.Resolve = func(context.Context, string) (string, error) { return "192.0.2.2", nil }
		got, err := r.Frontier.Crawl("other").Claims().Claim(t.Context(), w)
		r.must(err)
		return got
	}
}

// One claim at a time asks a host, which has one next time, over all crawls and all its addresses.
func TestHostOfTwoCrawls(t *testing.T) {
	r, other := twoCrawls(t, nil)
	claim := r.one()
	if got := other(); len(got.Claims) != 0 {
		t.Fatalf("two crawls claim a host at %s and %s", claim.IP, got.Claims[0].IP)
	}
	r.start(claim)
	r.reopen()
	if got := other(); len(got.Claims) != 0 || got.Drained {
		t.Fatalf("two crawls claim a host after reopening: %+v", got)
	}
	next := r.clock.Now().Add(10*time.Second + 123_456*time.Nanosecond)
	r.must(r.endLane(claim.ID, next, false))
	r.reopen()
	if got := other(); len(got.Claims) != 0 {
		t.Fatalf("the host is asked %s too early", next.Sub(r.clock.Now()))
	}
	r.clock.pass(10 * time.Second)
	if got := other(); len(got.Claims) != 0 {
		t.Fatalf("the host is asked %s too early", next.Sub(r.clock.Now()))
	}
	r.clock.pass(2 * time.Millisecond)
	if got := other(); len(got.Claims) != 1 || got.Claims[0].IP != "192.0.2.2" {
		t.Fatalf("%+v", got)
	}
	if len(r.Frontier.hosts.next) != 1 {
		t.Errorf("%d hosts rest", len(r.Frontier.hosts.next))
	}
	r.clock.pass(time.Hour)
	r.reopen()
	if len(r.Frontier.hosts.next) != 0 {
		t.Errorf("%d hosts rest that have rested", len(r.Frontier.hosts.next))
	}
}

// A late grant is given back if another crawl asks the host already; so is a grant that a batch asked for when it was run again.
func TestLateGrantOfAHostHeldElsewhere(t *testing.T) {
	for _, again := range []bool{false, true} {
		r, other := twoCrawls(t, nil)
		claim, batch := r.one(), "late"
		if again {
			batch = r.start(claim)
			r.must(r.endLane(claim.ID, r.clock.Now(), false))
			r.confirm(r.next())
		} else {
			r.clock.pass(DefaultLeaseWait + time.Second)
		}
		if got := other(); len(got.Claims) != 1 {
			t.Fatalf("%+v", got)
		}
		for range 2 {
			started, err := r.Batch(batch).Start(r.grant(claim))
			if err != nil || len(started) != 0 || !r.Lane(claim.ID).LeaseUntil().IsZero() {
				t.Fatalf("it is started beside another crawl's: %+v, %v", started, err)
			}
			if got := r.next(); len(got.Claims) != 0 || len(got.Releases) != 1 || got.Releases[0].Lease != claim.ID {
				t.Fatalf("%+v", got)
			}
			r.reopen()
		}
	}
}

// A crawl that was terminated holds its hosts no longer than its leases last, and the longest pause.
func TestTerminatedCrawlHoldsItsHosts(t *testing.T) {
	r, other := twoCrawls(t, slowly)
	r.start(r.one())
	r.clock.pass(DefaultLeaseTTL + maxDelay - time.Second)
	r.reopen()
	if got := other(); len(got.Claims) != 0 {
		t.Fatalf("claimed beside a lease that may have been used to the last: %+v", got)
	}
	r.clock.pass(time.Second)
	if got := other(); len(got.Claims) != 1 {
		t.Fatalf("%+v", got)
	}
}

// The Crawl-delay is state of the queue: the next claim knows it, also after a restart, and the host of a dropped claim rests for
// it.
func TestDelayIsKept(t *testing.T) {
	const delay = 80 * time.Second
	r, other := twoCrawls(t, slowly)
	claim := r.one()
	batch := r.start(claim)
	r.must(r.Lane(claim.ID).End(LaneEnd{Host: r.clock.Now().Add(delay), Delay: delay}))
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	r.clock.pass(delay)
	r.reopen()
	claim = r.one()
	if claim.Delay != delay {
		t.Fatalf("the claim knows of a delay of %s, not %s", claim.Delay, delay)
	}
	batch = r.start(claim)
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	if got := r.next().Releases; len(got) != 2 || got[1].Next.Sub(r.clock.Now()) != maxDelay {
		t.Fatalf("%+v", got)
	}
	r.reopen()
	r.clock.pass(delay - time.Second)
	if got, more := r.next(), other(); len(got.Claims)+len(more.Claims) != 0 {
		t.Fatalf("claimed too early: %+v, %+v", got, more)
	}
	r.clock.pass(time.Second)
	if got := other(); len(got.Claims) != 1 || got.Claims[0].Delay != delay {
		t.Fatalf("another crawl knows nothing of it: %+v", got)
	}
}

// After a lane was cut off, its host rests for all crawls, even if the claim is dropped.
func TestOwedByAllCrawls(t *testing.T) {
	r, other := twoCrawls(t, slowly)
	claim := r.one()
	batch := r.start(claim)
	r.must(r.Lane(claim.ID).KeepRest(LaneEnd{Host: r.clock.Now().Add(time.Hour), Delay: time.Minute}))
	r.must(r.Lane(claim.ID).KeepRest(LaneEnd{Host: r.clock.Now().Add(time.Minute)}))
	r.reopen()
	if c, _ := r.Lane(claim.ID).Claim(); c.Delay != time.Minute || c.HostNotBefore.Sub(r.clock.Now()) != time.Hour {
		t.Fatalf("%+v", c)
	}
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	r.reopen()
	for range 2 {
		if got, more := r.next(), other(); len(got.Claims)+len(more.Claims) != 0 {
			t.Fatalf("claimed too early: %+v, %+v", got, more)
		}
		r.clock.pass(59 * time.Minute)
	}
	r.clock.pass(time.Minute)
	if got := r.one(); got.Delay != time.Minute {
		t.Fatalf("%+v", got)
	}
}

// A lease that is given back while a response is read is released once, and its host stays held. When the response has ended, the
// rest of the host is reported.
func TestYield(t *testing.T) {
	r, other := twoCrawls(t, slowly)
	claim := r.one()
	batch := r.start(claim)
	next := r.clock.Now().Add(time.Second)
	until := r.clock.Now().Add(5 * time.Minute)
	for range 2 { // idempotent
		r.must(r.Lane(claim.ID).Yield(next, until))
	}
	r.reopen()
	got := r.next()
	if len(got.Releases) != 1 || !got.Releases[0].Next.Equal(next) || !r.Lane(claim.ID).LeaseUntil().IsZero() {
		t.Fatalf("the lease lasts until %s: %+v", r.Lane(claim.ID).LeaseUntil(), got)
	}
	r.confirm(got)
	r.clock.pass(4 * time.Minute)
	r.must(r.Batch(batch).Renew())
	if got, more := r.next(), other(); len(got.Claims)+len(got.Renewals)+len(more.Claims) != 0 {
		t.Fatalf("%+v, %+v", got, more)
	}
	r.must(r.endLane(claim.ID, r.clock.Now().Add(time.Minute), false))
	got = r.next()
	if more := other(); len(got.Releases) != 1 || !got.Releases[0].Next.IsZero() || len(more.Claims) != 0 { // of the host alone
		t.Fatalf("%+v, %+v", got, more)
	}
	r.clock.pass(time.Minute)
	if more := other(); len(more.Claims) != 1 {
		t.Fatalf("%+v", more)
	}
}

// A release that says how a slow answer has ended stays in the journal until it is confirmed itself: the confirmation of the one that gave the
// lease back may come later, and more than once.
func TestConfirmationOfFormerRelease(t *testing.T) {
	for _, late := range []bool{true, false} {
		r, _ := twoCrawls(t, slowly)
		claim := r.one()
		r.start(claim)
		r.must(r.Lane(claim.ID).Yield(r.clock.Now(), r.clock.Now().Add(5*time.Minute)))
		given := r.next()
		if !late {
			r.confirm(given)
		}
		r.clock.pass(time.Second)
		r.must(r.Lane(claim.ID).End(LaneEnd{Host: r.clock.Now().Add(time.Minute), Trouble: "429"}))
		r.confirm(given)
		r.reopen()
		r.confirm(given)
		ended := r.next()
		if len(ended.Releases) != 1 || ended.Releases[0].Trouble != "429" {
			t.Fatalf("late %v: %+v", late, ended.Releases)
		}
		r.confirm(ended)
		if got := r.next(); len(got.Releases) != 0 {
			t.Fatalf("late %v: %+v", late, got.Releases)
		}
	}
}

// A claim whose lease was given back has none if its batch is dropped, and gets one if its batch asks for it again.
func TestYieldedClaimOfABatchThatIsRunAgain(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	claim := r.one()
	batch := r.start(claim)
	r.must(r.Lane(claim.ID).Yield(r.clock.Now(), r.clock.Now().Add(time.Minute)))
	used := r.grant(claim)
	used[0].Number--
	r.must(r.Batch(batch).Lease(used)) // this very grant has been used
	if !r.Lane(claim.ID).LeaseUntil().IsZero() {
		t.Fatal("a grant that was used gives the lease back")
	}
	r.clock.pass(time.Second)
	r.must(r.Batch(batch).Lease(r.grant(claim)))
	if r.Lane(claim.ID).LeaseUntil().IsZero() {
		t.Fatal("it gets no lease again")
	}
	r.must(r.Lane(claim.ID).Yield(r.clock.Now(), r.clock.Now().Add(time.Minute)))
	r.confirm(r.next())
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	if got := r.next(); len(got.Releases)+len(got.Claims) != 0 {
		t.Fatalf("%+v", got)
	}
}

// The table of resting hosts has only hosts that still rest.
func TestRestedHostsAreForgotten(t *testing.T) {
	r := newRig(t, nil)
	for i := range uint64(10 * minResting) {
		r.must(r.rest(i, r.clock.Now().Add(time.Second)))
		r.clock.pass(time.Second / 10)
	}
	if n := len(r.Frontier.hosts.next); n > 2*minResting {
		t.Errorf("%d hosts are kept, of which 10 rest", n)
	}
	r.reopen()
	if n := len(r.Frontier.hosts.next); n != 9 {
		t.Errorf("%d hosts rest, want 9", n)
	}
}

// A host that another worker has asked rests for this worker, too: the lease goes back, because it must not hold the address for a
// resting host, and the host is not claimed before its time, or not for a while if the other worker may correct the time.
func TestHostThatAnotherWorkerAsked(t *testing.T) {
	r, other := twoCrawls(t, nil)
	claim := r.one()
	grants := r.grant(claim)
	grants[0].HostNotBefore = r.clock.Now().Add(time.Minute)
	if started, err := r.Batch("b").Start(grants); err != nil || len(started) != 0 {
		t.Fatalf("started: %+v, %v", started, err)
	}
	r.reopen()
	if got := r.next(); len(got.Claims) != 0 || len(got.Releases) != 1 || got.Releases[0].Lease != claim.ID {
		t.Fatalf("%+v", got)
	}
	for range 2 { // it is said again
		r.clock.pass(claims.ReportedRestTTL - time.Second)
		if got, more := r.next(), other(); len(got.Claims)+len(more.Claims) != 0 {
			t.Fatalf("claimed too early: %+v, %+v", got, more)
		}
		r.clock.pass(time.Second)
		claim = r.one()
		grants[0] = r.grant(claim)[0]
		grants[0].HostNotBefore = r.clock.Now().Add(time.Hour)
		if started, err := r.Batch("b").Start(grants); err != nil || len(started) != 0 {
			t.Fatalf("started: %+v, %v", started, err)
		}
	}
	r.clock.pass(claims.ReportedRestTTL)
	claim = r.one()
	grants = r.grant(claim)
	grants[0].HostNotBefore = r.clock.Now().Add(claims.MaxIdle)
	started, err := r.Batch("b").Start(grants)
	if err != nil || len(started) != 1 || !started[0].NotBefore.Equal(grants[0].HostNotBefore) {
		t.Fatalf("a short rest is waited out: %+v, %v", started, err)
	}
}

// A release reports the rest of a host to other workers if it is longer than that of its address. While a slow response is read, the
// host rests for the longest time that it may take; when the response has ended, the time is corrected.
func TestReleasesReportHosts(t *testing.T) {
	r := oneQueue(t, 4, nil)
	claim := r.one()
	batch := r.start(claim)
	now := r.clock.Now()
	said := func(address, host time.Duration) {
		t.Helper()
		got := r.next().Releases
		if len(got) != 1 || !got[0].Next.Equal(now.Add(address)) || got[0].Host != "a.example" || !got[0].HostNext.Equal(now.Add(host)) {
			t.Fatalf("%+v, want %s and %s", got, address, host)
		}
	}
	r.must(r.Lane(claim.ID).Yield(now.Add(time.Second), now.Add(5*time.Minute)))
	r.reopen()
	said(time.Second, 5*time.Minute)
	r.must(r.Lane(claim.ID).End(LaneEnd{Address: now.Add(time.Second), Host: now.Add(20 * time.Second)}))
	r.reopen()
	said(time.Second, 20*time.Second)
	r.confirm(r.next())
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	r.clock.pass(20 * time.Second)
	now = r.clock.Now()
	claim = r.one()
	r.start(claim)
	r.must(r.Lane(claim.ID).End(LaneEnd{Address: now.Add(time.Second), Host: now.Add(time.Second)}))
	if got := r.next().Releases; len(got) != 1 || got[0].Host != "" {
		t.Fatalf("a host that rests as its address does needs no word: %+v", got)
	}
}
