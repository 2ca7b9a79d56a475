package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
)

// clusterEpochs is how many changes an execution carries out before it continues as new.
const clusterEpochs = 300

// Cluster carries the ring of workers: which of them owns which partition. The rules are in internal/ring; this takes registrations and
// reports as updates, has each worker be a member by one long activity on its own queue (Serve), and has each take every new view
// (TakeView). Nothing grows while nothing changes. The first worker that registers starts it.
func Cluster(ctx workflow.Context, in activities.ClusterInput) error {
	c := &cluster{state: in.State, serving: map[string]workflow.CancelFunc{}, resets: newResets(ctx)}
	if c.state == nil {
		limits := in.Limits
		if limits == (ring.Limits{}) {
			limits = ring.DefaultLimits()
		}
		if err := limits.Validate(); err != nil {
			return temporal.NewNonRetryableApplicationError("limits of the ring: "+err.Error(), activities.ErrorInput, err)
		}
		c.state = ring.New(limits)
		if !in.Forgotten.IsZero() {
			c.state.Forgotten(in.Forgotten)
		}
	}
	if err := cmp.Or(c.registerHandlers(ctx), c.forgets(ctx)); err != nil {
		return err
	}
	for first := c.state.Epoch(); c.state.Epoch() < first+clusterEpochs && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); {
		c.attend(ctx)
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
	c.sendGone(ctx) // the next execution does not know of them
	err := workflow.Await(ctx, func() bool { return c.resets.count(ctx) > 0 || c.sending == 0 && workflow.AllHandlersFinished(ctx) })
	if err = cmp.Or(err, c.forgets(ctx)); err != nil {
		return err
	}
	// The activities of this execution end with it. Those of the next one begin before a heartbeat is missed.
	return workflow.NewContinueAsNewError(ctx, names.Cluster, activities.ClusterInput{State: c.state})
}

type cluster struct {
	state   *ring.State
	serving map[string]workflow.CancelFunc // by process: the activities of a member that is up
	seen    []ring.Worker                  // the workers of the ring, by the last look
	sending int                            // signals that are on their way
	resets  *resets
}

// forgets is why a ring ends that was reset: its epochs would come once more, with other owners.
func (c *cluster) forgets(ctx workflow.Context) error {
	return c.resets.forgets(ctx, "how the ring has changed since")
}

// registerHandlers answers updates and queries.
func (c *cluster) registerHandlers(ctx workflow.Context) error {
	handlers := []error{
		workflow.SetUpdateHandler(ctx, names.UpdateRegister, func(ctx workflow.Context, r ring.Registration) (ring.Answer, error) {
			if err := c.forgets(ctx); err != nil {
				return ring.Answer{}, err
			}
			// A heartbeat may have ended right before: without this, the next process of its worker would find it up.
			if err := drainSignals(ctx); err != nil {
				return ring.Answer{}, err
			}
			return c.state.Register(workflow.Now(ctx), r), nil
		}),
		workflow.SetUpdateHandler(ctx, names.UpdateReport, func(ctx workflow.Context, r activities.RingReports) ([]ring.Report, error) {
			if err := c.forgets(ctx); err != nil {
				return nil, err
			}
			now := workflow.Now(ctx)
			stale := c.state.Exported(now, r.Worker, r.Process, r.Exported)
			return append(stale, c.state.Loaded(now, r.Worker, r.Process, r.Loaded)...), nil
		}),
		workflow.SetUpdateHandler(ctx, names.UpdateLeave, func(ctx workflow.Context, m activities.RingMember) error {
			err := c.forgets(ctx)
			if err == nil {
				c.state.Leave(workflow.Now(ctx), m.Worker, m.Process)
			}
			return err
		}),
		workflow.SetQueryHandler(ctx, names.QueryView, func(worker string) (*ring.View, error) { return c.state.View(worker), nil }),
		workflow.SetQueryHandler(ctx, names.QueryStatus, func() (ClusterStatus, error) { return c.status(), nil }),
	}
	for _, err := range handlers {
		if err != nil {
			return err
		}
	}
	return nil
}

// wait waits for a change of the ring, or for the moment at which the ring changes by itself.
func (c *cluster) wait(ctx workflow.Context) (err error) {
	epoch := c.state.Epoch()
	changed := func() bool { return c.resets.count(ctx) > 0 || c.state.Epoch() != epoch }
	if wake, ok := c.state.Wake(workflow.Now(ctx)); ok {
		_, err = workflow.AwaitWithTimeout(ctx, wake, changed)
		if err = cmp.Or(err, c.forgets(ctx)); err == nil {
			c.state.Tick(workflow.Now(ctx))
		}
		return err
	}
	return cmp.Or(workflow.Await(ctx, changed), c.forgets(ctx))
}

