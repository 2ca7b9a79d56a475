package simulation

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
)

const (
	shards  = 4
	latency = 50 * time.Millisecond // of a message
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is the cluster: its clock, its web, its ring and its shards of politeness.
type world struct {
	t           testing.TB
	random      *rand.Rand
	now         time.Time
	events      events
	sites       []site
	addrs       []address
	inPartition [1024][]int32
	ring        *ring.State
	shards      [shards]*politeness.State
	workers     []*worker // those that were started, also dead ones
	exports     map[string]int
	asks        map[int32]int // waiting, by address

	pages, knownPages int
	longest           time.Duration // that a claim has waited, beyond its turn
	used, could       float64       // what is in use of what is scarce, and all of it, summed over time
	deaths            int
	refused           int // asks that were answered busy
	most              int // lanes of a worker at a time
	counts            int32
}

type event struct {
	at time.Time
	n  int
	do func()
}

type events struct {
	list []event
	n    int
}

func (e *events) Len() int { return len(e.list) }
func (e *events) Less(i, j int) bool {
	a, b := &e.list[i], &e.list[j]
	return a.at.Before(b.at) || a.at.Equal(b.at) && a.n < b.n
}
func (e *events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }
func (e *events) Push(x any)    { e.list = append(e.list, x.(event)) }
func (e *events) Pop() any {
	last := e.list[len(e.list)-1]
	e.list = e.list[:len(e.list)-1]
	return last
}

func (w *world) at(t time.Time, do func()) {
	w.events.n++
	heap.Push(&w.events, event{t, w.events.n, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now.Add(d), do) }

func (w *world) since() time.Duration { return w.now.Sub(start) }

func newWorld(t testing.TB, seed uint64, sites int, share bool) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1)), now: start, ring: ring.New(ring.DefaultLimits()), exports: map[string]int{}, asks: map[int32]int{}}
	w.sites, w.addrs = newWeb(w.random, sites, share)
	for i := range w.sites {
		p := w.sites[i].partition
		w.inPartition[p] = append(w.inPartition[p], int32(i))
	}
	for n := range w.shards {
		w.shards[n] = politeness.NewPresent(0, shards)
	}
	return w
}

// become says that a site is known to the owner of its partition.
func (w *world) become(i int32) {
	s := &w.sites[i]
	s.known = true
	w.knownPages += int(s.pages)
}

// start starts a worker, with an empty disk.
func (w *world) start(name string) *worker {
	n := len(w.workers)
	v := &worker{
		world: w, name: name, process: fmt.Sprintf("%s.%d", name, n), alive: true, schedule: queue.NewSchedule(),
		parts: map[int]map[int32]*queue.Queue{}, inProgress: map[int]int{}, asking: map[int32]int{}, claims: map[string]*claim{},
	}
	v.m = ring.NewMembership(v.name, v.process)
	w.workers = append(w.workers, v)
	v.register(0)
	v.round()
	return v
}

// watch is the timer of the ring.
func (w *world) watch() {
	w.ring.Tick(w.now)
	view := w.ring.View("")
	for _, v := range w.workers {
		if v.gone || v.alive || view.Has(v.process) {
			continue
		}
		v.gone = true // its permit has run out: what it has and asks for is free
		for n := range w.shards {
			w.serve(n, politeness.Round{Gone: []politeness.Gone{{Worker: v.process, At: w.now}}})
		}
		for _, addr := range v.blocks {
			w.addrs[addr].until = w.now.Add(politeness.DefaultRest)
		}
	}
	w.after(time.Second, w.watch)
}

func (w *worker) reaches() bool { return w.now.After(w.cut) }

// register registers until it is accepted, and beats from then on.
func (w *worker) register(waited time.Duration) {
	if !w.alive {
		return
	}
	w.ring.Tick(w.now)
	a := w.ring.Register(w.now, ring.Registration{Name: w.name, Instance: w.process, Process: w.process, Queue: w.name, Shards: shards, Waited: waited})
	switch {
	case a.Refused:
		w.t.Fatalf("%s: %s", w.since(), a.Reason)
	case a.Wait > 0:
		w.after(a.Wait, func() { w.register(waited + a.Wait) })
	default:
		w.m.Registered(w.now, a)
		w.show()
		w.beat(w.now)
	}
}

