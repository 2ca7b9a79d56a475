package frontier

import (
	"errors"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

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

// The queues of a failed batch rest, whatever the pace of their hosts. Once the batch is committed after all, only the pace of the
// hosts counts.
func TestRest(t *testing.T) {
	for _, leased := range []bool{false, true} {
		r := oneQueue(t, 2, nil)
		start := r.clock.Now()
		own, rest := start.Add(time.Hour), start.Add(3*time.Hour)
		batch, lanes := r.take()
		r.must(r.endLane(lanes[0].ID, own, false))
		r.due(own)
		r.must(r.Batch(batch).GiveBack(rest))
		r.due(rest)
		r.clock.pass(own.Sub(start))
		if got := r.next(); len(got.Claims) != 0 || got.Drained {
			t.Fatalf("claimed while it rests: %+v", got)
		}
		again, err := r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
		r.must(err)
		if len(targets(again...)) != 2 {
			t.Fatalf("%+v", again)
		}
		if leased {
			own = own.Add(time.Minute)
			r.must(r.Batch(batch).Lease(r.grant(again[0].Claim)))
			r.must(r.endLane(again[0].ID, own, false))
			r.reopen()
		}
		r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
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

// A commit ends the rest of the queue, but not a wait that the host has asked for.
func TestHostsPaceOutlastsRest(t *testing.T) {
	r := oneQueue(t, 2, nil)
	own, rest := r.clock.Now().Add(time.Hour), r.clock.Now().Add(3*time.Hour)
	batch, lanes := r.take()
	r.must(r.endLane(lanes[0].ID, own, false))
	r.must(r.Batch(batch).GiveBack(rest))
	_, err := r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
	r.must(err)
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
	r.due(own)
}

// restingBatch is a batch that was given back, whose queue rests until a time, and that was run again.
func restingBatch(t *testing.T) (r *rig, batch string, rest time.Time) {
	t.Helper()
	r = oneQueue(t, 2, nil)
	rest = r.clock.Now().Add(time.Hour)
	batch, lanes := r.take()
	r.must(r.Batch(batch).GiveBack(rest))
	_, err := r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
	r.must(err)
	return r, batch, rest
}

// Another failure does not shorten a rest, and a run of the batch without a commit does not end it.
func TestRestIsNotShortened(t *testing.T) {
	r, batch, rest := restingBatch(t)
	r.must(r.Batch(batch).GiveBack(r.clock.Now().Add(time.Minute)))
	r.due(rest)
}

// A batch that fails after it was given back, and is archived then, does not shorten the rest.
func TestRestIsNotShortenedByACommit(t *testing.T) {
	r, batch, rest := restingBatch(t)
	r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}, Rest: r.clock.Now().Add(time.Minute)}))
	r.due(rest)
}

// A batch with a page of a queue that it has no claim of, such as the target of a redirect, does not change the rest of that queue,
// however the batch ends.
func TestRestIsOfTheBatchsOwnQueues(t *testing.T) {
	bring := func(r *rig, rest time.Time) {
		r.submit("b", found(1, "http://b.example/")...)
		batch := r.start(r.claimsOf("b.example")...)
		r.must(r.Commit(Commit{Batch: batch, Rest: rest, Outcomes: []crawl.PageOutcome{done("http://b.example/"), done("http://a.example/0")}}))
	}
	r := oneQueue(t, 2, nil)
	rest := r.clock.Now().Add(time.Hour)
	batch, _ := r.take()
	r.must(r.Batch(batch).GiveBack(rest))
	bring(r, time.Time{})
	r.due(rest)
	r = oneQueue(t, 2, nil)
	bring(r, r.clock.Now().Add(time.Hour))
	for _, when := range []string{"before", "after"} {
		if s := r.status(); len(s.Slow) != 0 {
			t.Errorf("%s reopening the frontier: %+v", when, s.Slow)
		}
		r.reopen()
	}
}

// A committed batch that is run again ends the rest of its queues only if it had failed; otherwise they rest because of another batch.
func TestRestAfterAReset(t *testing.T) {
	for _, failed := range []bool{true, false} {
		r := oneQueue(t, 3, func(d *crawl.Definition) { d.Order.PerQueue = 1 })
		rest := r.clock.Now().Add(time.Hour)
		first, lanes := r.take()
		c := Commit{Batch: first, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}
		if failed {
			c.Rest = rest
		}
		r.must(r.Commit(c))
		if !failed {
			second, _ := r.take()
			r.must(r.Batch(second).GiveBack(rest))
		}
		r.due(rest)
		if _, err := r.Batch(first).Reopen(bare(lanes...), known(lanes...)); !errors.Is(err, ErrFinished) {
			t.Fatal(err)
		}
		if failed {
			r.one()
		} else {
			r.due(rest)
		}
	}
}

// claimsOf claims whatever is ready, and keeps the claims of a queue alone.
func (r *rig) claimsOf(pld string) (claims []Claim) {
	r.t.Helper()
	for _, c := range r.next().Claims {
		if c.PLD == pld {
			claims = append(claims, c)
		}
	}
	return claims
}
