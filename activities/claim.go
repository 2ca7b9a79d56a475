package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// ClaimInput asks for a round of claims.
type ClaimInput struct {
	Holder
	Crawl   string             `json:"crawl"`
	Round   int64              `json:"round"`
	Reply   string             `json:"reply"`           // the controller's workflow ID
	Drain   bool               `json:"drain,omitempty"` // claim nothing, wait for what is in progress
	Paused  bool               `json:"hold,omitempty"`  // claim nothing, the crawl is paused
	Held    bool               `json:"held,omitempty"`  // the last round said that the crawl holds
	First   bool               `json:"first,omitempty"` // the first round of a controller: what no frontier knows any more is released
	Confirm frontier.Confirmed `json:"confirm,omitzero"`
	Shared  Shared             `json:"shared,omitzero"` // of a crawl that is spread
}

// ClaimResult is a round; Politeness has its asks, releases and renewals already, or they are on their way to it.
type ClaimResult struct {
	Sent int `json:"sent"` // shards that will answer by a signal
	// Answers are those of shards that have answered at once. The batches of their grants are started already; those of
	// grants that stand in them still are not.
	Answers  []politeness.Answer `json:"answers,omitempty"`
	Confirm  frontier.Confirmed  `json:"confirm,omitzero"`
	Drained  bool                `json:"drained,omitempty"`
	Spent    crawl.Reason        `json:"spent,omitempty"`
	Idle     bool                `json:"idle,omitempty"`  // nothing is in progress, of a round that claims nothing
	Holds    string              `json:"holds,omitempty"` // why nothing was claimed
	Progress Progress            `json:"progress"`
}

// claimWait is how long a round waits for something to happen; the activity's timeout is longer.
const claimWait = 40 * time.Second

// holdWait is how long a round waits that claims nothing: a crawl that is resumed waits for its end.
const holdWait = 10 * time.Second

// askersPerLease is how many claims may wait for each lease of an address: more would keep others from waiting.
const askersPerLease = 4

// waitersPerLane is how many claims of a crawl may wait for their addresses for each of its lanes, beside those that take lanes.
const waitersPerLane = 3

// maxEnds is how many of the last URLs that ended without a page a round returns, of each kind.
const maxEnds = 3

// Claim waits until there is something to claim, release or renew, and sends it to each politeness shard concerned in one message.
// Batches of leases that a shard grants at once are started at once; it grants the others later, by a signal.
func (a *Activities) Claim(ctx context.Context, in ClaimInput) (ClaimResult, error) {
	if err := a.Frontier.Crawl(in.Crawl).Claims().Confirm(in.Confirm); err != nil {
		return ClaimResult{}, err
	}
	if err := a.Frontier.Crawl(in.Crawl).Claims().Withdraw(); err != nil {
		return ClaimResult{}, err
	}
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return ClaimResult{}, err
	}
	if err := a.startUnstarted(ctx, in.Crawl, in.Round); err != nil {
		return ClaimResult{}, err
	}
	if in.First { // of a worker that the ring had given up the batches were terminated before, see Retire
		a.Behind.forget(in.Crawl)
	}
	if err := a.startOwing(ctx, plan); err != nil {
		return ClaimResult{}, err
	}
	ctx, release := untilStopped(ctx)
	defer release()
	holds := a.holdReason(ctx, in)
	want := a.want(in, holds != "", plan.Definition.Politeness)
	var parts *quotas
	if plan.Definition.Spread {
		parts = a.Quotas.run(in.Crawl, plan.Owner, a.Membership.since())
		parts.take(in.Shared)
		a.share(&want, parts, in.Shared)
	}
	round, err := a.Frontier.Crawl(in.Crawl).Claims().Claim(ctx, want)
	if err != nil {
		return ClaimResult{}, err
	}
	if holds != "" && in.Held && round.Idle && !in.Paused && !in.Drain && !round.Drained && round.Spent == "" {
		a.waitHeld(ctx, in.Crawl, a.Now().Add(holdWait))
	}
	for _, batch := range round.Expired {
		if err := a.restart(ctx, in.Crawl, batch); err != nil {
			return ClaimResult{}, err
		}
	}
	out := ClaimResult{Drained: round.Drained, Spent: round.Spent, Idle: round.Idle, Holds: holds}
	if in.Drain && round.Idle && out.Spent == "" {
		out.Spent = crawl.ReasonStopped
	}
	var answered []RoundResult
	answered, out.Sent, out.Confirm, err = a.sendRound(ctx, in, round, plan.Definition.Politeness, activity.GetInfo(ctx).StartedTime)
	if err != nil {
		return out, err
	}
	if err := a.confirmAnswered(in.Crawl, answered); err != nil {
		return out, err
	}
	out.Answers = a.startAnswered(ctx, in, answered)
	out.Progress = Progress{Worker: a.Settings.Worker, Instance: a.Settings.Instance, InFlight: a.InFlight.Of(in.Crawl)}
	out.Progress.Progress, err = a.Frontier.Crawl(in.Crawl).Progress()
	out.Progress.Ends = lastOfEachKind(out.Progress.Ends, maxEnds)
	if parts != nil {
		out.Progress.Empty, out.Progress.Quotas = round.Empty, parts.reports(in.Shared, round, out.Progress.Totals)
	}
	return out, err
}

