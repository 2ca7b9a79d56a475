package activities

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httputil"
	"runtime/debug"
	"sync"

	"go.temporal.io/sdk/activity"

	"github.com/klauspost/compress/gzip"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/spool"
)

// parsedPage is a page with the number of its exchange in the log.
type parsedPage struct {
	Entry int
	Page  crawl.Page
	Learn *score.Sample // what it teaches, once it is scored in a reference crawl
}

// analyse is the AAH step: it parses what was fetched, once, and lets the helper recognise the
// application, lift web objects and judge links.
func (a *Activities) analyse(ctx context.Context, in BatchInput) (out AnalyseResult, err error) {
	batch := a.handed.of(a.Spool.Batch(in.Crawl, in.Batch).Dir(), runOf(ctx))
	if batch == nil {
		if batch, err = a.parse(ctx, in); err != nil {
			return out, err
		}
	}
	out = AnalyseResult{Pages: len(batch.pages), Broken: batch.broken, Applications: map[string]int{}}
	for i := range batch.pages {
		p := &batch.pages[i].Page
		out.Links += len(p.Links)
		out.Objects += len(p.Objects)
		if p.Application != "" {
			out.Applications[p.Application]++
		}
	}
	return out, nil
}

// parse makes the page records of a batch and hands them on.
func (a *Activities) parse(ctx context.Context, in BatchInput) (*handed, error) {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	mine, err := targets(b)
	if err != nil {
		return nil, err
	}
	entries, closer, err := a.entries(b, mine)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer() }()
	plan, err := a.Frontier.Plan(in.Crawl)
	if err != nil {
		return nil, err
	}
	if err := a.Helper.Refresh(false); err != nil {
		activity.GetLogger(ctx).Error("the knowledge base was changed and has faults; the former one stays in force", "error", err)
	}
	out := &handed{run: runOf(ctx)}
	for i := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p, ok, err := a.understand(ctx, &entries[i], plan.Definition.Helper, mine[entries[i].URL].Prints)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // a page that breaks the parser must not hold back the others of its batch
			out.broken++
			activity.GetLogger(ctx).Error("a page is archived unread", "url", entries[i].URL, "error", err)
		}
		if ok {
			out.pages = append(out.pages, parsedPage{Entry: i, Page: p})
		}
	}
	a.handed.put(in.Crawl, b.Dir(), out)
	return out, nil
}

// understand makes the page record of an exchange; false if there is nothing to understand. The error is
// a panic on a page that no one has thought of.
func (a *Activities) understand(ctx context.Context, e *spool.Entry, mode string, before []byte) (p crawl.Page, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, ok, err = crawl.Page{}, false, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	switch {
	case e.Kind != crawl.ExchangePage || e.Status == 0 || e.Outcome.Kind == crawl.OutcomeFailed:
		return p, false, nil
	case e.Status >= 300 && e.Status < 400 && e.Location != "":
		p, ok = page.Redirect(e.URL, e.Status, e.Location)
		return p, ok, nil
	case e.Status < 200 || e.Status >= 300:
		return p, false, nil
	}
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxPooled {
			buffer.Reset()
			bodies.Put(buffer)
		}
	}()
	body := decodedBody(e, int64(a.Settings.Page.DecodedBytes), buffer)
	end, err := a.reading.begin(ctx, len(body))
	if err != nil {
		return p, false, err
	}
	defer end()
	d := page.Parse(page.Input{URL: e.URL, MIME: e.MIME, RobotsTag: e.RobotsTag, Refresh: e.Refresh, Body: body}, a.Settings.Page)
	head, err := io.ReadAll(e.Header())
	if err != nil {
		return p, false, err
	}
	a.Helper.Apply(d, aah.Input{Head: head, Mode: mode, Before: before})
	d.Status = e.Status
	return d.Page, true, nil
}

// bodies are buffers for decoded bodies; larger ones than maxPooled bytes are not kept.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooled = 4 << 20

// unzippers are gzip readers, which are costly to make.
var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decodedBody takes off the transfer and content encodings, up to a limit of bytes. What breaks off
// gives what stood before. The result lies in the buffer.
func decodedBody(e *spool.Entry, limit int64, out *bytes.Buffer) []byte {
	r := e.Body()
	if e.Chunked {
		r = httputil.NewChunkedReader(r)
	}
	if e.Encoding == "gzip" || e.Encoding == "x-gzip" {
		z := unzippers.Get().(*gzip.Reader)
		defer unzippers.Put(z)
		if err := z.Reset(r); err != nil {
			return nil
		}
		r = z
	}
	_, _ = io.Copy(out, io.LimitReader(r, limit))
	return out.Bytes()
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
func (a *Activities) entries(b *spool.Batch, mine map[string]crawl.Target) ([]spool.Entry, func() error, error) {
	seen := make(map[string]bool, len(mine))
	all, closer, err := b.Entries()
	if err != nil {
		return nil, nil, err
	}
	kept := all[:0]
	for _, e := range all {
		t, is := mine[e.URL]
		switch {
		case e.Kind == crawl.ExchangeIntent:
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
