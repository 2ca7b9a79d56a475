package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Browser opens pages.
type Browser interface {
	Open(ctx context.Context, job browser.Job) (browser.Shown, error)
	Fault() string // why no browser starts; empty: one does, or it is to be tried
}

// checkBrowser refuses a definition that opens pages on a worker without a browser.
func (a *Activities) checkBrowser(d crawl.Definition) error {
	if why := a.lacksBrowser(&d); why != "" {
		return &crawl.InputError{Message: why}
	}
	return nil
}

// lacksBrowser says that a worker has no browser for a definition that opens pages; "" if it has, or needs none.
func (a *Activities) lacksBrowser(d *crawl.Definition) string {
	if !d.Browses() || a.Browser != nil {
		return ""
	}
	return "browser: is " + d.Browser + ", and worker " + a.Settings.Worker + " opens no pages: " + a.NoBrowser
}

// BrowserHold keeps a crawl that opens pages from claiming on a worker that was started again without Chromium, or whose browsers do not start: its pages would be archived
// empty, or fetched for nothing.
func BrowserHold(a *Activities) Hold {
	return func(crawl string) string {
		why := ""
		if crawl == "" {
			return ""
		}
		if a.Browser != nil {
			if why = a.Browser.Fault(); why == "" {
				return ""
			}
		}
		plan, err := a.Frontier.Crawl(crawl).Plan()
		if err != nil { // the crawl itself says so
			return ""
		}
		if !plan.Definition.Browses() {
			return ""
		}
		return cmp.Or(why, a.lacksBrowser(&plan.Definition))
	}
}

// opening are the pages of a lane that are opened when what they need is fetched.
type opening struct {
	unopened map[string]*spool.Entry // by URL
	failed   map[string]bool         // URLs of which no page of the lane gets an answer any more
	answered *browser.Response       // what was loaded last
	frame    bool                    // what is loaded is the document of a frame
	showing  atomic.Bool             // a page is open, or waits for a browser
	missed   missed                  // by the page that is open
}

// missed are URLs that a page asked for and got no answer, though another page, or the same at another time, may get one.
type missed struct {
	tried map[string]bool
	makes map[string]bool // of them, scripts and what they asked for
	why   error           // the first of these
}

func (m *missed) add(url string, q browser.Request, why error) {
	if m.tried[url] = true; !q.Makes() || m.makes[url] {
		return
	}
	if m.makes[url] = true; m.why == nil {
		m.why = why
	}
}

// String says what the document lacks; "" if it has all that could be known.
func (m *missed) String() string {
	if m.why == nil {
		return ""
	}
	return fmt.Sprintf("%d of its scripts, or of what they asked for, could not be loaded: %v", len(m.makes), m.why)
}

// begin prepares the opening of pages, and returns those that an earlier attempt has fetched, and was cut off before it opened them; and what is left to be fetched, with what those
// pages need first. What the attempt has fetched for pages counts in their budgets.
func (r *requisites) begin(ctx context.Context, l lane, left []crawl.Target) (unopened []fetch.Unopened, ordered []crawl.Target) {
	r.unopened, r.failed = map[string]*spool.Entry{}, map[string]bool{}
	for _, e := range r.needs {
		if e.Claim == r.claim {
			page := r.neededBy(e.Via)
			page.add(r.of, e.URL)
			page.bytes += e.Outcome.Bytes
		}
	}
	for _, t := range l.Targets {
		e := r.before[t.URL]
		if e == nil || r.opened[t.URL] || !mayBeShown(&e.Exchange, e.ResponseN) {
			continue
		}
		if r.a.Engine.Opens(ctx, &pipeline.Exchange{Exchange: e.Exchange, Header: e.Header, Body: e.Body}, r.planned) {
			r.unopened[t.URL] = e
			unopened = append(unopened, fetch.Unopened{Page: t})
		}
	}
	for i := range unopened {
		family := familyOf(unopened[i].Page.URL, l.Targets)
		left = slices.DeleteFunc(left, func(t crawl.Target) bool {
			if !family[t.URL] {
				return false
			}
			ordered = append(ordered, t)
			unopened[i].Left++
			return true
		})
	}
	return unopened, append(ordered, left...)
}

// familyOf are the URLs of the requisites of a page among the targets of its lane, and of what these need.
func familyOf(page string, targets []crawl.Target) map[string]bool {
	family := map[string]bool{}
	for _, t := range targets { // a target is found by one before it
		if crawl.IsRequisite(t.Path) && (t.Via == page || family[t.Via]) {
			family[t.URL] = true
		}
	}
	return family
}