// beat is the heartbeat, as both sides see it.
func (w *worker) beat(heard time.Time) {
	view := w.ring.View(w.name)
	if me, member := view.Worker(w.name); !member || me.Process != w.process { // it was given up, or has left
		if w.m.Gone() {
			w.kill()
		} else if w.alive && w.reaches() {
			w.show()
			w.after(time.Second, func() { w.beat(heard) })
		}
		return
	}
	if w.alive && w.reaches() {
		heard = w.now
		if me, _ := view.Worker(w.name); me.Lost {
			w.register(0)
			return
		}
		w.m.Heard(w.now, w.since0())
		w.show()
	} else if w.now.Sub(heard) >= w.ring.Limits().Heartbeat {
		w.ring.Lost(w.now, w.name, w.process)
		if !w.alive {
			return
		}
	}
	w.after(4*time.Second, func() { w.beat(heard) })
}

func (w *worker) since0() uint64 {
	me, _ := w.ring.View(w.name).Worker(w.name)
	return me.Since
}

// show gives the worker the present view. Partitions that it owns without a load are empty but for what is known.
func (w *worker) show() {
	if w.ring.Epoch() == w.m.Epoch() || !w.m.Take(w.now, w.ring.View(w.name)) {
		return
	}
	w.todo = w.m.Tasks()
	for p := range 1024 {
		if w.parts[p] == nil && w.may(ring.Accept, p) { // it is its first owner
			w.parts[p] = map[int32]*queue.Queue{}
			for _, i := range w.inPartition[p] {
				if w.sites[i].parent < 0 && !w.sites[i].known {
					w.become(i)
				}
				if w.sites[i].known {
					w.learn(i)
				}
			}
		}
	}
}

func (w *world) report(v *worker, reports []ring.Report, exported bool) {
	if len(reports) == 0 || !v.alive {
		return
	}
	if !v.reaches() {
		v.after(time.Second, func() { w.report(v, reports, exported) })
		return
	}
	send := w.ring.Loaded
	if exported {
		send = w.ring.Exported
	}
	send(w.now, v.name, v.process, reports)
	for _, other := range w.workers { // every change is shown
		if other.alive && other.reaches() {
			other.show()
		}
	}
}

// kill destroys a worker with its disk.
func (w *worker) kill() {
	if !w.alive {
		return
	}
	w.alive = false
	w.deaths++
	for _, c := range w.claims {
		a := &w.addrs[w.sites[c.site].addr]
		if !c.lane {
			w.asks[w.sites[c.site].addr]--
			continue
		}
		if c.asks {
			a.busy = false
		}
		if c.ended {
			w.sites[c.site].fetched -= c.pages
		}
		w.block(w, w.sites[c.site].addr, w.now.Add(politeness.DefaultTTL+politeness.DefaultRest))
	}
}

// cutOff loses the messages of a worker until a time. Meanwhile it releases nothing.
func (w *worker) cutOff(until time.Time) {
	w.cut = until
	for _, r := range w.releases {
		w.block(w, w.addressOf(r.IP), until)
	}
	for _, c := range w.claims {
		if c.lane {
			w.block(w, w.sites[c.site].addr, until)
		}
	}
}

// block says that a lease on an address is held by a worker that is dead, or cut off.
func (w *world) block(by *worker, addr int32, until time.Time) {
	w.addrs[addr].until = until
	by.blocks = append(by.blocks, addr)
}

func (w *world) addressOf(ip string) int32 {
	i, err := strconv.Atoi(ip)
	if err != nil {
		w.t.Fatal(err)
	}
	return int32(i)
}

// links delivers the links of a site.
func (w *world) links(from *worker, s *site) {
	for child := s.first; child != 0; child = w.sites[child].next {
		if !w.sites[child].known {
			w.deliver(from, child)
		}
	}
}

