package workflows

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/share"
)

// controllerRounds is how many rounds an execution makes before it continues as new.
const controllerRounds = 100

// answerWait is how long a round waits for the answers of the politeness shards: one that is terminated
// right then answers never.
const answerWait = time.Minute

// ControllerInput is the input of FetcherController; all but the first five fields are carried from
// execution to execution.
type ControllerInput struct {
	Crawl  string `json:"crawl"`
	Worker string `json:"worker"`
	Queue  string `json:"queue"`
	// Instance is the identity of the worker's data folder; empty in what an earlier version started.
	Instance string `json:"instance,omitempty"`

	Round       int64                       `json:"round,omitempty"` // the last that was begun
	Paused      bool                        `json:"paused,omitempty"`
	Stopping    bool                        `json:"stopping,omitempty"`
	Confirm     frontier.Confirmed          `json:"confirm,omitzero"`
	Progress    activities.Progress         `json:"progress,omitzero"` // as of the last round
	Leases      map[int]*politeness.Waiting `json:"leases,omitempty"`  // what claims wait for, by shard
	ReportedAt  time.Time                   `json:"told,omitzero"`     // when the crawl last got a message
	ReportAfter time.Duration               `json:"wait,omitempty"`    // until the next message to the crawl

	Shared  activities.Shared `json:"shared,omitzero"`   // of a crawl that is spread
	AskedAt time.Time         `json:"asked_at,omitzero"` // when the crawl was last asked for more of a budget
	// Unsent says that the execution before sent the crawl a message in the round after which it continued as new: Temporal drops a signal of an execution that ends.
	Unsent bool `json:"unsent,omitempty"`
}

// ControllerResult says why a controller ended.
type ControllerResult struct {
	Reason crawl.Reason    `json:"reason"` // drained, the budget that is spent, or handover
	State  ControllerInput `json:"state"`  // to continue
}

// FetcherController keeps one worker busy with one crawl: it claims, has leases granted, and has batches
// started, round after round, until nothing is left, a budget is spent, or its crawl asks it to hand over. Cancelled, it
// waits for the batches that are in progress, see windDown.
func FetcherController(ctx workflow.Context, in ControllerInput) (ControllerResult, error) {
	c := &controller{
		ControllerInput: in, grants: workflow.GetSignalChannel(ctx, names.SignalGrants),
		first: workflow.GetInfo(ctx).ContinuedExecutionRunID == "", resets: newResets(ctx),
	}
	if err := c.registerHandlers(ctx); err != nil {
		return ControllerResult{}, err
	}
	result, err := c.run(ctx)
	if cancelled := ctx.Err(); cancelled != nil && err != nil {
		c.windDown(ctx)
		return ControllerResult{}, cancelled
	}
	return result, err
}

func (c *controller) run(ctx workflow.Context) (ControllerResult, error) {
	for range controllerRounds {
		if err := c.whilePaused(ctx); err != nil {
			return ControllerResult{}, err
		}
		if c.handover {
			break
		}
		round, err := c.round(ctx)
		if err != nil {
			return ControllerResult{}, err
		}
		c.idle = round.Idle
		c.publish(ctx, round)
		if reason := ended(round); reason != "" && !c.Paused {
			if err := c.startWaiting(ctx); err != nil {
				return ControllerResult{}, err
			}
			return c.result(reason), nil
		}
	}
	if err := c.startWaiting(ctx); err != nil {
		return ControllerResult{}, err
	}
	if c.handover { // which may have come in the last moment
		return c.result(crawl.ReasonHandover), nil
	}
	c.Unsent = c.sentIn == c.Round
	return ControllerResult{}, workflow.NewContinueAsNewError(ctx, names.FetcherController, c.ControllerInput)
}

// cancelWait is how long a controller that is cancelled waits for its batches at most. Those of an archive that cannot be
// written end without it, as when it is terminated. While its worker is away the controller does nothing: see awaitCancelled.
const cancelWait = 10 * time.Minute

