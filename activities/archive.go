package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/spool"
)

// ArchiveResult names the segment.
type ArchiveResult struct {
	Manifest string `json:"manifest,omitempty"` // key; empty if there was nothing to archive
	WARC     string `json:"warc,omitempty"`
	Bytes    int64  `json:"bytes"`
	Pages    int    `json:"pages"`
	Revisits int    `json:"revisits"`
}

// archive is the ARCHIVE step: it makes the batch's segment and commits it in the archive, exactly
// once however often it is run.
func (a *Activities) archive(ctx context.Context, in BatchInput, b *spooled) (ArchiveResult, error) {
	return a.archiveBatch(ctx, in, b, activity.GetInfo(ctx).Attempt > 1)
}

// archiveBatch archives what the spool holds of a batch; no other attempt of one of its steps may run. again: an earlier attempt may
// have left objects in the archive.
func (a *Activities) archiveBatch(ctx context.Context, in BatchInput, b *spooled, again bool) (ArchiveResult, error) {
	if err := a.batch(in).Renew(); err != nil {
		return ArchiveResult{}, err
	}
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return ArchiveResult{}, err
	}
	d := plan.Definition
	h, err := a.destination(ctx, in, plan)
	if err != nil {
		return ArchiveResult{}, err
	}
	if !again { // a batch that was reset counts its attempts from one again
		if again, err = b.batch.Has(fileCommit); err != nil {
			return ArchiveResult{}, err
		}
	}
	m, err := h.manifest(ctx)
	if err == nil { // an attempt before has written it, and may not have come further
		if again {
			a.tidy(ctx, h, &m)
		}
		return archived(h, m), a.Engine.Remember(in.Crawl, in.Batch)
	}
	if !errors.Is(err, archive.ErrNotFound) {
		return ArchiveResult{}, err
	}
	segment, err := archive.NewSegment(b.batch.Dir(), h.label, a.Now(), func(url, digest string) (crawl.Visit, bool) {
		return a.Frontier.Crawl(in.Crawl).URLs().Original(h.life.Archive, url, digest)
	})
	if err != nil {
		return ArchiveResult{}, err
	}
	defer segment.Close()
	if d.Spread {
		segment.LinksBy(a.Membership.owner())
	}
	left, err := a.fill(ctx, segment, d, b)
	if err != nil {
		return ArchiveResult{}, err
	}
	if err := spool.WriteAll(b.batch, fileCommit, left.Parts()); err != nil {
		return ArchiveResult{}, err
	}
	if d.Spread {
		if _, err := a.keepLinks(in, b.batch, &left); err != nil {
			return ArchiveResult{}, err
		}
	}
	file, err := b.batch.Stat(fileCommit)
	if err != nil {
		return ArchiveResult{}, err
	}
	if segment.Empty() {
		return ArchiveResult{}, a.Engine.Remember(in.Crawl, in.Batch)
	}
	if err = a.batch(in).Renew(); err != nil { // its URLs may have gone back meanwhile
		return ArchiveResult{}, err
	}
	store := h.store
	if d.Spread {
		if err = a.batch(in).MayCommit(); err != nil {
			return ArchiveResult{}, err
		}
		store = permittedStore{store, a.batch(in).MayCommit}
	}
	m, err = segment.Commit(ctx, store)
	if errors.Is(err, archive.ErrExists) {
		m, err = h.manifest(ctx)
	}
	if err != nil {
		return ArchiveResult{}, err
	}
	if again {
		a.tidy(ctx, h, &m)
	}
	a.Meter.Archived(m.Pages, m.WARC.Bytes)
	if err := a.Engine.Remember(in.Crawl, in.Batch); err != nil {
		return ArchiveResult{}, err
	}
	a.Engine.KeepResult(in.Crawl, in.Batch, &left, file)
	return archived(h, m), nil
}

// permittedStore asks for the right to archive right before the manifest is put, which is the one object that is put if it is absent: the
// upload of the others may take longer than the permit of the ring. The put has half of the time by which the ring waits longer than the permit
// (ring.Margin): an attempt that the store's client makes later would archive pages that another worker has fetched again.
type permittedStore struct {
	archive.Store
	may func() error
}

func (s permittedStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if err := s.may(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, ring.Margin/2)
	defer cancel()
	return s.Store.PutIfAbsent(ctx, key, data)
}

// tidy deletes what earlier attempts of a batch have left in its archive. What it cannot delete is named by no manifest:
// `muninn verify --sweep` finds it.
func (a *Activities) tidy(ctx context.Context, h destination, m *archive.Manifest) {
	if err := archive.Tidy(ctx, h.store, h.label, m); err != nil {
		activity.GetLogger(ctx).Warn("an attempt that was cut off has left objects in the archive", "batch", h.label.Batch, "error", err)
	}
}

func archived(h destination, m archive.Manifest) ArchiveResult {
	return ArchiveResult{
		Manifest: h.label.Layout().Manifest(m.Segment()), WARC: m.WARC.Key,
		Bytes: m.WARC.Bytes, Pages: m.Pages, Revisits: m.Revisits,
	}
}

