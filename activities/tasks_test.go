package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// fakeParts are partitions of which nothing is kept. What is nil does nothing.
type fakeParts struct {
	free     func([]int) []int
	export   func(ctx context.Context, p int) error
	load     func(ctx context.Context, p int) error
	rebuild  func(ctx context.Context, list []int) error
	mu       sync.Mutex
	given    []int
	exported []int
}

func (f *fakeParts) Free(ctx context.Context, list []int) ([]int, error) {
	if f.free == nil {
		return list, ctx.Err()
	}
	free := f.free(list)
	if len(free) == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	return free, ctx.Err()
}

func (f *fakeParts) GiveBack(_ context.Context, list []int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.given = append(f.given, list...)
	return nil
}

func (f *fakeParts) Export(ctx context.Context, p int, _ uint64) (string, error) {
	if f.export != nil {
		if err := f.export(ctx, p); err != nil {
			return "", err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exported = append(f.exported, p)
	return "key", nil
}

func (f *fakeParts) Load(ctx context.Context, p int, _ string) (string, error) {
	if f.load == nil {
		return "", nil
	}
	return "", f.load(ctx, p)
}

func (*fakeParts) Drop(context.Context, int) error { return nil }

func (f *fakeParts) Rebuild(ctx context.Context, list []int) error {
	if f.rebuild == nil {
		return nil
	}
	return f.rebuild(ctx, list)
}

// ringOfTwo is a ring of the workers w and v, of which v has just joined: half of the partitions close at w.
func ringOfTwo(t *testing.T) (state *ring.State, w, v *Membership) {
	t.Helper()
	a, _, state, _ := ringRig(t)
	w, v = a.Membership, NewMembership("v", "q")
	v.Registered(time.Now(), state.Register(time.Now(), ring.Registration{Name: "v", Instance: "j", Process: "q", Queue: "q2", Shards: 1}))
	w.Take(state.View("w"))
	v.Take(state.View("v"))
	return state, w, v
}

// reporter reports to a ring, and gives the process its new view.
func reporter(state *ring.State, of *Membership) func(context.Context, RingReports) error {
	return func(_ context.Context, r RingReports) error {
		now := time.Now()
		if stale := append(state.Exported(now, r.Worker, r.Process, r.Exported), state.Loaded(now, r.Worker, r.Process, r.Loaded)...); len(stale) > 0 {
			return errors.New("a report is stale")
		}
		of.Take(state.View(r.Worker))
		return nil
	}
}

// TestTasks: what a view asks for is done and reported. What was done before a failure is reported, and the rest is done by the next pass;
// so is a report that fails, without the work.
func TestTasks(t *testing.T) {
	state, w, v := ringOfTwo(t)
	errAway := errors.New("the archive does not answer")
	parts := &fakeParts{}
	failed := false
	parts.export = func(_ context.Context, p int) error {
		parts.mu.Lock()
		defer parts.mu.Unlock()
		if p == 1022 && len(parts.exported) > 0 && !failed { // once: the last pass begins it again, and does not wait for it
			failed = true
			return errAway
		}
		return nil
	}
	tasks := NewTasks(w, parts, time.Now)
	errLost := errors.New("the report is lost")
	pass := func(tasks *Tasks, report func(context.Context, RingReports) error) (err error) {
		for { // until nothing more comes
			more := tasks.Pass(t.Context(), report)
			err = errors.Join(err, more)
			tasks.mu.Lock()
			n := len(tasks.running)
			tasks.mu.Unlock()
			if n == 0 {
				return errors.Join(err, tasks.Pass(t.Context(), report))
			}
		}
	}
	if err := pass(tasks, func(context.Context, RingReports) error { return errLost }); !errors.Is(err, errLost) || !errors.Is(err, errAway) {
		t.Fatalf("%v", err)
	}
	if err := pass(tasks, reporter(state, w)); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(parts.exported); len(parts.exported) != 512 || len(slices.Compact(parts.exported)) != 512 {
		t.Errorf("%d exports", len(parts.exported))
	}
	v.Take(state.View("v"))
	if err := pass(NewTasks(v, parts, time.Now), reporter(state, v)); err != nil {
		t.Fatal(err)
	}
	groups := state.View("").Groups()
	if !slices.Equal(groups, []ring.Group{{Step: ring.Owned, Owner: "v", Partitions: 512}, {Step: ring.Owned, Owner: "w", Partitions: 512}}) {
		t.Errorf("%v", groups)
	}
}

// until passes until a condition holds.
func (tasks *Tasks) until(t *testing.T, ctx context.Context, report func(context.Context, RingReports) error, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if err := tasks.Pass(ctx, report); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not come to that")
		}
		select {
		case <-tasks.Ended():
		case <-time.After(time.Millisecond):
		}
	}
}

