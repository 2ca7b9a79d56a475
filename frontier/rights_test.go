package frontier

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
)

// givenRights are rights that a test gives and takes.
type givenRights struct {
	mu     sync.Mutex
	epoch  uint64
	faults map[Partition]map[ring.Act]error // of acts in a partition; none: allowed
	since  map[Partition]uint64             // what was made before is stale

	onCheck func(ring.Act, Partition) error // comes first
}

func (g *givenRights) Epoch() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epoch
}

func (g *givenRights) Check(act ring.Act, p Partition, epoch uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.onCheck != nil {
		if err := g.onCheck(act, p); err != nil {
			return err
		}
	}
	switch {
	case g.epoch == 0:
		return ring.ErrNotNow
	case epoch < g.since[p]:
		return ring.ErrStale
	}
	return g.faults[p][act]
}

// set has acts in the partition of a PLD end with an error; nil: they are allowed.
func (g *givenRights) set(t testing.TB, pld string, err error, of ...ring.Act) {
	p := partitionOf(t, "http://"+pld+"/")
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.faults == nil {
		g.faults = map[Partition]map[ring.Act]error{}
	}
	if g.faults[p] == nil {
		g.faults[p] = map[ring.Act]error{}
	}
	for _, act := range of {
		g.faults[p][act] = err
	}
}

func (g *givenRights) againOwned(t testing.TB, pld string, epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.epoch = epoch; g.since == nil {
		g.since = map[Partition]uint64{}
	}
	g.since[partitionOf(t, "http://"+pld+"/")] = epoch
}

// newSpreadRig is a frontier with one crawl that is spread.
func newSpreadRig(t testing.TB) (*rig, *givenRights) {
	g := &givenRights{epoch: 7}
	r := newRigOf(t, g, func(d *crawl.Definition) { d.Spread = true })
	r.must(r.Crawl.Seeded(1, "owner", nil, 0)) // nobody queues seeds
	return r, g
}

func pldsOf(list []Claim) (names []string) {
	for _, c := range list {
		names = append(names, c.PLD)
	}
	slices.Sort(names)
	return names
}

var allActs = []ring.Act{ring.Claim, ring.Fetch, ring.Commit, ring.Accept}

// TestClaimsWithRights: a spread crawl claims in partitions only where the worker may, and its claims keep the epoch of their making. A crawl that is
// bound to the worker asks for no rights.
func TestClaimsWithRights(t *testing.T) {
	r, g := newSpreadRig(t)
	r.submit("s", found(1, "http://a.example/", "http://b.example/")...)
	g.set(t, "b.example", ring.ErrNotNow, ring.Claim)
	claims := r.next().Claims
	if got := pldsOf(claims); !slices.Equal(got, []string{"a.example"}) || claims[0].Epoch != 7 {
		t.Fatalf("%v are claimed, by epoch %d", got, claims[0].Epoch)
	}
	g.set(t, "b.example", nil, ring.Claim)
	g.epoch = 0
	r.clock.pass(notOurs)
	if got := r.next(); len(got.Claims) > 0 || got.Drained {
		t.Fatalf("without a permit %+v", got)
	}
	g.epoch = 9
	r.reopen()
	claims = r.next().Claims
	if got := pldsOf(claims); !slices.Equal(got, []string{"b.example"}) || claims[0].Epoch != 9 {
		t.Fatalf("%v are claimed", got)
	}

	g = &givenRights{}
	bound := newRigOf(t, g, nil)
	bound.submit("s", found(1, "http://a.example/")...)
	batch, lanes := bound.take()
	bound.finish(batch, lanes, found(1, "http://b.example/")...)
	if c := bound.one(); c.PLD != "b.example" || c.Epoch != 0 {
		t.Errorf("a bound crawl claims %+v", c)
	}
}