// fill writes the batch's exchanges into the segment and gathers what COMMIT needs.
func (a *Activities) fill(ctx context.Context, segment *archive.Segment, d crawl.Definition, b *spooled) (pipeline.Result, error) {
	needs := d.LinkNeeds()
	left := pipeline.Result{Originals: map[string]crawl.Visit{}}
	batch, err := a.Engine.Judge(ctx, b.Source)
	if err != nil {
		return left, err
	}
	links := 0
	for i := range batch.Pages {
		links += len(batch.Pages[i].Links)
	}
	left.Discoveries = make([]crawl.Discovery, 0, links)
	mine, err := b.Targets()
	if err != nil {
		return left, err
	}
	entries, closer, err := b.entries(mine)
	if err != nil {
		return left, err
	}
	defer func() { _ = closer() }()
	known, records := fetchedBy(a.Frontier.Crawl(b.Crawl).URLs(), entries), recordsOf(entries)
	for e, p := range pipeline.Pairs(entries, batch) {
		if ctx.Err() != nil {
			return left, ctx.Err()
		}
		line := archive.LoggedExchange(&e.Exchange, mine[e.URL].Attempts+1)
		if e.Kind == crawl.ExchangeView || e.Kind == crawl.ExchangeOpened {
			if err := archiveOpened(segment, e, records[e.URL], line); err != nil {
				return left, err
			}
			continue
		}
		if p != nil {
			line.Print, line.Shown, line.Undecoded = p.Print, p.Shown, p.Undecoded
		}
		if e.Kind == crawl.ExchangeDNS {
			if err := errors.Join(segment.Log(line), segment.Resource(capture(e, nil))); err != nil {
				return left, err
			}
			continue
		}
		if p != nil && p.RobotsTxt != nil {
			e.Path = p.RobotsTxt.Path + crawl.HopPrereq.String()
		}
		lacks, err := known.lacking(p)
		if err != nil {
			return left, err
		}
		o, err := a.archiveExchange(segment, e, p, lacks, needs, records, &left)
		if err != nil {
			return left, err
		}
		if e.Kind == crawl.ExchangePage && crawl.ClassOf(e.Path) == crawl.ClassPage {
			if line.Became, err = a.Frontier.Crawl(b.Crawl).URLs().Became(&crawl.PageOutcome{Outcome: o}); err != nil {
				return left, err
			}
		}
		if err := segment.Log(line); err != nil {
			return left, err
		}
	}
	return left, nil
}

// archiveOpened archives what a browser made of a page: a picture, or that it was opened, with the document if there is one. record is that of the page; line
// is of the crawl log, which has nothing of pictures.
func archiveOpened(segment *archive.Segment, e *spool.Entry, record string, line archive.Logged) error {
	if e.Kind == crawl.ExchangeView || e.Status > 0 {
		if err := segment.Show(capture(e, nil), record); err != nil {
			return err
		}
	}
	if e.Kind == crawl.ExchangeView {
		return nil
	}
	return segment.Log(line)
}

// archiveExchange archives an exchange, adds its outcome and outlinks to left, and returns the outcome. lacks says which requisites of the page are not in the
// archive. records get the IDs of the records of pages that were opened. needs says what outlinks keep for the order and the scope.
func (a *Activities) archiveExchange(segment *archive.Segment, e *spool.Entry, p *pipeline.Judged, lacks archive.Lacking, needs crawl.LinkNeeds, records map[string]string, left *pipeline.Result) (o crawl.Outcome, err error) {
	o, revisit := e.Outcome, false
	answered := e.Status > 0 || e.HeaderBytes > 0 // "000" is a status that servers send
	if answered && o.Kind != crawl.OutcomeRetry && o.Kind != crawl.OutcomeReturned {
		c := capture(e, p)
		c.Lacking = lacks
		rec, err := segment.Add(c)
		if err != nil {
			return o, err
		}
		o.Visit, revisit = rec.Visit, rec.Revisit
		left.RequisitesCut += int64(lacks.Cut)
		if _, shown := records[e.URL]; shown && e.Kind == crawl.ExchangePage {
			records[e.URL] = rec.ID
			o.Visit.ETag, o.Visit.LastModified = "", "" // what its scripts make of it may change though the page does not
			if o.Visit.Shown = 0; p != nil {
				o.Visit.Shown = p.Shown
			}
		}
		if rec.Original {
			left.Originals[rec.Digest] = rec.Visit
		}
	}
	switch {
	case e.Kind == crawl.ExchangePage:
		left.Add(o, revisit, e.Path, p, needs)
	case e.Kind == crawl.ExchangeLoaded:
		if left.AddLoaded(o.URL, o.Bytes, o.Kind == crawl.OutcomeDone); p != nil {
			left.AddLinks(e.Path, p, needs)
		}
	case p != nil:
		left.AddLinks(e.Path, p, needs)
	}
	return o, nil
}

func capture(e *spool.Entry, p *pipeline.Judged) archive.Capture {
	c := archive.Capture{
		Exchange: e.Exchange, Request: e.Request(),
		Response: e.Response, Body: e.Body,
		Header: e.Header,
	}
	if p != nil {
		c.Page = &p.Judged
	}
	return c
}
