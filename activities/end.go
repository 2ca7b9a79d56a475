package activities

import (
	"context"
	"encoding/json"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
)

// EndResult is the final state of a run.
type EndResult struct {
	Status     frontier.Status `json:"status"`
	TopicModel json.RawMessage `json:"learned,omitempty"`
	Report     string          `json:"report,omitempty"` // key in the archive
}

// EndInput ends a run.
type EndInput struct {
	Crawl string `json:"crawl"`
	Owner string `json:"owner"`
	// Of a crawl that is spread: NoReport says that another worker makes the report, and Totals, if any, are those of all workers.
	NoReport bool             `json:"no_report,omitempty"`
	Totals   *frontier.Totals `json:"totals,omitempty"`
}

// End ends the run and returns its final state.
func (a *Activities) End(ctx context.Context, in EndInput) (EndResult, error) {
	if err := a.Disk.Writes(); err != nil { // what is put into a folder would take the room that the frontier needs
		return EndResult{}, a.waitRoom(ctx, err)
	}
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return EndResult{}, err
	}
	status, err := a.endResult(plan)
	if err != nil {
		return EndResult{}, err
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return EndResult{}, err
	}
	if err := a.Engine.KeepRules(ctx, plan, store); err != nil {
		return EndResult{}, err
	}
	if err := a.archiveUnfetched(ctx, plan, store); err != nil {
		return EndResult{}, err
	}
	if err := a.Engine.KeepSnapshot(ctx, plan, store); err != nil {
		return EndResult{}, err
	}
	making, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	if in.NoReport {
	} else if made, err := a.report(making, in.Crawl); err != nil { // it can be made at any time
		activity.GetLogger(ctx).Warn("no report was made", "error", err)
	} else {
		status.Report = made.Key
	}
	if plan.Definition.Spread {
		if err := a.keepBegun(ctx, in.Crawl, true); err != nil {
			return EndResult{}, err
		}
	}
	a.Engine.Forget(in.Crawl)
	return status, a.Frontier.Crawl(in.Crawl).End(in.Owner)
}

// endResult is the state of a crawl in this worker's frontier.
func (a *Activities) endResult(plan frontier.Plan) (EndResult, error) {
	s, err := a.Frontier.Crawl(plan.Definition.Name).Status()
	if err != nil {
		return EndResult{}, err
	}
	out := EndResult{Status: s}
	model, err := plan.Topic()
	if err != nil || model == nil {
		return out, err
	}
	out.TopicModel, err = json.Marshal(model.Brief())
	return out, err
}
