package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// faultKind is what a chaos run does to a victim.
type faultKind string

const (
	faultKill    faultKind = "kill"           // SIGKILL a worker, and start it again
	faultDestroy faultKind = "destroy"        // kill a worker and delete its data folder
	faultGuest   faultKind = "add and remove" // start one more worker, and stop it by SIGTERM
	faultLost    faultKind = "add and lose"   // start one more worker, and kill it for good, with its disk
	faultTempo   faultKind = "kill Temporal"
	faultS3      faultKind = "stop S3"
	faultCut     faultKind = "cut off" // no byte passes between a worker and Temporal or S3
	faultFill    faultKind = "fill the disk"
	faultShard   faultKind = "terminate a shard" // of politeness

	// Of crawls that are spread: the ring gives the worker up meanwhile, and it comes back with its disk.
	faultAway  faultKind = "kill until it is given up"
	faultExile faultKind = "cut off until it is given up"
)

// fault is one of a chaos run. It lasts from At to At + For after the start of the run.
type fault struct {
	Kind   faultKind
	Victim string // a worker, or the number of a shard; empty if there is only one
	At     time.Duration
	For    time.Duration
}

func (f fault) String() string {
	return strings.TrimSpace(fmt.Sprintf("%v %s %s", f.At.Round(time.Millisecond), f.Kind, f.Victim)) + fmt.Sprintf(" for %v", f.For.Round(time.Millisecond))
}

func (f fault) end() time.Duration { return f.At + f.For }

// chaosPlan says what a chaos run is made of.
type chaosPlan struct {
	time  time.Duration // from the first fault to the last
	every time.Duration // a fault begins, on average
	// orderEvery is how often an operator orders something, on average; 0: never.
	orderEvery time.Duration
	hosts      int           // of the web
	pages      int           // of each host
	delay      time.Duration // least pause between two requests to an address
	workers    []string
	clocks     map[string]time.Duration // by how much the clocks of workers are fast
	shards     int                      // of politeness
	quiet      time.Duration            // without a fault of a worker before its disk is destroyed
	begun      bool                     // the first fault comes once the crawls ask for pages: a ring that changes all the time keeps them from it
	kinds      []chaosKind
	spread     int         // so many of the crawls, the first ones, are spread over the workers; each of the others is bound to one
	ring       ring.Limits // zero: the defaults
}

// chaosKind is how often a kind of fault comes, compared with others, and how long it lasts.
type chaosKind struct {
	kind        faultKind
	weight      int
	least, most time.Duration
	once        bool
}

// spreadOut is a plan with crawls that are spread over the workers: a worker can be lost for good then, and a disk be destroyed at any time.
func (p chaosPlan) spreadOut(crawls int) chaosPlan {
	p.spread, p.quiet = crawls, 0
	beat, permit := min(p.time/18, 10*time.Second), min(p.time/9, 20*time.Second) // a worker that is killed and started again waits for a heartbeat of the former process
	p.ring = ring.Limits{Heartbeat: beat, Permit: permit, Grace: permit + ring.Margin, CloseWithin: permit}
	given := p.ring.Heartbeat + p.ring.Grace
	kinds := slices.DeleteFunc(slices.Clone(p.kinds), func(k chaosKind) bool { return k.kind == faultDestroy })
	p.kinds = append([]chaosKind{ // those that last find a place first
		{kind: faultExile, least: given, most: given + p.time/9, once: true},
		{kind: faultAway, least: given, most: given + p.time/9, once: true},
		{kind: faultLost, weight: 1, least: p.time / 18, most: p.time / 3},
		{kind: faultDestroy, weight: 2, least: time.Second, most: p.time / 9},
	}, kinds...)
	return p
}

// destroyable are the workers whose disks may be destroyed: beside a crawl that is spread, not the one that a bound crawl has.
func (p chaosPlan) destroyable() []string {
	return slices.DeleteFunc(slices.Clone(p.workers), func(name string) bool { return p.spread > 0 && p.bound(name) })
}

// bound reports whether a crawl is bound to a worker.
func (p chaosPlan) bound(worker string) bool {
	i := slices.Index(p.workers, worker)
	return i >= p.spread && i < len(chaosCrawls)
}

// between is a random duration.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}

