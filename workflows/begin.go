package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
)

// versionParts is the change since which a spread crawl begins with the workers that answer, and with the partitions that have an owner. Before, it began once all workers
// had queued their seeds by one epoch of the ring: it waited for one that was silent until the ring had given it up. From version 2 on the rest is queued by a step of its own, a worker that
// cannot do so is asked again and works meanwhile, and changes of the definition, submitted URLs and an abort wait until a worker has begun.
const versionParts = "begin-by-parts"

// beginPatience is how long a crawl waits for more workers at most, once one has answered, when it begins and when a phase begins. The others take part as soon as they answer.
const beginPatience = 3 * time.Second

// beginByParts begins the run at the members that answer. Each queues the seeds of its own partitions. Those of a partition that is on its way are queued by the worker that loads
// or rebuilds it, if its former owner has not, and those of a worker that is silent by itself, when it is back.
func (c *crawlRun) beginByParts(ctx workflow.Context) error {
	known, err := c.lastRuns(ctx)
	if err != nil {
		return err
	}
	run := activities.NextRun(known)
	c.Started = workflow.GetInfo(ctx).WorkflowStartTime
	c.TimeFrom = c.Started.Add(-activities.ElapsedOf(run, known)) // this execution may continue the run
	c.Begun.Run, c.beginning = run, c.asksRest                    // from now on a worker that joins begins it
	defer func() { c.beginning = false }()
	if err := c.prepareSome(ctx); err != nil {
		return err
	}
	first := func() *CrawlMember {
		if i := slices.IndexFunc(c.Present(), func(m *CrawlMember) bool { return m.Begun || m.refusal != nil }); i >= 0 {
			return c.Present()[i]
		}
		return nil
	}
	if err := workflow.Await(ctx, func() bool { return first() != nil }); err != nil {
		return err
	}
	for _, m := range c.Present() {
		if m.refusal != nil {
			return m.refusal
		}
	}
	c.Begun = first().began
	for _, m := range c.Present() {
		if b := m.began.Started; m.Begun && !b.IsZero() && b.Before(c.Started) { // an earlier execution began the run
			c.Started, c.Uncounted = b, c.byFolder
		}
	}
	return nil
}

// hasBegun reports whether a worker has begun the run: what is sent to those that take part reaches one.
func (c *crawlRun) hasBegun() bool { return c.Begun.Run > 0 && !c.beginning }

// lastRuns asks which run is the last. What a worker that does not answer has begun and ended, those that answer read in the archive.
func (c *crawlRun) lastRuns(ctx workflow.Context) (known []activities.LastRun, err error) {
	for len(known) == 0 {
		if err := workflow.Await(ctx, func() bool { return c.reachable() }); err != nil {
			return nil, err
		}
		asking, cancel := workflow.WithCancel(ctx)
		answers := map[*CrawlMember]workflow.Future{}
		asked := slices.DeleteFunc(c.Present(), func(m *CrawlMember) bool { return m.Lost })
		in := beginsWith(activities.BeginInput{Definition: c.definition, Owner: c.Owner})
		for _, m := range asked {
			answers[m] = workflow.ExecuteActivity(withQueueOptions(asking, m.Queue, "which run is the last?"), steps.LastRun, in(m))
		}
		waits := func(m *CrawlMember) bool { return !answers[m].IsReady() && !m.Gone && !m.Lost }
		some := func() bool {
			return slices.ContainsFunc(asked, func(m *CrawlMember) bool { return answers[m].IsReady() })
		}
		if err := c.awaitMost(ctx, asked, waits, some); err != nil {
			cancel()
			return nil, err
		}
		for _, m := range asked {
			if m.late = waits(m); !answers[m].IsReady() {
				continue
			}
			if err := collect(ctx, &known)(m, answers[m]); err != nil {
				cancel()
				return nil, err
			}
		}
		cancel()
	}
	return known, nil
}

