package politeness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// contest is one address that workers of several crawls want without end, second by second. A worker has a few asks in line at most; one that
// is answered busy comes back ten seconds later.
type contest struct {
	t                 *rapid.T
	random            *rand.Rand
	s                 *State
	now               time.Time
	line              int
	shortest, longest int // of a lane, seconds
	workers           []*contender
	claims            int
	holder            *contender
	lease             Grant
	ends              time.Time
}

type contender struct {
	crawl, worker string
	weight        int
	waiting       int
	out           time.Time // answered busy
	since         time.Time // the first busy answer since its last grant
	waited        time.Duration
	grants        int
}

func (c *contest) serve(r Round) {
	for _, a := range c.s.Serve(c.now, []Round{r}) {
		for _, w := range c.workers {
			if w.crawl+w.worker != a.To {
				continue
			}
			for range a.Busy {
				w.waiting--
				w.out = c.now.Add(10 * time.Second)
				if w.since.IsZero() {
					w.since = c.now
				}
			}
			for _, g := range a.Grants {
				if c.holder != nil {
					c.t.Fatalf("%s is granted while %s is held", g.Lease, c.lease.Lease)
				}
				w.waiting--
				w.grants++
				if !w.since.IsZero() {
					w.waited = max(w.waited, c.now.Sub(w.since))
				}
				w.since = time.Time{}
				c.holder, c.lease = w, g
				c.ends = c.now.Add(time.Duration(c.shortest+c.random.IntN(c.longest-c.shortest+1)) * time.Second)
			}
		}
	}
}

func (c *contest) play(seconds int) {
	for range seconds {
		c.now = c.now.Add(time.Second)
		if c.random.IntN(50) == 0 {
			c.s = copyOf(c.t, c.s)
		}
		first := c.random.IntN(len(c.workers))
		for _, w := range slices.Concat(c.workers[first:], c.workers[:first]) {
			r := Round{From: w.crawl + w.worker, Round: 1}
			if c.holder == w && !c.now.Before(c.ends) {
				c.holder = nil
				r.Releases = []Release{{Lease: c.lease.Lease, Crawl: w.crawl, Worker: w.worker, IP: "10.0.0.1", Number: c.lease.Number}}
			}
			if !c.now.Before(w.out) && w.waiting < 4 {
				c.claims++
				w.waiting++
				r.Asks = []Ask{{Lease: fmt.Sprint(c.claims), IP: "10.0.0.1", PerIP: 1, Crawl: w.crawl, Worker: w.worker, Weight: w.weight, Reply: r.From, Line: c.line}}
			}
			if len(r.Asks)+len(r.Releases) > 0 {
				c.serve(r)
			}
		}
		c.check()
	}
}

// check checks that no line is too long, and that each ask was granted, waits, or was answered busy.
func (c *contest) check() {
	stand, waiting := map[string]int{}, 0
	if a := c.s.at("10.0.0.1"); a != nil {
		for _, w := range a.waiters {
			stand[w.Crawl]++
		}
	}
	for crawl, n := range stand {
		if n > c.line {
			c.t.Fatalf("%d asks of crawl %s wait, %d may", n, crawl, c.line)
		}
	}
	for _, w := range c.workers {
		waiting += w.waiting
	}
	if held, waits, _ := c.s.Counts(); waits != waiting || held == 0 && waits > 0 {
		c.t.Fatalf("%d leases and %d asks of %d", held, waits, waiting)
	}
}

func newContest(t *rapid.T, line, shortest, longest int) *contest {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	c := &contest{t: t, random: random, s: New(0, 0), now: start, line: line, shortest: shortest, longest: longest}
	c.s.Fair, c.s.Lines = true, true
	return c
}

// However short the line: a worker that is answered busy gets the address after those that stood in line, and those that were answered so before
// it, although others ask every second.
func TestLineStarvesNoWorker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newContest(t, rapid.IntRange(2, 3).Draw(t, "line"), 1, rapid.IntRange(1, 60).Draw(t, "longest"))
		for n := range 1 + keptPlaces {
			c.workers = append(c.workers, &contender{crawl: "c", worker: fmt.Sprint(n)})
		}
		c.play(400)
		most := time.Duration((c.line+keptPlaces+1)*c.longest+10*(keptPlaces+1)+5) * time.Second
		for _, w := range c.workers {
			if !w.since.IsZero() {
				w.waited = max(w.waited, c.now.Sub(w.since))
			}
			if w.waited > most || w.grants == 0 {
				t.Fatalf("worker %s gets %d leases, and waits for %s, more than %s", w.worker, w.grants, w.waited, most)
			}
		}
	})
}

