package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
)

// What a worker does, as the frontier and the steps do it.
const (
	lanes      = 320                    // claims that take a lane at a time
	perRound   = 128                    // claims of a round
	perQueue   = 100                    // URLs of a claim
	waiting    = 3 * lanes              // claims that wait for their addresses beside them
	askers     = 4                      // claims of a worker that wait for one address
	leaseWait  = 2 * time.Minute        // how long a claim waits for its address
	notOurs    = 10 * time.Second       // rest of a queue that the worker may not claim from
	parkedTime = 10 * time.Minute       // rest of a queue for whose address enough claims wait, at most
	recalled   = 2                      // such queues that come back when a claim gets its lease there
	delay      = time.Second            // between two requests to an address
	exchange   = 200 * time.Millisecond // how long one takes
	tick       = 500 * time.Millisecond // between two rounds
	moving     = 5 * time.Second        // an export or a load
	closing    = 4 * time.Second        // at most, from the last exchange to the manifest, the delivery and the commit
)

// worker is one start of a worker: it owns partitions and keeps their queues.
type worker struct {
	*world
	name, process string
	alive         bool
	cut           time.Time // until when its messages are lost
	m             *ring.Membership
	schedule      *queue.Schedule
	parts         map[int]map[int32]*queue.Queue // the queues that it has, by partition and site
	inProgress    map[int]int                    // claims by partition
	asking        map[int32]int                  // by address
	busy          claims.Busy                    // addresses that it does not ask for
	claims        map[string]*claim
	serial        int
	releases      []politeness.Release // that the next round carries
	todo          []ring.Task
	counter       uint64
	blocks        []int32 // addresses on which it holds a lease, and it is dead
	gone          bool    // from the ring
}

// claim is a part of a site's queue that is in progress.
type claim struct {
	id    string
	site  int32
	pages int32
	asked time.Time
	ahead int  // leases and asks on its address when it asked
	lane  bool // it has its lease, or had it
	asks  bool // its address
	ended bool // its pages are archived
}

func (w *worker) may(act ring.Act, p int) bool { return w.m.May(w.now, act, p) }

// learn takes a site into its queue; again is of a partition that is loaded.
func (w *worker) learn(i int32) {
	s := &w.sites[i]
	p := int(s.partition)
	if w.parts[p][i] != nil {
		return
	}
	q := queue.New(uint64(i))
	q.Name = strconv.Itoa(int(i))
	for range s.pages - s.archived {
		w.counter++
		q.Add(queue.Position{Priority: uint16(w.random.IntN(1 << 16)), Counter: w.counter})
	}
	w.parts[p][i] = q
	w.schedule.Place(q, w.now)
}

// round claims, asks and releases.
func (w *worker) round() {
	if !w.alive {
		return
	}
	w.after(tick, w.round)
	w.tasks()
	if !w.reaches() {
		return
	}
	rounds := make([]politeness.Round, shards)
	for _, r := range w.releases {
		n := w.shardOf(r.IP)
		rounds[n].Releases = append(rounds[n].Releases, r)
	}
	w.releases = nil
	w.withdraw()
	taken := w.lanes()
	w.most = max(w.most, taken)
	limits := claims.Limits{Lanes: lanes, Waiting: waiting}
	line := limits.Line(len(w.claims) - taken)
	for left := min(perRound, limits.Room(taken, len(w.claims)-taken)); left > 0; { // queues that give no claim do not count
		q := w.schedule.Pop(w.now)
		if q == nil {
			break
		}
		i := int32(q.PLD)
		s := &w.sites[i]
		ip := strconv.Itoa(int(s.addr))
		if !w.may(ring.Claim, int(s.partition)) {
			q.Rest = w.now.Add(notOurs)
			w.schedule.Place(q, w.now)
			continue
		}
		if w.asking[s.addr] >= askers || w.now.Before(w.busy.Until(ip)) {
			w.schedule.Park(q, ip, w.now.Add(parkedTime), w.now)
			continue
		}
		left--
		w.serial++
		c := &claim{id: fmt.Sprintf("%s-%d", q.Name, w.serial), site: i, pages: min(perQueue, s.pages-s.archived), asked: w.now}
		q.StartRead()
		q.EndRead(queue.Read{Floor: q.Floor, After: queue.Position{Priority: q.Floor.Priority / 2}, Claim: true})
		w.schedule.Place(q, w.now)
		w.claims[c.id], w.inProgress[int(s.partition)] = c, w.inProgress[int(s.partition)]+1
		w.asking[s.addr]++
		c.ahead = w.asks[s.addr]
		w.asks[s.addr]++
		n := w.shardOf(ip)
		rounds[n].Asks = append(rounds[n].Asks, politeness.Ask{Lease: c.id, IP: ip, PerIP: 1, Crawl: "c", Worker: w.process, Reply: w.process, Host: q.Name, Permit: true, Line: line})
	}
	for n, r := range rounds {
		if len(r.Asks)+len(r.Releases) == 0 {
			continue
		}
		w.serial++
		r.From, r.Worker, r.Round = w.process, w.process, int64(w.serial)
		w.after(latency, func() { w.serve(n, r) })
	}
}

