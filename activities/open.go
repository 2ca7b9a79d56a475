package activities

import (
	"context"
	"errors"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/spool"
)

// OpenResult says what there is to do.
type OpenResult struct {
	Done     bool             `json:"done,omitempty"`     // committed, or nothing of it is left
	Archived bool             `json:"archived,omitempty"` // only the commit is missing
	URLs     int              `json:"urls"`
	Asks     []politeness.Ask `json:"asks,omitempty"` // leases that the batch must get before fetching
}

// Open opens a batch's claims: URLs that another batch has taken or finished meanwhile are left out.
// It returns which leases must be asked for: none, unless the batch is run again. The claims of a batch that is archived stay as they are, also those of a
// former tenure, which are dropped otherwise: a batch without claims commits nothing, and nobody else counts what this one has archived. A request of a former
// attempt for the manifest may be carried out after that attempt was stopped: so before claims are dropped the key of the manifest is taken, and another life begins.
func (a *Activities) Open(ctx context.Context, in BatchInput) (OpenResult, error) {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	var before []lane
	if err := b.Read(fileLanes, &before); err != nil && !errors.Is(err, spool.ErrMissing) {
		return OpenResult{}, err
	}
	stands, err := a.lifeState(ctx, in)
	stale := errors.Is(a.batch(in).MayCommit(), ring.ErrStale)
	if err == nil && stands == unarchived && stale { // claims are to be dropped: a manifest that is on its way must not land after that
		stands, err = a.closeLife(ctx, in)
	}
	if err == nil && stands == isGivenBack { // a give-back that was cut off here goes no further: the batch has not failed, and fetches on with the leases that it has
		err = a.batch(in).NewLife()
	}
	if err != nil {
		return OpenResult{}, err
	}
	if stands == isArchived {
		return a.openArchived(in)
	}
	claims, known := make([]frontier.Claim, len(in.Claims)), map[string][]string{}
	for i, c := range in.Claims {
		claims[i] = frontier.Claim{ID: c.ID, PLD: c.PLD, IP: c.IP}
	}
	for _, l := range before {
		for _, t := range l.Targets {
			known[l.Claim.ID] = append(known[l.Claim.ID], t.URL)
		}
	}
	reopen := a.batch(in).ReopenHeld // a view of the ring may come meanwhile: then Open is tried again, and takes the key
	if stale || stands != unarchived {
		reopen = a.batch(in).Reopen
	}
	lanes, err := reopen(claims, known)
	if errors.Is(err, frontier.ErrFinished) {
		return OpenResult{Done: true}, b.Remove()
	}
	if err != nil {
		return OpenResult{}, err
	}
	return a.writeLanes(in, b, lanes)
}

// openArchived leaves the batch to its commit.
func (a *Activities) openArchived(in BatchInput) (OpenResult, error) {
	err := a.batch(in).Renew()
	if errors.Is(err, frontier.ErrNoBatch) { // an attempt to commit that was still on its way has ended: another one finds that
		err = nil
	}
	return OpenResult{Archived: true}, err
}

// writeLanes writes the lanes to the spool and lists the leases that are missing.
func (a *Activities) writeLanes(in BatchInput, b *spool.Batch, lanes []frontier.OpenClaim) (OpenResult, error) {
	var out OpenResult
	kept := make([]lane, 0, len(lanes))
	fetched, err := fetchedURLs(b)
	if err != nil {
		return out, err
	}
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return out, err
	}
	for _, l := range lanes {
		ref := ClaimRef{l.ID, l.PLD, l.IP}
		kept = append(kept, lane{ref, l.Targets})
		out.URLs += len(l.Targets)
		left := 0
		for _, t := range l.Targets {
			if !fetched[t.URL] {
				left++
			}
		}
		if left > 0 && !a.Frontier.Crawl(in.Crawl).Lane(l.ID).LeaseUntil().After(a.Now()) {
			out.Asks = append(out.Asks, a.askOf(in.Crawl, l.Claim, plan.Definition.Politeness, names.BatchID(in.Crawl, in.Batch)))
		}
	}
	out.Done = out.URLs == 0
	if out.Done {
		return out, a.Frontier.Crawl(in.Crawl).Commit(frontier.Commit{Batch: in.Batch})
	}
	return out, b.Write(fileLanes, kept)
}
