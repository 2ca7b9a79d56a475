package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

var (
	errEnding    = errors.New("the crawl is ending: start it again, which starts another run")
	errCancelled = errors.New("the crawl was cancelled: start it again, which continues its run")
)

// versionRun is the change by which the crawl numbers its runs: before it, the frontier of its worker did.
const versionRun = "run-number"

// Crawl runs a crawl from its definition: begin → reference crawl → learn → broad crawl → end. The
// definition is a mapping as in a definition file; resumed is nil but when the workflow continues as new.
func Crawl(ctx workflow.Context, definition json.RawMessage, resumed *CrawlState) (CrawlResult, error) {
	c := &crawlRun{raw: definition, resets: newResets(ctx), parses: workflow.GetVersion(ctx, versionParse, workflow.DefaultVersion, 1) == workflow.DefaultVersion}
	if c.parses {
		if err := c.parse(); err != nil {
			return CrawlResult{}, err
		}
	}
	if err := c.registerHandlers(ctx, resumed); err != nil {
		return CrawlResult{}, err
	}
	c.resets.notice(ctx, c.replaceControllers)
	if err := c.readDefinition(ctx); err != nil {
		return CrawlResult{}, err
	}
	if c.definition.Spread {
		version := workflow.GetVersion(ctx, versionAbsent, workflow.DefaultVersion, 3)
		c.takesAbsent, c.carriesLosses, c.byFolder = version >= 1, version >= 2, version >= 3
		version = workflow.GetVersion(ctx, versionParts, workflow.DefaultVersion, 2)
		c.byParts, c.asksRest = version >= 1, version >= 2
	}
	if err := c.choose(ctx); err != nil {
		return CrawlResult{}, err
	}
	c.followRing(ctx) // from now on: a worker that is lost while the run begins is not waited for
	if err := c.begin(ctx); err != nil {
		return CrawlResult{}, err
	}
	c.resumeRetiring(ctx)
	if err := c.giveUpAbsentees(ctx); err != nil {
		return CrawlResult{}, err
	}
	c.countFormer(ctx)
	c.findEnd(ctx)
	c.keepTime(ctx)
	for {
		reason, err := c.phases(ctx)
		if err != nil {
			return CrawlResult{}, err
		}
		if over, err := c.isOver(ctx, reason); err != nil {
			return CrawlResult{}, err
		} else if over {
			return c.end(ctx, reason)
		}
	}
}

type crawlRun struct {
	definition crawl.Definition // its name is empty until it is read
	raw        json.RawMessage
	parses     bool // an execution of an earlier version: see versionParse
	CrawlState
	submitted bool // URLs, or a change of the definition, since the frontiers were last asked whether anything waits
	writing   int  // URLs and changes of the definition that are on their way to the frontier
	changing  bool // the definition
	timed     bool // the budget of time is the crawl's: see versionTime
	undecided bool // a change of the definition of a spread crawl: a worker may refuse it
	resets    *resets
	recount   bool // a reset may have made it forget what it has allotted
	// findsVacant says that it looks whether controllers run, since it was reset; see versionVacant
	findsVacant bool
	vacated     bool // a controller has ended whose result nobody will have: the crawl continues as new
	freed       bool // the controller of an execution before a reset is waited for no longer
	// see versionAbsent
	takesAbsent, carriesLosses, byFolder bool
	byParts, asksRest                    bool // see versionParts
	beginning                            bool // no worker has begun the run that it has chosen

	phase  int // counts up
	bounds activities.PhaseInput
	over   crawl.Reason // why the phase is; empty as long as it is not
}

// phases runs the reference crawl, if there is one, and the broad crawl; it returns why they ended.
func (c *crawlRun) phases(ctx workflow.Context) (crawl.Reason, error) {
	if pages := c.definition.ReferencePages(); pages > 0 && c.TopicModel == nil {
		reason, err := c.runPhase(ctx, crawl.PhaseReference, activities.PhaseInput{Crawl: c.Name, Pages: pages, Reference: true})
		if err != nil || reason != crawl.ReasonPhase && reason != crawl.ReasonDrained {
			return reason, err
		}
		if err := c.learn(ctx); err != nil || reason == crawl.ReasonDrained {
			return reason, err
		}
	}
	return c.runPhase(ctx, crawl.PhaseBroad, activities.PhaseInput{Crawl: c.Name})
}

