package frontier

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// plds are the PLDs of claims in the order in which they were made.
func plds(claims []Claim) (list []string) {
	for _, c := range claims {
		list = append(list, c.PLD)
	}
	return list
}

func TestBestQueueFirst(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", slices.Concat(
		found(0.2, "http://low.example/"), found(0.9, "http://high.example/"), found(0.5, "http://mid.example/"),
		found(0.1, "http://high.example/last"), found(0.95, "http://low.example/best"))...)
	r.reopen()
	got := r.next()
	if list := plds(got.Claims); !slices.Equal(list, []string{"low.example", "high.example", "mid.example"}) {
		t.Fatalf("%q", list)
	}
}

// The best URL that a queue has left decides its turn, not URLs that were claimed from it.
func TestBestIsOfWhatIsLeft(t *testing.T) {
	for _, reopen := range []bool{false, true} {
		r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 2 })
		r.submit("s", slices.Concat(
			found(0.9, "http://a.example/1", "http://a.example/2"), found(0.1, "http://a.example/3"), found(0.5, "http://b.example/"))...)
		want := r.want()
		want.Claims = 1
		got, err := r.Claim(t.Context(), want)
		r.must(err)
		batch := r.start(got.Claims...)
		if reopen {
			r.reopen()
		}
		lanes, err := r.Batch(batch).Reopen(got.Claims, nil)
		r.must(err)
		r.finish(batch, lanes)
		if list := plds(r.next().Claims); !slices.Equal(list, []string{"b.example", "a.example"}) {
			t.Errorf("reopened %v: %q", reopen, list)
		}
	}
}

// URLs that are given back are at the head of their queue again.
func TestGivenBackStandFirst(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 1 })
	r.submit("s", slices.Concat(found(0.9, "http://a.example/1"), found(0.1, "http://a.example/2"), found(0.5, "http://b.example/"))...)
	want := r.want()
	want.Claims = 1
	got, err := r.Claim(t.Context(), want)
	r.must(err)
	batch := r.start(got.Claims...)
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	if list := plds(r.next().Claims); !slices.Equal(list, []string{"a.example", "b.example"}) {
		t.Errorf("%q", list)
	}
}

func TestScoresMoveURLs(t *testing.T) {
	for update, want := range map[string][]string{ // offered: x .5, y .4; then x .1, y .45; then y .2
		crawl.UpdateFirst: {"x", "y"},
		crawl.UpdateLast:  {"y", "x"},
		crawl.UpdateAvg:   {"y", "x"},
		crawl.UpdateMax:   {"x", "y"},
		crawl.UpdateSum:   {"y", "x"},
	} {
		for _, reopen := range []bool{false, true} {
			r := newRig(t, func(d *crawl.Definition) { d.Order.Update, d.Order.PerQueue = update, 1 })
			const x, y = "http://a.example/x", "http://a.example/y"
			r.submit("1", append(found(0.5, x), found(0.4, y)...)...)
			if reopen {
				r.reopen()
			}
			r.submit("2", append(found(0.1, x), found(0.45, y)...)...)
			r.submit("3", found(0.2, y)...)
			if reopen {
				r.reopen()
			}
			for _, name := range want {
				batch, lanes := r.take()
				if got := targets(lanes...); !slices.Equal(got, []string{"http://a.example/" + name}) {
					t.Errorf("%s, reopened %v: %q, not %s", update, reopen, got, name)
				}
				r.finish(batch, lanes)
			}
			if s := r.status(); s.Totals.Pages != 2 || s.Waiting != 0 || s.Totals.Known != 2 || s.Totals.Links != 5 {
				t.Errorf("%s: %+v", update, s)
			}
		}
	}
}

// A URL may get another position while it is claimed; its outcome still removes it from its queue.
func TestMovesWhileClaimed(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, lanes := r.take()
	r.submit("again", found(1, "http://a.example/1")...)
	r.reopen()
	r.finish(batch, lanes)
	if s := r.status(); s.Waiting != 0 || s.Totals.Pages != 2 {
		t.Fatalf("%+v", s)
	}
	r.confirm(r.next())
	if got := r.next(); !got.Drained {
		t.Fatalf("%+v", got)
	}
}

