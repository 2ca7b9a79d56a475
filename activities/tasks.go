package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// How tasks of the ring are carried out.
const (
	// reportWithin is how long a task that is done waits for others, to be reported with them: after each report every worker takes a new view.
	reportWithin = time.Second
	// tasksAtOnce is how many partitions are exported at a time, loaded and dropped: most are small, and the archive takes its time for each.
	tasksAtOnce = 8
	// taskWithin is how long the export, the load or the deletion of a partition may take before it is begun again: a request to the archive that never ends would keep the partition
	// without an owner, and the crawl from its end. It is doubled with each try. A rebuild continues where it was, and has no bound.
	taskWithin = 30 * time.Minute
)

// Tasks carries out what the views of a process ask of it. Tasks of one kind do not wait for those of another, and what can be done at once does
// not wait for what takes long: for batches that end, or for a rebuild. Of a partition one task runs at a time: the next one begins
// when the one before has ended, which a view that revokes it cancels.
type Tasks struct {
	m     *Membership
	parts Partitions
	now   func() time.Time
	// within is taskWithin.
	within time.Duration
	tries  map[ring.Task]int // that took too long

	mu      sync.Mutex
	running map[int]*runningTask // by partition
	done    map[ring.Task]bool   // of the newest view
	reports RingReports          // that are not reported yet
	err     error                // of tasks, since the last Pass
	hurry   time.Time            // see GiveBackFrom
	ended   chan struct{}        // holds one
	groups  sync.WaitGroup
}

// runningTask is a task that has begun.
type runningTask struct {
	ring.Task
	ctx    context.Context
	cancel func()
	long   bool // it may take minutes: a report does not wait for it
}

// NewTasks are those of a process.
func NewTasks(m *Membership, parts Partitions, now func() time.Time) *Tasks {
	return &Tasks{
		m: m, parts: parts, now: now, within: taskWithin, tries: map[ring.Task]int{}, running: map[int]*runningTask{}, done: map[ring.Task]bool{}, ended: make(chan struct{}, 1),
		reports: RingReports{RingMember: m.of},
	}
}

// Ended yields after tasks have ended that no Pass has reported. It is for one receiver.
func (t *Tasks) Ended() <-chan struct{} { return t.ended }

// Pass begins what the newest view asks for, cancels what it asks for no more, and reports what is done. It returns when nothing is left
// to be done soon. A task that fails is left out, and begun again by the next Pass; its error is returned. Tasks end with the context.
func (t *Tasks) Pass(ctx context.Context, report func(context.Context, RingReports) error) error {
	t.begin(ctx)
	t.await(ctx)
	t.mu.Lock()
	reports, err := t.reports, t.err
	t.reports, t.err = RingReports{RingMember: t.m.of}, nil
	t.mu.Unlock()
	if len(reports.Exported)+len(reports.Loaded) == 0 {
		return err
	}
	if fault := report(ctx, reports); fault != nil {
		t.mu.Lock()
		t.reports.Exported = append(reports.Exported, t.reports.Exported...)
		t.reports.Loaded = append(reports.Loaded, t.reports.Loaded...)
		t.mu.Unlock()
		err = errors.Join(err, fault)
	}
	return err
}

// GiveBackFrom has the batches of partitions that close be given back from a time on, however long they have had.
func (t *Tasks) GiveBackFrom(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hurry = at
}

// hurries reports whether that time has come.
func (t *Tasks) hurries() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.hurry.IsZero() && !t.now().Before(t.hurry)
}

// Wait returns when all tasks have ended, once their context has.
func (t *Tasks) Wait() { t.groups.Wait() }

