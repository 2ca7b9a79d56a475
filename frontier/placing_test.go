package frontier

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// crowd gives a crawl so many queues, in memory alone.
func (r *rig) crowd(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.crawls[testCrawl]
	for i := range n {
		q := s.queue(uint64(i+1), fmt.Sprintf("%d.example", i))
		q.Done.Pages = 10
		s.schedule.Place(q, r.clock.Now())
	}
}

// A change of the plan that moves no queue walks over none.
func TestPlansThatMoveNoQueue(t *testing.T) {
	r := newRig(t, ofRavens)
	r.crowd(10 * placedAtOnce)
	walked := 0
	r.onPlace = func() { walked++ }
	schedule := r.crawls[testCrawl].schedule
	d := definition(ofRavens)
	d.Budget.Pages, d.Politeness.MaxDelay, d.Topic.Keywords = 7, crawl.Duration(time.Hour), []string{"crow"}
	for name, change := range map[string]func() error{
		"Phase":     func() error { return r.Phase(100, true) },
		"Configure": func() error { return r.Configure(d, 0) },
		"Teach":     func() error { return r.Learning().Teach(&topic.Model{}, examples(1)) },
		"Restored":  func() error { return r.Restored() },
		"Begin":     func() error { return r.begin("owner", ofRavens) },
		"End":       func() error { return r.End("nobody") },
	} {
		if r.must(change()); walked > 0 || r.crawls[testCrawl].schedule != schedule {
			t.Errorf("%s: %d portions of queues were walked over, or the schedule was rebuilt", name, walked)
		}
		walked = 0
	}
}

// While the queues of a crawl are placed by another plan, other crawls claim, and the crawl itself claims by the new plan.
func TestOthersClaimWhileQueuesArePlaced(t *testing.T) {
	for name, change := range map[string]func(r *rig, d crawl.Definition) error{
		"Configure": func(r *rig, d crawl.Definition) error { return r.Configure(d, 0) },
		"Begin": func(r *rig, d crawl.Definition) error {
			_, err := r.Begin(testCrawl, "next", 2, d, seedsOf(d), true)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.other("other")
			r.submit("seeds", found(0.5, "http://spent.example/1", "http://spent.example/2", "http://left.example/")...)
			r.finish(r.take())
			r.submit("more", found(0.5, "http://spent.example/3")...)
			r.crowd(100 * placedAtOnce)

			held, release := make(chan struct{}), make(chan struct{})
			var waits atomic.Bool
			r.onPlace = func() {
				if waits.CompareAndSwap(false, true) { // the first walk; the crawl's own claim makes another
					close(held)
					<-release
				}
			}
			d := definition(func(d *crawl.Definition) { d.Budget.PerPLD = 2 })
			changed := make(chan error, 1)
			go func() { changed <- change(r, d) }()
			select {
			case <-held:
			case err := <-changed:
				t.Fatalf("no queue was placed: %v", err)
			}
			apart := r.want()
			others := make(chan error, 1)
			go func() {
				round, err := r.Frontier.Crawl("other").Claims().Claim(t.Context(), apart)
				if err == nil && len(round.Claims) != 1 {
					err = fmt.Errorf("%+v", round)
				}
				others <- err
			}()
			select {
			case err := <-others:
				r.must(err)
			case <-time.After(2 * time.Minute):
				t.Fatal("another crawl waits until all queues are placed")
			}
			round := r.next()
			if spent := name == "Configure"; spent != (len(round.Claims) == 0) {
				t.Errorf("claimed %+v", round)
			}
			close(release)
			r.must(<-changed)
			r.mu.Lock()
			defer r.mu.Unlock()
			s := r.crawls[testCrawl]
			for _, q := range s.queues {
				if q.Spent != (name == "Configure" && q.Done.Pages >= 2) || q.Run != s.Run {
					t.Fatalf("%+v", q)
				}
			}
		})
	}
}

// A plan that changes while queues are placed by it, and changes back, leaves none of them placed by another.
func TestPlanChangesBackWhileQueuesArePlaced(t *testing.T) {
	r := newRig(t, nil)
	r.crowd(5 * placedAtOnce)
	plan := func(perPLD int64) crawl.Definition {
		return definition(func(d *crawl.Definition) { d.Budget.PerPLD = perPLD })
	}
	depth := 0
	r.onPlace = func() {
		if depth++; depth == 3 {
			r.onPlace = func() {
				r.onPlace = nil
				r.must(r.Configure(plan(1), 0))
			}
			r.must(r.Configure(plan(100), 0))
		}
	}
	r.must(r.Configure(plan(1), 0))
	for _, q := range r.crawls[testCrawl].queues {
		if !q.Spent {
			t.Fatalf("%+v", q)
		}
	}
}

// What a queue gave in an earlier run is not kept as of the next one, though it is written before it is placed again.
func TestQueueIsWrittenBeforeItIsPlaced(t *testing.T) {
	r := newRig(t, nil)
	r.crowd(1)
	r.mu.Lock()
	s := r.crawls[testCrawl]
	s.Run++ // as Begin leaves it before the walk
	q, _ := s.known(1)
	r.mu.Unlock()
	if q.Done.Pages != 0 || q.Run != s.Run {
		t.Errorf("%+v", q)
	}
}

// Records of queues are encoded without the lock that claims take.
func TestQueuesAreEncodedWithoutTheLock(t *testing.T) {
	r := newRig(t, nil)
	saved := 0
	r.crawls[testCrawl].onSave = func() {
		if saved++; !r.mu.TryLock() {
			t.Errorf("record %d is encoded under the lock", saved)
			return
		}
		r.mu.Unlock()
	}
	more := func(steps string, least int) {
		t.Helper()
		if saved < least {
			t.Errorf("%s: %d records of queues were encoded, at least %d expected", steps, saved, least)
		}
		saved = 0
	}
	r.submit("seeds", found(0.5, "http://a.example/", "http://b.example/")...)
	more("new queues", 2)
	batch, lanes := r.take()
	for _, l := range lanes {
		r.must(r.endLane(l.ID, r.clock.Now(), false))
	}
	more("ends of lanes", 2)
	var claims []Claim
	for _, l := range lanes {
		claims = append(claims, l.Claim)
	}
	r.must(r.Commit(Commit{Batch: batch, Rest: r.clock.Now().Add(time.Hour)}))
	more("the end of a batch that failed", 2)
	if _, err := r.Batch(batch).Reopen(claims, nil); !errors.Is(err, ErrFinished) {
		t.Fatal(err)
	}
	more("the end of rests", 2)
}
