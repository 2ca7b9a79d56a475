package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// keysUnder counts the keys of each ID.
func (r *rig) keysUnder() map[uint16]int {
	r.t.Helper()
	n := map[uint16]int{}
	r.must(r.store.View(func(txn store.Reader) error {
		return txn.Keys(nil, func(key store.Key) (bool, error) {
			if store.Kind(key[0]) != store.Crawls && len(key) >= 3 {
				n[binary.BigEndian.Uint16(key[1:])]++
			}
			return true, nil
		})
	}))
	return n
}

// other begins a crawl beside that of the rig, with a few URLs and a page.
func (r *rig) other(name string) {
	r.t.Helper()
	d := definition(func(d *crawl.Definition) { d.Name = name })
	_, err := r.Begin(name, "owner", 0, d, seedsOf(d), false)
	r.must(err)
	r.must(r.Frontier.Crawl(name).URLs().Offer("s", found(0.5, "http://x.example/1", "http://x.example/2")))
	o := done("http://x.example/1")
	o.Prints = []byte{1}
	r.must(r.Frontier.Crawl(name).Commit(Commit{Batch: "b", Outcomes: []crawl.PageOutcome{o}, Sample: []byte{1}, Originals: map[string]crawl.Visit{"sha1:x": {URL: o.URL}}}))
	r.must(r.Frontier.Crawl(name).Learning().Remember([]byte("memory")))
}

// A crawl that has ended is forgotten completely, and no other crawl with it. A running crawl is not forgotten.
func TestForget(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(1, "http://a.example/")...)
	r.other("gone")
	r.other("stays")
	id := uint16(r.crawls["gone"].keys)
	if _, err := r.Forget("gone", "", false); !errors.Is(err, ErrBusy) {
		t.Fatalf("a crawl that runs: %v", err)
	}
	if _, err := r.Forget("nobody", "", false); !errors.Is(err, ErrNoCrawl) {
		t.Fatalf("a crawl that is not known: %v", err)
	}
	r.must(r.Frontier.Crawl("gone").End("owner"))
	before := r.keysUnder()
	dry, err := r.Forget("gone", "", true)
	r.must(err)
	if dry.URLs != 2 || dry.Queues != 1 || dry.Run != 1 || dry.Entries < 8 || r.keysUnder()[uint16(id)] != before[id] {
		t.Errorf("%+v, %d keys", dry, before[id])
	}
	got, err := r.Forget("gone", "", false)
	r.must(err)
	after := r.keysUnder()
	if got != dry || after[id] != 0 || r.Knows("gone") {
		t.Errorf("%+v; %d keys are left", got, after[id])
	}
	delete(before, id)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("other crawls had %v, now have %v", before, after)
	}
	r.reopen()
	if r.Knows("gone") || !r.Knows("stays") {
		t.Error("after a restart it is another")
	}
	r.other("gone")
	if s, err := r.Frontier.Crawl("gone").Status(); err != nil || s.Run != 1 || s.Totals.Known != 2 {
		t.Errorf("begun again: %+v, %v", s, err)
	}
}

// The claims of a run without a workflow are never given back. They are taken back and their leases released before the crawl is
// forgotten. Its hosts rest nevertheless, and nothing is written for the crawl afterwards.
func TestForgetAbandoned(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Politeness.MaxDelay = crawl.Duration(time.Minute) })
	r.submit("s", found(1, "http://a.example/", "http://b.example/")...)
	claims := r.next().Claims
	if len(claims) != 2 {
		t.Fatalf("%d claims", len(claims))
	}
	batch := r.start(claims[0]) // the other waits for its lease
	if got, err := r.Batches(); err != nil || fmt.Sprint(got) != fmt.Sprint([]string{batch}) {
		t.Errorf("%v, %v", got, err)
	}
	if counted, err := r.Forget(testCrawl, "", true); !errors.Is(err, ErrBusy) || counted.URLs != 2 {
		t.Errorf("of a crawl that runs is counted: %+v, %v", counted, err)
	}
	if _, err := r.Forget(testCrawl, "owner", false); !errors.Is(err, ErrBusy) {
		t.Errorf("forgotten with claims: %v", err)
	}
	if _, err := r.Abandon("another"); !errors.Is(err, ErrBusy) {
		t.Errorf("abandoned for another: %v", err)
	}
	for range 2 { // the first answer may be lost
		releases, err := r.Abandon("owner")
		r.must(err)
		if len(releases) != 2 || releases[0].Lease == releases[1].Lease {
			t.Fatalf("%+v", releases)
		}
		for _, release := range releases {
			if leased := release.Lease == claims[0].ID; leased != (release.Number > 0) || leased == release.Next.IsZero() {
				t.Errorf("%+v", release)
			}
		}
	}
	if got := r.states(); got["http://a.example/"] != "waiting" || got["http://b.example/"] != "waiting" {
		t.Errorf("%v", got)
	}
	if _, err := r.Forget(testCrawl, "another", false); !errors.Is(err, ErrBusy) {
		t.Errorf("forgotten for another: %v", err)
	}
	stale, id := r.crawls[testCrawl], r.crawls[testCrawl].keys
	if _, err := r.Forget(testCrawl, "owner", false); err != nil || r.Knows(testCrawl) || r.keysUnder()[uint16(id)] != 0 {
		t.Errorf("%v; %d keys are left", err, r.keysUnder()[uint16(id)])
	}
	err := r.update(func(tx *transaction) (func(), error) {
		r.draft(tx, stale).Totals.Links++
		return nil, nil
	})
	if !errors.Is(err, ErrBusy) {
		t.Errorf("written behind it: %v", err)
	}
	r.reopen()
	if r.Knows(testCrawl) {
		t.Error("after a restart it is there again")
	}
	r.must(r.begin("next", nil))
	r.submit("s", found(1, "http://a.example/", "http://b.example/")...)
	if got := r.next().Claims; len(got) != 1 || got[0].PLD == claims[0].PLD {
		t.Errorf("the host that was asked does not rest: %+v", got)
	}
}

