package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/ring"
)

// How long the workers of a spread crawl have to take in what a lost one has left.
const (
	lostTimeout   = 10 * time.Minute // of one worker: it may be lost, too
	lostAttempts  = 10               // of one worker, in about five minutes
	lostPause     = 5 * time.Second  // until they are asked again, at first
	lostPauseMost = time.Minute
	lostTries     = 5 // before the reason is shown
)

// deliverLost has the workers of a spread crawl queue what one that the ring has given up had archived and not delivered. It returns when the
// owners of all partitions have it: partitions that are handed over or rebuilt are waited for. queues are the task queues of the workers
// at the time when it is called. It comes before the batches of the lost worker are terminated, and until it returns the crawl has not ended.
func deliverLost(ctx workflow.Context, crawl, worker string, queues func() []string) error {
	in := activities.LostInput{Crawl: crawl, Holder: activities.Holder{Worker: worker}}
	var lost activities.LostResult
	err := workflow.ExecuteActivity(withSharedOptions(ctx, "list the open batches of "+worker), steps.LostBatches, in).Get(ctx, &lost)
	if err != nil || len(lost.Batches) == 0 {
		return err
	}
	in.Batches = lost.Batches
	for pause := lostPause; ; pause = min(2*pause, lostPauseMost) {
		asked := queues()
		answers := make([]workflow.Future, len(asked))
		round, cancel := workflow.WithCancel(ctx)
		for i, queue := range asked {
			answers[i] = workflow.ExecuteActivity(withLostOptions(round, queue, worker), steps.TakeLost, in)
		}
		for i, answer := range answers {
			answered, err := awaitAnswer(ctx, answer, func() bool { return !slices.Contains(queues(), asked[i]) })
			if err != nil {
				cancel()
				return err
			}
			if !answered {
				continue
			}
			var out activities.LostResult
			if err := answer.Get(ctx, &out); err != nil {
				workflow.GetLogger(ctx).Warn("what a lost worker has found is not taken in; it is tried again", "crawl", crawl, "worker", worker, "error", err)
			}
			in.Taken = union(in.Taken, out.Taken)
		}
		cancel()
		if ctx.Err() != nil || len(in.Taken) >= ring.Partitions {
			return ctx.Err()
		}
		if err := workflow.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// union has each partition once: one that moves while two workers are asked is taken in by both. Counted twice, it would stand for one
// that nobody has taken in.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// takeOver is deliverLost of executions that carry what is left to do in their state. Each worker is asked by itself: it answers when it has taken
// something in, and is asked again until the owners of all partitions have it. What a worker has taken in is known to the next execution.
func (c *crawlRun) takeOver(ctx workflow.Context, m *CrawlMember) error {
	m.Fault = "" // why it could not take part
	in := activities.LostInput{Crawl: c.Name, Holder: c.folder(m.Member), Since: c.Started, Count: true}
	var lost activities.LostResult
	err := workflow.ExecuteActivity(withSharedOptions(ctx, "count the open batches of "+m.Worker), steps.LostBatches, in).Get(ctx, &lost)
	if err != nil || lost.Open+len(lost.Batches) == 0 {
		return err
	}
	asking, cancel := workflow.WithCancel(ctx)
	defer cancel()
	asked := map[string]bool{}
	all := func() bool { return len(m.Taken) >= ring.Partitions }
	next := func() string { // a worker that is not asked
		for _, queue := range c.queues() {
			if !asked[queue] {
				return queue
			}
		}
		return ""
	}
	for !all() {
		if queue := next(); queue != "" {
			asked[queue] = true
			workflow.Go(asking, func(ctx workflow.Context) {
				defer delete(asked, queue)
				c.takeOverAt(ctx, m, queue)
			})
		}
		if err := workflow.Await(ctx, func() bool { return all() || next() != "" }); err != nil {
			return err
		}
	}
	m.Taken = nil
	return nil
}

// takeOverAt asks one worker, as long as it takes part.
func (c *crawlRun) takeOverAt(ctx workflow.Context, m *CrawlMember, queue string) {
	for pause := lostPause; len(m.Taken) < ring.Partitions; pause = min(2*pause, lostPauseMost) {
		asking, cancel := workflow.WithCancel(ctx)
		in := activities.LostInput{Crawl: c.Name, Holder: c.folder(m.Member), Since: c.Started, Taken: m.Taken}
		answer := workflow.ExecuteActivity(withTakeOverOptions(asking, queue, m.Worker), steps.TakeOver, in)
		answered, err := awaitAnswer(ctx, answer, func() bool { return !slices.Contains(c.queues(), queue) })
		if cancel(); err != nil || !answered {
			return
		}
		var out activities.LostResult
		if err := answer.Get(ctx, &out); err != nil {
			m.Fault = reasonOf(err)
			workflow.GetLogger(ctx).Warn("what a lost worker has found is not taken in; it is tried again", "crawl", c.Name, "worker", m.Worker, "error", err)
		}
		if len(out.Taken) > 0 {
			m.Taken, m.Fault, pause = union(m.Taken, out.Taken), "", lostPause/2
			c.show(ctx)
		}
		if len(m.Taken) < ring.Partitions && workflow.Sleep(ctx, pause) != nil {
			return
		}
	}
}
