package frontier

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// driver makes random operations on a rig and writes down all results. The next operation depends on the
// results, so that two rigs that differ once stay different. The order of queues is left out: the best
// priority of a queue may be overrated before a restart, and is exact after it.
type driver struct {
	*rig
	random  *rand.Rand
	log     []string
	open    []openBatch
	asking  []Claim
	gone    []openBatch // given back; a reset may reopen them
	submits int
}

type openBatch struct {
	name   string
	claims []Claim
	urls   map[string][]string
}

func newDriver(t *testing.T, seed uint64) *driver {
	random := rand.New(rand.NewPCG(seed, 1))
	updates := []string{crawl.UpdateFirst, crawl.UpdateLast, crawl.UpdateAvg, crawl.UpdateMax, crawl.UpdateSum}
	r := newRig(t, func(d *crawl.Definition) {
		d.Order.Update, d.Order.PerQueue = updates[random.IntN(len(updates))], 1+random.IntN(5)
		if random.IntN(3) == 0 {
			d.Budget.PerPLD = 5 + random.Int64N(30)
		}
	})
	d := &driver{rig: r, random: random}
	for i, err := range []error{errNoHost, errRefused} {
		r.hosts.Store(fmt.Sprintf("h%d.example", i), err)
	}
	for i := range 8 {
		r.hosts.Store(fmt.Sprintf("w%d.ravens.org", i), fmt.Sprintf("192.0.2.%d", i%3))
	}
	return d
}

// sequence is the number in a claim's ID: it shows in which order queues were claimed.
var sequence = regexp.MustCompile(`-17\d{11}"`)

func (d *driver) note(format string, args ...any) {
	d.log = append(d.log, sequence.ReplaceAllString(fmt.Sprintf(format, args...), `"`))
}

func (d *driver) urls() (list []crawl.Discovery) {
	for range 1 + d.random.IntN(12) {
		host := fmt.Sprintf("h%d.example", d.random.IntN(24)) // some queues have no URLs at times
		if d.random.IntN(3) == 0 {
			host = fmt.Sprintf("w%d.ravens.org", d.random.IntN(8))
		}
		list = append(list, found(float64(d.random.IntN(100))/100, fmt.Sprintf("http://%s/%d", host, d.random.IntN(25)))...)
	}
	return list
}

func (d *driver) pick() (b openBatch, ok bool) {
	if len(d.open) == 0 {
		return b, false
	}
	i := d.random.IntN(len(d.open))
	b = d.open[i]
	d.open = slices.Delete(d.open, i, i+1)
	return b, true
}

func (d *driver) outcome(url string) crawl.PageOutcome {
	kinds := []crawl.OutcomeKind{crawl.OutcomeDone, crawl.OutcomeDone, crawl.OutcomeDone, crawl.OutcomeUnmodified, crawl.OutcomeRobots, crawl.OutcomeFailed, crawl.OutcomeRetry, crawl.OutcomeReturned}
	o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: kinds[d.random.IntN(len(kinds))], Status: 200, Bytes: 10}, Score: float64(d.random.IntN(100)) / 100}
	if o.Kind == crawl.OutcomeRetry {
		o.After = d.clock.Now().Add(time.Duration(d.random.IntN(300)) * time.Second)
	}
	if o.Kind == crawl.OutcomeDone {
		o.Visit = crawl.Visit{ETag: "e", Digest: "sha1:" + url, URL: url, Date: d.clock.Now().Truncate(time.Second)}
	}
	return o
}

func (d *driver) soon() time.Time {
	return d.clock.Now().Add(time.Duration(d.random.IntN(120)) * time.Second)
}