// begin begins the run at the members.
func (c *crawlRun) begin(ctx workflow.Context) error {
	if c.Begun.Run > 0 {
		return nil
	}
	info := workflow.GetInfo(ctx)
	c.Owner = info.WorkflowExecution.ID + "@" + info.FirstRunID
	if c.byParts {
		return c.beginByParts(ctx)
	}
	in := activities.BeginInput{Definition: c.definition, Owner: c.Owner}
	if workflow.GetVersion(ctx, versionRun, workflow.DefaultVersion, 1) != workflow.DefaultVersion {
		var known []activities.LastRun
		if err := c.onAll(ctx, "which run is the last?", steps.LastRun, beginsWith(in), collect(ctx, &known)); err != nil {
			return err
		}
		in.Run = activities.NextRun(known)
		if c.definition.Spread {
			c.TimeFrom = info.WorkflowStartTime.Add(-activities.ElapsedOf(in.Run, known)) // this execution may continue the run
			in.Elapsed = c.elapsed(ctx)
		}
	}
	begun, by, err := c.beginAtAll(ctx, in)
	if err != nil {
		return err
	}
	c.Begun = begun[0]
	if c.definition.Spread {
		c.Started = info.WorkflowStartTime
		for _, b := range begun {
			if !b.Started.IsZero() && b.Started.Before(c.Started) { // an earlier execution began the run
				c.Started, c.Uncounted = b.Started, c.byFolder
			}
		}
	}
	for i, m := range by {
		if m.Begun = c.definition.Spread; m.Begun {
			m.Life = begun[i].Life
			c.openAccount(m)
		}
	}
	return nil
}