// deliver takes a link to the owner of its site's partition, again and again until one accepts it.
func (w *world) deliver(from *worker, i int32) {
	if !from.alive || w.sites[i].known { // a dead worker's are delivered again by the worker that rebuilds
		return
	}
	p := int(w.sites[i].partition)
	again := func() { w.after(5*time.Second, func() { w.deliver(from, i) }) }
	view := from.m.View()
	owner, owned := view.Owner(p)
	if !from.reaches() || !owned {
		again()
		return
	}
	for _, v := range w.workers {
		if v.process != owner.Process || !v.alive || !v.reaches() {
			continue
		}
		if v.m.View().Check(ring.Accept, v.name, p, from.m.Epoch()) != nil || !v.may(ring.Accept, p) || v.parts[p] == nil {
			break
		}
		w.become(i)
		v.learn(i)
		return
	}
	again()
}

func (w *world) shardOf(ip string) int {
	return int(w.addressOf(ip)) % shards
}

func (w *world) serve(n int, r politeness.Round) {
	w.send(w.shards[n].Serve(w.now, []politeness.Round{r}))
	w.wake(n)
}

func (w *world) wake(n int) {
	if at, ok := w.shards[n].Wake(); ok {
		if at.Before(w.now.Add(latency)) {
			at = w.now.Add(latency)
		}
		w.at(at, func() {
			if due, ok := w.shards[n].Wake(); ok && !due.After(w.now) {
				w.send(w.shards[n].Tick(w.now))
				w.wake(n)
			}
		})
	}
}

func (w *world) send(answers []politeness.Answer) {
	for _, a := range answers {
		for _, v := range w.workers {
			if v.process != a.To {
				continue
			}
			for _, lease := range a.Busy {
				w.after(latency, func() { v.turnAway(lease) })
			}
			for _, g := range a.Grants {
				w.after(latency, func() { v.granted(g) })
			}
		}
	}
}

// waited notes for how long a claim waited beyond what those before it may take.
func (w *world) waited(c *claim, from time.Time) {
	if a := &w.addrs[w.sites[c.site].addr]; a.until.IsZero() { // no dead worker had it
		turn := time.Duration(c.ahead+1) * (perQueue*delay + tick + 2*latency)
		w.longest = max(w.longest, from.Sub(c.asked)-turn)
	}
}

// measure sums up how much of what is scarce is in use. If there are fewer lanes than addresses that could be asked, that is the lanes: one is in use
// while it asks, and until its pages are archived. Else it is the addresses that have pages which nobody has fetched, a living owner, and no lease of a
// dead worker: one is in use while it is asked, and until it may be asked again.
func (w *world) measure(every time.Duration) {
	room, archiving, asked, addresses := 0, 0, 0, 0
	for _, v := range w.workers {
		if v.alive {
			room += lanes
			archiving += v.archiving()
		}
	}
	view := w.ring.View("")
	var owned [1024]bool
	able := map[string]bool{} // processes that may claim
	for _, v := range w.workers {
		able[v.process] = v.alive && v.reaches()
	}
	for p := range owned {
		owner, is := view.Owner(p)
		owned[p] = is && able[owner.Process]
	}
	w.counts++
	for i := range w.sites {
		s := &w.sites[i]
		if a := &w.addrs[s.addr]; s.known && s.archived+s.fetched < s.pages && owned[s.partition] && !w.now.Before(a.until) && a.counted != w.counts {
			a.counted = w.counts
			if addresses++; a.busy || w.now.Before(a.free) {
				asked++
			}
		}
	}
	if room-archiving < addresses {
		w.used, w.could = w.used+float64(min(asked+archiving, room)), w.could+float64(room)
	} else {
		w.used, w.could = w.used+float64(asked), w.could+float64(addresses)
	}
	w.after(every, func() { w.measure(every) })
}

// run plays until all that is known is archived, or a time.
func (w *world) run(limit time.Duration) {
	for len(w.events.list) > 0 && w.since() < limit {
		if w.pages == w.knownPages && w.pages > 0 && w.reachable() {
			return
		}
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
}

// reachable reports that no link is on its way.
func (w *world) reachable() bool {
	for i := range w.sites {
		if s := &w.sites[i]; !s.known && (s.parent < 0 || w.sites[s.parent].linked) {
			return false
		}
	}
	return true
}
