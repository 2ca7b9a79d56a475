package pipeline

import (
	"context"
	"sync"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
)

// maxEarly bounds the pages that are parsed while their batches are still fetched, in bytes. What exceeds it is parsed when its batch is fetched.
const maxEarly = 64 << 20

// early are the pages that were parsed while their batches were fetched, until these are parsed. The zero value is ready.
type early struct {
	mu    sync.Mutex
	total int64
	by    map[string]*earlyBatch
}

// earlyBatch are the pages of a batch, by URL, of a run of its workflow.
type earlyBatch struct {
	run   string
	bytes int64
	pages map[string]*crawl.Parsed
}

// take returns the pages of a batch, and forgets them; those of another run are not returned.
func (e *early) take(key, run string) map[string]*crawl.Parsed {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.by[key]
	if b == nil {
		return nil
	}
	delete(e.by, key)
	if e.total -= b.bytes; b.run != run {
		return nil
	}
	return b.pages
}

func (e *early) full() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.total >= maxEarly
}

func (e *early) put(key, run string, p *crawl.Parsed) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.by[key]
	if b == nil || b.run != run {
		if b != nil {
			e.total -= b.bytes
		}
		if e.by == nil {
			e.by = map[string]*earlyBatch{}
		}
		b = &earlyBatch{run: run, pages: map[string]*crawl.Parsed{}}
		e.by[key] = b
	}
	size := int64(p.Bytes())
	if was := b.pages[p.URL]; was != nil {
		size -= int64(was.Bytes())
	}
	b.pages[p.URL] = p
	b.bytes += size
	e.total += size
}

// ParseEarly parses a page of a batch that is still fetched, for what it needs to be shown: Parse does not parse it again. nil if nothing was understood
// of it, the scope rejects it, or many such pages lie in memory already. opened says that the page is to be opened in a browser.
func (e *Engine) ParseEarly(ctx context.Context, s Source, x *Exchange, plan *frontier.Plan, prints []byte) (early *crawl.Parsed, opened bool) {
	full := e.early.full()
	if full && !plan.Definition.Browses() {
		return nil, false
	}
	var look func(*page.Document)
	shell := ""
	if plan.Definition.Browser == crawl.BrowserAuto {
		look = func(d *page.Document) { shell = d.Shell() }
	}
	x.Agent = plan.Definition.Politeness.UserAgent
	p, ok, err := e.understand(ctx, x, plan.Definition.Helper, prints, look)
	if err != nil || !ok { // Parse finds that, too, and reports it
		return nil, false
	}
	p.CutRequisites(plan.Definition.Budget.MaxRequisites())
	if !full {
		e.early.put(s.key(), s.Run, &p)
		early = &p
	}
	if !belongs(&p, x, plan) {
		return nil, false
	}
	return early, e.opens(&p, plan, shell)
}
