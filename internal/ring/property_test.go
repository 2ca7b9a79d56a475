package ring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestHistories plays random histories of starts, kills, lost disks, cuts of the network, leaves, and messages that are late, lost,
// repeated and out of order. At every moment at most one worker may claim in a partition, and it has all that was committed
// there; joins and leaves move no more than they may; and once nothing more happens, all partitions are owned and spread.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.IntRange(0, len(happenings)-1).Draw(t, "act"), rapid.IntRange(0, 1000).Draw(t, "which"), rapid.IntRange(0, 1000).Draw(t, "how")}
		}), 25, 200).Draw(t, "steps")
		for which := range rapid.IntRange(0, 3).Draw(t, "workers at first") {
			w.start(which, 0)
			w.round(1)
		}
		for _, s := range steps {
			t.Logf("%s: %s, %s, %d; epoch %d", w.now.Sub(start), happenings[s.act].name, w.worker(s.which).name, s.how, w.ring.epoch)
			happenings[s.act].do(w, s.which, s.how)
			w.check()
		}
		w.converge()
	})
}

type step struct{ act, which, how int }

const names = 5 // workers of a world, at most

// world is a cluster under a simulated clock: the ring, the workers, the archive, and the messages that are on their way.
type world struct {
	t       *rapid.T
	ring    *State
	now     time.Time
	workers []*simulated
	mail    []message
	serial  int
	log     [Partitions]int // commits that the archive has the segments of
	objects map[string]int  // exports: how many commits they have
}

// simulated is a worker: a name, a data folder, and a process on it.
type simulated struct {
	name, folder string
	epoch        uint64          // the last that the folder knows
	disk         [Partitions]int // commits, by partition
	skew         time.Duration   // of its clock
	alive, cut   bool
	process      string
	waited       time.Duration
	beat         time.Time // when the ring had the last message of this process
	m            *Membership
}

type message struct {
	to   string // the process that it is for; "" the ring
	what string
	take func()
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, ring: New(DefaultLimits()), now: start, objects: map[string]int{}}
	for i := range names {
		w.workers = append(w.workers, &simulated{name: fmt.Sprintf("w%d", i), folder: w.id("instance"), skew: time.Duration(i*i) * time.Minute})
	}
	return w
}

func (w *world) id(what string) string {
	w.serial++
	return fmt.Sprintf("%s%d", what, w.serial)
}

func (s *simulated) clock(w *world) time.Time { return w.now.Add(s.skew) }

func (w *world) send(to, what string, take func()) { w.mail = append(w.mail, message{to, what, take}) }

func (w *world) worker(which int) *simulated { return w.workers[which%len(w.workers)] }

// happenings are what may happen; some several times, for they are to happen more often.
var happenings = []struct {
	name string
	do   func(w *world, which, how int)
}{
	{"nothing", func(*world, int, int) {}}, // what the steps of a history that fails shrink to
	{"start", (*world).start}, {"start", (*world).start},
	{"kill", func(w *world, which, _ int) { w.worker(which).alive = false }},
	{"lose disk", func(w *world, which, how int) {
		s := w.worker(which)
		s.alive, s.folder, s.epoch, s.disk = false, w.id("instance"), 0, [Partitions]int{}
	}},
	{"cut", func(w *world, which, how int) { w.worker(which).cut = how%2 == 0 }},
	{"leave", func(w *world, which, _ int) { w.leave(w.worker(which)) }},
	{"register", func(w *world, which, _ int) { w.register(w.worker(which)) }},
	{"register", func(w *world, which, _ int) { w.register(w.worker(which)) }},
	{"show", func(w *world, which, _ int) { w.show(w.worker(which)) }}, {"show", func(w *world, which, _ int) { w.show(w.worker(which)) }},
	{"show", func(w *world, which, _ int) { w.show(w.worker(which)) }},
	{"work", func(w *world, which, how int) { w.work(w.worker(which), how) }}, {"work", func(w *world, which, how int) { w.work(w.worker(which), how) }},
	{"tasks", func(w *world, which, how int) { w.tasks(w.worker(which), how) }}, {"tasks", func(w *world, which, how int) { w.tasks(w.worker(which), how) }},
	{"tasks", func(w *world, which, how int) { w.tasks(w.worker(which), how) }},
	{"deliver", (*world).deliver}, {"deliver", (*world).deliver}, {"deliver", (*world).deliver}, {"deliver", (*world).deliver}, {"deliver", (*world).deliver},
	{"deliver all", func(w *world, _, _ int) { w.deliverAll() }},
	{"round", func(w *world, _, how int) { w.round(how) }}, {"round", func(w *world, _, how int) { w.round(how) }},
	{"lose message", func(w *world, which, _ int) {
		if len(w.mail) > 0 {
			i := which % len(w.mail)
			w.mail = slices.Delete(w.mail, i, i+1)
		}
	}},
	{"wait", func(w *world, which, _ int) { w.wait(time.Duration(which) * 50 * time.Millisecond) }},
	{"wait long", func(w *world, which, _ int) { w.wait(time.Duration(which) * 400 * time.Millisecond) }},
	{"restart", func(w *world, which, how int) {
		w.worker(which).alive = false
		w.wait(time.Duration(how) * 500 * time.Millisecond)
		w.round(how) // of the others
		w.start(which, 0)
		w.deliverAll()
	}},
	{"come back", func(w *world, which, how int) {
		s := w.worker(which)
		s.cut = true
		w.wait(time.Duration(how) * 500 * time.Millisecond)
		w.round(how) // of the others
		w.check()
		s.cut = false
		w.register(s)
	}},
	{"carry over", func(w *world, _, _ int) { w.ring = carried(w.t, w.ring) }},
}

