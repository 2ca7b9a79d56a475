package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
)

// clusterEnv runs Cluster with workers whose heartbeats last for given times.
type clusterEnv struct {
	*env
	lives  []time.Duration // of the heartbeats, in the order in which they begin
	served []string        // processes
	views  []string        // PROCESS EPOCH
	serial int
}

func newCluster(t *testing.T, lives ...time.Duration) *clusterEnv {
	e := &clusterEnv{env: newEnv(t), lives: lives}
	e.signals(nil)
	e.OnActivity("Serve", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.ServeInput) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.served = append(e.served, in.Process)
		return errors.New("its heartbeat has stopped")
	}).AfterFn(func() time.Duration {
		e.mu.Lock()
		defer e.mu.Unlock()
		life := 1000 * time.Hour
		if len(e.lives) > 0 {
			life, e.lives = e.lives[0], e.lives[1:]
		}
		return life
	})
	e.OnActivity("TakeView", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.ViewInput) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.views = append(e.views, fmt.Sprint(in.Process, " ", in.Epoch))
		return nil
	})
	return e
}

// update sends an update at a time, and hands its result to take.
func (e *clusterEnv) update(after time.Duration, name string, take func(result any), arg any) {
	e.serial++
	id := fmt.Sprint(e.serial)
	e.at(after, func() {
		e.UpdateWorkflow(name, id, &testsuite.TestUpdateCallback{
			OnAccept: func() {}, OnReject: func(err error) { e.t.Errorf("%s is rejected: %v", name, err) },
			OnComplete: func(result any, err error) {
				if err != nil {
					e.t.Errorf("%s: %v", name, err)
				} else if take != nil {
					take(result)
				}
			},
		}, arg)
	})
}

func (e *clusterEnv) register(after time.Duration, name, process string, want func(ring.Answer) bool) {
	e.update(after, names.UpdateRegister, func(result any) {
		if a := result.(ring.Answer); !want(a) {
			e.t.Errorf("%s, process %s, is answered %+v", name, process, a)
		}
	}, ring.Registration{Name: name, Instance: name, Process: process, Queue: "queue/" + name, Shards: 1})
}

func accepted(a ring.Answer) bool { return a.Accepted }

// work has a worker do and report all that the ring asks of it.
func (e *clusterEnv) work(after time.Duration, name, process string) {
	e.at(after, func() {
		value, err := e.QueryWorkflow(names.QueryView, name)
		if err != nil {
			e.t.Error(err)
			return
		}
		view := &ring.View{}
		if err := value.Get(view); err != nil {
			e.t.Error(err)
			return
		}
		m := ring.NewMembership(name, process)
		m.Take(e.Now(), view)
		reports := activities.RingReports{RingMember: activities.RingMember{Worker: name, Process: process}}
		for _, task := range m.Tasks() {
			switch task.Act {
			case ring.Export:
				reports.Exported = append(reports.Exported, ring.Report{Partition: task.Partition, Order: task.Order, Object: "key"})
			case ring.Load:
				reports.Loaded = append(reports.Loaded, ring.Report{Partition: task.Partition, Order: task.Order})
			}
		}
		e.update(0, names.UpdateReport, func(result any) {
			if stale := result.([]ring.Report); len(stale) > 0 {
				e.t.Errorf("%d reports of %s are stale", len(stale), process)
			}
		}, reports)
	})
}

