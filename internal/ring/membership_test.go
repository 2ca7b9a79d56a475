package ring

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// two is a ring of two workers, each of which owns its half.
func two(t *testing.T) *State {
	t.Helper()
	s := New(DefaultLimits())
	for _, name := range []string{"a", "b"} {
		if a := s.Register(start, Registration{Name: name, Instance: name, Process: name, Queue: name, Shards: 1}); !a.Accepted {
			t.Fatal(a.Reason)
		}
		finish(t, s)
	}
	return s
}

// finish lets the workers do all that is asked of them.
func finish(t *testing.T, s *State) {
	t.Helper()
	for range 2 {
		for _, w := range s.View("").Workers {
			m := NewMembership(w.Name, w.Process)
			m.Take(start, s.View(w.Name))
			var exported, loaded []Report
			for _, task := range m.Tasks() {
				r := Report{Partition: task.Partition, Order: task.Order, Object: "key"}
				switch task.Act {
				case Export:
					exported = append(exported, r)
				case Load:
					loaded = append(loaded, r)
				}
			}
			if stale := append(s.Exported(start, w.Name, w.Process, exported), s.Loaded(start, w.Name, w.Process, loaded)...); len(stale) > 0 {
				t.Fatalf("%v are stale", stale)
			}
		}
	}
	if !s.quiet() {
		t.Fatalf("%+v", s.View("").Groups())
	}
}

// TestPermit: a worker may claim for as long as its last answered heartbeat allows, counted from when it sent it, and only by a view
// that is not older than its registration.
func TestPermit(t *testing.T) {
	s := two(t)
	m := NewMembership("a", "a")
	p := 0
	may := func(after time.Duration) bool { return m.May(start.Add(after), Claim, p) }
	if may(0) {
		t.Error("it may claim without a view")
	}
	old := s.View("a")
	m.Take(start, old)
	if may(0) {
		t.Error("it may claim without a permit")
	}
	s.Lost(start, "a", "a")
	m.Registered(start, s.Register(start, Registration{Name: "a", Instance: "a", Process: "a", Queue: "a", Shards: 1}))
	if may(0) {
		t.Error("it may claim by a view from before its registration")
	}
	if m.Take(start, old) || may(0) {
		t.Error("it takes a view from before its registration")
	}
	if !m.Take(start, s.View("a")) || !may(0) || !may(DefaultPermit-1) {
		t.Error("it may not claim with a permit and a view")
	}
	if may(DefaultPermit) {
		t.Error("its permit does not end")
	}
	if !m.May(start.Add(time.Hour), Explain, p) {
		t.Error("without a permit it may not even explain")
	}
	since := s.Epoch()
	m.Heard(start.Add(time.Second), since)
	m.Heard(start, since)                  // an answer that comes late
	m.Heard(start.Add(time.Hour), since-1) // one of an earlier membership
	if !may(DefaultPermit) || may(DefaultPermit+time.Second) {
		t.Error("its permit does not count from the newest heartbeat")
	}
	m.Registered(start.Add(time.Hour), Answer{Wait: time.Second})
	if may(time.Hour) {
		t.Error("a worker that is to wait has a permit")
	}
	m.Heard(start.Add(time.Hour), since+9) // the ring has given it up, and accepted it again, and the answer was lost
	if may(time.Hour) {
		t.Error("it may claim by a view from before a membership that it did not know of")
	}
}

// TestProcess: another process of the same worker may do nothing by the view of this one.
func TestProcess(t *testing.T) {
	s := two(t)
	m := NewMembership("a", "other")
	m.Registered(start, Answer{Accepted: true, Limits: DefaultLimits()})
	m.Take(start, s.View("a"))
	if m.May(start, Claim, 0) || len(m.Tasks()) > 0 {
		t.Error("a process that is not in the ring may claim, or has tasks")
	}
}

// TestFormerProcess: what a former process of a worker reports is stale, whatever order it names: the present one may be in the middle of
// the same task.
func TestFormerProcess(t *testing.T) {
	s := New(DefaultLimits())
	s.Forgotten(start.Add(-time.Hour)) // so that there is something to load
	register := func(process string) uint64 {
		a := s.Register(start, Registration{Name: "a", Instance: "a", Process: process, Queue: "a", Shards: 1})
		if !a.Accepted {
			t.Fatal(a.Reason)
		}
		return a.Epoch
	}
	load := []Report{{Partition: 7, Order: register("first")}}
	s.Lost(start, "a", "first")
	register("second")
	epoch := s.Epoch()
	if stale := s.Loaded(start, "a", "first", load); len(stale) != 1 || s.Epoch() != epoch {
		t.Error("a report of a former process is taken")
	}
	s.Lost(start, "a", "first")
	s.Leave(start, "a", "first")
	if s.Epoch() != epoch {
		t.Error("a former process is lost, or leaves, for the present one")
	}
	if stale := s.Loaded(start, "a", "second", load); len(stale) != 0 {
		t.Error("the report of the present process is stale")
	}
}

