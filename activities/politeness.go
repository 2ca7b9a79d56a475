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
