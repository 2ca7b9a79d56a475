package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

// The files of a batch in the spool.
const (
	fileLanes  = "lanes.json"
	fileCommit = "commit.cbor"
)

// lane is a claim with its targets, as the spool keeps it.
type lane struct {
	Claim   ClaimRef       `json:"claim"`
	Targets []crawl.Target `json:"targets"`
}

// spooled is a batch in the spool, for one attempt: what is read of it stays the same. It is not safe for concurrent use.
type spooled struct {
	pipeline.Source
	batch *spool.Batch
	kept  []spool.Entry
}

// maxKept bounds the exchanges that stay in memory between the steps of an attempt, in bytes; more are read by each step that needs
// them. A batch of 350 pages has some 4 MB.
const maxKept = 8 << 20

// spooled is a batch of which nothing is read yet.
func (a *Activities) spooled(ctx context.Context, in BatchInput) *spooled {
	s := &spooled{batch: a.Spool.Batch(in.Crawl, in.Batch)}
	s.Source = pipeline.Source{
		Crawl: in.Crawl, Batch: in.Batch, Run: activity.GetInfo(ctx).WorkflowExecution.RunID,
		Targets: sync.OnceValues(func() (map[string]crawl.Target, error) { return targets(s.batch) }),
		Exchanges: func(mine map[string]crawl.Target) ([]pipeline.Exchange, func() error, error) {
			entries, done, err := s.entries(mine)
			list := make([]pipeline.Exchange, len(entries))
			for i := range entries {
				list[i] = pipeline.Exchange{Exchange: entries[i].Exchange, Header: entries[i].Header, Body: entries[i].Body}
			}
			return list, done, err
		},
	}
	return s
}

// entries are the exchanges of the batch; done is called when none of them is read any more.
func (s *spooled) entries(mine map[string]crawl.Target) (list []spool.Entry, done func() error, err error) {
	if s.kept != nil {
		return s.kept, func() error { return nil }, nil
	}
	list, done, err = entries(s.batch, mine)
	size := int64(0)
	for i := range list {
		size += list[i].RequestN + list[i].ResponseN
	}
	if err == nil && size <= maxKept { // then they lie in memory
		s.kept = list
	}
	return list, done, err
}

// targets are the URLs that the batch was claimed with.
func targets(b *spool.Batch) (map[string]crawl.Target, error) {
	var lanes []lane
	if err := b.Read(fileLanes, &lanes); err != nil {
		return nil, err
	}
	mine := map[string]crawl.Target{}
	for _, l := range lanes {
		for _, t := range l.Targets {
			mine[t.URL] = t
		}
	}
	return mine, nil
}

// entries reads the log and leaves out the exchanges of targets that are no longer the batch's.
func entries(b *spool.Batch, mine map[string]crawl.Target) ([]spool.Entry, func() error, error) {
	seen := make(map[string]bool, len(mine))
	all, closer, err := b.Entries()
	if err != nil {
		return nil, nil, err
	}
	kept, unopened, opened := all[:0], map[string]crawl.Outcome{}, map[string]time.Time{}
	for i := range all {
		e := &all[i]
		if e.Kind != crawl.ExchangeOpened {
			continue
		}
		if opened[e.URL] = e.Started; e.Outcome.Kind != crawl.OutcomeDone {
			unopened[e.URL] = e.Outcome
		}
	}
	for _, e := range all {
		if again, is := unopened[e.URL]; is && (e.Kind == crawl.ExchangePage || e.Kind == crawl.ExchangeOpened) {
			if e.Kind == crawl.ExchangeOpened || seen[e.URL] || mine[e.URL].URL == "" {
				continue
			}
			seen[e.URL] = true
			e.Outcome, e.Status = again, 0 // as if it had not been fetched
			kept = append(kept, e)
			continue
		}
		t, is := mine[e.URL]
		switch {
		case e.Kind == crawl.ExchangeIntent:
			continue
		case e.Kind == crawl.ExchangeLoaded:
			if _, is := mine[e.Via]; !is {
				continue
			}
		case (e.Kind == crawl.ExchangeOpened || e.Kind == crawl.ExchangeView) && !is:
			continue
		case e.Kind == crawl.ExchangeView && !opened[e.URL].Equal(e.Started): // its worker was killed before it had the document
			continue
		case e.Kind == crawl.ExchangePage && (!is || seen[e.URL]): // the first exchange of a URL counts
			continue
		case e.Kind == crawl.ExchangePage && e.Outcome.Kind == crawl.OutcomeUnmodified && t.Previous.Digest == "":
			continue // what it is a revisit of is not in the archive that the batch goes to now: it is fetched again later
		case e.Kind == crawl.ExchangePage:
			seen[e.URL] = true
			if e.Outcome.Kind == crawl.OutcomeUnmodified {
				etag := e.Outcome.Visit.ETag
				e.Outcome.Visit = t.Previous
				if etag != "" {
					e.Outcome.Visit.ETag = etag
				}
			}
		}
		kept = append(kept, e)
	}
	return kept, closer, nil
}

// result is what ARCHIVE left: it lies in memory, or is read.
func (a *Activities) result(in BatchInput) (pipeline.Result, error) {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	file, err := b.Stat(fileCommit)
	if err != nil {
		return pipeline.Result{}, err
	}
	if left := a.Engine.TakeResult(in.Crawl, in.Batch, file); left != nil {
		return *left, nil
	}
	return readResult(b)
}

// readResult reads what ARCHIVE left.
func readResult(b *spool.Batch) (pipeline.Result, error) {
	list, err := spool.ReadAll[pipeline.Result](b, fileCommit)
	if err != nil {
		return pipeline.Result{}, err
	}
	if len(list) == 0 {
		return pipeline.Result{}, fmt.Errorf("spool %s: %w", fileCommit, spool.ErrMissing)
	}
	return pipeline.JoinParts(list), nil
}

// fetchedURLs lists the URLs whose exchange the log holds.
func fetchedURLs(b *spool.Batch) (map[string]bool, error) {
	entries, closer, err := b.Entries()
	if errors.Is(err, spool.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer() }()
	done := map[string]bool{}
	for _, e := range entries {
		if e.Kind == crawl.ExchangePage {
			done[e.URL] = true
		}
	}
	return done, nil
}
