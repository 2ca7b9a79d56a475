package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/ring"
)

// How a worker deals with the ring.
const (
	// joinWait is how long the start of a worker waits for the ring. Crawls that are bound to the worker need no ring: it continues
	// without, and joins when the ring answers.
	joinWait = time.Second
	// registerTimeout bounds a registration.
	registerTimeout = 10 * time.Second
	// registerPause is how long a worker waits after a registration, a report or a view that failed.
	registerPause = 2 * time.Second
	// leaveWait is how long a stopping worker waits until the ring has let it leave. After that it counts as lost, and is waited for.
	leaveWait = 3 * time.Second
	// leavePause is how long a worker that leaves waits until it looks again what the ring asks of it.
	leavePause = 50 * time.Millisecond
)

// ringClient keeps the worker in the ring of workers.
type ringClient struct {
	w          *Worker
	membership *activities.Membership
	duties     *activities.Tasks
	epochs     epochFile
	reg        ring.Registration
	first      chan error    // what becomes of the first registration: nil if it is accepted, or will be tried again
	taken      chan struct{} // receives when a registration finds the name taken
	tasks      chan struct{}
	cancel     context.CancelFunc
	done       sync.WaitGroup
}

// processName names this process among all that have ever been of its name, for people and for the ring.
func processName() string {
	host, _ := os.Hostname()
	id := make([]byte, 6)
	_, _ = rand.Read(id) // never fails
	return fmt.Sprintf("%.100s/%d/%x", host, os.Getpid(), id)
}

