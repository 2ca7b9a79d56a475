package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// LastRun is the last run of a crawl that a worker knows of.
type LastRun struct {
	Run      uint32 `json:"run,omitempty"`      // by its frontier; 0: it does not know the crawl
	Active   bool   `json:"active,omitempty"`   // that run has not ended
	Archived uint32 `json:"archived,omitempty"` // the last run in the archive, of any worker
	// Elapsed is how long that run takes so far, if it has not ended, by the clock of this worker.
	Elapsed time.Duration `json:"elapsed,omitempty"`
	// Kept is the last run of a spread crawl that any worker has begun, as all keep it in the archive that they have in common, and Ended says that one has ended it.
	Kept  uint32 `json:"kept,omitempty"`
	Ended bool   `json:"ended,omitempty"`
}

// LastRun looks up the last run of a crawl, in the frontier of this worker, in the archive that the crawl is to go to and, if it is spread, in what all workers have kept:
// those that have ended the run, or have begun a later one, need not answer.
func (a *Activities) LastRun(ctx context.Context, in BeginInput) (out LastRun, err error) {
	store, err := a.Archives.Open(ctx, in.Definition.Archive.Where)
	if err != nil {
		return out, err
	}
	if out.Archived, err = pipeline.ArchivedRun(ctx, store, in.Definition); err != nil {
		return out, err
	}
	if in.Definition.Spread {
		if out.Kept, out.Ended, err = a.lastBegun(ctx, in.Definition.Name); err != nil {
			return out, err
		}
	}
	plan, err := a.Frontier.Crawl(in.Definition.Name).Plan()
	if errors.Is(err, frontier.ErrNoCrawl) {
		return out, nil
	}
	if out.Run, out.Active = plan.Run, plan.Active; plan.Active {
		out.Elapsed = max(a.Now().Sub(plan.Started), 0)
	}
	return out, err
}

// ElapsedOf is how long a run takes so far that is continued: the lower median of what its workers say, so that one clock that was set meanwhile ends nothing
// early. 0 if none knows it.
func ElapsedOf(run uint32, known []LastRun) time.Duration {
	var all []time.Duration
	for _, k := range known {
		if k.Run == run && k.Active {
			all = append(all, k.Elapsed)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// NextRun is the number of the run that a crawl begins, by what its workers know. Objects of the archive are named after the run: no
// run gets the number of an earlier one. A run that was cut off is continued, unless a later one is known or a worker has ended it.
func NextRun(known []LastRun) uint32 {
	last := uint32(0)
	for _, k := range known {
		last = max(last, k.Run, k.Archived, k.Kept)
	}
	active, ended := false, false
	for _, k := range known {
		if k.Run == last {
			active, ended = active || k.Active, ended || !k.Active
		}
		ended = ended || k.Kept == last && k.Ended
	}
	if last > 0 && active && !ended {
		return last
	}
	return last + 1
}
