package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// A crawl that is spread has the workers of the ring as its members. They come and go while it runs.

// membersTimeout is how long AwaitMembers may take; it asks again after an hour.
const membersTimeout = 2 * time.Hour

func withMembersOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: membersTimeout, HeartbeatTimeout: heartbeatTimeout, Summary: "which workers are in the ring?", RetryPolicy: retryForever(),
	})
}

// choose names the workers with which the crawl begins.
func (c *crawlRun) choose(ctx workflow.Context) (err error) {
	if c.Begun.Run > 0 {
		return nil
	}
	c.enterPhase(ctx, crawl.PhaseBeginning)
	var members []activities.Member
	if c.definition.Spread {
		var ring activities.MembersResult
		err = workflow.ExecuteActivity(withMembersOptions(ctx), steps.AwaitMembers, activities.MembersInput{Crawl: c.Name, Unowned: c.byParts}).Get(ctx, &ring)
		c.Ring, c.RingEpoch = ring.Workers, ring.Epoch
		members = slices.DeleteFunc(slices.Clone(c.Ring), func(m activities.Member) bool { return m.Lost || m.Leaving })
	} else {
		err = workflow.ExecuteActivity(withSharedOptions(ctx, "which workers can take the crawl?"), steps.Members).Get(ctx, &members)
	}
	if err == nil && len(members) == 0 {
		err = temporal.NewApplicationError("no worker can take the crawl", "NoWorker")
	}
	for _, m := range members {
		c.Members = append(c.Members, &CrawlMember{Member: m})
	}
	return err
}

// followRing keeps the members those of the ring, beside the phases.
func (c *crawlRun) followRing(ctx workflow.Context) {
	if !c.definition.Spread {
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var ring activities.MembersResult
			in := activities.MembersInput{Crawl: c.Name, Known: c.Ring, Epoch: c.RingEpoch}
			if workflow.ExecuteActivity(withMembersOptions(ctx), steps.AwaitMembers, in).Get(ctx, &ring) != nil {
				return
			}
			c.RingEpoch = ring.Epoch
			c.takeWorkers(ctx, ring.Workers)
			c.show(ctx)
		}
	})
}

// takeWorkers takes the workers of the ring: those that are new join, those that are missing are given up. While the run ends nobody joins, but
// one that is lost is still given up: the run would never have its answer.
func (c *crawlRun) takeWorkers(ctx workflow.Context, workers []activities.Member) {
	former := c.Ring
	c.Ring = workers
	for _, m := range c.Present() {
		if !slices.ContainsFunc(workers, func(w activities.Member) bool { return w.Worker == m.Worker && w.Instance == m.Instance }) {
			c.giveUp(ctx, m)
		}
	}
	if c.checkOpen() != nil {
		return
	}
	if c.takesAbsent {
		for _, w := range former {
			c.giveUpAbsent(ctx, w)
		}
	}
	for _, w := range workers {
		if m := c.member(w.Worker); m != nil {
			m.Member = w
			if m.Fault != "" && !w.Lost && !w.Leaving { // it may have been started again, with what it lacked
				c.prepare(ctx, m)
			}
			continue
		}
		if w.Lost || w.Leaving {
			continue
		}
		// What it had done when it was given up is in its folder, and counts again.
		c.Members = slices.DeleteFunc(c.Members, func(m *CrawlMember) bool {
			if !m.Gone || m.Instance != w.Instance {
				return false
			}
			m.Progress, m.Counted = activities.Progress{}, true
			return !m.Retiring && m.running == nil
		})
		m := &CrawlMember{Member: w}
		c.Members = append(c.Members, m)
		if c.Begun.Run > 0 { // else it begins with the others, or before the first phase
			c.prepare(ctx, m)
		}
	}
	c.Progress = c.sum()
}