// Twenty workers, more than places are kept for, get the address about as often as each other.
func TestLineOfManyWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newContest(t, 2, 1, 5)
		for n := range 20 {
			c.workers = append(c.workers, &contender{crawl: "c", worker: fmt.Sprint(n)})
		}
		c.play(800)
		total := 0
		for _, w := range c.workers {
			total += w.grants
		}
		for _, w := range c.workers {
			if w.grants < total/20/5 {
				t.Fatalf("worker %s gets %d of %d leases", w.worker, w.grants, total)
			}
		}
	})
}

// Crawls get the address by weight, although all of them are answered busy, whatever the number of their workers.
func TestLineByWeight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newContest(t, 2, 12, 30)
		weights, total := make([]int, rapid.IntRange(2, 3).Draw(t, "crawls")), 0
		for i := range weights {
			weights[i] = rapid.IntRange(1, 4).Draw(t, "weight")
			total += weights[i]
			for n := range rapid.IntRange(1, 5).Draw(t, "workers") {
				c.workers = append(c.workers, &contender{crawl: fmt.Sprint(i), worker: fmt.Sprint(n), weight: weights[i]})
			}
		}
		c.play(1500)
		got, all := make([]int, len(weights)), 0
		for _, w := range c.workers {
			var i int
			_, _ = fmt.Sscan(w.crawl, &i)
			got[i] += w.grants
			all += w.grants
		}
		for i, n := range got {
			if want := all * weights[i] / total; n < want-want/10-4 || n > want+want/10+4 {
				t.Fatalf("%v leases for the weights %v", got, weights)
			}
		}
	})
}

// A crawl of one worker that comes to an address which nine workers of others want gets it after two grants of each other crawl at most: one, and one more of a
// crawl that had no asks for a while, see limitTurn.
func TestSmallCrawlBesideFullLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newContest(t, 2, 1, 20)
		others := rapid.IntRange(1, 3).Draw(t, "others")
		for n := range 9 {
			c.workers = append(c.workers, &contender{crawl: fmt.Sprint(n % others), worker: fmt.Sprint(n), weight: 1 + n%others})
		}
		c.play(50 + rapid.IntRange(0, 50).Draw(t, "before"))
		for _, w := range c.workers {
			w.grants = 0
		}
		small := &contender{crawl: "small", worker: "0", weight: 1}
		c.workers = append(c.workers, small)
		for small.grants == 0 {
			c.play(1)
			for n, got := range c.granted() {
				if got > 2 && small.grants == 0 {
					t.Fatalf("crawl %s gets %d leases before the small one gets its first", n, got)
				}
			}
		}
	})
}

// granted counts the leases of each crawl.
func (c *contest) granted() map[string]int {
	n := map[string]int{}
	for _, w := range c.workers {
		n[w.crawl] += w.grants
	}
	return n
}

// An address has as many places as leases, beside those that are free; asks that do not say so, and those of executions of earlier versions, wait.
func TestLineIsLong(t *testing.T) {
	for _, c := range []struct {
		name          string
		lines         bool
		line, perIP   int
		granted, busy int
	}{
		{"a line of two", true, 2, 1, 1, 7}, {"a line of two for each of two leases", true, 2, 2, 2, 4},
		{"no line is said", true, 0, 1, 1, 0}, {"an earlier execution", false, 2, 1, 1, 0},
	} {
		s := New(0, 0)
		s.Lines = c.lines
		r := Round{From: "r", Round: 1}
		for n := range 10 {
			r.Asks = append(r.Asks, Ask{Lease: fmt.Sprint(n), IP: "10.0.0.1", PerIP: c.perIP, Crawl: "c", Worker: "w", Reply: "r", Line: c.line})
		}
		for range 2 { // those that stand in line keep their places when they ask again
			a := s.Serve(start, []Round{r})[0]
			if len(a.Busy) != c.busy || len(a.Grants) != c.granted {
				t.Errorf("%s: %d are granted, %d are busy", c.name, len(a.Grants), len(a.Busy))
			}
		}
	}
}
