package activities

import (
	"context"
	"errors"
	"strings"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// unfetchedPart is how many URLs that ended without a batch one segment holds, at most.
const unfetchedPart = 10_000

// archiveUnfetched writes the URLs that ended without a batch to the archive, in segments that have a crawl log alone.
func (a *Activities) archiveUnfetched(ctx context.Context, plan frontier.Plan, store archive.Store) error {
	d := plan.Definition
	for ctx.Err() == nil {
		list, first, err := a.Frontier.Crawl(d.Name).URLs().Unfetched(unfetchedPart)
		if err != nil || len(list) == 0 {
			return err
		}
		n, err := a.archiveUnfetchedPart(ctx, store, a.unfetchedLabel(plan, first), list)
		if err != nil {
			return err
		}
		if err := a.Frontier.Crawl(d.Name).URLs().Reported(n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// unfetchedLabel names a part by where it begins, and by the data folder whose numbers those are: a part that was archived before, but
// not marked as reported, is found again, and another worker's is not taken for it.
func (a *Activities) unfetchedLabel(plan frontier.Plan, first int64) archive.Label {
	d := plan.Definition
	return archive.Label{
		Crawl: d.Name, Batch: archive.EndsBatch(first, a.Settings.Worker), Nonce: a.Settings.Instance, Run: plan.Run, Worker: a.Settings.Worker, Instance: a.Settings.Instance,
		Prefix: d.Archive.Prefix, Software: a.Settings.Software,
	}
}

// archiveUnfetchedPart archives a part, unless an attempt before has done so; n is how many URLs it has.
func (a *Activities) archiveUnfetchedPart(ctx context.Context, store archive.Store, label archive.Label, list []frontier.Unfetched) (n int, err error) {
	former := label // the name that earlier versions gave it
	former.Batch, _, _ = strings.Cut(label.Batch, "@")
	former.Nonce = ""
	for _, l := range []archive.Label{label, former} {
		m, err := archive.ReadManifest(ctx, store, l)
		if err == nil {
			return m.Logged, nil
		}
		if !errors.Is(err, archive.ErrNotFound) && !errors.Is(err, archive.ErrForeign) {
			return 0, err
		}
	}
	segment, err := archive.NewSegment(a.Spool.TempDir(), label, a.Now(), func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		return 0, err
	}
	defer segment.Close()
	for _, u := range list {
		err := segment.Log(archive.Logged{Time: u.At, URL: u.URL, Kind: archive.LoggedKind(u.Kind), Reason: u.Reason, Via: u.Via, Path: u.Path, Attempt: u.Attempt})
		if err != nil {
			return 0, err
		}
	}
	m, err := segment.Commit(ctx, store)
	return m.Logged, err
}
