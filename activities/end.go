package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Submit offers scored URLs that came from elsewhere (paper §4.4, the scored-URL service).
// Each is brought into its canonical form; if one is no URL, none is taken.
func (a *Activities) Submit(ctx context.Context, in SubmitInput) error {
	defer a.beat(ctx)()
	for i, d := range in.URLs {
		u, err := urls.Parse(d.URL)
		if err != nil {
			return edge(&InputError{fmt.Sprintf("submitted URL %q: %v", d.URL, err)})
		}
		in.URLs[i].URL = u.String()
		if d.Path == "" {
			in.URLs[i].Path = string(rune(crawl.HopSeed))
		}
	}
	return edge(a.Frontier.Submit(in.Crawl, in.ID, in.URLs))
}

// EndInput ends a run.
type EndInput struct {
	Crawl string `json:"crawl"`
	Owner string `json:"owner"`
}

// End ends the run and returns its final state.
func (a *Activities) End(ctx context.Context, in EndInput) (EndResult, error) {
	defer a.beat(ctx)()
	status, err := a.Status(in.Crawl)
	if err != nil {
		return EndResult{}, edge(err)
	}
	if err := a.keepLearned(ctx, in.Crawl); err != nil {
		return EndResult{}, edge(err)
	}
	if err := a.Spool.Sweep(a.Now(), a.Settings.SpoolKeep); err != nil {
		return EndResult{}, edge(err)
	}
	plan, err := a.Frontier.Plan(in.Crawl)
	if err != nil {
		return EndResult{}, edge(err)
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return EndResult{}, edge(err)
	}
	if err := a.keepExperience(ctx, plan, store); err != nil {
		return EndResult{}, edge(err)
	}
	making, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	if made, err := a.report(making, in.Crawl); err != nil { // it can be made at any time
		activity.GetLogger(ctx).Warn("no report was made", "error", err)
	} else {
		status.Report = made.Key
	}
	return status, edge(a.Frontier.End(in.Crawl, in.Owner))
}

// Status returns the state of a crawl in this worker's frontier.
func (a *Activities) Status(name string) (EndResult, error) {
	s, err := a.Frontier.Status(name)
	if err != nil {
		return EndResult{}, err
	}
	out := EndResult{Status: s}
	if len(s.Learned) > 0 {
		var learned score.Learned
		if err := cbor.Unmarshal(s.Learned, &learned); err != nil {
			return out, err
		}
		out.Learned, err = json.Marshal(learned.Brief())
	}
	return out, err
}