// reachable reports whether a member is there that the ring has not lost.
func (c *crawlRun) reachable() bool {
	return slices.ContainsFunc(c.Present(), func(m *CrawlMember) bool { return !m.Lost })
}

// awaitMost waits until no member waits any more, or some is true and beginPatience is over.
func (c *crawlRun) awaitMost(ctx workflow.Context, members []*CrawlMember, waits func(*CrawlMember) bool, some func() bool) error {
	all := func() bool { return !slices.ContainsFunc(members, waits) }
	if err := workflow.Await(ctx, func() bool { return all() || some() }); err != nil {
		return err
	}
	if all() {
		return nil
	}
	_, err := workflow.AwaitWithTimeout(ctx, beginPatience, all)
	return err
}

// prepareSome is prepareAll, but it does not wait for workers that are silent: they continue as soon as they answer.
func (c *crawlRun) prepareSome(ctx workflow.Context) error {
	for _, m := range c.Present() {
		c.prepare(ctx, m)
	}
	members := c.Present()
	waits := func(m *CrawlMember) bool { return m.preparing && !m.Lost && !m.late && !m.Gone }
	some := func() bool {
		return slices.ContainsFunc(members, func(m *CrawlMember) bool { return !m.Gone && m.Fault == "" && c.lacks(m) == nil })
	}
	if err := c.awaitMost(ctx, members, waits, some); err != nil {
		return err
	}
	for _, m := range members {
		m.late = m.preparing
	}
	return nil
}

// A worker that could not queue the rest, as when its file of seeds is gone, is asked again after restPause at first, and restPauseMost at last.
const (
	restPause     = time.Minute
	restPauseMost = 30 * time.Minute
)

// queueRest has a worker queue the seeds of partitions that were on their way when it began, once they are there. The crawl works meanwhile, also at that worker; it does not end.
func (c *crawlRun) queueRest(ctx workflow.Context, m *CrawlMember) {
	if !m.Unseeded || m.seeding || m.Gone {
		return
	}
	m.seeding = true
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer func() { m.seeding = false }()
		for pause := restPause; ; pause = min(2*pause, restPauseMost) {
			answered, err := c.askRest(ctx, m)
			if !answered {
				return
			}
			if err == nil {
				m.Unseeded, m.Unqueued = false, ""
				c.Ending.Disturb()
				return
			}
			workflow.GetLogger(ctx).Error("a worker cannot queue the seeds of its partitions", "crawl", c.Name, "worker", m.Worker, "error", err)
			if !c.asksRest {
				m.Fault = reasonOf(err)
				return
			}
			m.Unqueued = reasonOf(err)
			c.show(ctx)
			if _, err := workflow.AwaitWithTimeout(ctx, pause, func() bool { return m.Gone }); err != nil || m.Gone {
				return
			}
		}
	})
}

// askRest asks a worker to queue them. It does not answer if it leaves the ring, or the crawl is cancelled.
func (c *crawlRun) askRest(ctx workflow.Context, m *CrawlMember) (answered bool, err error) {
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	in, step := any(activities.RestInput{Crawl: c.Name, Owner: c.Owner, Run: c.Begun.Run, Holder: activities.Holder{Worker: m.Worker, Instance: m.Instance}}), any(steps.QueueRest)
	if !c.asksRest {
		begin := activities.BeginInput{Definition: c.definition, Owner: c.Owner, Run: c.Begun.Run, Elapsed: c.elapsed(ctx), Parts: true, Rest: true}
		in, step = beginsWith(begin)(m), any(steps.Begin)
	}
	f := workflow.ExecuteActivity(withQueueOptions(ctx, m.Queue, "queue the seeds of partitions that were on their way"), step, in)
	if answered, err := awaitAnswer(ctx, f, func() bool { return m.Gone }); !answered || err != nil {
		return false, nil
	}
	return true, f.Get(ctx, nil)
}