// browses reports whether the crawl opens pages.
func (f *fetching) browses() bool { return f.planned != nil && f.planned.Definition.Browses() }

// mayBeShown reports whether an exchange is a page that a browser could show by itself, and not too large to be read before its batch is fetched.
func mayBeShown(x *crawl.Exchange, size int64) bool {
	mime := strings.ToLower(x.MIME)
	return x.Kind == crawl.ExchangePage && x.Outcome.Kind == crawl.OutcomeDone && x.Status >= 200 && x.Status < 300 && crawl.ClassOf(x.Path) == crawl.ClassPage && size <= maxParsedEarly &&
		(strings.Contains(mime, "text/html") || strings.Contains(mime, "application/xhtml+xml"))
}

// openPage opens the page of a target, if it is to be opened, and keeps what the browser made of it. What it asks for is answered by what the crawl has fetched; the rest is
// loaded, within the budget of its requisites.
func (r *requisites) openPage(ctx context.Context, of crawl.Target, load fetch.Load) error {
	first, wanted := r.unopened[of.URL]
	if !wanted {
		return nil
	}
	page := r.neededBy(of.URL) // with what was fetched for it before
	r.missed = missed{tried: map[string]bool{}, makes: map[string]bool{}}
	r.showing.Store(true)
	defer r.showing.Store(false)
	within, cancel := untilTime(ctx, r.a.Now, r.requestsUntil, errNoTime)
	defer cancel()
	begun := r.a.Now()
	shown, err := r.a.Browser.Open(within, browser.Job{URL: of.URL, Load: func(ctx context.Context, q browser.Request) (browser.Response, error) {
		u, err := urls.Parse(q.URL)
		if err != nil {
			return browser.Response{}, err
		}
		if u.String() == of.URL {
			return answerOf(&first.Exchange, first.Header(), first.Body())
		}
		return r.answer(ctx, of, u, q, page, load)
	}})
	if ctx.Err() != nil { // another attempt opens it
		return nil
	}
	delete(r.unopened, of.URL)
	x := crawl.Exchange{Kind: crawl.ExchangeOpened, URL: of.URL, Claim: r.claim, Path: of.Path, Started: begun, Elapsed: r.a.Now().Sub(begun), Left: shown.Left}
	if errors.Is(err, errNoTime) || errors.Is(err, browser.ErrDied) || errors.As(err, new(*browser.StartError)) { // the page is not the cause, or may not be
		return r.keepUnopened(x, of, err)
	}
	if err != nil {
		return r.keepOpened(x, err.Error(), nil)
	}
	if len(shown.Picture) > 0 {
		view := x
		view.Kind, view.MIME, view.Truncated = crawl.ExchangeView, "image/jpeg", shown.PictureTruncated
		if err := r.note(view, shown.Picture); err != nil {
			return err
		}
	}
	why := r.missed.String()
	switch {
	case shown.Cut:
		why = "it asked for more until its time was over"
	case shown.DocumentTruncated != "":
		why = "its document is too long, and was cut off"
	}
	x.Status, x.MIME, x.Truncated = first.Status, "text/html; charset=utf-8", shown.DocumentTruncated
	return r.keepOpened(x, why, shown.Document)
}

// keepOpened keeps that a page was opened, and the document; why says what is missing.
func (r *requisites) keepOpened(x crawl.Exchange, why string, document []byte) error {
	x.Outcome = crawl.Outcome{URL: x.URL, Kind: crawl.OutcomeDone, Status: x.Status, Reason: why}
	return r.note(x, document)
}

// untilTime is a context that ends at a time, with a cause. The time may be put off meanwhile: a lease is renewed while its lane waits for a browser.
func untilTime(ctx context.Context, now, end func() time.Time, cause error) (context.Context, context.CancelFunc) {
	within, cancel := context.WithCancelCause(ctx)
	go func() {
		for wait := end().Sub(now()); wait > 0; wait = end().Sub(now()) {
			select {
			case <-within.Done():
				return
			case <-time.After(wait):
			}
		}
		cancel(cause)
	}()
	return within, func() { cancel(nil) }
}

// errNoTime is why a page was not opened that may be opened by a later batch.
var errNoTime = errors.New("the time of its batch or lease was over before it was opened in a browser")