// joinRing registers the worker, and keeps it registered. Its error says why the ring refuses the worker, and what to do. It waits joinWait
// at most; if the ring refuses the worker later, the worker ends. If a worker of its name may be at work on another data folder, it waits until that is clear.
func (w *Worker) joinRing(ctx context.Context) error {
	r := &ringClient{w: w, epochs: epochFile(w.conf.Data), first: make(chan error, 1), taken: make(chan struct{}, 1), tasks: make(chan struct{}, 1)}
	epoch, err := r.epochs.read()
	if err != nil {
		return err
	}
	r.reg = ring.Registration{
		Name: w.conf.Name, Instance: w.instance, Process: w.member.Process(), Queue: names.WorkerQueue(w.conf.Temporal.Queue, w.conf.Name),
		Shards: w.conf.Shards, Epoch: epoch,
	}
	r.membership = w.member
	r.duties = activities.NewTasks(r.membership, activities.PartitionsOf(w.acts), time.Now)
	w.acts.Membership, w.acts.Probe, w.ring = r.membership, w.front.Probe, r
	var background context.Context
	background, r.cancel = context.WithCancel(context.Background())
	r.done.Go(func() { r.keep(background) })
	r.done.Go(func() { r.work(background) })
	patience := time.After(joinWait)
	for taken := r.taken; ; {
		select {
		case err := <-r.first:
			return err
		case <-taken:
			taken, patience = nil, nil
		case <-patience:
			w.log.Info("the ring of workers has not answered yet; this worker starts without it", "waited", joinWait)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// logAccepted says that the worker is in the ring, and whether it has come back too late for what its folder holds.
func logAccepted(log *slog.Logger, answer ring.Answer) {
	log.Info("this worker is in the ring", "epoch", answer.Epoch)
	if answer.Late {
		log.Warn("this worker has come back late: others have its partitions of spread crawls, and it gets new ones; crawls that are bound to it continue", "why", answer.Reason)
	}
}

// keep registers the worker, and again each time that its heartbeat is lost.
func (r *ringClient) keep(ctx context.Context) {
	for ctx.Err() == nil {
		sent := time.Now()
		answer, err := r.register(ctx)
		pause := registerPause
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.w.log.Warn("the ring of workers does not answer", "error", err)
		case answer.Refused:
			r.refused(errors.New("the ring of workers refuses this worker: " + answer.Reason))
			return
		case answer.Accepted:
			r.reg.Waited = 0
			r.membership.Registered(sent, answer)
			r.noteEpoch(answer.Epoch)
			logAccepted(r.w.log, answer)
			r.answer(nil)
			r.watch(ctx, answer.Limits.Heartbeat/2)
			continue
		case answer.Taken:
			r.w.log.Warn("another worker of this name may be at work; this one waits", "wait", answer.Wait, "why", answer.Reason)
			r.w.starting.note("the ring of workers: " + answer.Reason)
			pause = answer.Wait
			select {
			case r.taken <- struct{}{}:
			default:
			}
		default:
			r.w.log.Warn("the ring of workers has this worker wait; it continues with the crawls that are bound to it", "wait", answer.Wait, "why", answer.Reason)
			pause = answer.Wait
			r.answer(nil)
		}
		began := time.Now()
		r.sleep(ctx, pause)
		if err == nil {
			r.reg.Waited += time.Since(began)
		}
	}
}

// register sends one registration.
func (r *ringClient) register(ctx context.Context) (ring.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	return activities.RegisterInRing(ctx, r.w.client, r.reg)
}

// answer ends the wait of the start for the ring, if it still waits; err is why the ring refuses the worker.
func (r *ringClient) answer(err error) bool {
	select {
	case r.first <- err:
		return true
	default:
		return false
	}
}

// refused ends the worker: its start, or what runs.
func (r *ringClient) refused(err error) {
	r.answer(err)
	select {
	case r.w.fatal <- err:
	default:
	}
}

// watch returns when the heartbeat is lost. It hands changes on to work.
func (r *ringClient) watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(max(every, time.Millisecond))
	defer tick.Stop()
	for !r.membership.Lost(time.Now()) {
		select {
		case <-r.membership.Changed():
			r.membership.With(func(m *ring.Membership) { r.reg.Epoch = max(r.reg.Epoch, m.Epoch()) })
			r.noteEpoch(r.reg.Epoch)
			r.w.front.Wake()
			select {
			case r.tasks <- struct{}{}:
			default:
			}
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// work carries out what each new view asks of the worker. It returns when all tasks have ended.
func (r *ringClient) work(ctx context.Context) {
	defer r.duties.Wait()
	for {
		select {
		case <-r.tasks:
		case <-r.duties.Ended():
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil {
			err := r.carryOut(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			r.w.log.Warn("what the ring asks of this worker is not done; it is tried again", "error", err)
			r.sleep(ctx, registerPause)
		}
	}
}

// carryOut does and reports what the newest view asks for. What was done before a failure is reported, too.
func (r *ringClient) carryOut(ctx context.Context) error {
	return r.duties.Pass(ctx, func(ctx context.Context, reports activities.RingReports) error {
		return activities.ReportToRing(ctx, r.w.client, reports)
	})
}

// leave has the ring give to others what the worker owns, and returns when it has, or after a while: what spread crawls have of its
// partitions is exported.
func (r *ringClient) leave() {
	r.cancel()
	r.done.Wait()
	within := leaveWait
	if spread, err := r.w.front.SpreadCrawls(); err == nil && len(spread) > 0 {
		within = max(within, r.w.conf.HandOver)
		r.duties.GiveBackFrom(time.Now().Add(within / 2))
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := r.left(ctx); err != nil {
		r.w.log.Warn("this worker has not left the ring: the ring waits for it to come back", "error", err)
	}
}

// left leaves. At last it ends the heartbeat, and waits until the ring has seen that: what the ring has to do by then, a worker must do that is
// still there, or the next process of this one would wait for it.
func (r *ringClient) left(ctx context.Context) error {
	member := activities.RingMember{Worker: r.reg.Name, Process: r.reg.Process}
	if err := activities.LeaveRing(ctx, r.w.client, member); err != nil {
		return err
	}
	for stopped := false; ; {
		view, err := activities.ViewRing(ctx, r.w.client, member.Worker)
		if err != nil {
			return err
		}
		r.noteEpoch(view.Epoch)
		self, there := view.Worker(member.Worker)
		if !view.Has(member.Process) || there && self.Lost {
			return nil
		}
		pause := leavePause
		if r.membership.Take(view); view.CanHandOver(member.Worker) {
			if err := r.carryOut(ctx); err != nil && ctx.Err() == nil { // one answer of a store, out of a thousand, costs no hand-over
				r.w.log.Warn("what this worker owns is not all handed over; it is tried again", "error", err)
				pause = registerPause
			}
		} else if !stopped {
			r.membership.Stop()
			stopped = true
		}
		if r.sleep(ctx, pause); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// noteEpoch keeps the newest epoch in the data folder.
func (r *ringClient) noteEpoch(epoch uint64) {
	if err := r.epochs.keep(epoch); err != nil {
		r.w.log.Error("the epoch of the ring is not kept in the data folder", "error", err)
	}
	r.reg.Epoch = max(r.reg.Epoch, epoch)
}

func (r *ringClient) sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
