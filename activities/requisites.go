package activities

import (
	"context"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/spool"
)

// requisites are what the pages of a lane need to be shown. What lies at the lane's own address and belongs to its queue is fetched right after its page, on the
// same lease; the rest, and what was not fetched, waits in the frontier.
type requisites struct {
	*fetching
	claim string
	opening
	page *crawl.Parsed      // of the exchange that was emitted last; nil: it needs nothing
	of   map[string]*needed // by URL of a requisite: the page for which it was added
}

// needed is what was fetched for a page.
type needed struct {
	count int
	bytes int64
}

// neededBy is what was fetched for a page, or for the page that needs what lies at a URL.
func (r *requisites) neededBy(url string) *needed {
	page := r.of[url]
	if page == nil {
		page = &needed{}
		r.of[url] = page
	}
	return page
}

// add counts a URL for the page, once.
func (n *needed) add(of map[string]*needed, url string) {
	if of[url] != n {
		of[url] = n
		n.count++
	}
}

// maxParsedEarly bounds the responses that are parsed while their lane waits for its next request, in bytes.
const maxParsedEarly = 4 << 20

// emit stores an exchange, and parses it if it may need requisites.
func (r *requisites) emit(ctx context.Context, x *fetch.Exchange) error {
	r.page = nil
	if n := r.of[x.URL]; n != nil && (x.Kind == crawl.ExchangePage || x.Kind == crawl.ExchangeLoaded) {
		n.bytes += x.Outcome.Bytes
	}
	if r.browses() && x.Kind == crawl.ExchangePage && x.Outcome.Kind == crawl.OutcomeDone && crawl.ClassOf(x.Path) == crawl.ClassPage {
		x.Outcome.Visit.Shown = r.a.Engine.OpensBy(&r.planned.Definition)
	}
	x.Frame = x.Kind == crawl.ExchangeLoaded && r.frame
	e, err := r.fetching.emit(x, x.Response)
	if err != nil {
		return err
	}
	r.remember(x, &e)
	if !r.mayNeed(x) {
		return nil
	}
	s := pipeline.Source{Crawl: r.in.Crawl, Batch: r.in.Batch, Run: r.run}
	opens := false
	r.page, opens = r.a.Engine.ParseEarly(ctx, s, &pipeline.Exchange{Exchange: x.Exchange, Header: x.Head, Body: x.Body}, r.planned, r.prints[x.URL])
	if opens && mayBeShown(&x.Exchange, x.Size) {
		r.unopened[x.URL] = &e
	}
	return nil
}

// mayNeed reports whether a response may name requisites: it is HTML, a style sheet, or a redirect of a requisite.
func (r *requisites) mayNeed(x *fetch.Exchange) bool {
	if r.planned == nil || r.planned.Definition.Budget.MaxRequisites() == 0 && !r.browses() || x.Kind != crawl.ExchangePage || x.Outcome.Kind != crawl.OutcomeDone || x.Response == nil || x.Size > maxParsedEarly {
		return false
	}
	if crawl.LastHop(x.Path) == crawl.HopPrereq { // a probe: nobody wants to see it
		return false
	}
	if x.Status >= 300 && x.Status < 400 {
		return x.Location != "" && crawl.IsRequisite(x.Path)
	}
	mime := strings.ToLower(x.MIME)
	return x.Status >= 200 && x.Status < 300 && (strings.Contains(mime, "html") || strings.Contains(mime, "css"))
}

// next adds to the claim what the page of a target needs, and returns what is to be fetched of it.
func (r *requisites) next(_ context.Context, t crawl.Target) ([]crawl.Target, error) {
	p := r.page
	if r.page = nil; p == nil {
		return nil, nil
	}
	var found []crawl.Discovery
	for i := range p.Links {
		l := &p.Links[i]
		path := crawl.Hopped(t.Path, l.Hop)
		if !crawl.IsRequisite(path) || scope.Embedded(path) > scope.MaxEmbedded {
			continue
		}
		found = append(found, crawl.Discovery{URL: l.URL, Via: p.URL, Path: path, Score: r.planned.Definition.Inherit(t.Priority)})
	}
	if len(found) == 0 {
		return nil, nil
	}
	page := r.neededBy(t.URL)
	b := r.planned.Definition.Budget
	if page.bytes >= b.MaxRequisiteBytes() {
		return nil, nil
	}
	more, err := r.a.Frontier.Crawl(r.in.Crawl).Lane(r.claim).Extend(found, int(b.MaxRequisites())-page.count)
	for i := range more {
		page.add(r.of, more[i].URL)
	}
	return more, err
}

