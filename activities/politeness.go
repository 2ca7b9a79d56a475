package activities

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// PolitenessInput is the input of a politeness shard. State and Unserved are nil but when it continues as new; Unserved
// holds the rounds that came while the last answers of the execution before were on their way.
type PolitenessInput struct {
	Shard    int                `json:"shard"`
	Shards   int                `json:"shards"`
	Lost     time.Time          `json:"lost,omitzero"` // when a former life of the shard ended, whose state is lost
	State    *politeness.State  `json:"state,omitempty"`
	Unserved []politeness.Round `json:"unserved,omitempty"`
}

// memoShards is the memo of a politeness shard that reports how many there are.
const memoShards = "shards"

// Shard is the politeness shard of an address.
func Shard(ip string, shards int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(ip))
	return int(h.Sum32() % uint32(max(shards, 1)))
}

// StartPoliteness starts a politeness shard, one of so many, if it is not running; with a round, it delivers it. Temporal
// knows whether a shard has run before: one that has, and was terminated, has lost its state, and leases may be held. A shard
// that has never run may take addresses over from others, if their number has changed: a caller that starts all shards starts the
// first one last: the others take from it when the shards before them ended.
func StartPoliteness(ctx context.Context, c client.Client, shard, shards int, r *politeness.Round) error {
	options := client.StartWorkflowOptions{
		ID: names.PolitenessID(shard), TaskQueue: names.ClusterQueue, StaticSummary: "grants leases on IP addresses to all crawls",
		Memo:                     map[string]any{memoShards: shards},
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, WorkflowExecutionErrorWhenAlreadyStarted: true,
	}
	in := PolitenessInput{Shard: shard, Shards: shards}
	if r == nil { // a shard that is sent a round was started before, by the worker's start
		lost, err := shardEnded(ctx, c, shard)
		if err != nil {
			return err
		}
		in.Lost = lost
	}
	start := func() (err error) {
		if r != nil {
			_, err = c.SignalWithStartWorkflow(ctx, options.ID, names.SignalRound, *r, options, names.Politeness, in)
		} else {
			_, err = c.ExecuteWorkflow(ctx, options, names.Politeness, in)
		}
		return err
	}
	err := start()
	var before *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &before) {
		return err
	}
	if in.Lost, err = shardEnded(ctx, c, shard); err != nil {
		return err
	}
	options.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	return start()
}

// shardEnded is when the former life of a shard or of the first one ended, the later of the two; zero if none has ended.
func shardEnded(ctx context.Context, c client.Client, shard int) (ended time.Time, err error) {
	for _, n := range []int{0, shard} {
		d, err := c.DescribeWorkflowExecution(ctx, names.PolitenessID(n), "")
		var none *serviceerror.NotFound
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return ended, err
		}
		info := d.GetWorkflowExecutionInfo()
		if info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			continue
		}
		if at := info.GetCloseTime().AsTime(); at.After(ended) {
			ended = at
		}
	}
	return ended, nil
}

// CheckShards finds out whether the politeness shards that run are as many as the worker's setting says: an address belongs
// to one shard, and two shards that grant leases on it exceed per_ip.
func CheckShards(ctx context.Context, c client.Client, shards int) error {
	for shard := range shards + 1 { // one more: there may have been more of them
		d, err := c.DescribeWorkflowExecution(ctx, names.PolitenessID(shard), "")
		var none *serviceerror.NotFound
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return err
		}
		info := d.GetWorkflowExecutionInfo()
		if info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			continue
		}
		if info.GetMemo().GetFields()[memoShards] == nil {
			id := names.PolitenessID(shard)
			return fmt.Errorf("the workflow %s was started by an older version, which did not note the number of shards; this version cannot continue the crawls of that one either: start the older version again and end its crawls (muninn stop CRAWL); then stop all workers, terminate the workflow (temporal workflow terminate --workflow-id %s), and start the workers of this version: the next run of a crawl knows what the former ones have found",
				id, id)
		}
		n := 0
		if err := converter.GetDefaultDataConverter().FromPayload(info.GetMemo().GetFields()[memoShards], &n); err != nil || n == shards {
			continue
		}
		return fmt.Errorf("setting politeness-shards is %d, but politeness runs in %d shards here: set it to %d; to change it, stop all workers and terminate the workflows %s to %s first",
			shards, n, n, names.PolitenessID(0), names.PolitenessID(n-1))
	}
	return nil
}