// TestOpenWithRights: when a batch begins to fetch, its claims in partitions that are others' by now are dropped, the others stay; while the ring does
// not answer, it waits.
func TestOpenWithRights(t *testing.T) {
	r, g := newSpreadRig(t)
	r.submit("s", found(1, "http://a.example/", "http://b.example/")...)
	claims := r.next().Claims
	batch := r.start(claims...)
	g.epoch = 0
	if _, err := r.Batch(batch).Reopen(claims, nil); !errors.Is(err, ring.ErrNotNow) || len(r.Batch(batch).Claims()) != 2 {
		t.Fatalf("without a permit: %v, %d claims", err, len(r.Batch(batch).Claims()))
	}
	g.epoch = 8
	g.againOwned(t, "b.example", 8) // it was another's for a while
	if _, err := r.Batch(batch).ReopenHeld(claims, nil); !errors.Is(err, ring.ErrNotNow) || len(r.Batch(batch).Claims()) != 2 {
		t.Fatalf("a claim that became stale unseen: %v, %d claims", err, len(r.Batch(batch).Claims()))
	}
	lanes, err := r.Batch(batch).Reopen(claims, nil)
	r.must(err)
	if got := pldsOf(r.Batch(batch).Claims()); len(lanes) != 1 || lanes[0].PLD != "a.example" || !slices.Equal(got, []string{"a.example"}) {
		t.Fatalf("%d lanes, claims of %v", len(lanes), got)
	}
	lease := func() bool { return r.Lane(lanes[0].ID).LeaseUntil().After(r.clock.Now()) }
	if has := lease(); !has {
		t.Error("the lane of the claim that stays may not ask")
	}
	if g.epoch = 0; lease() {
		t.Error("a lane may ask without a permit")
	}
	g.epoch = 8
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	g.set(t, "a.example", ring.ErrNotNow, ring.Claim)
	if lanes, err = r.Batch(batch).Reopen(claims, map[string][]string{claims[0].ID: {"http://a.example/"}}); err != nil || len(lanes) > 0 {
		t.Errorf("a partition that closes is claimed from: %d, %v", len(lanes), err)
	}
}

// TestCommitWithRights: outcomes in partitions that are others' by now are only counted, and links to other workers' partitions have to be delivered first.
func TestCommitWithRights(t *testing.T) {
	r, g := newSpreadRig(t)
	r.submit("s", found(1, "http://a.example/", "http://b.example/")...)
	batch, lanes := r.take()
	c := Commit{Batch: batch, Outcomes: []crawl.PageOutcome{done("http://a.example/"), done("http://b.example/")}}
	c.Discoveries = slices.Concat(manyLinks("x.example", 10), manyLinks("y.example", 10), manyLinks("a.example", 10))
	if len(lanes) != 2 {
		t.Fatal(targets(lanes...))
	}
	g.againOwned(t, "b.example", 8)
	g.set(t, "b.example", ring.ErrNotNow, allActs...) // it is loaded, which waits for the claim
	g.set(t, "x.example", ring.ErrStale, allActs...)
	g.set(t, "y.example", ring.ErrNotNow, allActs...)
	delivered := map[Partition]bool{}
	c.Others = func(p Partition) bool { return delivered[p] }
	for _, pld := range []string{"x.example", "y.example"} {
		if err := r.Crawl.Commit(c); !errors.Is(err, ErrUndelivered) || r.Batch(batch).Committed() {
			t.Fatalf("before links to %s are delivered: %v", pld, err)
		}
		delivered[partitionOf(t, "http://"+pld+"/")] = true
	}
	r.must(r.Crawl.Commit(c))
	s := r.status()
	if s.Totals.Pages != 2 || s.Totals.Batches != 1 || s.Totals.Known != 2+10 || len(r.Batch(batch).Claims()) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestCommitInPortions: what is delivered between two attempts of a commit moves no link from one portion to another.
func TestCommitInPortions(t *testing.T) {
	g := &givenRights{epoch: 7}
	r := newRigOf(t, g, func(d *crawl.Definition) { d.Spread, d.Order.Update = true, crawl.UpdateSum })
	var hosts []string
	c := Commit{Batch: "h.example-1@w.7"}
	for i := range 7 {
		hosts = append(hosts, fmt.Sprintf("h%d.example", i))
	}
	for i := range 2 * commitPart {
		c.Discoveries = append(c.Discoveries, found(0.5, fmt.Sprintf("http://%s/%d", hosts[i%len(hosts)], i))...)
	}
	delivered := map[Partition]bool{}
	c.Others = func(p Partition) bool { return delivered[p] }
	last := partitionOf(t, "http://h3.example/")
	asked := 0
	g.onCheck = func(act ring.Act, p Partition) error {
		if p == last && act == ring.Commit {
			if asked++; asked > 1 { // the first portion goes in, then the partition is another's
				return ring.ErrStale
			}
		}
		return nil
	}
	if err := r.Crawl.Commit(c); !errors.Is(err, ErrUndelivered) {
		t.Fatalf("%v", err)
	}
	delivered[last] = true
	r.must(r.Crawl.Commit(c))
	known := r.records(func(p Partition) bool { return p != last })
	for _, d := range c.Discoveries {
		if rec, is := known[d.URL]; partitionOf(t, d.URL) != last && (!is || !strings.Contains(rec, "Count:1 ")) {
			t.Fatalf("%s: %q", d.URL, rec)
		}
	}
}

// TestOfferWithRights: of what every worker is offered, each keeps what is its own; one that does not know yet waits.
func TestOfferWithRights(t *testing.T) {
	r, g := newSpreadRig(t)
	g.set(t, "b.example", ring.ErrStale, allActs...)
	seeds := found(1, "http://a.example/", "http://b.example/")
	r.must(r.Crawl.URLs().Offer("seeds-7", seeds))
	if got := r.waitingURLs(); !slices.Equal(got, []string{"http://a.example/"}) {
		t.Errorf("%v wait", got)
	}
	g.set(t, "b.example", ring.ErrNotNow, allActs...)
	if err := r.Crawl.URLs().Offer("seeds-8", seeds); !errors.Is(err, ring.ErrNotNow) || errors.Is(err, ErrUndelivered) {
		t.Errorf("%v", err)
	}
	for _, fault := range []error{ring.ErrStale, ring.ErrNotNow} {
		g.set(t, "b.example", fault, allActs...)
		_, err := r.Crawl.URLs().Submit("key", []Submission{{Discovery: found(1, "http://a.example/2")[0]}, {Discovery: found(1, "http://b.example/2")[0]}})
		if !errors.Is(err, ErrElsewhere) || !errors.Is(err, fault) || len(r.waitingURLs()) != 1 {
			t.Errorf("submitted: %v, and %v wait", err, r.waitingURLs())
		}
	}
}

// TestIdle: a worker has nothing to do for a crawl if nothing waits, now or later, and nothing is in progress; what was done in between shows.
func TestIdle(t *testing.T) {
	r, g := newSpreadRig(t)
	var before uint64
	check := func(when string, idle, worked bool) {
		t.Helper()
		got, err := r.Crawl.Idle()
		r.must(err)
		if got.Idle != idle || (got.Work > before) != worked || got.Work < before || got.Epoch != g.epoch {
			t.Errorf("%s: %+v, work before %d", when, got, before)
		}
		before = got.Work
	}
	check("at first", true, true)
	check("again", true, false)
	r.submit("s", found(1, "http://a.example/")...)
	check("with a URL", false, true)
	batch, _ := r.take()
	check("with a batch", false, true)
	again := crawl.PageOutcome{Outcome: crawl.Outcome{URL: "http://a.example/", Kind: crawl.OutcomeRetry, After: r.clock.Now().Add(time.Hour)}}
	r.must(r.Crawl.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{again}}))
	check("while a URL waits for its next attempt", false, false)
	r.clock.pass(2 * time.Hour)
	batch, lanes := r.take()
	r.reopen()
	check("with a batch again", false, true)
	r.finish(batch, lanes)
	check("at the end", true, false)
}