// step makes one operation.
func (d *driver) step() {
	switch d.random.IntN(12) {
	case 0, 1:
		d.submits++
		d.submit(fmt.Sprint("submit-", d.submits), d.urls()...)
	case 2, 3, 4:
		round := d.next()
		byPLD := func(a, b Claim) int { return strings.Compare(a.PLD, b.PLD) }
		slices.SortFunc(round.Claims, byPLD)
		d.note("round %s", asJSON(round))
		d.asking = append(d.asking, round.Claims...)
		if d.random.IntN(2) == 0 {
			d.confirm(round)
		}
	case 5, 6:
		d.startSome()
	case 7, 8:
		b, ok := d.pick()
		if !ok {
			return
		}
		c := Commit{Batch: b.name, Discoveries: d.urls()}
		for _, l := range b.claims {
			d.must(d.endLane(l.ID, d.soon(), d.random.IntN(5) == 0))
			for _, u := range b.urls[l.ID] {
				c.Outcomes = append(c.Outcomes, d.outcome(u))
			}
		}
		for range 1 + d.random.IntN(2) { // perhaps the answer was lost
			d.must(d.Commit(c))
		}
	case 9:
		if b, ok := d.pick(); ok {
			d.must(d.Batch(b.name).GiveBack(d.soon()))
			d.gone = append(d.gone, b)
		}
	case 10:
		d.clock.pass(time.Duration(d.random.IntN(90)) * time.Second)
		d.must(d.Withdraw())
	case 11:
		if len(d.gone) > 0 {
			b := d.gone[0]
			d.gone = d.gone[1:]
			d.reopenBatch(b, b.urls)
		}
	}
}

func (d *driver) startSome() {
	if len(d.asking) == 0 {
		return
	}
	n := 1 + d.random.IntN(len(d.asking))
	d.batch++
	name := fmt.Sprint("batch-", d.batch)
	started, err := d.Batch(name).Start(d.grant(d.asking[:n]...))
	d.must(err)
	d.note("started %s", asJSON(started))
	d.asking = d.asking[n:]
	d.reopenBatch(openBatch{name: name, claims: started}, nil)
}

func (d *driver) reopenBatch(b openBatch, urls map[string][]string) {
	lanes, err := d.Batch(b.name).Reopen(b.claims, urls)
	d.must(err)
	d.note("lanes %s", asJSON(lanes))
	if len(lanes) > 0 {
		d.open = append(d.open, openBatch{b.name, bare(lanes...), known(lanes...)})
	}
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// The same operations have the same results with restarts in between, and with queues evicted from memory.
func TestRestartsChangeNothing(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			still, restless := newDriver(t, seed), newDriver(t, seed)
			still.keepIdle(1)
			for n := range 150 {
				still.step()
				restless.step()
				compare(t, n, still, restless)
				before := asJSON(restless.status())
				restless.reopen()
				if after := asJSON(restless.status()); after != before {
					t.Fatalf("step %d: the status\n%s became\n%s", n, before, after)
				}
				sound(t, restless)
			}
			if !still.crawls[testCrawl].evicted {
				t.Error("no queue was evicted")
			}
		})
	}
}

func compare(t *testing.T, n int, a, b *driver) {
	t.Helper()
	for i := range max(len(a.log), len(b.log)) {
		if i >= len(a.log) || i >= len(b.log) || a.log[i] != b.log[i] {
			t.Fatalf("step %d: without restarts\n%q\nwith them\n%q", n, a.log[i:], b.log[i:])
		}
	}
	a.log, b.log = nil, nil
	if x, y := asJSON(a.status()), asJSON(b.status()); x != y {
		t.Fatalf("step %d: without restarts\n%s\nwith them\n%s", n, x, y)
	}
}

// sound checks the invariants of a frontier.
func sound(t *testing.T, d *driver) {
	t.Helper()
	s, counts := d.status(), map[string]int{}
	for _, state := range d.states() {
		counts[state]++
	}
	if s.Waiting+s.Claimed != counts["waiting"] || s.Delayed < counts["delayed"] {
		t.Fatalf("%+v, but the records say %v", s, counts)
	}
	if s.Totals.Pages > definitionOf(t, d).Budget.Pages {
		t.Fatalf("%d pages are over the budget", s.Totals.Pages)
	}
	busy := map[uint64]string{}
	for c := range d.crawls[testCrawl].claims.All() {
		if other, twice := busy[c.Queue]; twice {
			t.Fatalf("%s and %s are claims of one queue", c.ID, other)
		}
		busy[c.Queue] = c.ID
	}
	for pld, q := range d.crawls[testCrawl].queues {
		if _, held := busy[pld]; held != q.Busy {
			t.Fatalf("%s: busy %v, held %v", q.Name, q.Busy, held)
		}
		if limit := definitionOf(t, d).Budget.PerPLD; limit > 0 && q.Done.Pages > limit {
			t.Fatalf("%s: %d pages are over the budget", q.Name, q.Done.Pages)
		}
	}
}

func definitionOf(t *testing.T, d *driver) crawl.Definition {
	t.Helper()
	p, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p.Definition
}