// signalPoliteness signals a shard, which is started if it is not there.
func (a *Activities) signalPoliteness(ctx context.Context, shard int, r politeness.Round) error {
	r.Shards = a.Settings.Shards
	return StartPoliteness(ctx, a.Client, shard, a.Settings.Shards, &r)
}

// clock converts Temporal's times in an activity.
func (a *Activities) clock(ctx context.Context) politeness.Clock {
	return a.clockAt(activity.GetInfo(ctx).StartedTime)
}

// clockAt converts Temporal's times as soon as the worker knows that it was at, by Temporal's clock.
func (a *Activities) clockAt(at time.Time) politeness.Clock {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clocks.Of(a.Now(), at)
}

// ClockAhead is by how much the worker's clock is ahead of Temporal's, as the last minutes have measured it; nil if nothing has.
func ClockAhead(a *Activities) *time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	ahead, known := a.clocks.Ahead(a.Now())
	if !known {
		return nil
	}
	return &ahead
}

// askOf is the ask for a claim's lease.
func (a *Activities) askOf(crawl string, c frontier.Claim, p crawl.Politeness, reply string) politeness.Ask {
	s := a.Groups.Of(c.PLD, c.IP)
	p = limitPauses(p, s)
	return politeness.Ask{
		Lease: c.ID, IP: a.leaseAddress(c.IP), PerIP: p.PerIP, Crawl: crawl, Worker: a.Settings.Worker, Reply: reply,
		Rest: max(p.MaxDelay.D(), c.Delay), Host: c.PLD, Group: s.Group, Weight: p.Weight, Permit: a.Frontier.Spread(crawl),
	}
}

// RoundResult is what a shard says to a round at once.
type RoundResult struct {
	Answer politeness.Answer `json:"answer"`
	At     time.Time         `json:"at"` // Temporal's time as the round was served
}

// roundWait is how long a shard may take to answer a round at once. Then it is sent as a signal, which waits for a worker that
// runs the shard; a shard that is sent both serves a round twice, which changes nothing.
const roundWait = 20 * time.Second

// askRound sends a shard a round and returns its answer.
func (a *Activities) askRound(ctx context.Context, shard int, r politeness.Round) (out RoundResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundWait)
	defer cancel()
	r.Shards = a.Settings.Shards
	asked, err := a.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: names.PolitenessID(shard), UpdateName: names.UpdateRound, Args: []any{r}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = asked.Get(ctx, &out)
	}
	return out, err
}

// sendRound asks the shards that a round concerns. It returns what those say that answer at once, how many others will answer
// by a signal, and what is to be confirmed to the frontier once all have. started is when Temporal says that the activity began.
func (a *Activities) sendRound(ctx context.Context, in ClaimInput, round frontier.Round, p crawl.Politeness, started time.Time) (answered []RoundResult, sent int, confirm frontier.Confirmed, err error) {
	rounds, confirm := a.splitRound(in, round, p)
	if in.First {
		leases, err := a.Frontier.Crawl(in.Crawl).Claims().Leases()
		if err != nil {
			return nil, 0, confirm, err
		}
		for n := range max(a.Settings.Shards, 1) {
			rounds.of(n, in).Known = &politeness.Known{Crawl: in.Crawl, Worker: a.Settings.Worker, Leases: leases, At: started}
		}
	}
	for n, r := range rounds {
		answer, err := a.askRound(ctx, n, *r)
		if err == nil {
			a.noteDiffering(answer.Answer.Differing)
			answered = append(answered, answer)
			continue
		}
		if err := a.signalPoliteness(ctx, n, *r); err != nil {
			return nil, 0, confirm, err
		}
		sent++
	}
	return answered, sent, confirm, nil
}

