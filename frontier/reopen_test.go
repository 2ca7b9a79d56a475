package frontier

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// known is what a spool knows of the URLs of its lanes.
func known(lanes ...OpenClaim) map[string][]string {
	m := map[string][]string{}
	for _, l := range lanes {
		m[l.ID] = targets(l)
	}
	return m
}

// bare are claims as the input of a workflow names them.
func bare(lanes ...OpenClaim) (refs []Claim) {
	for _, l := range lanes {
		refs = append(refs, Claim{ID: l.ID, PLD: l.PLD, IP: l.IP})
	}
	return refs
}

func TestReopenAfterGiveBack(t *testing.T) {
	r := oneQueue(t, 3, nil)
	batch, lanes := r.take()
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	r.reopen()
	again, err := r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
	if err != nil || len(again) != 1 || !slices.Equal(targets(again...), targets(lanes...)) || !again[0].Lease.IsZero() || !again[0].Ended {
		t.Fatalf("%+v, %v", again, err)
	}
	if got := r.next(); len(got.Claims) != 0 || got.Drained {
		t.Fatalf("the queue is claimed twice: %+v", got)
	}
	// the batch asks for its lease itself; the release of its first one must not end it
	r.must(r.Batch(batch).Lease(r.grant(again[0].Claim)))
	if got := r.next(); len(got.Releases) != 0 {
		t.Fatalf("the new lease is released: %+v", got)
	}
	r.reopen()
	if got := r.next(); len(got.Releases) != 0 || r.Lane(again[0].ID).LeaseUntil().IsZero() {
		t.Fatalf("the new lease is released: %+v", got)
	}
	r.finish(batch, again)
	if s := r.status(); s.Totals.Pages != 3 || s.Claimed != 0 || s.Waiting != 0 || s.Totals.Batches != 1 {
		t.Fatalf("%+v", s)
	}
	if _, err := r.Batch(batch).Reopen(bare(lanes...), known(lanes...)); !errors.Is(err, ErrFinished) {
		t.Fatalf("%v", err)
	}
}

func TestReopenAfterAnotherTookSome(t *testing.T) {
	r := oneQueue(t, 4, func(d *crawl.Definition) { d.Order.PerQueue = 4 })
	first, lanes := r.take()
	r.must(r.Batch(first).GiveBack(r.clock.Now()))
	r.must(r.Crawl.change(func(rec *crawlRecord) { rec.Definition.Order.PerQueue = 2 }))
	second, taken := r.take()
	if len(targets(taken...)) != 2 {
		t.Fatalf("%+v", taken)
	}
	// while the other batch is in progress, nothing is free
	again, err := r.Batch(first).Reopen(bare(lanes...), known(lanes...))
	if err != nil || len(again) != 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	r.finish(second, taken)
	again, err = r.Batch(first).Reopen(bare(lanes...), known(lanes...))
	if err != nil || !slices.Equal(targets(again...), []string{"http://a.example/2", "http://a.example/3"}) {
		t.Fatalf("%q, %v", targets(again...), err)
	}
	r.finish(first, again)
	if s := r.status(); s.Totals.Pages != 4 || s.Claimed != 0 || s.Waiting != 0 {
		t.Fatalf("%+v", s)
	}
}

// A claim must not hold its queue if others have finished all of its URLs.
func TestReopenFindsNothingLeft(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, lanes := r.take()
	r.must(r.Commit(Commit{Batch: "late", Outcomes: []crawl.PageOutcome{done("http://a.example/0"), done("http://a.example/1")}}))
	again, err := r.Batch(batch).Reopen(bare(lanes...), nil)
	if err != nil || len(again) != 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if s := r.status(); s.Claimed != 0 || s.Lanes != 0 || s.Waiting != 0 {
		t.Fatalf("%+v", s)
	}
	got := r.next()
	r.confirm(got)
	if got = r.next(); !got.Drained {
		t.Fatalf("%+v", got)
	}
	r.submit("more", found(1, "http://a.example/more")...)
	r.one()
}

// A held claim that has lost some of its URLs gives them up.
func TestReopenTrimsItsClaim(t *testing.T) {
	r := oneQueue(t, 3, nil)
	batch, lanes := r.take()
	r.must(r.Commit(Commit{Batch: "late", Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	again, err := r.Batch(batch).Reopen(bare(lanes...), nil)
	if err != nil || len(targets(again...)) != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	before := r.status()
	r.reopen()
	if after := r.status(); before.Claimed != 2 || after.Claimed != 2 || before.Waiting != 0 || after.Waiting != 0 {
		t.Fatalf("%+v, after reopening %+v", before, after)
	}
}

// The pages of a batch whose claim ran out count for their queue nevertheless.
func TestLateCommitCountsForItsQueue(t *testing.T) {
	r := oneQueue(t, 6, func(d *crawl.Definition) { d.Budget.PerPLD, d.Order.PerQueue = 4, 2 })
	batch, lanes := r.take()
	r.finish(batch, lanes)
	late, lanes := r.take()
	r.must(r.Batch(late).GiveBack(r.clock.Now()))
	outcomes := []crawl.PageOutcome{done(targets(lanes...)[0]), done(targets(lanes...)[1])}
	r.must(r.Commit(Commit{Batch: late, Outcomes: outcomes}))
	got := r.next()
	if len(got.Claims) != 0 {
		t.Fatalf("4 pages of the PLD are done, but %+v", got)
	}
	r.confirm(got)
	r.reopen()
	if got = r.next(); !got.Drained || r.status().Totals.Pages != 4 {
		t.Fatalf("%+v, %+v", got, r.status())
	}
}

func TestDelayed(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, _ := r.take()
	retry := crawl.PageOutcome{Outcome: crawl.Outcome{URL: "http://a.example/0", Kind: crawl.OutcomeRetry, After: r.clock.Now().Add(time.Minute)}, Score: -1}
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{retry, done("http://a.example/1")}}))
	if s := r.status(); s.Delayed != 1 || s.Waiting != 0 || s.Totals.Retries != 1 {
		t.Fatalf("%+v", s)
	}
	got := r.next()
	r.confirm(got)
	if got = r.next(); got.Drained || len(got.Claims) != 0 {
		t.Fatalf("%+v", got)
	}
	r.submit("again", found(1, "http://a.example/0")...) // an offer does not shorten the wait
	if got = r.next(); len(got.Claims) != 0 {
		t.Fatalf("%+v", got)
	}
	r.reopen()
	r.clock.pass(time.Minute + 2*time.Second)
	batch, lanes := r.take()
	if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/0"}) || lanes[0].Targets[0].Attempts != 1 {
		t.Fatalf("%+v", lanes)
	}
	r.finish(batch, lanes)
	if s := r.status(); s.Delayed != 0 || s.Waiting != 0 || s.Claimed != 0 {
		t.Fatalf("%+v", s)
	}
}

// A retry without a time is due at once.
func TestRetryWithoutTime(t *testing.T) {
	r := oneQueue(t, 1, nil)
	batch, _ := r.take()
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{{Outcome: crawl.Outcome{URL: "http://a.example/0", Kind: crawl.OutcomeRetry}}}}))
	r.confirm(r.next())
	if got := r.status(); got.Delayed != 0 || got.Claimed != 1 {
		t.Fatalf("%+v", got)
	}
}
