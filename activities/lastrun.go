package activities

import (
	"context"
	"errors"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// LastRun is the last run of a crawl that a worker knows of.
type LastRun struct {
	Run      uint32 `json:"run,omitempty"`      // by its frontier; 0: it does not know the crawl
	Active   bool   `json:"active,omitempty"`   // that run has not ended
	Archived uint32 `json:"archived,omitempty"` // the last run in the archive, of any worker
}

// LastRun looks up the last run of a crawl, in the frontier of this worker and in the archive that the crawl is to go to.
func (a *Activities) LastRun(ctx context.Context, in BeginInput) (out LastRun, err error) {
	store, err := a.Archives.Open(ctx, in.Definition.Archive.Where)
	if err != nil {
		return out, err
	}
	if out.Archived, err = pipeline.ArchivedRun(ctx, store, in.Definition); err != nil {
		return out, err
	}
	plan, err := a.Frontier.Crawl(in.Definition.Name).Plan()
	if errors.Is(err, frontier.ErrNoCrawl) {
		return out, nil
	}
	out.Run, out.Active = plan.Run, plan.Active
	return out, err
}

// NextRun is the number of the run that a crawl begins, by what its workers know. Objects of the archive are named after the run: no
// run gets the number of an earlier one. A run that was cut off is continued, unless a later one is known or a worker has ended it.
func NextRun(known []LastRun) uint32 {
	last := uint32(0)
	for _, k := range known {
		last = max(last, k.Run, k.Archived)
	}
	active, ended := false, false
	for _, k := range known {
		if k.Run == last {
			active, ended = active || k.Active, ended || !k.Active
		}
	}
	if last > 0 && active && !ended {
		return last
	}
	return last + 1
}
