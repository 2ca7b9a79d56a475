package frontier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// With many batches, submitters and readers at once, every URL is fetched exactly once.
func TestAllAtOnce(t *testing.T) {
	const plds, links, depth = 12, 6, 3
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 7 })
	for i := range plds {
		r.submit(fmt.Sprint("seed", i), found(0.5, fmt.Sprintf("http://h%d.example/", i))...)
	}
	var mu sync.Mutex
	fetched := map[string]int{}
	var out, helpers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	helpers.Go(func() { // a reader, and a submitter of known URLs
		for n := 0; ctx.Err() == nil; n++ {
			if _, err := r.Status(); err != nil {
				t.Error(err)
			}
			if err := r.URLs().Offer(fmt.Sprint("again", n), found(0.9, fmt.Sprintf("http://h%d.example/", n%plds))); err != nil {
				t.Error(err)
			}
		}
	})
	fetch := func(c Claim) {
		batch := "batch of " + c.ID
		started, err := r.Batch(batch).Start(r.grant(c))
		if err != nil || len(started) != 1 {
			t.Errorf("start: %d, %v", len(started), err)
			return
		}
		lanes, err := r.Batch(batch).Reopen(started, nil)
		if err != nil || len(lanes) != 1 {
			t.Errorf("reopen: %d lanes, %v", len(lanes), err)
			return
		}
		commit := Commit{Batch: batch}
		for _, target := range lanes[0].Targets {
			mu.Lock()
			fetched[target.URL]++
			seen := len(fetched)
			mu.Unlock()
			commit.Outcomes = append(commit.Outcomes, done(target.URL))
			if len(target.Path) <= depth {
				for i := range links {
					commit.Discoveries = append(commit.Discoveries, crawl.Discovery{
						URL: fmt.Sprintf("http://h%d.example/%d/%d", (seen+i)%plds, len(target.Path), i), Path: target.Path + "L", Score: float64(i) / links,
					})
				}
			}
		}
		for range 2 { // each step may be made again
			if err := errors.Join(r.Batch(batch).Renew(), r.endLane(c.ID, r.clock.Now(), false)); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if err := r.Commit(commit); err != nil {
				t.Error(err)
			}
		}
	}
	finished := time.Now().Add(2 * time.Minute)
	for {
		if time.Now().After(finished) {
			t.Fatalf("not drained in two minutes: %+v", r.status())
		}
		w := r.want()
		w.Until, w.Claims = r.clock.Now().Add(time.Second), 5
		round, err := r.Claim(ctx, w)
		r.must(err)
		r.confirm(round)
		if round.Drained {
			break
		}
		for _, c := range round.Claims {
			out.Go(func() { fetch(c) })
		}
	}
	cancel()
	out.Wait()
	helpers.Wait()
	s := r.status()
	if s.Claimed != 0 || s.Waiting != 0 || s.Lanes != 0 || s.Totals.Pages != int64(len(fetched)) {
		t.Errorf("%d fetched, but %+v", len(fetched), s)
	}
	for u, n := range fetched {
		if n != 1 {
			t.Errorf("%s was fetched %d times", u, n)
		}
	}
	for u, state := range r.states() {
		if state != "done" {
			t.Errorf("%s is %s", u, state)
		}
	}
}

// If a batch reopens its lost claim while a round reads the same queue, one of the two gets it.
func TestReopenWhileClaiming(t *testing.T) {
	r := oneQueue(t, 3, nil)
	batch, lanes := r.take()
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	var again []OpenClaim
	want := r.want()
	var once sync.Once
	want.Resolve = func(context.Context, string) (string, error) {
		once.Do(func() {
			// the round reads the queue, so the batch must not get it
			var err error
			again, err = r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
			r.must(err)
		})
		return "192.0.2.1", nil
	}
	round, err := r.Claim(t.Context(), want)
	r.must(err)
	if len(again)+len(round.Claims) != 1 {
		t.Fatalf("%d claims and %d lanes of one queue", len(round.Claims), len(again))
	}
	if s := r.status(); s.Claimed != 3 {
		t.Fatalf("%+v", s)
	}
}