// giveUp continues without a member. Its controller and its batches wait for a task queue that nobody polls; what it may have used of the
// budgets counts as used, until what it has done is counted.
func (c *crawlRun) giveUp(ctx workflow.Context, m *CrawlMember) {
	m.Gone, m.Retiring = true, true
	p := &m.Progress
	p.Holds, p.Leases, p.Waiting, p.Queues, p.InFlight, p.Owing = "", nil, 0, 0, 0, 0 // others have it now
	for _, reason := range activities.SharedBudgets() {
		if b := c.Budgets[reason]; b != nil && m.Account != "" {
			b.Gone(m.Account)
		}
	}
	workflow.GetLogger(ctx).Warn("the crawl continues without a worker, which has left the ring", "crawl", c.Name, "worker", m.Worker)
	if c.checkOpen() != nil {
		m.Retiring = false
		return // the controllers and the batches have ended before the run ends
	}
	c.startRetiring(ctx, m)
}

// countGone takes the true numbers of a member that is gone: its last report may be minutes old.
func (c *crawlRun) countGone(ctx workflow.Context, m *CrawlMember) (counted bool) {
	if c.Started.IsZero() {
		return false // begun by an earlier version
	}
	var done frontier.Totals
	in := activities.LostTotalsInput{Crawl: c.Name, Holder: c.folder(m.Member), Started: c.Started, Run: c.Begun.Run}
	err := workflow.ExecuteActivity(withQueueOptions(ctx, "", "count what "+m.Worker+" has archived"), steps.LostTotals, in).Get(ctx, &done)
	if err != nil || m.Counted { // or it has joined again, with its folder, which counts
		return false
	}
	if m.Absent && workflow.Await(ctx, func() bool { return c.Budgets != nil }) != nil {
		return
	}
	if !c.byFolder {
		c.subtractFormer(&done, m)
	}
	done = lostTotals(done, m.Progress.Totals)
	m.Progress.Totals, m.Progress.At, m.Counted = done, workflow.Now(ctx), true
	c.Progress = c.sum()
	for _, reason := range activities.SharedBudgets() {
		switch b := c.Budgets[reason]; {
		case b == nil:
		case m.Absent:
			b.Absent(m.Account, activities.Used(reason, done))
		default:
			b.GoneUsed(m.Account, activities.Used(reason, done))
		}
	}
	return true
}

// lostTotals is what a lost member has done: what its segments have, and of what no segment says, what it has reported last. The URLs that it knew count at
// the workers that have its partitions since.
func lostTotals(archived, reported frontier.Totals) frontier.Totals {
	t := archived
	t.Links, t.Failed, t.NotDue, t.RequisitesCut = reported.Links, reported.Failed, reported.NotDue, reported.RequisitesCut
	t.Known, t.Requisites, t.Speculative = 0, 0, 0
	return t
}

// subtractFormer leaves out what other folders of the same worker have done.
func (c *crawlRun) subtractFormer(done *frontier.Totals, m *CrawlMember) {
	for _, former := range c.Members {
		if former != m && former.Worker == m.Worker && former.Gone {
			done.Subtract(former.Progress.Totals)
		}
	}
	if c.Former != nil {
		done.Subtract(c.Former.Names[m.Worker])
	}
}

// queues are the task queues of the members that take part.
func (c *crawlRun) queues() (list []string) {
	for _, m := range c.takingPart() {
		list = append(list, m.Queue)
	}
	return list
}

// lack is what a member does not have yet.
type lack struct {
	summary string
	step    any
	input   any
	done    func(take func(result any))
}

// lacks is the next thing that a member lacks before it can have a controller; nil if it has all. What it is given is what holds now, so that
// one that comes late, or misses a change, catches up.
func (c *crawlRun) lacks(m *CrawlMember) *lack {
	version, phase := c.Version, c.phase
	switch {
	case !m.Begun:
		in := activities.BeginInput{Definition: c.definition, Owner: c.Owner, Run: c.Begun.Run, Parts: c.byParts}
		return &lack{"open archive and frontier", steps.Begin, beginsWith(in)(m), func(take func(any)) {
			var out activities.BeginResult
			take(&out)
			m.Begun, m.Life, m.Unseeded = true, out.Life, out.Unseeded
			m.began = out
		}}
	case m.Version != c.Version: // also after Begin: a folder that knows the run keeps the definition that it has
		in := activities.ConfigureInput{Definition: c.definition, Version: c.Version, Allotments: c.allotments(m)}
		return &lack{"change the definition", steps.Configure, in, func(func(any)) { m.Version = version }}
	case c.TopicModel != nil && !m.Learned:
		in := activities.LearnInput{Crawl: c.Name, Samples: c.Samples}
		return &lack{"learn the topic of the reference crawl", steps.LearnTogether, in, func(func(any)) { m.Learned = true }}
	case m.phase != c.phase:
		return &lack{"bounds of the crawl", steps.Phase, c.bounds, func(func(any)) { m.phase = phase }}
	}
	return nil
}