// windDown waits for the batches that are in progress, and claims nothing more: without the rounds of a controller nobody releases
// the leases of claims that have ended, and nobody else could ask those addresses until the leases run out.
func (c *controller) windDown(ctx workflow.Context) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	workflow.Go(ctx, func(ctx workflow.Context) {
		if workflow.Sleep(ctx, cancelWait) == nil {
			cancel()
		}
	})
	c.cancelled, c.Stopping, c.Paused = true, true, false
	for over := false; !over; {
		round, err := c.round(ctx)
		if err == nil {
			c.publish(ctx, round)
			err = c.startWaiting(ctx)
		}
		if over = err != nil || ended(round) != ""; err != nil {
			workflow.GetLogger(ctx).Warn("a crawl that was cancelled does not wait for its batches any more", "crawl", c.Crawl, "error", err)
		}
	}
	if sent := c.sendProgress(ctx); sent != nil {
		_ = sent.Get(ctx, nil) // the crawl is the only one that is informed
	}
}

// ended names the reason to end; empty to continue.
func ended(r activities.ClaimResult) crawl.Reason {
	if r.Drained {
		return crawl.ReasonDrained
	}
	return r.Spent
}

type controller struct {
	ControllerInput
	grants workflow.ReceiveChannel
	first  bool // no round has been made yet: the next reports to Politeness what is known
	idle   bool // nothing was in progress after a round that claimed nothing
	resets *resets
	noted  int // resets
	// handover is set by the crawl, which wants to continue as new and cannot while it has a child.
	handover  bool
	cancelled bool
	sentIn    int64                            // the round after which the last message to the crawl was sent
	given     map[crawl.Reason]share.Allotment // to the last round
}

func (c *controller) holder() activities.Holder {
	return activities.Holder{Worker: c.Worker, Instance: c.Instance}
}

func (c *controller) result(reason crawl.Reason) ControllerResult {
	return ControllerResult{Reason: reason, State: c.ControllerInput}
}

// round claims, waits until every politeness shard has answered, and starts what was granted. Grants
// of earlier rounds are started while the claim is still waiting.
func (c *controller) round(ctx workflow.Context) (activities.ClaimResult, error) {
	if n := c.resets.count(ctx); n > c.noted { // it does not know what it has asked for since, and was granted
		c.noted, c.first, c.Confirm = n, true, frontier.Confirmed{}
	}
	c.Round++
	var out activities.ClaimResult
	claim := workflow.ExecuteActivity(withClaimOptions(ctx, c.Queue), steps.Claim, activities.ClaimInput{
		Holder: c.holder(), Crawl: c.Crawl, Round: c.Round, Reply: workflow.GetInfo(ctx).WorkflowExecution.ID,
		Drain: c.Stopping, Paused: c.Paused, Held: c.Progress.Holds != "", First: c.first, Confirm: c.Confirm, Shared: c.Shared,
	})
	c.first, c.given = false, c.Shared.Allotments
	timerCtx, stopTimer := workflow.WithCancel(ctx)
	defer stopTimer()
	var timer workflow.Future // runs once the claim is in
	round := replies{shards: map[int]bool{}}
	claimed, late := false, false
	for !claimed || len(round.shards) < out.Sent+len(out.Answers) && !late {
		var granted []politeness.Grant
		var failed error
		s := workflow.NewSelector(ctx)
		if !claimed {
			s.AddFuture(claim, func(f workflow.Future) {
				if failed = f.Get(ctx, &out); failed == nil {
					granted, failed = c.takeAnswers(&round, out.Answers)
				}
				claimed = true
			})
		}
		if claimed && len(round.shards) < out.Sent+len(out.Answers) {
			if timer == nil {
				timer = workflow.NewTimer(timerCtx, answerWait)
			}
			s.AddFuture(timer, func(workflow.Future) { late = true })
		}
		s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) { failed = ctx.Err() })
		s.AddReceive(c.grants, func(workflow.ReceiveChannel, bool) { granted, failed = c.receive(&round) })
		s.Select(ctx)
		if failed != nil {
			return out, failed
		}
		if err := c.start(ctx, granted); err != nil {
			return out, err
		}
	}
	c.Confirm = out.Confirm.Answered(round.refused, late)
	c.Confirm.Busy = round.busy
	return out, nil
}

// replies is what the shards have answered to a round.
type replies struct {
	shards  map[int]bool // that have
	refused []politeness.Key
	busy    []string // leases that are not waited for
}

// receive takes all answers that are there.
func (c *controller) receive(round *replies) ([]politeness.Grant, error) {
	var answers []politeness.Answer
	for {
		var a politeness.Answer
		if !c.grants.ReceiveAsync(&a) {
			return c.takeAnswers(round, answers)
		}
		answers = append(answers, a)
	}
}