// expect compares the ring, as operators see it, at a time.
func (e *clusterEnv) expect(after time.Duration, want ...string) {
	e.at(after, func() {
		value, err := e.QueryWorkflow(names.QueryStatus)
		if err != nil {
			e.t.Error(err)
			return
		}
		var s ClusterStatus
		if err := value.Get(&s); err != nil {
			e.t.Error(err)
		}
		var got []string
		for _, line := range strings.Split(s.String(), "\n") {
			if line, is := strings.CutPrefix(line, "* "); is {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			e.t.Errorf("after %s: %q, want %q", after, got, want)
		}
	})
}

// TestCluster: two workers join; the heartbeat of one stops; it is waited for, and then its partitions go to the other one, which
// is shown every change.
func TestCluster(t *testing.T) {
	e := newCluster(t, 1000*time.Hour, time.Hour)
	e.register(time.Second, "w1", "p1", accepted)
	e.expect(3*time.Second, "w1: up, 1024 owned")
	e.register(10*time.Second, "w2", "p2", accepted)
	e.register(11*time.Second, "w2", "other", func(a ring.Answer) bool { return a.Wait == ring.DefaultHeartbeat })
	e.work(12*time.Second, "w1", "p1")
	e.work(13*time.Second, "w2", "p2")
	e.expect(14*time.Second, "w1: up, 512 owned", "w2: up, 512 owned")
	e.expect(2*time.Hour, "w1: up, 512 to load, 512 owned")
	e.expect(time.Hour+time.Minute, "w1: up, 512 owned", "w2: lost, 512 owned")
	e.work(2*time.Hour+time.Second, "w1", "p1")
	e.expect(2*time.Hour+time.Minute, "w1: up, 1024 owned")
	e.at(3*time.Hour, e.CancelWorkflow)
	if err := e.run(Cluster, activities.ClusterInput{}); err == nil {
		t.Error("a cancelled ring continues")
	}
	if last := e.views[len(e.views)-1]; !slices.Contains(e.views, "p2 2") || last != "p1 7" {
		t.Errorf("views are taken: %v", e.views)
	}
	e.expectGone("w2")
}

// expectGone compares the workers that the shard of politeness was sent as given up.
func (e *clusterEnv) expectGone(want ...string) {
	e.t.Helper()
	var got []string
	for _, s := range e.sent {
		if s.to == names.PolitenessID(0) && s.signal == names.SignalRound {
			for _, gone := range s.arg.(politeness.Round).Gone {
				if gone.Left {
					gone.Worker += " has left"
				}
				got = append(got, gone.Worker)
			}
		}
	}
	if !slices.Equal(got, want) {
		e.t.Errorf("politeness was sent that %q are gone, want %q", got, want)
	}
}

// TestClusterReturn: a worker whose heartbeat has stopped registers again in time: it keeps what it had, and has a heartbeat again.
func TestClusterReturn(t *testing.T) {
	e := newCluster(t, time.Hour)
	e.register(time.Second, "w1", "p1", accepted)
	e.register(time.Hour+time.Minute, "w1", "p1", accepted)
	e.expect(time.Hour+30*time.Second, "w1: lost, 1024 owned")
	e.expect(2*time.Hour, "w1: up, 1024 owned")
	e.at(3*time.Hour, e.CancelWorkflow)
	_ = e.run(Cluster, activities.ClusterInput{})
	e.expectGone()
}

// TestClusterLeave: a worker that leaves in peace is gone when it has exported everything, and its heartbeat ends.
func TestClusterLeave(t *testing.T) {
	e := newCluster(t)
	e.register(time.Second, "w1", "p1", accepted)
	e.register(time.Second, "w2", "p2", accepted)
	e.work(2*time.Second, "w1", "p1")
	e.work(2500*time.Millisecond, "w2", "p2")
	e.update(3*time.Second, names.UpdateLeave, nil, activities.RingMember{Worker: "w1", Process: "p1"})
	e.expect(4*time.Second, "w1: leaving, 512 closing", "w2: up, 512 owned")
	e.work(5*time.Second, "w1", "p1")
	e.expect(6*time.Second, "w2: up, 512 to load, 512 owned")
	e.at(time.Hour, e.CancelWorkflow)
	_ = e.run(Cluster, activities.ClusterInput{})
	e.expectGone("w1 has left")
}

// TestClusterLostLeaving: a worker that was leaving when its heartbeat stopped has left once it is given up. An execution of an earlier version sends nothing of it.
func TestClusterLostLeaving(t *testing.T) {
	for _, version := range []workflow.Version{workflow.DefaultVersion, 1} {
		e := newCluster(t, 1000*time.Hour, time.Hour)
		e.OnGetVersion(versionSendLeft, workflow.DefaultVersion, workflow.Version(1)).Return(version)
		e.register(time.Second, "w1", "p1", accepted)
		e.register(2*time.Second, "w2", "p2", accepted)
		e.work(3*time.Second, "w1", "p1")
		e.work(4*time.Second, "w2", "p2")
		e.update(time.Hour-time.Second, names.UpdateLeave, nil, activities.RingMember{Worker: "w2", Process: "p2"})
		e.expect(time.Hour+time.Minute, "w1: up, 512 owned", "w2: lost, 512 closing")
		e.at(3*time.Hour, e.CancelWorkflow)
		_ = e.run(Cluster, activities.ClusterInput{})
		if version == workflow.DefaultVersion {
			e.expectGone()
		} else {
			e.expectGone("w2 has left")
		}
	}
}

// TestClusterContinues: after many changes the ring continues as new with its state.
func TestClusterContinues(t *testing.T) {
	e := newCluster(t)
	e.register(time.Second, "w1", "p1", accepted)
	for i := range clusterEpochs / 2 {
		at, process := time.Duration(i+2)*time.Second, fmt.Sprint("q", i)
		e.register(at, "w2", process, accepted)
		e.update(at+time.Millisecond, names.UpdateLeave, nil, activities.RingMember{Worker: "w2", Process: process})
	}
	var in activities.ClusterInput
	continued(t, e.run(Cluster, activities.ClusterInput{}), &in)
	again := newCluster(t)
	again.expect(time.Second, "w1: up, 512 owned, 512 closing", "w2: up")
	again.at(time.Hour, again.CancelWorkflow)
	_ = again.run(Cluster, in)
	if !slices.Contains(again.views, fmt.Sprint("p1 ", in.State.Epoch())) {
		t.Errorf("after %d epochs, the views that are taken: %v", in.State.Epoch(), again.views)
	}
}

// TestClusterLimits: limits by which two workers could claim in one partition are refused.
func TestClusterLimits(t *testing.T) {
	e := newCluster(t)
	if err := e.run(Cluster, activities.ClusterInput{Limits: ring.Limits{Heartbeat: 1, Permit: 2, Grace: 3, CloseWithin: 4}}); err == nil || !strings.Contains(err.Error(), "grace") {
		t.Errorf("%v", err)
	}
}