// begin begins what is asked for and does not run.
func (t *Tasks) begin(ctx context.Context) {
	var asked []ring.Task
	t.m.With(func(rules *ring.Membership) { asked = rules.Tasks() })
	still := map[ring.Task]bool{}
	for _, task := range asked {
		still[task] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for task := range t.done {
		if !still[task] {
			delete(t.done, task)
		}
	}
	rebuilds := false
	for _, r := range t.running {
		if !still[r.Task] {
			r.cancel()
		}
		rebuilds = rebuilds || r.rebuilds()
	}
	var exports, loads, rebuilt, drops []*runningTask
	for _, task := range asked {
		if t.done[task] || t.running[task.Partition] != nil {
			continue
		}
		r := &runningTask{Task: task}
		switch {
		case r.rebuilds() && rebuilds: // one pass over the archive at a time
			continue
		case r.rebuilds():
			rebuilt, r.long = append(rebuilt, r), true
		case task.Act == ring.Export:
			exports, r.long = append(exports, r), true
		case task.Act == ring.Load:
			loads = append(loads, r)
		case task.Act == ring.Drop:
			drops = append(drops, r)
		}
		r.ctx, r.cancel = context.WithCancel(ctx)
		t.running[task.Partition] = r
	}
	for _, group := range []struct {
		of []*runningTask
		do func(context.Context, []*runningTask)
	}{{exports, t.export}, {loads, t.each(t.load)}, {rebuilt, t.rebuild}, {drops, t.each(t.drop)}} {
		if len(group.of) > 0 {
			t.groups.Go(func() { group.do(ctx, group.of) })
		}
	}
}

// rebuilds reports whether the task is to rebuild a partition.
func (r *runningTask) rebuilds() bool { return r.Act == ring.Load && r.Object == "" }

// await returns when no task runs that ends soon, or after reportWithin.
func (t *Tasks) await(ctx context.Context) {
	timer := time.NewTimer(reportWithin)
	defer timer.Stop()
	for {
		busy := false
		t.mu.Lock()
		for _, r := range t.running {
			busy = busy || !r.long
		}
		t.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-t.ended:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// end ends a task. Without an error it is done, and reported if report is not nil.
func (t *Tasks) end(r *runningTask, err error, report func(*RingReports)) {
	t.mu.Lock()
	revoked := r.ctx.Err() != nil
	r.cancel()
	delete(t.running, r.Partition)
	switch {
	case err == nil:
		t.done[r.Task] = true
		if report != nil {
			report(&t.reports)
		}
	case !revoked:
		t.err = errors.Join(t.err, fmt.Errorf("%s partition %d: %w", r.Act, r.Partition, err))
	}
	t.mu.Unlock()
	select {
	case t.ended <- struct{}{}:
	default:
	}
}

// each does a task of its own for each partition, several at a time.
func (t *Tasks) each(do func(*runningTask)) func(context.Context, []*runningTask) {
	return func(_ context.Context, list []*runningTask) {
		slots := make(chan struct{}, tasksAtOnce)
		var all sync.WaitGroup
		for _, r := range list {
			slots <- struct{}{}
			all.Go(func() {
				do(r)
				<-slots
			})
		}
		all.Wait()
	}
}

// bounded does what a task takes, within its time, which is doubled with each try that takes too long: a large partition may need it.
func (t *Tasks) bounded(r *runningTask, do func(context.Context) error) error {
	t.mu.Lock()
	tries := t.tries[r.Task]
	t.mu.Unlock()
	within := t.within << min(tries, 6)
	ctx, cancel := context.WithTimeout(r.ctx, within)
	defer cancel()
	err := do(ctx)
	late := err != nil && r.ctx.Err() == nil && ctx.Err() != nil
	if late {
		err = fmt.Errorf("it has not ended within %s, and begins again: %w", within, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if delete(t.tries, r.Task); late {
		t.tries[r.Task] = tries + 1
	}
	return err
}

func (t *Tasks) load(r *runningTask) {
	if err := r.ctx.Err(); err != nil {
		t.end(r, err, nil)
		return
	}
	var fault string
	err := t.bounded(r, func(ctx context.Context) (err error) {
		fault, err = t.parts.Load(ctx, r.Partition, r.Object)
		return err
	})
	t.end(r, err, func(to *RingReports) {
		to.Loaded = append(to.Loaded, ring.Report{Partition: r.Partition, Order: r.Order, Fault: fault})
	})
}

func (t *Tasks) drop(r *runningTask) {
	err := r.ctx.Err()
	if err == nil {
		err = t.bounded(r, func(ctx context.Context) error { return t.parts.Drop(ctx, r.Partition) })
	}
	t.end(r, err, nil)
}

// rebuild makes partitions together: one pass over the archive serves all. If one of them is asked for no more, the others begin again.
func (t *Tasks) rebuild(ctx context.Context, list []*runningTask) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var partitions []int
	for _, r := range list {
		defer context.AfterFunc(r.ctx, cancel)()
		partitions = append(partitions, r.Partition)
	}
	err := t.parts.Rebuild(ctx, partitions)
	if err != nil && ctx.Err() != nil {
		for _, r := range list {
			r.cancel() // none of them has failed
		}
	}
	for _, r := range list {
		t.end(r, err, func(to *RingReports) {
			to.Loaded = append(to.Loaded, ring.Report{Partition: r.Partition, Order: r.Order})
		})
	}
}

// export exports partitions, each once no batch of it is in progress. Batches that have had their time are given back.
func (t *Tasks) export(ctx context.Context, list []*runningTask) {
	given := map[int]bool{}
	for len(list) > 0 {
		var partitions, due []int
		hurry := t.hurries()
		list = slices.DeleteFunc(list, func(r *runningTask) bool {
			if err := r.ctx.Err(); err != nil {
				t.end(r, err, nil)
				return true
			}
			partitions = append(partitions, r.Partition)
			t.m.With(func(rules *ring.Membership) {
				if !given[r.Partition] && (hurry || rules.GiveBack(t.now(), r.Partition)) {
					due = append(due, r.Partition)
				}
			})
			return false
		})
		free, err := t.free(ctx, partitions, due)
		for _, p := range due {
			given[p] = err == nil
		}
		var ready []*runningTask
		list = slices.DeleteFunc(list, func(r *runningTask) bool {
			if err != nil && r.ctx.Err() == nil {
				t.end(r, err, nil)
				return true
			}
			if !slices.Contains(free, r.Partition) {
				return false
			}
			ready = append(ready, r)
			return true
		})
		t.each(t.exportFree)(ctx, ready)
	}
}

// free gives back what is due, and returns the partitions of which no batch is in progress.
func (t *Tasks) free(ctx context.Context, partitions, due []int) ([]int, error) {
	if len(partitions) == 0 {
		return nil, nil
	}
	if len(due) > 0 {
		if err := t.parts.GiveBack(ctx, due); err != nil {
			return nil, err
		}
	}
	return t.parts.Free(ctx, partitions)
}

// exportFree exports a partition of which no batch is in progress.
func (t *Tasks) exportFree(r *runningTask) {
	t.mu.Lock()
	r.long = false
	t.mu.Unlock()
	err := r.ctx.Err()
	var epoch uint64
	t.m.With(func(rules *ring.Membership) {
		if epoch = rules.Epoch(); err == nil && !rules.StartExport(r.Partition) { // a later view gives it back
			err = context.Canceled
			r.cancel()
		}
	})
	object := ""
	if err == nil {
		err = t.bounded(r, func(ctx context.Context) (err error) {
			object, err = t.parts.Export(ctx, r.Partition, epoch)
			return err
		})
	}
	t.end(r, err, func(to *RingReports) {
		to.Exported = append(to.Exported, ring.Report{Partition: r.Partition, Order: r.Order, Object: object})
	})
}