// attend starts the activities of members that have come up, and ends those of members that are gone.
func (c *cluster) attend(ctx workflow.Context) {
	c.sendGone(ctx)
	view := c.state.View("")
	workflow.SetCurrentDetails(ctx, c.status().String())
	for _, w := range view.Workers {
		if !w.Lost && c.serving[w.Process] == nil {
			c.serve(ctx, w)
		}
	}
	for _, process := range workflow.DeterministicKeys(c.serving) {
		if !view.Has(process) {
			c.serving[process]()
		}
	}
}

// versionSendGone marks executions in which politeness is sent the workers that the ring has given up, and versionSendLeft those in which it is sent the workers
// that have left as well.
const (
	versionSendGone = "send-gone"
	versionSendLeft = "send-left"
)

// sendGone sends all shards of politeness the workers that are in the ring no more since the last look: what they have asked for would be
// granted to nobody, and keep its address until the lease's deadline. So would the leases of a worker that has left in peace and stopped before it could
// release them. It may be started again: what a bound crawl has asked for waits for it.
func (c *cluster) sendGone(ctx workflow.Context) {
	view, at, epoch := c.state.View(""), workflow.Now(ctx), c.state.Epoch()
	var gone, left []politeness.Gone
	for _, w := range c.seen {
		if _, member := view.Worker(w.Name); member {
			continue
		}
		if w.Lost && !w.Leaving {
			gone = append(gone, politeness.Gone{Worker: w.Name, At: at, Epoch: epoch})
		} else {
			left = append(left, politeness.Gone{Worker: w.Name, At: at, Left: true, Epoch: epoch})
		}
	}
	c.seen = view.Workers
	if len(gone) > 0 && workflow.GetVersion(ctx, versionSendGone, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		gone = nil
	}
	if len(left) > 0 && workflow.GetVersion(ctx, versionSendLeft, workflow.DefaultVersion, 1) != workflow.DefaultVersion {
		gone = append(gone, left...)
	}
	if len(gone) == 0 {
		return
	}
	round := politeness.Round{Shards: c.state.Shards(), Gone: gone}
	for shard := range c.state.Shards() {
		sent := workflow.SignalExternalWorkflow(ctx, names.PolitenessID(shard), "", names.SignalRound, round)
		c.sending++
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = sent.Get(ctx, nil) // a shard that does not run has nothing to withdraw
			c.sending--
		})
	}
}

// serve makes a process a member: its heartbeat, and the views that it takes. When the heartbeat stops, the worker is lost.
func (c *cluster) serve(ctx workflow.Context, w ring.Worker) {
	serving, cancel := workflow.WithCancel(ctx)
	c.serving[w.Process] = cancel
	member := activities.RingMember{Worker: w.Name, Process: w.Process}
	heartbeat := c.state.Limits().Heartbeat
	workflow.Go(serving, func(serving workflow.Context) {
		in := activities.ServeInput{RingMember: member, Epoch: w.Since, Every: heartbeat / 5}
		_ = workflow.ExecuteActivity(withServeOptions(serving, w.Queue, heartbeat), steps.Serve, in).Get(serving, nil)
		cancel()
		delete(c.serving, w.Process)
		if ctx.Err() == nil {
			c.state.Lost(workflow.Now(ctx), w.Name, w.Process)
		}
	})
	workflow.Go(serving, func(serving workflow.Context) {
		for taken := uint64(0); workflow.Await(serving, func() bool { return c.state.Epoch() > taken }) == nil; {
			epoch := c.state.Epoch()
			in := activities.ViewInput{RingMember: member, Epoch: epoch}
			if workflow.ExecuteActivity(withViewOptions(serving, w.Queue), steps.TakeView, in).Get(serving, nil) != nil {
				return // it was cancelled, or the process is gone
			}
			taken = epoch
		}
	})
}

// withServeOptions is for the membership of a worker: it lasts, and its heartbeat alone says for how long.
func withServeOptions(ctx workflow.Context, queue string, heartbeat time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, ScheduleToStartTimeout: heartbeat, StartToCloseTimeout: serveTimeout, HeartbeatTimeout: heartbeat,
		Summary: "member of the ring", RetryPolicy: retryAtMost(1),
	})
}

// withViewOptions is for taking a view.
func withViewOptions(ctx workflow.Context, queue string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: viewTimeout, Summary: "takes the view of the ring", RetryPolicy: retryForever(),
	})
}

const (
	serveTimeout = 10 * 365 * 24 * time.Hour
	viewTimeout  = 10 * time.Second
)