// prepare gives a member what it lacks, beside the phases.
func (c *crawlRun) prepare(ctx workflow.Context, m *CrawlMember) {
	if m.preparing {
		return // what it lacks by now is seen there
	}
	c.openAccount(m)
	m.preparing, m.Fault, m.refusal = true, "", nil
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer func() { m.preparing, m.late = false, false }()
		for next := c.lacks(m); next != nil && !m.Gone; next = c.lacks(m) {
			version := c.Version
			if in, begins := next.input.(activities.BeginInput); begins {
				in.Elapsed = c.elapsed(ctx)
				next.input = in
			}
			ctx, cancel := workflow.WithCancel(ctx)
			f := workflow.ExecuteActivity(withQueueOptions(ctx, m.Queue, next.summary), next.step, next.input)
			err := workflow.Await(ctx, func() bool { return f.IsReady() || m.Gone })
			if err != nil || m.Gone {
				cancel()
				return
			}
			if err := f.Get(ctx, nil); err != nil && version != c.Version {
				continue // what it cannot take is not in force any more
			} else if err != nil {
				m.Fault, m.refusal = reasonOf(err), err
				workflow.GetLogger(ctx).Error("a worker cannot take part in the crawl", "crawl", c.Name, "worker", m.Worker, "error", err)
				return
			}
			next.done(func(result any) { _ = f.Get(ctx, result) })
			c.allotCurrent(ctx, m)
		}
		c.queueRest(ctx, m)
	})
}

// openAccount names a member in the budgets. A folder that joins again continues its account: it counts from what it has done before.
func (c *crawlRun) openAccount(m *CrawlMember) {
	if m.Account != "" {
		return
	}
	m.Account = cmp.Or(m.Instance, m.Worker)
	for _, reason := range activities.SharedBudgets() {
		if b := c.Budgets[reason]; b != nil {
			b.Rejoin(m.Account)
		}
	}
}

// prepareAll gives all members what they lack, and waits until they have it, but for those that the ring has lost: they get it when they are
// back. One that cannot take part is left out, unless none can.
func (c *crawlRun) prepareAll(ctx workflow.Context) error {
	for _, m := range c.Present() {
		c.prepare(ctx, m)
	}
	if err := workflow.Await(ctx, func() bool {
		return !slices.ContainsFunc(c.Present(), func(m *CrawlMember) bool { return m.preparing && !m.Lost })
	}); err != nil {
		return err
	}
	return c.oneTakesPart()
}

// oneTakesPart returns why no member can take part; nil if one can.
func (c *crawlRun) oneTakesPart() error {
	for _, m := range c.Present() {
		if m.Fault == "" {
			return nil
		}
	}
	if len(c.Present()) == 0 {
		return nil // others may join
	}
	return temporal.NewNonRetryableApplicationError("no worker can take part: "+c.Present()[0].Fault, activities.ErrorInput, nil)
}

// versionSteer is the change since which a definition that all workers of a spread crawl refuse is taken back, too, since which the end is not found
// by what was answered before a change of the definition, and since which workers return what is above a budget that was made smaller.
const versionSteer = "steer"