// sharedWait is how long a round of a crawl that is spread waits while nothing is left at this worker, or its quota is short: the crawl
// may have found its end, or have something to allot.
const sharedWait = 5 * time.Second

// share has a round keep to the worker's part of a crawl.
func (a *Activities) share(want *frontier.Want, parts *quotas, in Shared) {
	want.Shared = parts.wanted(in)
	if until := a.Now().Add(sharedWait); (in.Empty || in.Asked) && until.Before(want.Until) {
		want.Until = until
	}
}

// lastOfEachKind are the last n ends of each kind, in their order: those of the commonest kind leave room for the others.
func lastOfEachKind(ends []frontier.DroppedURL, n int) (list []frontier.DroppedURL) {
	kinds := map[crawl.OutcomeKind]int{}
	for _, e := range slices.Backward(ends) {
		if kinds[e.Kind]++; kinds[e.Kind] <= n {
			list = append(list, e)
		}
	}
	slices.Reverse(list)
	return list
}

// untilStopped ends a context when the worker drains: what only waits need not hold it up.
func untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-activity.GetWorkerStopChannel(ctx):
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// lingerBusy is how many times as long a round waits for more while a batch or more of pages is fetched and not committed yet, at all workers of the crawl
// if each has as many as this one. The processors have work until then, and each round and each batch costs Temporal the same, whatever is in it.
const lingerBusy = 4

// lingerReleases is how many times as long a round waits that has only releases for which nobody of this worker waits. Other workers
// wait so much longer for their addresses.
const lingerReleases = 8

// linger is how long a round of a crawl waits for more, which so many workers crawl: each has a part of the pages that one would have.
func (a *Activities) linger(crawl string, workers int) time.Duration {
	if a.InFlight.Of(crawl)*int64(max(workers, 1)) >= int64(a.Settings.BundleURLs) {
		return lingerBusy * a.Settings.Linger
	}
	return a.Settings.Linger
}

func (a *Activities) want(in ClaimInput, held bool, p crawl.Politeness) frontier.Want {
	limits, lanes := a.Fetch.Limits(), a.lanes(in.Crawl)
	want := frontier.Want{
		Round: in.Round, Claims: a.Settings.Round, Lanes: lanes, Waiting: waitersPerLane * lanes,
		Linger: a.linger(in.Crawl, in.Shared.Members), Quiet: lingerReleases * a.Settings.Linger, Until: a.Now().Add(claimWait), MaxFail: limits.HostFailures, Backoff: limits.Backoff,
		Resolve: func(ctx context.Context, host string) (string, error) {
			addr, err := a.Fetch.Address(ctx, host)
			return addr.String(), err
		},
		Refused: func(err error) bool {
			var refused *fetch.RefusedError
			return errors.As(err, &refused)
		},
		Local:        func(err error) bool { return errors.Is(err, fetch.ErrSilent) },
		ClaimNothing: in.Drain || in.Paused || held,
		Later:        a.later(in.Crawl),
		Server:       func(pld, ip string) (string, int) { return a.serverOf(p, pld, ip) },
	}
	if in.Paused || held {
		want.Until = a.Now().Add(holdWait)
	}
	if held != in.Held { // the controller learns of a change without waiting for claims
		want.Until = a.Now()
	}
	return want
}
