package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// tab is a page that is open.
type tab struct {
	ctx    context.Context // of chromedp; it ends when the page's time does
	job    Job
	limits Limits
	enough time.Time // from then on nothing is waited for
	mu     sync.Mutex
	queue  []*fetch.EventRequestPaused
	wake   chan struct{} // something is in the queue
	open   int           // requests without an answer
	active time.Time     // when the last began or ended
	asked  int           // requests
	main   cdp.FrameID   // the page's own frame
	shown  Shown
}

// show opens a page. After an error the browser is not to be used again.
func (b *process) show(ctx context.Context, job Job, l Limits) (Shown, error) {
	if b.idle != nil {
		b.idle.Stop()
	}
	b.pages++
	ctx, cancel := context.WithTimeoutCause(ctx, l.Time, fmt.Errorf("the page was open for %s", l.Time))
	defer cancel()
	go b.watch(ctx)
	own, closeTab := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	within, stop := context.WithCancel(own)
	defer context.AfterFunc(ctx, stop)()
	t := &tab{ctx: within, job: job, limits: l, enough: time.Now().Add(l.Time * 3 / 4), wake: make(chan struct{}, 1), active: time.Now()}
	before := usageOf(b.pid).cpu
	done := make(chan error, 1)
	go func() { done <- t.drive() }()
	err := t.serve(ctx, done)
	t.shown.CPU = usageOf(b.pid).cpu - before
	if err != nil {
		err = b.reason(ctx, err)
		b.end() // first, for a browser that hangs closes no page
		go closeTab()
		return Shown{}, err
	}
	closed := make(chan struct{})
	go func() {
		closeTab()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
		b.end()
	}
	return t.shown, nil
}

// reason is why a page was not shown.
func (b *process) reason(ctx context.Context, err error) error {
	switch why := b.fault.Load(); {
	case why != nil:
		return errors.New(*why)
	case b.lost():
		return errors.New("the browser died")
	case ctx.Err() != nil:
		return fmt.Errorf("the browser gave no document: %w", context.Cause(ctx))
	}
	return fmt.Errorf("the browser gave no document: %w", err)
}

// serve answers the requests of the page until it is done.
func (t *tab) serve(ctx context.Context, done <-chan error) error {
	for {
		select {
		case err := <-done:
			return err
		case <-t.wake:
		}
		for {
			t.mu.Lock()
			if len(t.queue) == 0 {
				t.mu.Unlock()
				break
			}
			ev := t.queue[0]
			t.queue = t.queue[1:]
			t.mu.Unlock()
			t.answer(ctx, ev)
			t.mu.Lock()
			t.open--
			t.active = time.Now()
			t.mu.Unlock()
		}
	}
}

// paused takes a request of the page.
func (t *tab) paused(ev *fetch.EventRequestPaused) {
	t.mu.Lock()
	t.open++
	t.asked++
	t.active = time.Now()
	t.queue = append(t.queue, ev)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// answer answers a request, or lets it fail. Errors of the browser show in drive.
func (t *tab) answer(ctx context.Context, ev *fetch.EventRequestPaused) {
	fail := func(reason network.ErrorReason) {
		_, _ = chromedp.Run(t.ctx, call(fetch.FailRequest, fetch.FailRequestParams{RequestID: ev.RequestID, ErrorReason: reason}))
	}
	if ctx.Err() != nil {
		fail(network.ErrorReasonAborted)
		return
	}
	document := ev.ResourceType == network.ResourceTypeDocument
	switch {
	case document && t.main == "":
		t.main = ev.FrameID
	case document && t.main == ev.FrameID && ev.RedirectedRequestID == "": // the page goes elsewhere by itself
		t.shown.Left = append(t.shown.Left, ev.Request.URL)
		fail(network.ErrorReasonAborted)
		return
	}
	switch ev.ResourceType {
	case network.ResourceTypeMedia, network.ResourceTypeEventSource, network.ResourceTypeWebSocket, network.ResourceTypePing, network.ResourceTypePrefetch,
		network.ResourceTypeCSPViolationReport, network.ResourceTypePreflight:
		t.shown.Blocked++
		fail(network.ErrorReasonBlockedByClient)
		return
	}
	if ev.Request.Method != "GET" || t.asked > maxQueries {
		t.shown.Blocked++
		fail(network.ErrorReasonBlockedByClient)
		return
	}
	r, err := t.job.Load(ctx, Request{URL: ev.Request.URL, Kind: string(ev.ResourceType)})
	if err != nil {
		fail(network.ErrorReasonFailed)
		return
	}
	answer := fetch.FulfillRequestParams{RequestID: ev.RequestID, ResponseCode: int64(r.Status), Body: r.Body}
	for _, h := range r.Header {
		answer.ResponseHeaders = append(answer.ResponseHeaders, &fetch.HeaderEntry{Name: h[0], Value: h[1]})
	}
	if _, err := chromedp.Run(t.ctx, call(fetch.FulfillRequest, answer)); err != nil { // it takes no such answer
		fail(network.ErrorReasonFailed)
	}
}

// call is a command of the protocol as a step.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[R] {
	return func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) }
}