// takeAnswers stores the shards' answers to the round, and returns what they grant, one grant a lease.
func (c *controller) takeAnswers(round *replies, answers []politeness.Answer) ([]politeness.Grant, error) {
	var grants []politeness.Grant
	for _, a := range answers {
		if a.Fault != "" {
			return nil, shardsFault(a.Fault)
		}
		c.noteWaiting(a)
		if a.Round == c.Round {
			round.shards[a.Shard] = true
			round.refused = append(round.refused, a.Refused...)
		}
		round.busy = append(round.busy, a.Busy...)
		grants = append(grants, a.Grants...)
	}
	return politeness.Distinct(grants), nil
}

// noteWaiting notes what claims wait for at a shard.
func (c *controller) noteWaiting(a politeness.Answer) {
	if a.Waiting == nil {
		delete(c.Leases, a.Shard)
		return
	}
	if c.Leases == nil {
		c.Leases = map[int]*politeness.Waiting{}
	}
	c.Leases[a.Shard] = a.Waiting
}

// leases sums up what claims wait for; nil if for nothing.
func (c *controller) leases() *politeness.Waiting {
	var out *politeness.Waiting
	for _, shard := range slices.Sorted(maps.Keys(c.Leases)) {
		w := *c.Leases[shard]
		if out != nil {
			w.Asks, w.Lease, w.IP, w.By, w.Until = w.Asks+out.Asks, out.Lease, out.IP, out.By, out.Until
		}
		out = &w
	}
	return out
}

func (c *controller) start(ctx workflow.Context, grants []politeness.Grant) error {
	if len(grants) == 0 {
		return nil
	}
	ctx = withQueueOptions(ctx, c.Queue, fmt.Sprintf("start the batches of %d claims", len(grants)))
	return workflow.ExecuteActivity(ctx, steps.Start, activities.StartInput{Holder: c.holder(), Crawl: c.Crawl, Grants: grants}).Get(ctx, nil)
}

// startWaiting starts what was granted last, and what is granted meanwhile, and handles pending signals of the operator, before the
// execution ends.
func (c *controller) startWaiting(ctx workflow.Context) error {
	for {
		if err := drainSignals(ctx); err != nil || c.grants.Len() == 0 {
			return err
		}
		last := replies{shards: map[int]bool{}}
		grants, err := c.receive(&last)
		c.Confirm.Busy = append(c.Confirm.Busy, last.busy...)
		if err == nil {
			err = c.start(ctx, grants)
		}
		if err != nil {
			return err
		}
	}
}

// registerHandlers serves signals and queries beside the loop.
func (c *controller) registerHandlers(ctx workflow.Context) error {
	onSignal(ctx, names.SignalPause, func(workflow.Context) { c.Paused = true })
	onSignal(ctx, names.SignalResume, func(workflow.Context) { c.Paused = false })
	onSignal(ctx, names.SignalStop, func(workflow.Context) { c.Stopping, c.Paused = true, false })
	c.receiveQuota(ctx)
	onSignal(ctx, names.SignalHandover, func(workflow.Context) { c.handover = true })
	return workflow.SetQueryHandler(ctx, names.QueryStatus, func() (activities.Progress, error) {
		p := c.Progress
		p.Worker, p.State, p.Leases = c.Worker, c.state(), c.leases()
		return p, nil
	})
}

func (c *controller) state() crawl.ControllerState {
	switch {
	case c.cancelled:
		return crawl.ControllerCancelled
	case c.Stopping:
		return crawl.ControllerStopping
	case c.Paused:
		return crawl.ControllerPaused
	case c.Progress.Holds != "":
		return crawl.ControllerHolding
	}
	return crawl.ControllerCrawling
}

// whilePaused waits until the crawl is resumed, if no claim is open. As long as one is, rounds continue
// that claim nothing: leases are renewed and released.
func (c *controller) whilePaused(ctx workflow.Context) error {
	for c.Paused && c.idle && !c.handover {
		workflow.SetCurrentDetails(ctx, describe("paused, nothing is in progress", c.Progress))
		if err := workflow.Await(ctx, func() bool { return !c.Paused || c.handover || c.grants.Len() > 0 }); err != nil {
			return err
		}
		c.idle = c.grants.Len() == 0
		if err := c.startWaiting(ctx); err != nil {
			return err
		}
	}
	return nil
}