// Two crawls never have the same ID. IDs of forgotten crawls are used again, and when none is left, no crawl begins.
func TestIDs(t *testing.T) {
	r := newRig(t, nil)
	used := map[store.Keys]bool{}
	r.mu.Lock()
	for i := range math.MaxUint16 - 1 {
		name := fmt.Sprint("c", i)
		id, err := r.freeID(newTransaction(store.Tx{}))
		if err != nil || id == 0 || used[id] || id == r.crawls[testCrawl].keys {
			t.Fatalf("crawl %d: %d, %v", i, id, err)
		}
		if i > 100 { // as many at once, or this takes minutes
			for id := range store.Keys(math.MaxUint16) {
				if id > 0 && r.crawls[fmt.Sprint("id", id)] == nil && !used[id] && id != r.crawls[testCrawl].keys {
					r.crawls[fmt.Sprint("id", id)] = &state{keys: id}
				}
			}
			r.crawls["last"] = &state{keys: math.MaxUint16}
			break
		}
		used[id], r.nextID = true, id+1
		r.crawls[name] = &state{keys: id}
	}
	_, err := r.freeID(newTransaction(store.Tx{}))
	if !errors.Is(err, ErrFull) {
		t.Errorf("all are used: %v", err)
	}
	delete(r.crawls, "c7")
	free, err := r.freeID(newTransaction(store.Tx{}))
	r.mu.Unlock()
	if err != nil || free == 0 || used[free] == false {
		t.Errorf("%d, %v", free, err)
	}
}

// A crawl whose run has ended is evicted from memory, and comes back unchanged: for a question, and for its next run.
func TestEndedCrawlsSleep(t *testing.T) {
	r := newRig(t, ofRavens)
	r.submit("s", found(0.5, "http://a.example/", "http://b.example/", "http://b.example/2")...)
	r.other("beside")
	r.clock.pass(time.Minute)
	before := r.status()
	r.must(r.End("owner"))
	asleep := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		s := r.crawls[testCrawl]
		return s.asleep && len(s.queues) == 0 && s.learning == nil
	}
	r.eventually("the ended crawl sleeps", func() bool { // the writer lets it sleep when it has nothing else to do
		r.must(r.Frontier.Crawl("nobody").End("owner"))
		return asleep()
	})
	if plan, err := r.Plan(); err != nil || plan.Run != 1 || !asleep() {
		t.Errorf("%+v, %v", plan, err)
	}
	if list := r.Running(); len(list) != 1 || list[0].Crawl != "beside" || list[0].Queues != 1 || list[0].Waiting != 1 {
		t.Errorf("%+v", list)
	}
	after := r.status()
	after.Active = true
	if fmt.Sprintf("%+v", after) != fmt.Sprintf("%+v", before) || asleep() {
		t.Errorf("%+v, want\n%+v", after, before)
	}
	r.tidyUp()
	r.must(r.begin("next", ofRavens))
	if asleep() || r.Learning().Order() == nil {
		t.Error("the next run has nothing in memory")
	}
	if got := r.next().Claims; len(got) != 2 {
		t.Errorf("%d claims", len(got))
	}
	r.tidyUp()
	if asleep() {
		t.Error("a crawl that runs sleeps")
	}
}
