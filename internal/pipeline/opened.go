package pipeline

import (
	"context"
	"hash/fnv"
	"io"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

// opened is what browsers made of the pages of a batch.
type opened struct {
	documents map[string]*Exchange // by URL of the page
	loaded    map[string]*loads    // what it loaded meanwhile
}

// loads are URLs that a page loaded while it was open.
type loads struct {
	list []string // in the order of the batch
	of   map[string]bool
}

// urls are the URLs; nil: there are none.
func (l *loads) urls() []string {
	if l == nil {
		return nil
	}
	return l.list
}

// brought reports whether a URL that a page needs was loaded.
func (l *loads) brought(link *crawl.Outlink) bool {
	return l != nil && (link.Hop == crawl.HopEmbed || link.Hop == crawl.HopSpeculative) && l.of[link.URL]
}

// openedIn finds what was opened among the exchanges of a batch.
func openedIn(exchanges []Exchange) (o opened) {
	for i := range exchanges {
		switch x := &exchanges[i]; x.Kind {
		case crawl.ExchangeOpened:
			if o.documents == nil {
				o.documents = map[string]*Exchange{}
			}
			o.documents[x.URL] = x
		case crawl.ExchangeLoaded:
			if x.Outcome.Kind != crawl.OutcomeDone { // its line says why not
				continue
			}
			if o.loaded == nil {
				o.loaded = map[string]*loads{}
			}
			l := o.loaded[x.Via]
			if l == nil {
				l = &loads{of: map[string]bool{}}
				o.loaded[x.Via] = l
			}
			l.list, l.of[x.URL] = append(l.list, x.URL), true
		}
	}
	return o
}

// understandOpened makes the page of an exchange by the document that a browser made of it. Links that only the page itself has count too; what the browser has loaded for the
// page is archived with it, and is no link to be followed.
func (e *Engine) understandOpened(ctx context.Context, x, document *Exchange, loaded *loads, mode string, prints []byte) (p crawl.Parsed, ok bool, err error) {
	plain, ok, err := e.Understand(ctx, x, mode, prints)
	if ok {
		addLeft(&plain, document.Left)
	}
	if err != nil || !ok || document.Status == 0 {
		plain.Opened = document.Outcome.Reason
		return plain, ok, err
	}
	shown := *x
	shown.MIME, shown.Chunked, shown.Encoding, shown.Body = document.MIME, false, "", document.Body
	p, ok, err = e.Understand(ctx, &shown, mode, prints)
	if err != nil || !ok {
		return plain, true, err
	}
	p.Shown = shownBy(&p) // without what scripts wanted to go to
	known := make(map[string]bool, len(p.Links))
	for i := range p.Links {
		known[p.Links[i].URL] = true
	}
	for _, l := range plain.Links {
		if !known[l.URL] && l.Context != crawl.ContextIcon { // which the document has if it names none
			l.Block = -1 // those blocks are not the document's
			p.Links = append(p.Links, l)
		}
	}
	p.Links = slices.DeleteFunc(p.Links, func(l crawl.Outlink) bool { return loaded.brought(&l) })
	p.MIME, p.Charset, p.Undecoded, p.Loaded = plain.MIME, plain.Charset, plain.Undecoded, loaded.urls()
	if p.Opened = crawl.OpenedWhole; document.Outcome.Reason != "" {
		p.Opened = document.Outcome.Reason
	}
	return p, true, nil
}

// understandLoaded makes the page of what a page that was open has loaded, as of a requisite: what it needs in turn, unless that was loaded as well, and the links of a frame. What
// else scripts have asked for is no page: its texts and links are in the document, if they are to be seen.
func (e *Engine) understandLoaded(ctx context.Context, x *Exchange, loaded *loads, mode string) (p crawl.Parsed, ok bool, err error) {
	if x.Outcome.Kind != crawl.OutcomeDone || x.Status < 200 || x.Status >= 300 { // where it redirects to the browser has asked for
		return p, false, nil
	}
	if p, ok, err = e.Understand(ctx, x, mode, nil); err != nil || !ok {
		return p, false, err
	}
	isPage := p.MIME == "text/html" || p.MIME == "application/xhtml+xml"
	if isPage && !x.Frame {
		return crawl.Parsed{}, false, nil
	}
	p.Print = nil // by which pages of a site are compared
	p.Links = slices.DeleteFunc(p.Links, func(l crawl.Outlink) bool {
		needed := l.Hop == crawl.HopEmbed || l.Hop == crawl.HopSpeculative
		return !needed && !isPage || loaded.brought(&l)
	})
	return p, isPage || len(p.Links) > 0, nil
}

// shownBy is the hash of what a page shows: its texts, and the links that it has, without sessions, which differ from visit to visit. What it embeds may be loaded this time and not the next.
func shownBy(p *crawl.Parsed) uint64 {
	h := fnv.New64a()
	add := func(text string) { _, _ = h.Write(append([]byte(text), 0)) }
	add(p.Title)
	for _, b := range p.Blocks {
		add(b)
	}
	for i := range p.Links {
		if p.Links[i].Hop == crawl.HopLink {
			to := p.Links[i].URL
			if u, err := urls.Trusted(to); err == nil {
				to = traps.WithoutSession(u).String()
			}
			add(to)
		}
	}
	return max(h.Sum64(), crawl.ShownFrom)
}

// OpensBy is a hash of what decides which pages a crawl opens, and is no hash of what one shows: a page that was not opened by it will not be as long as it is the same. 0: it opens none.
func (e *Engine) OpensBy(d *crawl.Definition) uint64 {
	if !d.Browses() {
		return 0
	}
	by := fnv.New32a()
	_, _ = by.Write([]byte(d.Browser))
	if d.Browser == crawl.BrowserAuto && d.Helper != crawl.HelperOff && e.Helper != nil {
		_, _ = by.Write([]byte(e.Helper.Base().ID))
	}
	return max(uint64(by.Sum32()), 1)
}

// addLeft adds the URLs to which the scripts of a page wanted to go: the first as its redirect, the others as links, for a redirect is no hop, and a page has one.
func addLeft(p *crawl.Parsed, left []string) {
	hop := crawl.HopRedirect
	for _, url := range left {
		to, ok := page.Redirect(p.URL, p.Status, url)
		if !ok {
			continue
		}
		to.Links[0].Hop, hop = hop, crawl.HopLink
		if slices.ContainsFunc(p.Links, func(l crawl.Outlink) bool { return l.URL == to.Links[0].URL && l.Hop != crawl.HopEmbed }) {
			continue
		}
		to.Links[0].Context = "location"
		p.Links = append(p.Links, to.Links[0])
	}
}

// Opens reports whether a page of a batch is to be opened in a browser.
func (e *Engine) Opens(ctx context.Context, x *Exchange, plan *frontier.Plan) bool {
	shell := ""
	p, ok, err := e.understand(ctx, x, plan.Definition.Helper, nil, func(d *page.Document) { shell = d.Shell() })
	return err == nil && ok && e.opens(&p, plan, shell) && belongs(&p, x, plan)
}

// opens reports whether a page is to be opened, if it belongs to the crawl: it is an empty shell, or of an application that needs its scripts, unless all pages are opened. shell
// says why it is one.
func (e *Engine) opens(p *crawl.Parsed, plan *frontier.Plan, shell string) bool {
	switch {
	case p.Status >= 300:
		return false
	case plan.Definition.Browser == crawl.BrowserAuto:
		return shell != "" || plan.Definition.Helper != crawl.HelperOff && e.needsScripts(p.Application)
	}
	return plan.Definition.Browser == crawl.BrowserAlways
}

// needsScripts reports whether the knowledge base says so of an application.
func (e *Engine) needsScripts(name string) bool {
	if e.Helper == nil || name == "" {
		return false
	}
	app := e.Helper.Base().Application(name)
	return app != nil && app.Scripts
}

// belongs reports whether a page belongs to the crawl as it was fetched. A redirect always does.
func belongs(p *crawl.Parsed, x *Exchange, plan *frontier.Plan) (is bool) {
	if is = p.Status >= 300; !is {
		_, is = plan.Scope.Fetched(p.URL, x.Path, p.MIME, p.Language)
	}
	return is
}

// DecodedBody is the body of an exchange without its encodings, up to a limit of bytes.
func DecodedBody(x *crawl.Exchange, body io.Reader, limit int64) ([]byte, error) {
	r, err := decodedReader(x, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, limit))
}