// giveBusyBack gives the claims back whose asks were answered busy.
func (a *Activities) giveBusyBack(crawl string, answered []RoundResult) error {
	var busy []string
	for i := range answered {
		busy = append(busy, answered[i].Answer.Busy...)
		answered[i].Answer.Busy = nil // else the controller would have it done
	}
	return a.Frontier.Crawl(crawl).Claims().Confirm(frontier.Confirmed{Busy: busy})
}

// startAnswered starts the batches that shards have granted at once, and returns the answers. Grants whose batches cannot be
// started stay in them: the controller tries again.
func (a *Activities) startAnswered(ctx context.Context, in ClaimInput, answered []RoundResult) []politeness.Answer {
	var grants []politeness.Grant
	answers, oldest := make([]politeness.Answer, len(answered)), time.Time{}
	for i, r := range answered {
		answers[i] = r.Answer
		grants = append(grants, r.Answer.Grants...)
		if oldest.IsZero() || r.At.Before(oldest) {
			oldest = r.At
		}
	}
	if len(grants) == 0 {
		return answers
	}
	if _, err := a.start(ctx, in.Crawl, grants, a.clockAt(oldest)); err != nil {
		activity.GetLogger(ctx).Warn("batches are not started yet", "crawl", in.Crawl, "error", err)
		return answers
	}
	for i := range answers {
		answers[i].Grants = nil
	}
	return answers
}

// shardRounds is what the shards are sent of a round, by their number.
type shardRounds map[int]*politeness.Round

// of is what one shard is sent, nothing at first.
func (r shardRounds) of(shard int, in ClaimInput) *politeness.Round {
	if r[shard] == nil {
		r[shard] = &politeness.Round{From: in.Reply, Round: in.Round}
	}
	return r[shard]
}

// splitRound is what the shards are sent of a round of the frontier, and what is confirmed to it if they answer.
func (a *Activities) splitRound(in ClaimInput, round frontier.Round, p crawl.Politeness) (shardRounds, frontier.Confirmed) {
	var confirm frontier.Confirmed
	rounds, epoch := shardRounds{}, a.Membership.Epoch()
	of := func(shard int) *politeness.Round {
		r := rounds.of(shard, in)
		r.Worker, r.Groups, r.Epoch = a.Settings.Worker, a.Groups.Hash(), epoch
		return r
	}
	at := func(ip string) *politeness.Round { return of(a.shardOf(ip)) }
	for _, c := range round.Claims {
		r := at(c.IP)
		ask := a.askOf(in.Crawl, c, p, in.Reply)
		ask.Line = round.Line
		r.Asks = append(r.Asks, ask)
	}
	now := a.Now()
	for _, l := range round.Releases {
		release := l.Release(in.Crawl, a.Settings.Worker, now)
		release.IP = a.leaseAddress(l.IP)
		r := at(l.IP)
		r.Releases = append(r.Releases, release)
		if notice, says := release.Notice(); says {
			for n := range a.Settings.Shards { // a host may have addresses in other shards
				if n != a.shardOf(l.IP) {
					other := of(n)
					other.Releases = append(other.Releases, notice)
				}
			}
		}
		confirm.Releases = append(confirm.Releases, l.Key())
	}
	for _, c := range round.Renewals {
		r := at(c.IP)
		r.Renewals = append(r.Renewals, politeness.Renewal{Ask: a.askOf(in.Crawl, c, p, in.Reply), Number: c.Grant})
		confirm.Renewed = append(confirm.Renewed, politeness.Key{Lease: c.ID, Number: c.Grant})
		confirm.Until = politeness.Renewed(now)
	}
	return rounds, confirm
}