// beginAtAll begins the run at all members by one epoch of the ring. It returns their answers, and whose they are: those that join meanwhile
// begin it later.
func (c *crawlRun) beginAtAll(ctx workflow.Context, in activities.BeginInput) (begun []activities.BeginResult, by []*CrawlMember, err error) {
	for len(begun) == 0 || !sameEpoch(begun) {
		begun, by = nil, nil
		if err := workflow.Await(ctx, func() bool { return len(c.Present()) > 0 }); err != nil {
			return nil, nil, err
		}
		err := c.onAll(ctx, "open archive and frontier, queue the seeds", steps.Begin, beginsWith(in), func(m *CrawlMember, f workflow.Future) error {
			by = append(by, m)
			return collect(ctx, &begun)(m, f)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return begun, by, nil
}

// sameEpoch reports whether all members have kept their seeds by one epoch of the ring, so that each seed was kept by one of them.
func sameEpoch(begun []activities.BeginResult) bool {
	return !slices.ContainsFunc(begun, func(b activities.BeginResult) bool { return b.Epoch != begun[0].Epoch })
}

// beginsWith is what a member begins the run with.
func beginsWith(in activities.BeginInput) func(*CrawlMember) any {
	return func(m *CrawlMember) any {
		in.Holder = activities.Holder{Worker: m.Worker, Instance: m.Instance}
		return in
	}
}

// runPhase runs a phase to its end: each member has a FetcherController.
func (c *crawlRun) runPhase(ctx workflow.Context, phase crawl.Phase, bounds activities.PhaseInput) (crawl.Reason, error) {
	c.enterPhase(ctx, phase)
	c.phase, c.bounds, c.over = c.phase+1, bounds, ""
	c.setBudgets(ctx)
	if err := c.boundPhase(ctx); err != nil {
		return "", err
	}
	for {
		reason, err := c.awaitControllers(ctx)
		if err != nil || reason != crawl.ReasonHandover {
			return reason, err
		}
		if c.vacated || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			if drained, err := c.drainForNext(ctx); err != nil {
				return "", err
			} else if drained {
				return "", workflow.NewContinueAsNewError(ctx, names.Crawl, c.raw, &c.CrawlState)
			}
		}
	}
}

// boundPhase gives the members the bounds of the phase.
func (c *crawlRun) boundPhase(ctx workflow.Context) error {
	if c.definition.Spread {
		c.Ending.Disturb()
		if c.byParts {
			if err := c.prepareSome(ctx); err != nil {
				return err
			}
			return c.oneTakesPart()
		}
		return c.prepareAll(ctx)
	}
	return c.onAll(ctx, "bounds of the "+string(c.Phase)+" crawl", steps.Phase, sameInput(c.bounds), nil)
}

func (c *crawlRun) learn(ctx workflow.Context) error {
	c.enterPhase(ctx, crawl.PhaseLearning)
	if c.definition.Spread {
		return c.learnTogether(ctx)
	}
	var out activities.LearnResult
	if err := workflow.ExecuteActivity(withQueueOptions(ctx, c.Members[0].Queue, "learn the topic of the reference crawl"), steps.Learn, c.Name).Get(ctx, &out); err != nil {
		return err
	}
	c.TopicModel = &out.TopicModel
	return nil
}

// isOver reports whether the run ends. It does not if all was fetched and more was submitted, or allowed by a change of the definition, meanwhile. Once it is true no update is
// accepted, and those that were accepted are in the frontier.
func (c *crawlRun) isOver(ctx workflow.Context, reason crawl.Reason) (bool, error) {
	for {
		if err := c.drainSubmits(ctx); err != nil {
			return false, err
		}
		if c.oneRetires() {
			if err := workflow.Await(ctx, func() bool { return !c.oneRetires() }); err != nil {
				return false, err
			}
			continue
		}
		if reason != crawl.ReasonDrained || !c.submitted {
			c.Phase = crawl.PhaseEnding // before anything else runs
			return true, nil
		}
		c.submitted = false
		var left []bool
		if err := c.onAll(ctx, "are there URLs that were submitted or allowed meanwhile?", steps.Left, sameInput(c.Name), collect(ctx, &left)); err != nil {
			return false, err
		}
		if slices.Contains(left, true) {
			return false, nil
		}
	}
}

func (c *crawlRun) end(ctx workflow.Context, reason crawl.Reason) (CrawlResult, error) {
	c.enterPhase(ctx, crawl.PhaseEnding)
	out, err := c.endRun(ctx)
	if err != nil {
		return CrawlResult{}, err
	}
	t := out.Status.Totals
	p := out.Status.Progress()
	p.Ends, p.Longest = c.Progress.Ends, c.Progress.Longest // as the last round said
	p.Damage = p.Damage.Join(c.Progress.Damage)
	c.Progress.Progress, c.Progress.InFlight, c.Progress.At = p, 0, workflow.Now(ctx)
	workflow.GetLogger(ctx).Info("the crawl has ended", "crawl", c.Name, "run", c.Begun.Run, "reason", string(reason), "pages", t.Pages, "errors", t.Errors, "failed_batches", t.Failed)
	c.Phase = crawl.PhaseEnded
	workflow.SetCurrentDetails(ctx, describe("ended, "+reason.String(), c.Progress)+c.describeMembers()+places(c.Begun.Archive, out.Report))
	_ = workflow.UpsertTypedSearchAttributes(ctx, attributes(string(crawl.PhaseEnded), t)...)
	return CrawlResult{
		Reason: reason, Archive: c.Begun.Archive, Run: c.Begun.Run, Totals: t, Harvest: t.HarvestRatio(),
		Top: out.Status.Top, TopicModel: c.TopicModel, Ends: out.Status.Ends,
		Harvests: c.Progress.Harvests, Report: out.Report, Damage: p.Damage, Traps: p.Traps,
	}, nil
}

// endRun ends the run at the members.
func (c *crawlRun) endRun(ctx workflow.Context) (out activities.EndResult, err error) {
	if c.definition.Spread {
		return c.endTogether(ctx)
	}
	in := activities.EndInput{Crawl: c.Name, Owner: c.Owner}
	err = workflow.ExecuteActivity(withQueueOptions(ctx, c.Members[0].Queue, "end the run"), steps.End, in).Get(ctx, &out)
	return out, err
}

// enterPhase shows the phase in the UI.
func (c *crawlRun) enterPhase(ctx workflow.Context, phase crawl.Phase) {
	c.Phase = phase
	workflow.GetLogger(ctx).Info("the crawl enters a phase", "crawl", c.Name, "run", c.Begun.Run, "phase", string(phase))
	c.show(ctx)
	_ = workflow.UpsertTypedSearchAttributes(ctx, append(attributes(c.stateName(), c.Progress.Totals), names.AttrCrawl.ValueSet(c.Name))...)
}

// stateName is the phase, and what an operator has asked for.
func (c *crawlRun) stateName() string {
	switch {
	case c.Cancelled:
		return string(c.Phase) + ", cancelled"
	case c.Paused:
		return string(c.Phase) + ", paused"
	case c.Aborting && c.Phase != crawl.PhaseEnding:
		return string(c.Phase) + ", aborting"
	case c.Stopping && c.Phase != crawl.PhaseEnding:
		return string(c.Phase) + ", stopping"
	case c.Progress.Holds != "":
		return string(c.Phase) + ", holding"
	}
	return string(c.Phase)
}

func (c *crawlRun) show(ctx workflow.Context) {
	text := describe(c.stateName(), c.Progress) + c.describeMembers()
	if running := c.controllers(); len(running) > 0 {
		if c.Spread() {
			text += "\n\n"
		}
		text += " The current state is in the details of `" + strings.Join(running, "`, `") + "`, and in `muninn status " + c.Name + "`."
	}
	workflow.SetCurrentDetails(ctx, text)
}

// places says where the archive and the report of a run lie.
func places(archive, report string) string {
	text := "\n\nArchive: `" + archive + "`"
	if report != "" {
		text += "; report: `" + report + "`"
	}
	return text
}

// registerHandlers serves signals and queries beside the phases.
func (c *crawlRun) registerHandlers(ctx workflow.Context, resumed *CrawlState) error {
	if resumed != nil {
		c.CrawlState = *resumed
	} else if !c.parses {
		c.Phase = crawl.PhaseBeginning // signals are served while the definition is read
	}
	c.forward(ctx, names.SignalPause, func() { c.Paused = true })
	c.forward(ctx, names.SignalResume, func() { c.Paused = false })
	c.forward(ctx, names.SignalStop, func() { c.Stopping, c.Paused = true, false })
	c.serveAbort(ctx)
	c.receiveProgress(ctx)
	c.receiveOwing(ctx)
	if err := c.serveSubmit(ctx); err != nil {
		return err
	}
	if err := c.serveConfigure(ctx); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, names.QueryDefinition, c.shownDefinition); err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, names.QueryStatus, func() (CrawlState, error) { return c.CrawlState, nil })
}