// extendedLanes reads the lanes of a batch, with the URLs by which their claims were extended while they were fetched.
func (a *Activities) extendedLanes(in BatchInput, b *spool.Batch) (lanes []lane, err error) {
	if err := b.Read(fileLanes, &lanes); err != nil {
		return nil, err
	}
	return lanes, a.extendLanes(in, b, lanes)
}

// extendLanes adds such URLs to the lanes of a batch, and to those in its spool.
func (a *Activities) extendLanes(in BatchInput, b *spool.Batch, lanes []lane) error {
	changed := false
	for i := range lanes {
		l := &lanes[i]
		at := a.Frontier.Crawl(in.Crawl).Lane(l.Claim.ID)
		if c, held := at.Claim(); !held || c.Batch != in.Batch || len(c.URLs) <= len(l.Targets) {
			continue
		}
		targets, err := at.Targets()
		if err != nil {
			return err
		}
		for _, t := range targets {
			if !slices.ContainsFunc(l.Targets, func(u crawl.Target) bool { return u.URL == t.URL }) {
				l.Targets, changed = append(l.Targets, t), true
			}
		}
	}
	if !changed {
		return nil
	}
	return b.Write(fileLanes, lanes)
}

// fates are what has become of URLs of a crawl, by a batch that is not committed yet.
type fates struct {
	urls frontier.URLs
	here map[string]frontier.Fate // by the batch
	of   map[string]frontier.Fate // by the batch and all before it
}

// fate is that of a URL. What the batch has not brought may have been archived by an earlier run: then it is not missing, also if this run asks for it again.
func (f *fates) fate(url string) (fate frontier.Fate, err error) {
	fate, looked := f.of[url]
	if looked {
		return fate, nil
	}
	here, tried := f.here[url]
	if fate = here; fate != frontier.FateArchived {
		if fate, err = f.urls.Fate(url); err != nil {
			return fate, err
		}
		if tried && fate != frontier.FateArchived {
			fate = here
		}
	}
	f.of[url] = fate
	return fate, nil
}

// fetchedBy are the fates of the URLs that a batch of a crawl has fetched, or tried to.
func fetchedBy(urls frontier.URLs, entries []spool.Entry) *fates {
	known := &fates{urls, make(map[string]frontier.Fate, len(entries)), map[string]frontier.Fate{}}
	for i := range entries {
		x := &entries[i]
		if x.Kind != crawl.ExchangePage && (x.Kind != crawl.ExchangeLoaded || x.Outcome.Kind != crawl.OutcomeDone) { // what could not be loaded is given to the frontier
			continue
		}
		fate := frontier.FateEnded
		switch x.Outcome.Kind {
		case crawl.OutcomeDone, crawl.OutcomeUnmodified:
			fate = frontier.FateArchived
		case crawl.OutcomeRetry, crawl.OutcomeReturned:
			fate = frontier.FateQueued
		}
		known.here[x.URL] = max(known.here[x.URL], fate)
	}
	return known
}

// lacking says which requisites of a page are not archived yet: those of its batch are about to be.
func (f *fates) lacking(p *pipeline.Judged) (lacks archive.Lacking, err error) {
	if p == nil {
		return lacks, nil
	}
	var seen map[string]bool // most pages embed little
	follows := p.Follows(crawl.HopEmbed)
	for n, links := range [...][]crawl.Outlink{p.Links, p.Cut} {
		for i := range links {
			l := &links[i]
			if l.Hop != crawl.HopEmbed || seen[l.URL] {
				continue
			}
			if seen == nil {
				seen = map[string]bool{}
			}
			seen[l.URL] = true
			fate, err := f.fate(l.URL)
			if err != nil {
				return lacks, err
			}
			switch {
			case fate == frontier.FateArchived:
				continue
			case fate == frontier.FateQueued, fate == frontier.FateUnknown && follows && n == 0: // it is about to be
				lacks.Queued++
			case fate == frontier.FateUnknown && follows:
				lacks.Cut++
			}
			lacks.Missing++
		}
	}
	return lacks, nil
}
