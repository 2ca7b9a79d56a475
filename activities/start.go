package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// StartInput starts the batches of granted claims.
type StartInput struct {
	Holder
	Crawl  string             `json:"crawl"`
	Grants []politeness.Grant `json:"grants"`
}

// Start starts the Batch workflows of granted claims: those of short queues in bundles. It is
// idempotent: a claim that was bound to a batch before stays with it.
func (a *Activities) Start(ctx context.Context, in StartInput) (int, error) {
	return a.start(ctx, in.Crawl, in.Grants, a.clock(ctx))
}

func (a *Activities) start(ctx context.Context, crawl string, grants []politeness.Grant, clock politeness.Clock) (int, error) {
	plan, err := a.Frontier.Crawl(crawl).Plan()
	if err != nil {
		return 0, err
	}
	if _, _, err := a.chooseArchive(ctx, plan.Definition); err != nil {
		return 0, err
	}
	bound := a.bind(a.Membership.Epoch(), grants, clock, func(lease string) (frontier.Claim, bool) { return a.Frontier.Crawl(crawl).Lane(lease).Claim() })
	ordered := make([]string, 0, len(bound))
	for batch := range bound {
		ordered = append(ordered, batch)
	}
	slices.Sort(ordered)
	for _, batch := range ordered {
		claims, err := a.Frontier.Crawl(crawl).Batch(batch).Start(bound[batch])
		if err != nil {
			return 0, err
		}
		if len(claims) == 0 {
			continue
		}
		if err := a.startBatch(ctx, crawl, batch, claims, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE); err != nil {
			return 0, err
		}
	}
	return len(ordered), nil
}

// bind parts grants among batches, one grant a claim: a claim that was bound before stays with its batch, the others go
// into new ones, each named after its first claim, the worker and the epoch. A claim that came twice would be two lanes to one host.
func (a *Activities) bind(epoch uint64, grants []politeness.Grant, clock politeness.Clock, claimOf func(lease string) (frontier.Claim, bool)) map[string][]politeness.Grant {
	bound, free := map[string][]politeness.Grant{}, []politeness.Grant{}
	sizes := map[string]int{}
	for _, g := range politeness.Distinct(grants) {
		grant := clock.Local(g)
		c, known := claimOf(g.Lease)
		sizes[g.Lease] = len(c.URLs)
		if known && c.Batch != "" {
			bound[c.Batch] = append(bound[c.Batch], grant)
		} else {
			free = append(free, grant)
		}
	}
	for _, bundle := range bundles(free, sizes, a.Settings.BundlePLDs, a.Settings.BundleURLs) {
		bound[names.BatchName{Claim: bundle[0].Lease, Worker: a.Settings.Worker, Epoch: epoch}.String()] = bundle
	}
	return bound
}

// bundles fills batches with claims, the longest first, so that those of like length stand together.
func bundles(grants []politeness.Grant, sizes map[string]int, plds, urls int) [][]politeness.Grant {
	slices.SortStableFunc(grants, func(a, b politeness.Grant) int { return sizes[b.Lease] - sizes[a.Lease] })
	var out [][]politeness.Grant
	n := 0
	for _, g := range grants {
		if len(out) == 0 || len(out[len(out)-1]) >= plds || n+sizes[g.Lease] > urls {
			out, n = append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], g)
		n += sizes[g.Lease]
	}
	return out
}

func (a *Activities) startBatch(ctx context.Context, name, batch string, claims []frontier.Claim, reuse enums.WorkflowIdReusePolicy) error {
	in := BatchInput{Holder: a.holder(), Crawl: name, Batch: batch, Shards: a.Settings.Shards, Attempts: a.Settings.Attempts, Spread: a.Frontier.Spread(name)}
	for _, c := range claims {
		in.Claims = append(in.Claims, ClaimRef{c.ID, c.PLD, c.IP})
		in.URLs += len(c.URLs)
	}
	in.Version = slices.MinFunc(claims, func(a, b frontier.Claim) int { return a.Version - b.Version }).Version
	summary := fmt.Sprintf("%d URLs of %s", in.URLs, claims[0].PLD)
	if len(claims) > 1 {
		summary += fmt.Sprintf(" and %d more", len(claims)-1)
	}
	return a.startWorkflow(ctx, in, claims[0].PLD, summary, reuse)
}

// startWorkflow starts the workflow of a batch, unless it runs.
func (a *Activities) startWorkflow(ctx context.Context, in BatchInput, pld, summary string, reuse enums.WorkflowIdReusePolicy) error {
	var memo map[string]any
	if in.Spread {
		memo = map[string]any{names.MemoInstance: in.Instance}
	}
	_, err := a.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: names.BatchID(in.Crawl, in.Batch), TaskQueue: a.queue(), EnableEagerStart: true,
		WorkflowIDReusePolicy: reuse, WorkflowExecutionErrorWhenAlreadyStarted: true, StaticSummary: summary, Memo: memo,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			names.AttrCrawl.ValueSet(in.Crawl), names.AttrPLD.ValueSet(pld),
			names.AttrWorker.ValueSet(a.Settings.Worker), names.AttrState.ValueSet(string(crawl.BatchFetching)),
		),
	}, names.Batch, in)
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &started) {
		return nil
	}
	return err
}

// restart starts a batch again whose claims ran out: its workflow was terminated, or is stuck. If it
// still runs, its claims are renewed.
func (a *Activities) restart(ctx context.Context, crawl, batch string) error {
	if err := a.Frontier.Crawl(crawl).Batch(batch).Renew(); err != nil && !errors.Is(err, frontier.ErrNoBatch) {
		return err
	}
	return a.startBound(ctx, crawl, batch, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
}

// startUnstarted starts the batches that an attempt of a round has bound claims to before it was killed.
func (a *Activities) startUnstarted(ctx context.Context, crawl string, round int64) error {
	for _, batch := range a.Frontier.Crawl(crawl).Claims().Unstarted(round) {
		if err := a.startBound(ctx, crawl, batch, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE); err != nil {
			return err
		}
	}
	return nil
}

// startBound starts a batch of the claims that are bound to it, if there are any.
func (a *Activities) startBound(ctx context.Context, crawl, batch string, reuse enums.WorkflowIdReusePolicy) error {
	claims := a.Frontier.Crawl(crawl).Batch(batch).Claims()
	if len(claims) == 0 {
		return nil
	}
	return a.startBatch(ctx, crawl, batch, claims, reuse)
}
