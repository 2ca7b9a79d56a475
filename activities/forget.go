package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Forget deletes what the frontier keeps of a crawl that does not run; what is archived stays. A crawl whose workflow was
// terminated has no end: what it still holds is released before.
func (a *Activities) Forget(ctx context.Context, in AskInput) (frontier.Forgotten, error) {
	if err := a.checkKnown(in.Crawl); err != nil {
		return frontier.Forgotten{}, err
	}
	out, err := a.Frontier.Forget(in.Crawl, "", true)
	gone := ""
	if errors.Is(err, frontier.ErrBusy) {
		gone, err = a.goneOwner(ctx, in.Crawl)
	}
	if err != nil || in.Dry {
		return out, err
	}
	if gone != "" {
		if err := a.abandon(ctx, in.Crawl, gone); err != nil {
			return out, err
		}
	}
	if err := a.forgetKept(ctx, in.Crawl); err != nil {
		return out, err
	}
	out, err = a.Frontier.Forget(in.Crawl, gone, false)
	if err == nil {
		a.Engine.Forget(in.Crawl)
	}
	return out, err
}

// goneOwner is the owner of a run that has not ended, and never will: its workflow is gone. It is an error if that, another
// workflow of the crawl, or a batch of the run is still going.
func (a *Activities) goneOwner(ctx context.Context, name string) (owner string, err error) {
	plan, err := a.Frontier.Crawl(name).Plan()
	if err != nil {
		return "", err
	}
	workflow, run, _ := strings.Cut(plan.Owner, "@")
	open, err := a.isOpen(ctx, workflow, run)
	if err != nil {
		return "", err
	}
	if open {
		return "", fmt.Errorf("%w: %s, by the workflow %s", frontier.ErrBusy, name, workflow)
	}
	running := "ExecutionStatus='Running' AND " + names.AttrCrawl.GetName() + "='" + name + "'"
	others, err := a.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1, Query: "WorkflowType='" + names.Crawl + "' AND " + running})
	if err != nil {
		return "", err
	}
	for _, other := range others.GetExecutions() { // it is about to take the run over; a schedule names its workflows otherwise
		return "", fmt.Errorf("%w: %s, by the workflow %s", frontier.ErrBusy, name, other.GetExecution().GetWorkflowId())
	}
	batches, err := a.Frontier.Crawl(name).Claims().Batches()
	if err != nil {
		return "", err
	}
	for _, batch := range batches {
		id := names.BatchID(name, batch)
		open, err := a.isOpen(ctx, id, "")
		if err != nil {
			return "", err
		}
		if open {
			return "", &crawl.InputError{Message: fmt.Sprintf("the crawl %s was cut off, but batches of it are still running, such as %s: wait until `muninn status %s` says that none is running, or terminate them: temporal workflow terminate --query \"WorkflowType='%s' AND %s\"",
				name, id, name, names.Batch, running)}
		}
	}
	return plan.Owner, nil
}

// abandon takes back what a run holds whose workflow is gone, and releases its leases: leases that nobody releases would keep their
// addresses from others until they run out.
func (a *Activities) abandon(ctx context.Context, crawl, owner string) error {
	plan, err := a.Frontier.Crawl(crawl).Plan()
	if err != nil {
		return err
	}
	releases, err := a.Frontier.Crawl(crawl).Claims().Abandon(owner)
	if err != nil {
		return err
	}
	_, _, _, err = a.sendRound(ctx, ClaimInput{Crawl: crawl, First: true}, frontier.Round{Releases: releases}, plan.Definition.Politeness, activity.GetInfo(ctx).StartedTime)
	return err
}
