package activities

import (
	"bytes"
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/report"
)

// ReportResult says where a report lies.
type ReportResult struct {
	Key  string `json:"key"`            // in the archive
	HTML []byte `json:"html,omitempty"` // the report itself, unless it is too large to pass through a workflow
}

// reportTime is how long the end of a run waits for its report.
const reportTime = 5 * time.Minute

// maxReport is the size up to which a report is passed through a workflow, in bytes.
const maxReport = 1 << 20

// Report makes a report of a crawl out of its archive, and puts it there.
func (a *Activities) Report(ctx context.Context, in AskInput) (ReportResult, error) {
	if err := a.checkKnown(in.Crawl); err != nil {
		return ReportResult{}, err
	}
	return a.report(ctx, in.Crawl)
}

func (a *Activities) report(ctx context.Context, name string) (ReportResult, error) {
	plan, err := a.Frontier.Crawl(name).Plan()
	if err != nil {
		return ReportResult{}, err
	}
	d := plan.Definition
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return ReportResult{}, err
	}
	pages := report.NewCollector(d.Topic.Threshold)
	walk := archive.Walk[[]archive.Indexed]{
		Of: archive.LayoutOf(d),
		Load: func(ctx context.Context, m archive.Manifest) (index []archive.Indexed, err error) {
			err = archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
				index = append(index, i)
				return nil
			})
			return index, err
		},
	}
	err = walk.Each(ctx, store, func(m archive.Manifest, index []archive.Indexed) error {
		activity.RecordHeartbeat(ctx, m.Segment())
		for _, i := range index {
			pages.Add(i)
		}
		return ctx.Err()
	})
	if err != nil {
		return ReportResult{}, err
	}
	about := report.Crawl{Definition: d, Made: a.Now()}
	if about.Status, err = a.Frontier.Crawl(name).Status(); err != nil {
		return ReportResult{}, err
	}
	if about.TopicModel, err = plan.Topic(); err != nil {
		return ReportResult{}, err
	}
	var page bytes.Buffer
	if err := pages.HTML(&page, about); err != nil {
		return ReportResult{}, err
	}
	key := archive.LayoutOf(d).Report(plan.Run, a.Now(), a.Settings.Worker)
	out := ReportResult{Key: key}
	if page.Len() <= maxReport {
		out.HTML = page.Bytes()
	}
	return out, store.Put(ctx, key, bytes.NewReader(page.Bytes()), int64(page.Len()))
}