// drive has the browser show the page, and reads what it made of it.
func (t *tab) drive() error {
	if err := t.prepare(); err != nil {
		return err
	}
	went, err := chromedp.Run(t.ctx, call(page.Navigate, page.NavigateParams{URL: t.job.URL}))
	if err != nil {
		return err
	}
	if went.ErrorText != "" {
		return errors.New(went.ErrorText)
	}
	if err := t.rest(); err != nil {
		return err
	}
	if err := t.scroll(); err != nil {
		return err
	}
	document, err := chromedp.Run(t.ctx, chromedp.Evaluate[string](scriptDocument))
	if err != nil {
		return err
	}
	t.picture()
	views, err := t.routes()
	if err != nil {
		return err
	}
	t.shown.Document = t.withViews(document, views)
	return nil
}

// prepare sets up the interception of requests, and takes off the page what would get around it.
func (t *tab) prepare() error {
	err := chromedp.Listen(t.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *fetch.EventRequestPaused:
			t.paused(ev)
		case *page.EventJavascriptDialogOpening:
			go func() {
				_, _ = chromedp.Run(t.ctx, call(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}))
			}()
		}
	})
	if err != nil {
		return err
	}
	yes := true
	steps := []func() error{
		step(t.ctx, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}),
		step(t.ctx, page.Enable, page.EnableParams{}),
		step(t.ctx, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: yes}),
		step(t.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: scriptBefore}),
		func() error {
			_, err := chromedp.Run(t.ctx, func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
				b := chromedp.FromContext(ctx)
				_, err := cdp.Call(ctx, b.Browser, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: b.BrowserContextID})
				return chromedp.Void{}, err
			})
			return err
		},
	}
	for _, do := range steps {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func step[P, R any](ctx context.Context, c cdp.Command[P, R], params P) func() error {
	return func() error {
		_, err := chromedp.Run(ctx, call(c, params))
		return err
	}
}

// rest waits until the page has loaded, and has asked for nothing for a while; or until there is no time left for that.
func (t *tab) rest() error {
	for {
		t.mu.Lock()
		still := t.open == 0 && time.Since(t.active) >= quiet
		t.mu.Unlock()
		if still {
			complete, err := chromedp.Run(t.ctx, chromedp.Evaluate[bool](`document.readyState === "complete"`))
			if err != nil {
				return err
			}
			if complete {
				return nil
			}
		}
		if time.Now().After(t.enough) {
			t.shown.Cut = true
			return nil
		}
		select {
		case <-t.ctx.Done():
			return t.ctx.Err()
		case <-time.After(quiet / 10):
		}
	}
}

// touch notes that the page was made to do something.
func (t *tab) touch() {
	t.mu.Lock()
	t.active = time.Now()
	t.mu.Unlock()
}

// scroll scrolls the page to its end as long as it grows.
func (t *tab) scroll() error {
	size := 0
	for t.shown.Scrolls < t.limits.Scrolls && !t.shown.Cut {
		now, err := chromedp.Run(t.ctx, chromedp.Evaluate[int](scriptScroll))
		if err != nil {
			return err
		}
		if now == size || now == 0 {
			return nil
		}
		size = now
		t.shown.Scrolls++
		t.touch()
		if err := t.rest(); err != nil {
			return err
		}
	}
	return nil
}

// picture takes a picture of the page. That none can be taken is no fault of the page.
func (t *tab) picture() {
	height, err := chromedp.Run(t.ctx, chromedp.Evaluate[float64](scriptTop))
	if err != nil {
		return
	}
	quality, beyond := int64(80), true
	taken, err := chromedp.Run(t.ctx, call(page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: &quality, CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: 1280, Height: min(max(height, 1024), maxHeight), Scale: 1},
	}))
	if err == nil {
		t.shown.Picture = taken.Data
	}
}