func carried(t rapid.TB, s *State) *State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := &State{}
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	return again
}

func (w *world) start(which, _ int) {
	s := w.worker(which)
	if s.alive {
		return
	}
	s.alive, s.cut, s.process, s.waited = true, false, w.id("process"), 0
	s.m = NewMembership(s.name, s.process)
	w.register(s)
}

func (w *world) register(s *simulated) {
	if !s.alive || s.cut {
		return
	}
	r := Registration{Name: s.name, Instance: s.folder, Process: s.process, Queue: s.name, Shards: 1, Epoch: s.epoch, Waited: s.waited}
	m, sent := s.m, s.clock(w)
	w.send("", "registration of "+s.process, func() {
		w.ring.Tick(w.now)
		before, known := w.ring.table, w.ring.named(r.Name) != nil
		a := w.ring.Register(w.now, r)
		if a.Accepted {
			s.beat = w.now
			if !known {
				w.joined(before, w.ring.named(r.Name).Index)
			}
		}
		w.send(r.Process, "answer", func() {
			s.waited += a.Wait
			m.Registered(sent, a)
		})
	})
}

// joined checks the moves of a join.
func (w *world) joined(before Table, joined Index) {
	moved, share := 0, (Partitions+w.ring.staying()-1)/w.ring.staying()
	for p, was := range before {
		if is := w.ring.table[p]; is != was && was != 0 {
			moved++
			if is != joined {
				w.t.Fatalf("partition %d moves from %d to %d when %d joins", p, was, is, joined)
			}
		}
	}
	if moved > share {
		w.t.Fatalf("%d partitions move when %d joins, as one of %d", moved, joined, w.ring.staying())
	}
}

func (w *world) leave(s *simulated) {
	if s.alive && !s.cut {
		process := s.process
		w.send("", "leave of "+process, func() {
			before, left := w.ring.table, Index(0)
			if m := w.ring.named(s.name); m != nil {
				left = m.Index
			}
			w.ring.Leave(w.now, s.name, process)
			for p, was := range before {
				if is := w.ring.table[p]; is != was && was != 0 && was != left && !w.ring.quiet() {
					w.t.Fatalf("partition %d moves from %d to %d when another leaves", p, was, is)
				}
			}
		})
	}
}

// show sends a worker the present view, by its text form.
func (w *world) show(s *simulated) {
	if !s.alive {
		return
	}
	text, err := json.Marshal(w.ring.View(s.name))
	if err != nil {
		w.t.Fatal(err)
	}
	m := s.m
	w.send(s.process, "view", func() {
		v := &View{}
		if err := json.Unmarshal(text, v); err != nil {
			w.t.Fatal(err)
		}
		if m.Take(s.clock(w), v) {
			s.epoch = max(s.epoch, v.Epoch)
		}
	})
}

// work commits in the partitions in which the worker may.
func (w *world) work(s *simulated, how int) {
	if !s.alive {
		return
	}
	for p := how % 4; p < Partitions; p += 4 {
		if s.m.May(s.clock(w), Commit, p) {
			s.disk[p]++
			w.log[p]++
		}
	}
}

// tasks does some of what the ring asks of a worker, and reports it.
func (w *world) tasks(s *simulated, how int) {
	if !s.alive {
		return
	}
	var exported, loaded []Report
	for _, task := range s.m.Tasks() {
		p := task.Partition
		if how%3 != 0 && p%3 == how%3 {
			continue
		}
		r := Report{Partition: p, Order: task.Order}
		switch {
		case task.Act == Drop:
			s.disk[p] = 0
		case task.Act == Export:
			if !s.m.StartExport(p) {
				w.t.Fatalf("%s is to export partition %d and may not start", s.process, p)
			}
			r.Object = w.id("object")
			w.objects[r.Object] = s.disk[p]
			exported = append(exported, r)
		case task.Object == "":
			s.disk[p] = w.log[p]
			loaded = append(loaded, r)
		case how%7 == 0:
			r.Fault = "it is gone"
			loaded = append(loaded, r)
		default:
			s.disk[p] = w.objects[task.Object]
			loaded = append(loaded, r)
		}
	}
	name, process := s.name, s.process
	w.send("", "exported by "+process, func() { w.ring.Exported(w.now, name, process, exported) })
	w.send("", "loaded by "+process, func() { w.ring.Loaded(w.now, name, process, loaded) })
}