// keepUnopened keeps that a page was not opened for a reason that is not its own: it is fetched again by a later batch, or archived as it came, if it has been tried often. That its
// worker has no browser, or none that starts, does not count: the crawl holds there.
func (r *requisites) keepUnopened(x crawl.Exchange, of crawl.Target, why error) error {
	limits := r.a.Fetch.Limits()
	lacks := r.a.lacksBrowser(&r.planned.Definition)
	if errors.As(why, new(*browser.StartError)) {
		lacks = why.Error()
	}
	if lacks != "" {
		x.Outcome = crawl.Outcome{URL: x.URL, Kind: crawl.OutcomeReturned, Reason: lacks}
		return r.note(x, nil)
	}
	if of.Attempts+1 >= limits.MaxAttempts {
		return r.keepOpened(x, why.Error(), nil)
	}
	x.Outcome = crawl.Outcome{URL: x.URL, Kind: crawl.OutcomeRetry, Reason: why.Error(), After: r.a.Now().Add(limits.Backoff(of.Attempts + 1))}
	return r.note(x, nil)
}

// leaveUnopened keeps of the pages that were not opened that they were not: their lane has ended.
func (r *requisites) leaveUnopened(targets []crawl.Target) error {
	for _, t := range targets {
		if _, left := r.unopened[t.URL]; !left {
			continue
		}
		delete(r.unopened, t.URL)
		x := crawl.Exchange{Kind: crawl.ExchangeOpened, URL: t.URL, Claim: r.claim, Path: t.Path, Started: r.a.Now()}
		if err := r.keepUnopened(x, t, errNoTime); err != nil {
			return err
		}
	}
	return nil
}

// requestsUntil is the time until which the lane may make requests: a page that is open may load what it wants though the other lanes of its batch have ended.
func (r *requisites) requestsUntil() time.Time {
	if r.showing.Load() {
		return r.leaseUntil(r.claim, r.batchEnd)
	}
	return r.validUntil(r.claim)
}

// Reasons for which a page gets no answer.
var (
	errOutOfScope = errors.New("it is out of the crawl's scope")
	errSpent      = errors.New("the budget of the page's requisites is spent")
	errBefore     = errors.New("it could not be loaded before")
	errNotWhole   = errors.New("its answer is not whole, or too long to be shown")
	errTrouble    = errors.New("its host has trouble")
)

// kindDocument is browser.Request.Kind of the document of a frame.
const kindDocument = "Document"

// answer answers what a page asks for.
func (r *requisites) answer(ctx context.Context, of crawl.Target, u urls.URL, q browser.Request, page *needed, load fetch.Load) (browser.Response, error) {
	url := u.String()
	if known, is := r.answerTo(url); is {
		return known, nil
	}
	t := crawl.Target{URL: url, Via: of.URL, Path: crawl.Hopped(of.Path, crawl.HopEmbed), Priority: of.Priority}
	plan, err := r.a.Frontier.Crawl(r.in.Crawl).Plan()
	b := r.planned.Definition.Budget
	switch {
	case err != nil:
		return browser.Response{}, err
	case r.failed[url] || r.missed.tried[url]:
		return browser.Response{}, errBefore
	case !plan.Scope.Check(scope.Link{URL: u, Path: t.Path, ViaLanguage: crawl.LanguageUnknown}).InScope:
		return browser.Response{}, errOutOfScope
	case r.of[url] != page && int64(page.count) >= b.MaxRequisites() || page.bytes >= b.MaxRequisiteBytes():
		return browser.Response{}, errSpent
	}
	page.add(r.of, url)
	r.answered, r.frame = nil, q.Kind == kindDocument
	err = load(ctx, t)
	if err == nil && r.answered == nil {
		err = errNotWhole
	}
	r.judge(ctx, url, q, err)
	if err != nil {
		return browser.Response{}, err
	}
	return *r.answered, nil
}

// judge notes of a URL that a page asked for that no page of the lane is to ask for it again, or not this one: what a host says in trouble, and what a page could not wait for, another
// page may get.
func (r *requisites) judge(ctx context.Context, url string, q browser.Request, err error) {
	switch {
	case err == nil && inTrouble(r.answered.Status):
		r.missed.add(url, q, errTrouble)
	case err == nil: // what lasts is known from now on
		r.failed[url] = r.answered.Status >= 500
	case errors.Is(err, errNotWhole), errors.Is(err, fetch.ErrFaulty), errors.Is(err, fetch.ErrDisallowed), errors.As(err, new(*fetch.RefusedError)):
		r.failed[url] = true
	case ctx.Err() == nil: // else the page's time is over, which is no fault of the URL
		r.missed.add(url, q, err)
	}
}

// recordsOf has an entry for each page that was opened, for the ID of its record.
func recordsOf(entries []spool.Entry) map[string]string {
	var list map[string]string
	for i := range entries {
		if e := &entries[i]; e.Kind == crawl.ExchangeOpened || e.Kind == crawl.ExchangeView {
			if list == nil {
				list = map[string]string{}
			}
			list[e.URL] = ""
		}
	}
	return list
}