// forward hands an operator's signal to the controller.
func (c *crawlRun) forward(ctx workflow.Context, signal string, do func()) {
	onSignal(ctx, signal, func(ctx workflow.Context) {
		do()
		c.pass(ctx, signal)
	})
}

// pass shows what an operator has asked for, and hands it to the controller.
func (c *crawlRun) pass(ctx workflow.Context, signal string) {
	c.show(ctx)
	_ = workflow.UpsertTypedSearchAttributes(ctx, names.AttrState.ValueSet(c.stateName()))
	c.signalControllers(ctx, signal)
}

// checkOpen returns why the run takes no more updates; nil if it takes them.
func (c *crawlRun) checkOpen() error {
	switch {
	case c.Cancelled:
		return errCancelled
	case c.Phase == crawl.PhaseEnding || c.Phase == crawl.PhaseEnded:
		return errEnding
	}
	return nil
}

// drainSubmits handles pending signals and updates, and waits until submitted URLs are in the frontier.
func (c *crawlRun) drainSubmits(ctx workflow.Context) error {
	for {
		if err := drainSignals(ctx); err != nil || c.writing == 0 {
			return err
		}
		if err := workflow.Await(ctx, func() bool { return c.writing == 0 }); err != nil {
			return err
		}
	}
}

func (c *crawlRun) receiveProgress(ctx workflow.Context) {
	channel := workflow.GetSignalChannel(ctx, names.SignalProgress)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var p activities.Progress // a fresh one: decoding leaves what the message does not name
			if !channel.Receive(ctx, &p) {
				return
			}
			c.TakeProgress(p)
			c.takeReports(ctx, p)
			c.show(ctx)
			_ = workflow.UpsertTypedSearchAttributes(ctx, attributes(c.stateName(), c.Progress.Totals)...)
		}
	})
}