// TestGiveBack: the batches of a partition have their time from when the worker knows that it closes, also if newer views
// repeat it; a partition that closes again has it again.
func TestGiveBack(t *testing.T) {
	s := two(t)
	m := NewMembership("a", "a")
	within := DefaultCloseWithin
	m.Registered(start, Answer{Accepted: true, Epoch: s.Epoch(), Limits: DefaultLimits()})
	s.Leave(start, "a", "a")
	m.Take(start, s.View("a"))
	s.Lost(start, "b", "b")
	m.Take(start.Add(time.Minute), s.View("a"))
	if m.GiveBack(start.Add(within-1), 0) || !m.GiveBack(start.Add(within), 0) || m.GiveBack(start.Add(within), Partitions-1) {
		t.Error("the batches of a closing partition have not their time, or others are given back")
	}
	s.Lost(start, "a", "a") // and is started again: it stays
	s.Register(start, Registration{Name: "a", Instance: "a", Process: "second", Queue: "a", Shards: 1})
	m.Take(start, s.View("a"))
	if m.GiveBack(start.Add(within), 0) {
		t.Error("the batches of an owned partition are given back")
	}
}

// TestStartExport: nothing is committed in a partition from when its export is started, unless the partition is given back.
func TestStartExport(t *testing.T) {
	s := two(t)
	m := NewMembership("a", "a")
	m.Registered(start, Answer{Accepted: true, Epoch: s.Epoch(), Limits: DefaultLimits()})
	m.Take(start, s.View("a"))
	if m.StartExport(0) || !m.May(start, Commit, 0) {
		t.Error("an owned partition is exported")
	}
	s.Register(start, Registration{Name: "c", Instance: "c", Process: "c", Queue: "c", Shards: 1})
	m.Take(start, s.View("a"))
	p := -1
	for _, task := range m.Tasks() {
		if task.Act == Export {
			p = task.Partition
		}
	}
	if p < 0 || !m.May(start, Commit, p) || !m.StartExport(p) || m.May(start, Commit, p) || m.May(start, Fetch, p) {
		t.Errorf("partition %d closes: before its export it may be committed in, after it not", p)
	}
	s.Lost(start, "b", "b")
	m.Take(start, s.View("a"))
	if m.May(start, Commit, p) {
		t.Error("a view that repeats that a partition closes lets commit in it again")
	}
	s.Leave(start, "c", "c")
	if !m.Take(start, s.View("a")) || !m.May(start, Commit, p) || !m.May(start, Claim, p) {
		t.Error("a partition that is given back is closed")
	}
}

// TestGone: a worker learns from a view that the ring has given it up.
func TestGone(t *testing.T) {
	s := two(t)
	m := NewMembership("b", "b")
	m.Take(start, s.View("b"))
	s.Lost(start, "b", "b")
	s.Tick(start.Add(DefaultGrace))
	if m.Gone() || !m.Take(start, s.View("b")) || !m.Gone() {
		t.Error("it does not learn that it is gone")
	}
	if len(m.Tasks()) > 0 {
		t.Error("it has tasks")
	}
}