// TestTasksClose: a partition that closes is exported once no batch of it is in progress; batches that have had their time are given back.
func TestTasksClose(t *testing.T) {
	state, w, _ := ringOfTwo(t)
	var late atomic.Bool
	parts := &fakeParts{}
	parts.free = func(list []int) []int { // that of 1000 ends only when it is given back
		return slices.DeleteFunc(slices.Clone(list), func(p int) bool {
			parts.mu.Lock()
			defer parts.mu.Unlock()
			return p == 1000 && !slices.Contains(parts.given, p)
		})
	}
	tasks := NewTasks(w, parts, func() time.Time {
		if late.Load() {
			return time.Now().Add(ring.DefaultCloseWithin)
		}
		return time.Now()
	})
	closing := func() (n int) {
		for _, g := range state.View("").Groups() {
			if g.Step == ring.Closing {
				n += g.Partitions
			}
		}
		return n
	}
	w.With(func(m *ring.Membership) {
		if !slices.ContainsFunc(m.Tasks(), func(task ring.Task) bool { return task.Partition == 1000 && task.Act == ring.Export }) {
			t.Fatal("partition 1000 does not close")
		}
	})
	tasks.until(t, t.Context(), reporter(state, w), func() bool { return closing() == 1 })
	parts.mu.Lock()
	if len(parts.given) > 0 {
		t.Errorf("%v are given back before their time", parts.given)
	}
	parts.mu.Unlock()
	late.Store(true)
	tasks.until(t, t.Context(), reporter(state, w), func() bool { return closing() == 0 })
	if !slices.Equal(parts.given, []int{1000}) {
		t.Errorf("%v are given back", parts.given)
	}
}

// TestTasksHurry: a worker that stops gives batches back at once.
func TestTasksHurry(t *testing.T) {
	state, w, _ := ringOfTwo(t)
	parts := &fakeParts{}
	parts.free = func(list []int) []int {
		parts.mu.Lock()
		defer parts.mu.Unlock()
		return slices.Clone(parts.given)
	}
	tasks := NewTasks(w, parts, time.Now)
	tasks.GiveBackFrom(time.Now())
	tasks.until(t, t.Context(), reporter(state, w), func() bool {
		return slices.ContainsFunc(state.View("").Groups(), func(g ring.Group) bool { return g.Step == ring.Loading && g.Partitions == 512 })
	})
}

