package frontier

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/urls"
)

// sleep ends a crawl's run, and removes the crawl from memory.
func (r *rig) sleep(name string) {
	r.mu.Lock()
	r.crawls[name].Active = false
	r.mu.Unlock()
	r.tidyUp()
}

// A crawl whose run has ended is read from disk to answer a question. Meanwhile other crawls claim and commit, other questions about
// the crawl wait for the same reading, and changes of the crawl are not lost.
func TestReadingACrawlHoldsUpNoOther(t *testing.T) {
	r := newRig(t, ofRavens)
	r.other("ended")
	before, err := r.Frontier.Crawl("ended").Status()
	r.must(err)
	r.sleep("ended")
	var reads atomic.Int32
	begun, resume := make(chan struct{}), make(chan struct{})
	r.onLoad = func(string) {
		if reads.Add(1) == 1 {
			close(begun)
		}
		<-resume
	}
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			after, err := r.Frontier.Crawl("ended").Status() // one that comes late sees the next run
			if err != nil || after.Run == before.Run && (after.Waiting != before.Waiting || after.Queues != before.Queues) {
				t.Errorf("%+v, %v", after, err)
			}
		})
	}
	<-begun
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		r.submit("s", found(0.5, "http://a.example/", "http://b.example/")...)
		batch, lanes := r.take()
		if len(lanes) != 2 {
			t.Errorf("%d lanes", len(lanes))
		}
		r.finish(batch, lanes)
	}()
	select {
	case <-worked:
	case <-time.After(2 * time.Minute):
		t.Error("a claim waits for the reading of another crawl")
	}
	asking.Go(func() { // the crawl's next run, and URLs of it
		d := definition(nil)
		d.Name = "ended"
		if _, err := r.Begin("ended", "next", 0, d, seedsOf(d), false); err != nil {
			t.Error(err)
		}
		if err := r.Frontier.Crawl("ended").URLs().Offer("more", found(0.5, "http://y.example/")); err != nil {
			t.Error(err)
		}
	})
	close(resume)
	asking.Wait()
	if n := reads.Load(); n != 1 {
		t.Errorf("it was read %d times", n)
	}
	if s, err := r.Frontier.Crawl("ended").Status(); err != nil || s.Queues != before.Queues+1 || s.Run != before.Run+1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Hosts that rest, or that others ask, are also known to a crawl that is read from disk again.
func TestACrawlThatComesBackKnowsOfHosts(t *testing.T) {
	r := newRig(t, nil)
	r.other("ended")
	r.sleep("ended")
	r.must(r.Lane("").Rest(parsed(t, "http://x.example/"), r.clock.Now().Add(time.Hour)))
	if s, err := r.Frontier.Crawl("ended").Status(); err != nil || s.Resting != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Metrics and health checks ask for the crawls that run, every few seconds: crawls that sleep are not read for that.
func TestRunningReadsNoCrawl(t *testing.T) {
	r := newRig(t, nil)
	r.other("ended")
	r.sleep("ended")
	r.onLoad = func(name string) { t.Errorf("%s is read", name) }
	if list := r.Running(); len(list) != 1 || list[0].Crawl != testCrawl {
		t.Errorf("%+v", list)
	}
}

// The writer lets a crawl sleep between two locks of a question about it: the answer is that of the disk, not that the crawl has
// met nothing. TestRebuildBeforeBegin met this once: one URL of an ended crawl was explained with no URL waiting beside it.
func TestQuestionsAboutACrawlThatFallsAsleep(t *testing.T) {
	r := newRig(t, ofRavens)
	r.submit("s", found(0.5, "http://a.example/", "http://a.example/2")...)
	u, err := urls.Parse("http://a.example/")
	r.must(err)
	r.mu.Lock()
	s, err := r.get(testCrawl)
	r.mu.Unlock()
	r.must(err)
	r.sleep(testCrawl)
	if q, known, err := r.queueOf(s, record.KeyOf(u).PLD); err != nil || !known || q.Waiting != 2 {
		t.Errorf("%d URLs wait, known %v, %v", q.Waiting, known, err)
	}
}