// configure has the members take a definition. If one of them refuses it, all go back to the former one. late are those that the ring has lost:
// they get it when they are back, before they claim anything, because they are allotted nothing until then.
func (c *crawlRun) configure(ctx workflow.Context, d crawl.Definition) (late []string, err error) {
	if !c.definition.Spread {
		return nil, c.onAll(ctx, "change the definition", steps.Configure, sameInput(activities.ConfigureInput{Definition: d}), nil)
	}
	former, steers := c.definition, workflow.GetVersion(ctx, versionSteer, workflow.DefaultVersion, 1) != workflow.DefaultVersion
	if steers { // the change may allow URLs that wait; what is answered while workers take it may be from before
		c.Ending.Disturb()
		c.undecided = true
		defer func() {
			c.Ending.Disturb()
			c.undecided = false
			c.finishSpent(ctx)
		}()
	}
	c.definition, c.Version = d, c.Version+1
	c.setBudgets(ctx)
	for _, reason := range activities.SharedBudgets() {
		c.Budgets[reason].Recalls = c.Budgets[reason].Recalls || steers
	}
	refused := c.prepareAll(ctx) // by all of them
	if refused != nil && (ctx.Err() != nil || !steers) {
		return nil, refused
	}
	if i := slices.IndexFunc(c.Present(), func(m *CrawlMember) bool { return m.Begun && m.Fault != "" }); i >= 0 {
		m := c.Present()[i]
		refused = fmt.Errorf("worker %s refuses the change: %s", m.Worker, m.Fault)
	}
	if refused != nil {
		c.definition, c.Version = former, c.Version+1
		c.setBudgets(ctx)
		return nil, errors.Join(refused, c.prepareAll(ctx))
	}
	for _, m := range c.Present() {
		if m.Version != c.Version {
			late = append(late, m.Worker)
		}
	}
	return late, nil
}

// learnTogether has all members learn from the samples of all.
func (c *crawlRun) learnTogether(ctx workflow.Context) error {
	var keys []string
	if err := c.onAll(ctx, "samples of the reference crawl", steps.Samples, sameInput(c.Name), collect(ctx, &keys)); err != nil {
		return err
	}
	var out []activities.LearnResult
	in := activities.LearnInput{Crawl: c.Name, Samples: keys}
	taking := c.takingPart()
	if err := c.onAll(ctx, "learn the topic of the reference crawl", steps.LearnTogether, sameInput(in), collect(ctx, &out)); err != nil {
		return err
	}
	if len(out) == 0 {
		return temporal.NewApplicationError("all workers have left the ring", "NoWorker")
	}
	for _, m := range taking {
		m.Learned = true
	}
	c.Samples, c.TopicModel = keys, &out[0].TopicModel
	return nil
}

// endTogether ends the run at all members; one of them makes the report, with the totals of all. Of members that the ring gives up meanwhile
// the last numbers count.
func (c *crawlRun) endTogether(ctx workflow.Context) (out activities.EndResult, err error) {
	in := activities.EndInput{Crawl: c.Name, Owner: c.Owner, NoReport: true}
	left := slices.Clone(c.Members) // whose numbers are missing
	err = c.onAll(ctx, "end the run at this worker", steps.End, sameInput(in), func(m *CrawlMember, f workflow.Future) error {
		var ended activities.EndResult
		left = slices.DeleteFunc(left, func(o *CrawlMember) bool { return o == m })
		err := f.Get(ctx, &ended)
		out.Status = addStatus(out.Status, ended.Status)
		return err
	})
	if err != nil {
		return out, err
	}
	for _, m := range left {
		if m.Gone {
			out.Status.Totals = addTotals(out.Status.Totals, m.Progress.Totals)
		}
	}
	if c.Former != nil {
		out.Status.Totals = addTotals(out.Status.Totals, c.Former.Totals)
	}
	in = activities.EndInput{Crawl: c.Name, Owner: c.Owner, Totals: &out.Status.Totals}
	for _, m := range c.takingPart() {
		report := workflow.ExecuteActivity(withQueueOptions(ctx, m.Queue, "make the report"), steps.End, in)
		if answered, err := awaitAnswer(ctx, report, func() bool { return m.Gone }); answered || err != nil {
			var made activities.EndResult
			err = errors.Join(err, report.Get(ctx, &made))
			out.Report = made.Report
			return out, err
		}
	}
	return out, nil
}