// TestNewLife: a batch that begins another life keeps its claims with their leases, over a restart, too. When it is opened then, only those are dropped that are another worker's by now. It has
// not failed. The nonce says that the batch had a life before.
func TestNewLife(t *testing.T) {
	r, g := newSpreadRig(t)
	r.submit("s", found(1, "http://a.example/", "http://b.example/")...)
	batch, lanes := r.take()
	before, err := r.Batch(batch).Life()
	r.must(err)
	leases := bare(lanes...)
	g.againOwned(t, "b.example", 8)
	r.must(r.Batch(batch).NewLife())
	r.reopen()
	after, err := r.Batch(batch).Life()
	r.must(err)
	if after.Nonce == before.Nonce || !LivedBefore(after.Nonce) || after.Archive != before.Archive || !after.Opened {
		t.Errorf("life %+v after %+v", after, before)
	}
	number := r.Batch(batch).Claims()[0].Grant
	lanes, err = r.Batch(batch).Reopen(leases, known(lanes...))
	r.must(err)
	if held := r.Batch(batch).Claims(); len(lanes) != 1 || len(held) != 1 || held[0].PLD != "a.example" || held[0].Grant != number || !r.Lane(held[0].ID).LeaseUntil().After(r.clock.Now()) {
		t.Errorf("%d lanes, claims %+v", len(lanes), held)
	}
	if life, err := r.Batch(batch).Life(); err != nil || life.Nonce != after.Nonce {
		t.Errorf("to open it makes life %+v of %+v, %v", life, after, err)
	}
	if n := r.status().Totals.Failed; n != 0 {
		t.Errorf("%d batches have failed", n)
	}
	r.must(r.Batch("another").NewLife()) // has no claims
}