// faults chooses the faults of a run: each kind once, and then at random by weight, as far as they agree. Faults of different victims may
// come at a time.
func (p chaosPlan) faults(seed uint64) []fault {
	r := rand.New(rand.NewPCG(seed, seed))
	var list []fault
	place := func(k chaosKind) {
		for range 100 { // a kind that finds no place is left out
			f := fault{Kind: k.kind, For: between(r, k.least, k.most)}
			if f.For >= p.time {
				return
			}
			f.At = between(r, 0, p.time-f.For)
			switch k.kind {
			case faultDestroy:
				names := p.destroyable()
				f.Victim = names[r.IntN(len(names))]
			case faultKill, faultCut, faultFill, faultAway, faultExile:
				f.Victim = p.workers[r.IntN(len(p.workers))]
			case faultShard:
				f.Victim = fmt.Sprint(r.IntN(p.shards))
			}
			if f.At >= p.first(f) && !slices.ContainsFunc(list, func(g fault) bool { return p.clash(f, g) || p.clash(g, f) }) {
				list = append(list, f)
				return
			}
		}
	}
	all := 0
	for _, k := range p.kinds {
		place(k)
		if !k.once {
			all += k.weight
		}
	}
	for range int(p.time/p.every) - len(p.kinds) {
		pick := r.IntN(all)
		for _, k := range p.kinds {
			if k.once {
				continue
			}
			if pick -= k.weight; pick < 0 {
				place(k)
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b fault) int { return int(a.At - b.At) })
	return list
}

// first is the earliest moment of a fault: a disk can be destroyed once the worker has made a checkpoint.
func (p chaosPlan) first(f fault) time.Duration {
	if f.Kind == faultDestroy {
		return p.quiet
	}
	return 0
}

// clash reports whether f cannot be beside g.
func (p chaosPlan) clash(f, g fault) bool {
	overlap := f.At < g.end() && g.At < f.end()
	sameVictim := f.Victim == g.Victim
	switch f.Kind {
	case faultDestroy: // of a bound crawl takes Temporal and S3, as an operator does, and nothing that would keep the worker from its checkpoint before
		if p.spread == 0 && (g.Kind == faultTempo || g.Kind == faultS3) {
			return f.At-p.quiet < g.end() && g.At < f.end()
		}
		return sameVictim && f.At-p.quiet < g.end() && g.At < f.end()
	case faultGuest, faultLost: // one guest at a time
		return overlap && (g.Kind == faultGuest || g.Kind == faultLost)
	case faultShard:
		return overlap && (g.Kind == faultTempo || g.Kind == faultShard)
	}
	if f.Kind == faultExile && g.Kind == faultAway { // one worker of three stays at work
		return overlap
	}
	return overlap && sameVictim && (f.Kind == g.Kind || f.Victim != "")
}

// step is the start or the end of a fault.
type step struct {
	fault
	ends bool
}

func (s step) at() time.Duration {
	if s.ends {
		return s.end()
	}
	return s.At
}

// steps are the starts and ends of faults, in their order.
func steps(list []fault) (out []step) {
	for _, f := range list {
		out = append(out, step{f, false}, step{f, true})
	}
	slices.SortStableFunc(out, func(a, b step) int { return int(a.at() - b.at()) })
	return out
}

// TestChaosPlan: a seed gives the same faults and orders each time, another seed others; each kind comes; no two faults are in each other's way.
func TestChaosPlan(t *testing.T) {
	for name, p := range map[string]chaosPlan{
		"short": shortChaos, "long": longChaos, "short, one spread": shortChaos.spreadOut(1), "long, one spread": longChaos.spreadOut(1), "long, both spread": longChaos.spreadOut(2),
	} {
		seen := map[string]bool{}
		for seed := range uint64(200) {
			list, orders := p.faults(seed), p.orders(seed)
			text := fmt.Sprint(list, orders)
			if again := fmt.Sprint(p.faults(seed), p.orders(seed)); again != text {
				t.Fatalf("%s, seed %d: %s\nand then\n%s", name, seed, text, again)
			}
			if seen[text] {
				t.Errorf("%s: seed %d gives the faults of another one", name, seed)
			}
			seen[text] = true
			ordered := map[orderKind]bool{}
			for _, o := range orders {
				ordered[o.Kind] = true
			}
			if !ordered[orderSubmit] || !ordered[orderBan] || len(orders) < int(p.time/p.orderEvery)/3 || orders[len(orders)-1].At >= p.time {
				t.Errorf("%s, seed %d: orders %v", name, seed, orders)
			}
			kinds, last := map[faultKind]bool{}, time.Duration(0)
			for i, f := range list {
				kinds[f.Kind], last = true, max(last, f.end())
				for _, g := range list[:i] {
					if p.clash(f, g) || p.clash(g, f) {
						t.Errorf("%s, seed %d: %v is in the way of %v", name, seed, f, g)
					}
				}
			}
			if len(kinds) < len(p.kinds)-1 || last > p.time || len(list) < int(p.time/p.every)*2/3 {
				t.Errorf("%s, seed %d: %d faults of %d kinds, the last ends at %v: %v", name, seed, len(list), len(kinds), last, list)
			}
		}
	}
}