// deliver delivers a message, the oldest more often than others, and sometimes leaves a copy of it on the way.
func (w *world) deliver(which, how int) {
	if len(w.mail) == 0 {
		return
	}
	i := 0
	if how%4 == 0 {
		i = which % len(w.mail)
	}
	msg := w.mail[i]
	if how%10 != 0 {
		w.mail = slices.Delete(w.mail, i, i+1)
	}
	w.handOver(msg)
}

func (w *world) handOver(msg message) {
	if msg.to != "" && !slices.ContainsFunc(w.workers, func(s *simulated) bool { return s.process == msg.to && s.alive && !s.cut }) {
		return
	}
	w.t.Logf("  %s arrives; epoch %d", strings.TrimSpace(msg.what+" "+msg.to), w.ring.epoch)
	msg.take()
}

func (w *world) deliverAll() {
	mail := w.mail
	w.mail = nil
	for _, msg := range mail {
		w.handOver(msg)
	}
}

// wait lets time pass, with heartbeats of the workers that can send them.
func (w *world) wait(d time.Duration) {
	for end := w.now.Add(d); ; {
		for _, s := range w.workers {
			m := w.ring.named(s.name)
			if m == nil || !m.up() {
				continue
			}
			if s.alive && !s.cut && m.Process == s.process {
				s.beat = w.now
				s.m.Heard(s.clock(w), m.Since)
			} else if w.now.Sub(s.beat) >= w.ring.limits.Heartbeat {
				w.ring.Lost(w.now, s.name, m.Process)
			}
		}
		if wake, ok := w.ring.Wake(w.now); ok && wake == 0 {
			w.ring.Tick(w.now)
		}
		if !w.now.Before(end) {
			return
		}
		w.now = w.now.Add(min(5*time.Second, end.Sub(w.now)))
	}
}

// check checks what must hold at every moment.
func (w *world) check() {
	for _, act := range []Act{Claim, Commit, Accept} {
		var holder [Partitions]*simulated
		for _, s := range w.workers {
			if !s.alive || s.m.view == nil || !s.m.permitted(s.clock(w)) {
				continue
			}
			for p := 0; p < Partitions; p += 5 { // all that work and tasks treat differently is among them
				if !s.m.May(s.clock(w), act, p) {
					continue
				}
				if holder[p] != nil {
					w.t.Fatalf("%s and %s both may %s in partition %d", holder[p].process, s.process, act, p)
				}
				if s.disk[p] != w.log[p] {
					w.t.Fatalf("%s may %s in partition %d with %d of %d commits: %+v", s.process, act, p, s.disk[p], w.log[p], w.ring.parts[p])
				}
				holder[p] = s
			}
		}
	}
}

// bound is for how long partitions are without an owner once nothing more happens, but for the time that loading takes: the
// heartbeat runs out; a worker that lost its disk waits until the permit of its former life has run out; from then on, if it is the only one,
// the grace of the others counts; and a leaving worker that was lost meanwhile, too.
func bound(l Limits) time.Duration { return l.Heartbeat + l.fence() + l.Grace }

// round lets each worker that is alive do what is asked of it, as far as the messages arrive.
func (w *world) round(how int) {
	for range 3 {
		for _, s := range w.workers {
			if m := w.ring.named(s.name); m == nil || m.Process != s.process || !m.up() {
				w.register(s)
			}
			w.show(s)
		}
		w.deliverAll()
		for _, s := range w.workers {
			w.work(s, how)
			w.tasks(s, how)
		}
		w.deliverAll()
	}
}

// converge lets nothing more happen: each live worker does what is asked of it. In the end all partitions are owned and spread.
func (w *world) converge() {
	for _, s := range w.workers {
		s.cut = false
	}
	w.deliverAll()
	for last := w.now; w.now.Sub(last) <= bound(w.ring.limits)+time.Minute; w.wait(30 * time.Second) {
		w.round(1 + 3*2) // two thirds of the tasks, and no export is unreadable
		w.round(2 + 3*2)
		w.check()
	}
	takers := w.ring.takers()
	if alive := slices.ContainsFunc(w.workers, func(s *simulated) bool { m := w.ring.named(s.name); return s.alive && (m == nil || !m.Leaving) }); !alive {
		return
	}
	if len(takers) == 0 || !w.ring.quiet() {
		w.t.Fatalf("not all is owned at last: %+v %+v", w.ring.View("").Workers, w.ring.View("").Groups())
	}
	counts := w.ring.table.counts()
	if counts[most(takers, &counts)]-counts[fewest(takers, &counts)] > 1 || counts[0] > 0 {
		w.t.Fatalf("shares are uneven: %v", counts[:8])
	}
	epoch := w.ring.epoch
	w.wait(10 * time.Minute)
	if w.ring.epoch != epoch {
		w.t.Fatalf("the epoch rises from %d to %d, and nothing happens", epoch, w.ring.epoch)
	}
}