// turnAway gives a claim back whose ask was answered busy.
func (w *worker) turnAway(lease string) {
	c := w.claims[lease]
	if !w.alive || c == nil || c.lane {
		return
	}
	s := &w.sites[c.site]
	w.refused++
	w.asks[s.addr]--
	until := w.now.Add(claims.BusyAddress)
	w.busy.Note(strconv.Itoa(int(s.addr)), until, w.now)
	if q := w.parts[int(s.partition)][c.site]; q != nil {
		q.Rest = until
	}
	w.commit(c)
}

// lanes is how many claims take a lane.
func (w *worker) lanes() (n int) {
	for _, c := range w.claims {
		if c.lane {
			n++
		}
	}
	return n
}

// archiving is how many lanes have ended whose pages are being archived.
func (w *worker) archiving() (n int) {
	for _, c := range w.claims {
		if c.ended {
			n++
		}
	}
	return n
}

// withdraw gives claims back that have waited too long.
func (w *worker) withdraw() {
	for _, id := range slices.Sorted(maps.Keys(w.claims)) {
		if c := w.claims[id]; !c.lane && w.now.Sub(c.asked) > leaseWait {
			w.giveUp(c)
		}
	}
}

// giveUp gives a claim back that waits for its address.
func (w *worker) giveUp(c *claim) {
	addr := w.sites[c.site].addr
	w.releases = append(w.releases, politeness.Release{Lease: c.id, IP: strconv.Itoa(int(addr)), Crawl: "c", Worker: w.process})
	w.asks[addr]--
	w.commit(c)
	w.schedule.Recall(strconv.Itoa(int(addr)), 1, w.now)
}

// granted starts the lane of a claim.
func (w *worker) granted(g politeness.Grant) {
	c := w.claims[g.Lease]
	if !w.alive || c == nil || c.lane {
		if !w.alive { // a live worker has given it back
			w.block(w, w.addressOf(g.IP), g.Deadline.Add(politeness.DefaultRest))
		}
		return
	}
	c.lane = true
	s := &w.sites[c.site]
	w.asking[s.addr]--
	w.schedule.Recall(strconv.Itoa(int(s.addr)), recalled, w.now)
	w.asks[s.addr]--
	a := &w.addrs[s.addr]
	from := w.now
	if g.NotBefore.After(from) {
		from = g.NotBefore
	}
	w.waited(c, from)
	w.at(from, func() {
		if !w.alive {
			return
		}
		if a.busy {
			w.t.Fatalf("%s: address %d has two connections: claim %s of %s", w.since(), s.addr, c.id, w.process)
		}
		if w.now.Before(a.free) {
			w.t.Fatalf("%s: address %d is asked %s too early, by claim %s of %s", w.since(), s.addr, a.free.Sub(w.now), c.id, w.process)
		}
		a.busy, c.asks = true, true
		last := w.now.Add(time.Duration(c.pages-1) * delay)
		a.free = last.Add(delay) // of a worker that is killed, too: the lease is held for longer
		w.at(last.Add(exchange), func() { w.end(c, g) })
	})
}

// end ends a lane: its pages get a manifest, and are delivered and committed.
func (w *worker) end(c *claim, g politeness.Grant) {
	s := &w.sites[c.site]
	if !w.alive {
		return
	}
	w.addrs[s.addr].busy, c.asks, c.ended = false, false, true
	s.fetched += c.pages
	if !w.reaches() { // the release waits
		w.block(w, s.addr, w.cut)
	}
	w.releases = append(w.releases, politeness.Release{Lease: c.id, IP: g.IP, Crawl: "c", Worker: w.process, Number: g.Number, Rest: delay - exchange})
	w.after(time.Duration(w.random.Int64N(int64(closing))), func() { w.archive(c) })
}