// TestTasksRevoked: a view that takes a partition back ends its export; what has come of it is not reported.
func TestTasksRevoked(t *testing.T) {
	state, w, _ := ringOfTwo(t)
	began, ended := make(chan struct{}, 1024), make(chan struct{}, 1024)
	parts := &fakeParts{export: func(ctx context.Context, _ int) error {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	}}
	tasks := NewTasks(w, parts, time.Now)
	report := func(context.Context, RingReports) error {
		t.Error("there is nothing to report")
		return nil
	}
	if err := tasks.Pass(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	<-began
	state.Leave(time.Now(), "v", "q") // it has nothing, so it is gone
	w.Take(state.View("w"))
	tasks.until(t, t.Context(), report, func() bool {
		tasks.mu.Lock()
		defer tasks.mu.Unlock()
		return len(tasks.running) == 0
	})
	if len(ended) == 0 {
		t.Error("no export has ended")
	}
	tasks.Wait()
}

// TestTasksBounded: the export of a partition that never ends is given up after its time, and begun again; so is the load at the other worker.
func TestTasksBounded(t *testing.T) {
	state, w, v := ringOfTwo(t)
	var tries sync.Map // by partition
	hangsOnce := func(ctx context.Context, p int) error {
		if _, again := tries.LoadOrStore(p, true); again {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	faults := 0
	step := func(of *Membership, parts *fakeParts, from ring.Step) {
		t.Helper()
		tasks := NewTasks(of, parts, time.Now)
		tasks.within = 10 * time.Millisecond
		defer tasks.Wait()
		for deadline := time.Now().Add(time.Minute); slices.ContainsFunc(state.View("").Groups(), func(g ring.Group) bool { return g.Step == from }); {
			if err := tasks.Pass(t.Context(), reporter(state, of)); err != nil {
				if !strings.Contains(err.Error(), "it has not ended within 10ms") {
					t.Fatal(err)
				}
				faults++
			}
			if time.Now().After(deadline) {
				t.Fatalf("%+v", state.View("").Groups())
			}
		}
	}
	step(w, &fakeParts{export: hangsOnce}, ring.Closing)
	v.Take(state.View("v"))
	tries.Clear()
	step(v, &fakeParts{load: hangsOnce}, ring.Loading)
	if faults < 2 {
		t.Errorf("%d passes say that tasks have not ended", faults)
	}
}

// TestTasksLong: partitions that are rebuilt do not hold up those that are loaded; one rebuild runs at a time, and what is to be rebuilt
// besides comes behind it.
func TestTasksLong(t *testing.T) {
	now := time.Now()
	limits := ring.DefaultLimits()
	state := ring.New(limits)
	members := map[string]*Membership{}
	for _, name := range []string{"a", "b", "c"} {
		members[name] = NewMembership(name, name)
		members[name].Registered(now, state.Register(now, ring.Registration{Name: name, Instance: name, Process: name, Queue: name, Shards: 1}))
		for _, m := range members { // what moves has nothing in it
			m.Take(state.View(m.of.Worker))
			if err := NewTasks(m, &fakeParts{}, time.Now).passAll(t, reporter(state, m)); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range members {
			m.Take(state.View(m.of.Worker))
			if err := NewTasks(m, &fakeParts{}, time.Now).passAll(t, reporter(state, m)); err != nil {
				t.Fatal(err)
			}
		}
	}
	state.Lost(now, "c", "c")
	state.Tick(now.Add(limits.Grace))
	started, release, passes := make(chan struct{}, 2), make(chan struct{}), atomic.Int32{}
	parts := &fakeParts{rebuild: func(context.Context, []int) error {
		passes.Add(1)
		started <- struct{}{}
		<-release
		return nil
	}}
	a := members["a"]
	a.Take(state.View("a"))
	tasks := NewTasks(a, parts, time.Now)
	if err := tasks.Pass(t.Context(), reporter(state, a)); err != nil {
		t.Fatal(err)
	}
	state.Leave(now, "b", "b") // a is to load what b exports, and to rebuild what b was to rebuild
	b := members["b"]
	b.Take(state.View("b"))
	if err := NewTasks(b, &fakeParts{}, time.Now).passAll(t, reporter(state, b)); err != nil {
		t.Fatal(err)
	}
	a.Take(state.View("a"))
	owned := func() (n int) {
		for _, g := range state.View("").Groups() {
			if g.Step == ring.Owned && g.Owner == "a" {
				n += g.Partitions
			}
		}
		return n
	}
	tasks.until(t, t.Context(), reporter(state, a), func() bool { return owned() > 600 })
	<-started // in a goroutine of its own, perhaps behind the loads
	if passes.Load() != 1 {
		t.Errorf("%d rebuilds", passes.Load())
	}
	close(release)
	tasks.until(t, t.Context(), reporter(state, a), func() bool { return owned() == ring.Partitions })
	if passes.Load() != 2 {
		t.Errorf("%d rebuilds", passes.Load())
	}
}

// passAll passes until nothing is left to be done.
func (tasks *Tasks) passAll(t *testing.T, report func(context.Context, RingReports) error) (err error) {
	for {
		err = errors.Join(err, tasks.Pass(t.Context(), report))
		tasks.mu.Lock()
		n := len(tasks.running) + len(tasks.reports.Exported) + len(tasks.reports.Loaded)
		tasks.mu.Unlock()
		if n == 0 || err != nil {
			return err
		}
	}
}
