package frontier

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// While an order trains or is encoded, questions are answered, and other crawls claim and commit. The next claim of the crawl itself
// uses what was learned.
func TestOthersContinueWhileAnOrderTrains(t *testing.T) {
	r := newRig(t, ofRavens)
	r.other("other")
	r.submit("seeds", found(0.5, "http://a.example/")...)
	batch := r.start(r.one())
	r.submit("more", found(0.5, "http://b.example/")...)

	training, release := make(chan struct{}), make(chan struct{})
	l := r.crawls[testCrawl].learning
	go l.Frozen(func(uint64) { close(training); <-release })
	<-training

	views := examples(1)[0]
	committed := make(chan error, 1)
	go func() {
		committed <- r.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{
			{Outcome: crawl.Outcome{URL: "http://a.example/", Kind: crawl.OutcomeDone, Status: 200}, Score: -1, PageFeatures: views, Worth: 1},
		}})
	}()
	r.eventually("the commit is on disk", r.Batch(batch).Committed)
	others := make(chan error, 1)
	own, apart := r.want(), r.want()
	go func() {
		round, err := r.Claim(t.Context(), own)
		if err == nil && len(round.Claims) != 0 {
			err = fmt.Errorf("claimed before the last page is learned: %+v", round)
		}
		if round, failed := r.Frontier.Crawl("other").Claims().Claim(t.Context(), apart); failed != nil || len(round.Claims) != 1 {
			err = errors.Join(err, failed, fmt.Errorf("claimed of the other crawl: %+v", round))
		}
		_, failed := r.Status()
		others <- errors.Join(err, failed, r.Frontier.Crawl("other").URLs().Offer("seeds", found(0.5, "http://c.example/")))
	}()
	select {
	case err := <-others:
		r.must(err)
	case <-time.After(2 * time.Minute):
		t.Fatal("another crawl waits for the training of an order")
	}
	select {
	case err := <-committed:
		t.Fatalf("the commit has returned before its update was learned: %v", err)
	default:
	}
	close(release)
	r.must(<-committed)
	l.Frozen(func(number uint64) {
		if number != 1 {
			t.Errorf("the last update that was learned is %d", number)
		}
	})
	if c := r.one(); c.PLD != "b.example" {
		t.Errorf("claimed %+v", c)
	}
}

// A crawl whose run has ended is not evicted from memory while its snapshot is written.
func TestAwakeWhileASnapshotIsWritten(t *testing.T) {
	r := newRig(t, ofRavens)
	r.must(r.Learning().Teach(nil, examples(3)))
	s := r.crawls[testCrawl]
	s.learning.Add(2, learner.Update{Visits: slices.Repeat([]order.Visit{{PageFeatures: examples(1)[0]}}, testSnapshot)})
	s.learning.Train()
	if !s.learning.Due() {
		t.Fatal("no snapshot is due")
	}
	r.must(r.End("owner"))
	l := s.learning
	asleep := func() bool {
		r.tidyUp()
		r.mu.Lock()
		defer r.mu.Unlock()
		return s.asleep
	}
	if asleep() {
		t.Error("it sleeps while its snapshot is written")
	}
	if l.Saved(); !asleep() {
		t.Error("it does not sleep")
	}
}