// whileRead makes a round of claiming read the queue of claims that a batch has lost, and the batch reopen them meanwhile: it has found
// the queue free, and its claims are not on disk yet when the round picks the queue. Once they are, and meanwhile has returned, the
// round learns the host's address, or why it has none.
func (r *rig) whileRead(batch string, lanes []OpenClaim, why error, meanwhile func(again []OpenClaim)) (round Round) {
	r.t.Helper()
	reopening, picked, resolve := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var claiming sync.WaitGroup
	claiming.Go(func() {
		<-reopening
		want := r.want()
		want.MaxFail = 1
		want.Resolve = func(context.Context, string) (string, error) {
			close(picked)
			<-resolve
			return "192.0.2.1", why
		}
		var err error
		if round, err = r.Claim(r.t.Context(), want); err != nil {
			r.t.Error(err)
		}
	})
	var again []OpenClaim
	r.together(
		func() {
			var err error
			again, err = r.Batch(batch).Reopen(bare(lanes...), known(lanes...))
			r.must(err)
		},
		func() {
			r.eventually("the other is in the group before it", func() bool { return len(r.writes) > 0 })
			r.must(r.update(func(*transaction) (func(), error) {
				close(reopening)
				<-picked
				return nil, nil
			}))
		},
	)
	if len(again) != len(lanes) {
		r.t.Fatalf("%d of %d lanes are reopened", len(again), len(lanes))
	}
	meanwhile(again)
	close(resolve)
	claiming.Wait()
	return round
}

// A batch that reopens its lost claim while the hosts of the queue are looked up keeps its URLs, even if the look-up fails.
func TestReopenWhileUnresolved(t *testing.T) {
	r := oneQueue(t, 1, nil)
	batch, lanes := r.take()
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	var again []OpenClaim
	round := r.whileRead(batch, lanes, errNoHost, func(reopened []OpenClaim) { again = reopened })
	if state := r.states()["http://a.example/0"]; len(round.Claims) != 0 || state != "waiting" {
		t.Fatalf("%+v, and the URL that the batch fetches is %s", round, state)
	}
	r.finish(batch, again)
	if s := r.status(); s.Totals.Pages != 1 || s.Claimed != 0 || s.Waiting != 0 {
		t.Fatalf("%+v", s)
	}
}

// A batch that reopens its lost claim while a round reads the queue, and ends before the round has read it: what the round finds
// does not count any more. The queue may even have left memory and come back with a new URL: then the one that the round has in
// hand is not that of the crawl.
func TestBatchEndsWhileItsQueueIsRead(t *testing.T) {
	for _, why := range []error{nil, errNoHost, errRefused} {
		for _, evicted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, evicted %v", why, evicted), func(t *testing.T) { testBatchEndsWhileItsQueueIsRead(t, why, evicted) })
		}
	}
}

