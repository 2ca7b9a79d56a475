package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// keepIdle bounds the queues without URLs that memory keeps.
func (r *rig) keepIdle(n int) {
	r.t.Helper()
	r.idle = n
	r.reopen()
}

// inMemory returns which queues of the crawl memory has.
func (r *rig) inMemory() (names map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names = map[string]bool{}
	for _, q := range r.crawls[testCrawl].queues {
		names[q.Name] = true
	}
	return names
}

// A queue without URLs is evicted from memory; with its next URL, what was known of its host is read again.
func TestQueuesWithoutURLsAreEvicted(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Budget.PerPLD = 2 })
	r.keepIdle(1)
	r.submit("s", found(0.5, "http://a.example/1", "http://b.example/1", "http://c.example/1", "http://d.example/1")...)
	claims := r.next().Claims
	batch := r.start(claims...)
	var outcomes []crawl.PageOutcome
	for _, c := range claims {
		outcomes = append(outcomes, done("http://"+c.PLD+"/1"))
		end := LaneEnd{Delay: 7 * time.Second, Unreachable: c.PLD == "b.example"}
		if c.PLD == "d.example" {
			end.Host = r.clock.Now().Add(time.Hour)
		}
		r.must(r.Lane(c.ID).End(end))
	}
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes}))
	if have := r.inMemory(); len(have) != 1 || !have["d.example"] {
		t.Errorf("memory has the queues %v, want the one that rests", have)
	}
	for _, restart := range []bool{false, true} {
		if restart {
			r.reopen()
		}
		for _, pld := range []string{"a.example", "b.example", "c.example", "d.example"} {
			if !r.URLs().Met(pld) {
				t.Errorf("%s is not known", pld)
			}
		}
		if r.URLs().Met("e.example") {
			t.Error("a PLD that was never met is known")
		}
		if e, err := r.URLs().Explain(parsed(t, "http://b.example/1")); err != nil || e.Fails != 1 {
			t.Errorf("%+v, %v", e, err)
		}
		if d, err := r.crawlDelay(record.KeyOf(parsed(t, "http://b.example/")).PLD); err != nil || d != 7*time.Second {
			t.Errorf("Crawl-delay %v, %v", d, err)
		}
	}
	r.submit("more", found(0.5, "http://b.example/2", "http://b.example/3")...)
	c := r.one()
	if c.PLD != "b.example" || c.Fails != 1 || c.Delay != 7*time.Second || len(c.URLs) != 1 {
		t.Errorf("%+v: one page of the two that the budget of the PLD allows was fetched before", c)
	}
	batch = r.start(c)
	lanes, err := r.Batch(batch).Reopen([]Claim{c}, nil)
	r.must(err)
	r.finish(batch, lanes)
	if e, err := r.URLs().Explain(parsed(t, "http://b.example/3")); err != nil || !e.Spent || e.Waiting != 1 || e.Fails != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	r.confirm(r.drainJournal())
	if got := r.next(); !got.Drained {
		t.Errorf("%+v", got)
	}
}

// A URL that is to be tried again comes back into a queue that was evicted.
func TestEvictedQueuesAreRecalled(t *testing.T) {
	r := newRig(t, nil)
	r.keepIdle(1)
	r.submit("s", found(0.5, "http://a.example/1", "http://b.example/1", "http://c.example/1", "http://d.example/1")...)
	claims := r.next().Claims
	batch := r.start(claims...)
	var outcomes []crawl.PageOutcome
	for _, c := range claims {
		o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: "http://" + c.PLD + "/1", Kind: crawl.OutcomeRetry, After: r.clock.Now().Add(time.Minute)}}
		outcomes = append(outcomes, o)
		r.must(r.endLane(c.ID, r.clock.Now(), false))
	}
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes}))
	if have := r.inMemory(); len(have) != 1 {
		t.Fatalf("memory has the queues %v", have)
	}
	r.clock.pass(2 * time.Minute)
	again := r.next().Claims
	if len(again) != 4 {
		t.Fatalf("%d claims", len(again))
	}
	for _, c := range again {
		if c.PLD == "" {
			t.Errorf("a queue came back without its name: %+v", c)
		}
	}
}

// A crawl with few hosts never evicts.
func TestSmallCrawlsKeepTheirQueues(t *testing.T) {
	r := newRig(t, nil)
	for i := range 50 {
		r.submit(fmt.Sprint(i), found(0.5, fmt.Sprintf("http://h%d.example/", i))...)
	}
	batch, lanes := r.take()
	r.finish(batch, lanes)
	if have := r.inMemory(); len(have) != 50 {
		t.Errorf("memory has %d queues", len(have))
	}
}