// archive puts the manifest of a claim. Without the right to, the claim is given back.
func (w *worker) archive(c *claim) {
	if !w.alive {
		return
	}
	s := &w.sites[c.site]
	p := int(s.partition)
	if !w.may(ring.Commit, p) {
		if w.parts[p] == nil { // the partition is another's by now: it has what was not archived
			w.drop(c)
			return
		}
		w.after(5*time.Second, func() { w.archive(c) }) // the permit may come back
		return
	}
	if s.archived+c.pages > s.pages {
		w.t.Fatalf("%s: site %d: a page is archived twice, by %s", w.since(), c.site, w.process)
	}
	s.archived += c.pages
	s.linked = true
	w.pages += int(c.pages)
	w.links(w, s)
	w.commit(c)
}

func (w *worker) commit(c *claim) {
	s := &w.sites[c.site]
	if q := w.parts[int(s.partition)][c.site]; q != nil {
		q.Waiting = int(s.pages - s.archived)
		q.Next = w.now
		q.Free(true)
		w.schedule.Place(q, w.now)
	}
	w.drop(c)
}

func (w *worker) drop(c *claim) {
	if c.ended {
		w.sites[c.site].fetched -= c.pages
	}
	delete(w.claims, c.id)
	if w.inProgress[int(w.sites[c.site].partition)]--; !c.lane {
		w.asking[w.sites[c.site].addr]--
	}
}

// tasks does what the newest view asks for.
func (w *worker) tasks() {
	var left, export, load []ring.Task
	for _, task := range w.todo {
		switch p := task.Partition; task.Act {
		case ring.Export:
			if w.m.GiveBack(w.now, p) {
				w.giveBack(p)
			}
			if w.inProgress[p] > 0 {
				left = append(left, task)
			} else if w.m.StartExport(p) {
				export = append(export, task)
			}
		case ring.Load:
			load = append(load, task)
		case ring.Drop:
			w.remove(p)
		}
	}
	w.todo = left
	if len(export) > 0 {
		w.after(moving, func() { w.export(export) })
	}
	if len(load) > 0 {
		w.after(moving, func() { w.load(load) })
	}
}

// giveBack gives the claims of a partition back that wait for their address.
func (w *worker) giveBack(p int) {
	for _, id := range slices.Sorted(maps.Keys(w.claims)) {
		if c := w.claims[id]; int(w.sites[c.site].partition) == p && !c.lane {
			w.giveUp(c)
		}
	}
}

func (w *worker) remove(p int) {
	for _, q := range w.parts[p] {
		w.schedule.Remove(q)
	}
	delete(w.parts, p)
}

func (w *worker) export(tasks []ring.Task) {
	if !w.alive {
		return
	}
	var reports []ring.Report
	for _, task := range tasks {
		p := task.Partition
		key := fmt.Sprintf("%s-%d-%d", w.process, p, task.Order)
		w.exports[key] = len(w.parts[p])
		reports = append(reports, ring.Report{Partition: p, Order: task.Order, Object: key})
	}
	w.report(w, reports, true)
}

// load makes the queues of partitions: of an export, or from the archive.
func (w *worker) load(tasks []ring.Task) {
	if !w.alive {
		return
	}
	var reports []ring.Report
	for _, task := range tasks {
		p := task.Partition
		if !w.may(ring.Load, p) {
			continue
		}
		w.remove(p)
		w.parts[p] = map[int32]*queue.Queue{}
		for _, i := range w.inPartition[p] {
			s := &w.sites[i]
			if task.Object == "" && !s.known && s.parent >= 0 && w.sites[s.parent].linked { // its link stands in a segment
				w.become(i)
			}
			if s.known {
				w.learn(i)
			}
			if s.linked { // a delivery of the dead worker may be missing
				w.links(w, s)
			}
		}
		if n, exported := w.exports[task.Object]; exported && n != len(w.parts[p]) {
			w.t.Fatalf("%s: partition %d: %d queues were exported, %d are loaded", w.since(), p, n, len(w.parts[p]))
		}
		reports = append(reports, ring.Report{Partition: p, Order: task.Order})
	}
	w.report(w, reports, false)
}