func testBatchEndsWhileItsQueueIsRead(t *testing.T, why error, evicted bool) {
	r := newRig(t, func(d *crawl.Definition) { d.Budget.PerPLD = 3 })
	if evicted {
		r.keepIdle(1)
	}
	began := r.clock.Now()
	r.clock.pass(time.Second)
	r.submit("b", found(0.5, "http://b.example/")...)
	other, lanes := r.take()
	r.must(r.endLane(lanes[0].ID, r.clock.Now().Add(time.Minute), false)) // stays in memory: the other queue has rested longer
	r.must(r.Commit(Commit{Batch: other, Outcomes: []crawl.PageOutcome{done("http://b.example/")}}))
	r.submit("a", found(0.5, "http://a.example/0")...)
	batch, lanes := r.take()
	r.must(r.Batch(batch).GiveBack(began))
	round := r.whileRead(batch, lanes, why, func(again []OpenClaim) {
		r.must(r.endLane(again[0].ID, began, false))
		r.must(r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
		if r.inMemory()["a.example"] == evicted {
			t.Fatalf("in memory are the queues of %v", r.inMemory())
		}
		r.submit("more", found(0.5, "http://a.example/1")...)
	})
	if evicted && len(round.Claims) > 0 {
		t.Errorf("the round claims %+v", round.Claims)
	}
	r.clock.pass(2 * time.Minute)
	r.submit("again", found(0.5, "http://b.example/")...) // a mutation, after which queues are evicted
	if len(round.Claims) == 0 {
		round = r.next()
	}
	if len(round.Claims) != 1 || round.Claims[0].PLD != "a.example" {
		t.Fatalf("the next round claims %+v", round.Claims)
	}
	batch = r.start(round.Claims...)
	lanes, err := r.Batch(batch).Reopen(round.Claims, nil)
	r.must(err)
	r.finish(batch, lanes)
	if list, _, err := r.URLs().Unfetched(10); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v are reported as not fetched", list, err)
	}
	r.submit("most", found(0.5, "http://a.example/2", "http://a.example/3")...)
	for {
		batch, lanes := r.take()
		if batch == "" {
			break
		}
		r.finish(batch, lanes)
	}
	s := r.status()
	if s.Totals.Pages != 4 || s.Totals.Errors != 0 || s.Claimed != 0 || s.Waiting != 1 {
		t.Errorf("%+v, want three pages of one host and one of the other, and a URL left that the budget of its host forbids", s)
	}
	r.confirm(r.drainJournal())
	before := asJSON(r.status())
	r.reopen()
	if after := asJSON(r.status()); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}

// together makes the writes that are called inside it one group.
func (r *rig) together(calls ...func()) {
	r.t.Helper()
	gate := make(chan struct{})
	var wg sync.WaitGroup
	held := make(chan struct{})
	wg.Go(func() {
		r.must(r.update(func(tx *transaction) (func(), error) {
			select {
			case <-held:
			default:
				close(held)
			}
			<-gate
			return nil, nil
		}))
	})
	<-held // the writer is busy: what comes now waits
	for _, call := range calls {
		wg.Go(call)
	}
	r.eventually("all writes wait", func() bool { return len(r.writes) == len(calls) })
	close(gate)
	wg.Wait()
}

// Writes in one group that concern the same queue have the same result as one after the other.
func TestWritesOfOneGroup(t *testing.T) {
	r := oneQueue(t, 1, nil)
	c := r.one()
	var mu sync.Mutex
	var holders []string
	var starts []func()
	for i := range 6 {
		starts = append(starts, func() {
			batch := fmt.Sprint("b", i)
			started, err := r.Batch(batch).Start(r.grant(c))
			if err != nil {
				t.Error(err)
			}
			if len(started) > 0 {
				mu.Lock()
				holders = append(holders, batch)
				mu.Unlock()
			}
		})
	}
	r.together(starts...)
	if len(holders) != 1 {
		t.Fatalf("%q hold one claim", holders)
	}
	rest := r.clock.Now().Add(time.Hour)
	r.together(
		func() { r.must(r.endLane(c.ID, rest, false)) },
		func() {
			r.must(r.Commit(Commit{Batch: holders[0], Outcomes: []crawl.PageOutcome{done("http://a.example/0")}}))
		},
		func() { r.must(r.Batch("another").GiveBack(rest)) },
	)
	before := asJSON(r.status())
	r.reopen()
	if after := asJSON(r.status()); after != before {
		t.Fatalf("%s\nbecame\n%s", before, after)
	}
	if got := r.next(); len(got.Releases) != 1 || r.crawls[testCrawl].claims.Len() != 0 {
		t.Fatalf("%+v", got)
	}
}

// The frontier waits by the injected clock, however far it is from the time of day.
func TestWaitsByItsClock(t *testing.T) {
	r := newRig(t, nil)
	for _, ahead := range []time.Duration{-100 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		r.clock.pass(ahead)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		r.must(r.wait(ctx, make(chan struct{}), r.clock.Now().Add(20*time.Millisecond)))
		cancel()
		if time.Since(began) < 20*time.Millisecond {
			t.Errorf("waited only %v", time.Since(began))
		}
	}
}