func TestRegistrationFaults(t *testing.T) {
	good := Registration{Name: "a", Instance: "a", Process: "a", Queue: "a", Shards: 1}
	for _, c := range []struct {
		change func(*Registration)
		want   string
	}{
		{func(r *Registration) { r.Name = "" }, "name"},
		{func(r *Registration) { r.Instance = "" }, "instance"},
		{func(r *Registration) { r.Process = "" }, "process"},
		{func(r *Registration) { r.Queue = strings.Repeat("q", MaxName+1) }, "queue"},
		{func(r *Registration) { r.Epoch = math.MaxUint64 }, "epoch"},
		{func(r *Registration) { r.Shards = 0 }, "politeness-shards"},
	} {
		r := good
		c.change(&r)
		if a := New(DefaultLimits()).Register(start, r); !a.Refused || !strings.Contains(a.Reason, c.want) {
			t.Errorf("%+v is answered %+v", r, a)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		change func(*Limits)
		want   string
	}{
		{func(*Limits) {}, ""},
		{func(l *Limits) { l.Heartbeat = 0 }, "heartbeat"},
		{func(l *Limits) { l.CloseWithin = -1 }, "close_within"},
		{func(l *Limits) { l.Permit = l.Heartbeat - 1 }, "permit"},
		{func(l *Limits) { l.Grace = l.Permit + Margin - 1 }, "grace"},
	} {
		l := DefaultLimits()
		c.change(&l)
		if err := l.Validate(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// TestSize: the state and the view are parts of workflow inputs: small when nothing moves, and far below 2 MB when each of 200 workers has the
// longest name and every partition moves with the longest key.
func TestSize(t *testing.T) {
	size := func(v any) int {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	s := two(t)
	if state, view := size(s), size(s.View("a")); state > 12_000 || view > 10_000 {
		t.Errorf("two workers: the state has %d bytes, a view %d", state, view)
	}
	full := New(DefaultLimits())
	full.epoch = 1_000_000
	for i := range MaxWorkers {
		name := fmt.Sprintf("%*d", MaxName, i)
		if a := full.Register(start, Registration{Name: name, Instance: name, Process: name, Queue: name, Shards: 1}); !a.Accepted {
			t.Fatal(a.Reason)
		}
	}
	if a := full.Register(start, Registration{Name: "one more", Instance: "f", Process: "p", Queue: "q", Shards: 1}); !a.Refused {
		t.Error("there is no end of workers")
	}
	for p := range full.parts {
		full.objects[p] = strings.Repeat("k", MaxObject)
		full.parts[p] = partition{step: Loading, owner: 1, loader: 2, tenure: full.epoch, order: full.epoch}
	}
	if state := size(full); state > 800_000 {
		t.Errorf("%d workers, all partitions on their way: the state has %d bytes", MaxWorkers, state)
	}
}

// FuzzPartitions: a text is refused, or gives partitions that are written and read again alike.
func FuzzPartitions(f *testing.F) {
	good, err := new(partitions).MarshalText()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-4])
	f.Add(append([]byte("/////w8B"), good[8:]...))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second partitions
		if first.UnmarshalText(text) != nil {
			return
		}
		again, err := first.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := second.UnmarshalText(again); err != nil || first != second {
			t.Errorf("written again it is not the same, %v", err)
		}
	})
}

// TestMembershipCheck: what was made in an epoch may be done later, not now, or never, by where the partition is since.
func TestMembershipCheck(t *testing.T) {
	s := New(DefaultLimits())
	members := map[string]*Membership{}
	register := func(name, process string) {
		t.Helper()
		a := s.Register(start, Registration{Name: name, Instance: name, Process: process, Queue: name, Shards: 1})
		if !a.Accepted {
			t.Fatal(a.Reason)
		}
		if members[name] == nil {
			members[name] = NewMembership(name, process)
		}
		members[name].Registered(start, a)
	}
	look := func() {
		for name, m := range members {
			m.Take(start, s.View(name))
		}
	}
	check := func(when, name string, p int, after time.Duration, epoch uint64, want map[Act]error) {
		t.Helper()
		for act, err := range want {
			if got := members[name].Check(start.Add(after), act, p, epoch); !errors.Is(got, err) {
				t.Errorf("%s: %s may %s: %v, want %v", when, name, act, got, err)
			}
		}
	}
	acts := func(name string, after time.Duration, want bool) {
		t.Helper()
		if got := members[name].MayAct(start.Add(after)); got != want {
			t.Errorf("%s may act: %t", name, got)
		}
	}
	all := func(err error) map[Act]error { return map[Act]error{Claim: err, Fetch: err, Commit: err, Accept: err} }
	members["a"] = NewMembership("a", "a")
	check("before the first view", "a", 0, 0, 0, all(ErrNotNow))
	register("a", "a")
	look()
	first := s.Epoch()
	check("in a ring of one", "a", 0, 0, first, all(nil))
	acts("a", 0, true)
	acts("a", DefaultPermit, false)
	check("without a permit", "a", 0, DefaultPermit, first, all(ErrNotNow))
	check("by a sender that knows of a later epoch", "a", 0, 0, first+1, all(ErrNotNow))

	register("b", "b")
	look()
	moves := -1
	for _, task := range members["a"].Tasks() {
		moves = task.Partition
	}
	check("while it closes", "a", moves, 0, first, map[Act]error{Claim: ErrNotNow, Fetch: nil, Commit: nil, Accept: ErrNotNow})
	check("while it closes", "b", moves, 0, s.Epoch(), all(ErrStale))
	members["a"].StartExport(moves)
	check("while it is exported", "a", moves, 0, first, all(ErrNotNow))
	order := members["a"].view.parts[moves].order
	s.Exported(start, "a", "a", []Report{{Partition: moves, Order: order, Object: "key"}})
	look()
	loading := s.Epoch()
	check("while it is loaded", "a", moves, 0, first, all(ErrNotNow))
	check("while it is loaded", "b", moves, 0, loading, all(ErrNotNow))
	check("while it is loaded, of an earlier tenure", "b", moves, 0, loading-1, all(ErrStale))
	s.Loaded(start, "b", "b", []Report{{Partition: moves, Order: members["b"].view.parts[moves].order}})
	look()
	check("once it is loaded", "a", moves, 0, first, all(ErrStale))
	check("once it is loaded", "b", moves, 0, s.Epoch(), all(nil))
	check("once it is loaded, of an earlier tenure", "b", moves, 0, loading, all(ErrStale))

	s.Lost(start, "b", "b")
	register("b", "another process")
	members["b"].Take(start, s.View("b"))
	acts("b", 0, false)
	check("after another process has come", "b", moves, 0, s.Epoch(), all(ErrNotNow))
	delete(members, "b")
	s.Lost(start, "b", "another process")
	s.Tick(start.Add(time.Hour))
	members["b"] = NewMembership("b", "another process")
	members["b"].Heard(start, 0)
	members["b"].limits = DefaultLimits()
	members["b"].Take(start, s.View("b"))
	check("after the ring has given it up", "b", moves, 0, s.Epoch(), all(ErrStale))
}