// An entry that is added while a claim reads its queue is not skipped.
func TestEntryComesInWhileReading(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 1 })
	r.submit("s", append(found(1, "http://a.example/1"), found(0.2, "http://a.example/2", "http://a.example/3")...)...)
	batch, lanes := r.take()
	r.finish(batch, lanes) // the floor of the queue is still that of /1
	want := r.want()
	want.Resolve = func(ctx context.Context, host string) (string, error) {
		if host == "a.example" { // the queue has been read, the claim is not made yet
			r.submit("amid", found(0.6, "http://a.example/amid")...)
		}
		return "192.0.2.1", nil
	}
	got, err := r.Claim(t.Context(), want)
	r.must(err)
	batch = r.start(got.Claims...)
	lanes, err = r.Batch(batch).Reopen(got.Claims, nil)
	r.must(err)
	all := targets(lanes...)
	r.finish(batch, lanes)
	for range 2 {
		batch, lanes := r.take()
		all = append(all, targets(lanes...)...)
		r.finish(batch, lanes)
	}
	slices.Sort(all)
	if !slices.Equal(all, []string{"http://a.example/2", "http://a.example/3", "http://a.example/amid"}) {
		t.Fatalf("%q", all)
	}
}

// waiting starts a round that waits, and returns a channel for its result.
func (r *rig) waiting() <-chan Round {
	want := r.want()
	want.Until = r.clock.Now().Add(time.Hour)
	out := make(chan Round, 1)
	go func() {
		round, err := r.Claim(r.t.Context(), want)
		if err != nil {
			r.t.Errorf("claim: %v", err)
		}
		out <- round
	}()
	return out
}

func (r *rig) comes(out <-chan Round, why string) Round {
	r.t.Helper()
	select {
	case round := <-out:
		return round
	case <-time.After(2 * time.Minute):
		r.t.Fatalf("the claim does not wake up in two minutes: %s", why)
		return Round{}
	}
}

func TestClaimWakesUp(t *testing.T) {
	r := oneQueue(t, 1, nil)
	batch, lanes := r.take()
	out := r.waiting()
	r.submit("s", found(1, "http://b.example/")...)
	if got := r.comes(out, "submit"); !slices.Equal(plds(got.Claims), []string{"b.example"}) {
		t.Fatalf("%+v", got)
	}
	out = r.waiting()
	r.finish(batch, lanes, found(1, "http://a.example/next")...)
	got := r.comes(out, "commit")
	if len(got.Releases) == 0 && len(got.Claims) == 0 {
		t.Fatalf("%+v", got)
	}
	r.confirm(got)
}

// A round that waits for a queue looks again at the queue's time, by the injected clock.
func TestClaimWakesUpInTime(t *testing.T) {
	r := oneQueue(t, 1, nil)
	batch, _ := r.take()
	// half a second of the injected clock is half a second of the timer
	r.must(r.Batch(batch).GiveBack(r.clock.Now().Add(500 * time.Millisecond)))
	r.confirm(r.next())
	out := r.waiting()
	r.clock.pass(500 * time.Millisecond)
	if got := r.comes(out, "next time"); len(got.Claims) != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestClaimEndsWithItsContext(t *testing.T) {
	r := oneQueue(t, 0, nil)
	r.submit("s", found(1, "http://a.example/")...)
	r.take()
	ctx, cancel := context.WithCancel(t.Context())
	want := r.want()
	want.Until = r.clock.Now().Add(time.Hour)
	errs := make(chan error, 1)
	go func() {
		_, err := r.Claim(ctx, want)
		errs <- err
	}()
	cancel()
	select {
	case err := <-errs:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the claim does not end in two minutes")
	}
}

func TestManyQueuesInOrder(t *testing.T) {
	r := newRig(t, nil)
	var list []crawl.Discovery
	for i := range 300 {
		list = append(list, found(float64((i*7919)%300)/300, fmt.Sprintf("http://h%d.example/", i))...)
	}
	r.submit("s", list...)
	before := 2.0
	for range 3 {
		for _, c := range r.next().Claims {
			var i int
			_, _ = fmt.Sscanf(c.PLD, "h%d.example", &i)
			if score := float64((i*7919)%300) / 300; score > before {
				t.Fatalf("%s with %v comes after %v", c.PLD, score, before)
			} else {
				before = score
			}
		}
	}
	if s := r.status(); s.Asking != 300 || s.Waiting != 0 {
		t.Fatalf("%+v", s)
	}
}
