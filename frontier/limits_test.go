package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The largest allowed number of bounds bounds a scope, also after a restart.
func TestManyBounds(t *testing.T) {
	const last = "http://last.example/"
	seeds := make([]string, MaxBounds)
	for i := range seeds {
		seeds[i] = fmt.Sprintf("http://h%d.a-domain-with-a-name-of-some-length.ravens.org/", i)
	}
	seeds[MaxBounds-1] = last
	r := newRig(t, nil)
	_, err := r.Begin(testCrawl, "other", 0, definition(func(d *crawl.Definition) { d.Scope.Within = crawl.WithinHost }), seeds, true)
	r.must(err)
	r.submit("before", found(1, seeds[0])...)
	r.reopen()
	r.submit("after", found(1, last, "http://ravens.org/")...)
	if got := r.states(); len(got) != 2 || got[last] == "" {
		t.Errorf("%v", got)
	}
}

// In a new run no queue rests because of a batch of the earlier run, also after a restart.
func TestNewRunEndsRest(t *testing.T) {
	r := oneQueue(t, 2, nil)
	batch, _ := r.take()
	r.must(r.Batch(batch).GiveBack(r.clock.Now().Add(time.Hour)))
	r.must(r.End("owner"))
	r.must(r.begin("next", nil))
	if s := r.status(); len(s.Slow) != 0 {
		t.Fatalf("%+v", s)
	}
	r.reopen()
	if s := r.status(); len(s.Slow) != 0 {
		t.Fatalf("after reopening the frontier %+v", s)
	}
}

// A round that may not claim sleeps until something changes, even if a queue becomes ready.
func TestRoundThatMayNotClaimSleeps(t *testing.T) {
	for name, edit := range map[string]func(*Want){
		"held":      func(w *Want) { w.ClaimNothing = true },
		"all lanes": func(w *Want) { w.Lanes = 1 },
	} {
		r := newRig(t, nil)
		r.submit("s", append(found(1, "http://a.example/"), found(0.5, "http://b.example/1", "http://b.example/2")...)...)
		got := r.next()
		r.start(got.Claims[0])
		next := r.clock.Now().Add(time.Second)
		r.start(got.Claims[1])
		r.must(r.endLane(got.Claims[1].ID, next, false))
		r.must(r.Commit(Commit{Batch: "batch-2", Outcomes: []crawl.PageOutcome{done("http://b.example/1")}}))
		r.confirm(r.ask(func(w *Want) { w.ClaimNothing = true }))
		r.clock.pass(2 * time.Second)
		looks, began, base := 0, time.Now(), r.clock.Now()
		r.opts.Now = func() time.Time { // of the one goroutine that claims
			looks++
			return base.Add(time.Since(began))
		}
		w := r.want()
		w.Until = base.Add(50 * time.Millisecond)
		edit(&w)
		if got, err := r.Claim(t.Context(), w); err != nil || !got.empty() {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if looks > 100 {
			t.Errorf("%s: looked %d times in 50 ms", name, looks)
		}
	}
}
