package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// LostTotalsInput asks what a data folder that the ring has given up has done in a run.
type LostTotalsInput struct {
	Crawl   string    `json:"crawl"`
	Holder            // a data folder of a worker; without an instance, all that it has had
	Started time.Time `json:"started"`       // when the run began, by the clock of Temporal
	Run     uint32    `json:"run,omitempty"` // 0: by a workflow of a version that did not say it
}

// wrote reports whether the folder has archived a segment. Segments of earlier versions name the worker alone.
func (h Holder) wrote(m *archive.Manifest) bool {
	if h.Instance == "" || m.Instance == "" {
		return m.Worker == h.Worker
	}
	return m.Instance == h.Instance // it may have had another name
}

// runSlack bounds, by time, which manifests are read: it is how much the clock of an archive may be behind that of Temporal: segments that seem to be so much older than a run may be of it.
const runSlack = 2 * time.Minute

// LostTotals counts what a data folder has archived in a run, by its segments: it may have done more than it last reported, and what it had
// not archived others do again. Links, known URLs and
// requisites, and what the run has not asked for are not counted. It runs on the shared queue: a worker that has not begun the run yet, and so does not know
// which pages are relevant, leaves it to another one (frontier.ErrNotBegun).
func (a *Activities) LostTotals(ctx context.Context, in LostTotalsInput) (sum frontier.Totals, err error) {
	run := archivedRun{in.Crawl, in.Started, in.Run}
	err = a.eachTotals(ctx, run, in.wrote, func(_ archive.Manifest, t *frontier.Totals) { sum.Add(*t) })
	return sum, err
}

// archivedRun is a run of a crawl whose segments are counted.
type archivedRun struct {
	crawl   string
	started time.Time
	number  uint32
}

// eachTotals calls take with some segments of a run, and what each has.
func (a *Activities) eachTotals(ctx context.Context, run archivedRun, of func(*archive.Manifest) bool, take func(archive.Manifest, *frontier.Totals)) error {
	plan, err := a.Frontier.Crawl(run.crawl).PlanWithArchives()
	for _, place := range plan.Archives {
		if err == nil {
			err = a.eachTotalsIn(ctx, run, plan.Definition, place, of, take)
		}
	}
	return err
}

// eachTotalsIn does so with those in one archive.
func (a *Activities) eachTotalsIn(ctx context.Context, run archivedRun, d crawl.Definition, place frontier.Place, of func(*archive.Manifest) bool, take func(archive.Manifest, *frontier.Totals)) error {
	store, err := a.Archives.reopen(ctx, place.Where)
	if err != nil {
		return err
	}
	walk := archive.Walk[*frontier.Totals]{
		Of:   archive.Layout{Prefix: place.Prefix, Crawl: run.crawl},
		Skip: func(_ string, changed time.Time) bool { return changed.Before(run.started.Add(-runSlack)) },
		Load: func(ctx context.Context, m archive.Manifest) (*frontier.Totals, error) {
			if !of(&m) || m.Run != run.number && m.Run > 0 && run.number > 0 {
				return nil, nil
			}
			t, err := segmentTotals(ctx, store, &m, d.Topic.Threshold)
			return &t, err
		},
		Damaged: func(err error) error { return a.passOver(ctx, run.crawl, err, lostCounts) },
	}
	return walk.Each(ctx, store, func(m archive.Manifest, t *frontier.Totals) error {
		activity.RecordHeartbeat(ctx, m.Segment())
		if t != nil {
			take(m, t)
		}
		return ctx.Err()
	})
}

// segmentTotals counts what a segment has: the crawl log has a line for each outcome, the index the scores.
func segmentTotals(ctx context.Context, store archive.Store, m *archive.Manifest, threshold float64) (t frontier.Totals, err error) {
	pages := map[string]bool{} // what pages embed has scores, too, which count for nothing
	err = archive.ReadLog(ctx, store, m, func(l archive.Logged) error {
		switch l.Kind {
		case archive.LoggedRobots, archive.LoggedDNS:
		case archive.LoggedLoaded:
			t.CountLoaded(l.Bytes, l.Reason == "")
		default:
			class := crawl.ClassOf(l.Path)
			pages[l.URL] = pages[l.URL] || class == crawl.ClassPage
			t.CountBecame(l.Became)
			t.Count(crawl.Outcome{URL: l.URL, Kind: crawl.OutcomeKind(l.Kind), Status: l.Status, Bytes: l.Bytes}, class)
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	if m.WARC.Key != "" {
		t.Batches = 1
	}
	return t, archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
		if i.Robots() {
			return nil
		}
		if i.Revisit {
			t.Revisits++
		}
		if i.Score >= 0 && i.Status < 300 && pages[i.URL] {
			t.Scored++
			if i.Score >= threshold {
				t.Relevant++
			}
		}
		return nil
	})
}
