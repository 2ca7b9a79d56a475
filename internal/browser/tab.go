package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/muninn-archive/muninn/internal/urls"
)

// tab is a page that is open.
type tab struct {
	session
	frame   cdp.FrameID // the page's own
	ctx     context.Context
	fail    context.CancelCauseFunc // ends ctx
	loads   context.Context         // until the page is done
	done    context.CancelFunc      // ends loads
	job     Job
	limits  Limits
	enough  time.Time     // from then on nothing is waited for
	queue   chan asked    // requests that wait for their answer
	refused chan refusal  // requests that fail at once
	dialogs chan struct{} // one is open
	shown   Shown         // what drive makes of it; Left and Blocked are under mu
	mu      sync.Mutex    // of what follows
	begun   bool          // the page itself is asked for
	open    int           // requests without an answer
	active  time.Time     // when the last began or ended
	asked   int           // requests
}

// asked is a request of the page that waits, without its header and body: those are the page's to choose.
type asked struct {
	in   string // the session that has intercepted it; empty: the browser's
	id   fetch.RequestID
	url  string
	kind network.ResourceType
}

// refusal is a request that fails, and how.
type refusal struct {
	in  string // see asked
	id  fetch.RequestID
	why network.ErrorReason
}

// errCrashed is why a page was not shown.
var errCrashed = errors.New("the process that showed the page died")

// show opens a page. After an error, and when the browser is lost, it is not to be used again.
func (b *process) show(ctx context.Context, job Job, l Limits) (shown Shown, err error) {
	b.pages++
	ctx, cancel := context.WithTimeoutCause(ctx, l.Time, fmt.Errorf("the page was open for %s", l.Time))
	defer cancel()
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		b.watch(ctx, over)
		close(watched)
	}()
	defer func() {
		cancel()
		close(over)
		<-watched
	}()
	before := usageOf(b.pid, false).cpu
	t, in, err := b.open(ctx, job, l)
	if err != nil {
		return Shown{}, b.reason(ctx, err)
	}
	defer t.fail(nil)
	done := make(chan error, 1)
	go func() {
		err := t.drive()
		t.done() // nobody waits for what is still asked for
		done <- err
	}()
	err = t.serve(done)
	b.page.Store(nil)
	t.mu.Lock() // not while the browser closes the page: what it says meanwhile is to be read
	shown = t.shown
	t.mu.Unlock()
	defer func() { // it may be cut below
		if shown.Cut && shown.DocumentTruncated == "" {
			shown.DocumentTruncated = truncatedTime
		}
	}()
	shown.CPU = usageOf(b.pid, false).cpu - before
	if err != nil {
		err = b.reason(t.ctx, err)
		b.end()                      // a browser that hangs closes no page
		if len(shown.Document) > 0 { // it is as good as it will be
			shown.Cut, err = true, nil
		}
		return shown, err
	}
	late, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	if do(late, session{conn: b.conn}, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: in}) != nil {
		b.end()
	}
	return shown, nil
}

// open makes a tab in a profile of its own.
func (b *process) open(ctx context.Context, job Job, l Limits) (t *tab, in cdp.BrowserContextID, err error) {
	whole := session{conn: b.conn}
	profile, err := call(ctx, whole, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		return nil, "", err
	}
	in = profile.BrowserContextID
	err = do(ctx, whole, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: in})
	if err != nil {
		return nil, in, err
	}
	made, err := call(ctx, whole, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: in})
	if err != nil {
		return nil, in, err
	}
	flat := true
	attached, err := call(ctx, whole, target.AttachToTarget, target.AttachToTargetParams{TargetID: made.TargetID, Flatten: &flat})
	if err != nil {
		return nil, in, err
	}
	t = &tab{session: session{b.conn, string(attached.SessionID)}, frame: cdp.FrameID(made.TargetID), job: job, limits: l, enough: time.Now().Add(l.Time * 3 / 4),
		queue: make(chan asked, maxQueries), refused: make(chan refusal, maxQueries), dialogs: make(chan struct{}, 1), active: time.Now()}
	t.ctx, t.fail = context.WithCancelCause(ctx)
	t.loads, t.done = context.WithCancel(t.ctx)
	b.page.Store(t)
	return t, in, nil
}

// reason is why a page was not shown.
func (b *process) reason(ctx context.Context, err error) error {
	if why := b.fault.Load(); why != nil {
		return errors.New(*why)
	}
	switch why := b.conn.reason(); {
	case errors.Is(why, errLong):
		return errLong
	case ctx.Err() != nil:
		return fmt.Errorf("the browser gave no document: %w", context.Cause(ctx))
	case why != nil:
		return ErrDied
	}
	return fmt.Errorf("the browser gave no document: %w", err)
}

// heard takes an event of the page, or a request of what it has made outside of its session.
func (t *tab) heard(in, event string, params []byte) {
	switch event {
	case fetch.RequestPaused.Method:
		t.paused(in, params)
	case page.JavascriptDialogOpening.Method:
		select {
		case t.dialogs <- struct{}{}:
		default:
		}
	case inspector.TargetCrashed.Method:
		t.fail(errCrashed)
	}
}

// paused takes a request of the page: it waits for its answer, or fails. One for which there is no room stays without an answer, and so is one that cannot be read.
func (t *tab) paused(in string, params []byte) {
	var ev struct {
		ID         fetch.RequestID      `json:"requestId"`
		Frame      cdp.FrameID          `json:"frameId"`
		Kind       network.ResourceType `json:"resourceType"`
		Redirected fetch.RequestID      `json:"redirectedRequestId"`
		Request    struct {
			URL, Method string
			Headers     struct {
				Worker json.RawMessage `json:"Service-Worker"`
			}
		}
	}
	if json.Unmarshal(params, &ev) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked++
	t.active = time.Now()
	own := in == t.id && ev.Frame == t.frame && ev.Kind == network.ResourceTypeDocument
	if ev.Request.Headers.Worker != nil { // the script of a service worker (Service Workers, "fetch")
		t.shown.Blocked++
	} else if t.takes(ev.Request.Method, ev.Request.URL, ev.Kind, own && ev.Redirected == "") {
		select {
		case t.queue <- asked{in, ev.ID, ev.Request.URL, ev.Kind}:
			t.open++
			return
		default:
			t.shown.Blocked++
		}
	}
	why := network.ErrorReasonBlockedByClient
	if own {
		why = network.ErrorReasonAborted // or the browser shows a page of its own that says why
	}
	select {
	case t.refused <- refusal{in, ev.ID, why}:
	default:
	}
}

// takes reports whether a request is answered, and notes it if not. It is called under mu.
func (t *tab) takes(method, url string, kind network.ResourceType, own bool) bool {
	leaves := own && t.begun // the page goes elsewhere by itself
	t.begun = t.begun || own
	switch {
	case leaves && method == "GET":
		if len(t.shown.Left) < maxLeft && len(url) <= urls.MaxPage && !slices.Contains(t.shown.Left, url) {
			t.shown.Left = append(t.shown.Left, url)
		}
		return false
	case !leaves && method == "GET" && t.asked <= maxQueries && len(url) <= maxAddress && !streams(kind):
		return true
	}
	t.shown.Blocked++
	return false
}

// streams reports whether a request is of a kind that has no end, or is not for what a page shows.
func streams(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeMedia, network.ResourceTypeEventSource, network.ResourceTypeWebSocket, network.ResourceTypePing, network.ResourceTypePrefetch,
		network.ResourceTypeCSPViolationReport, network.ResourceTypePreflight:
		return true
	}
	return false
}

// serve answers the requests of the page until it is done.
func (t *tab) serve(done <-chan error) error {
	go t.refuse()
	for {
		select {
		case err := <-done:
			return err
		case q := <-t.queue:
			t.answer(q)
			t.mu.Lock()
			t.open--
			t.active = time.Now()
			t.mu.Unlock()
		}
	}
}

// refuse lets requests fail, and closes dialogs, until the page is done. Errors of the browser show in drive.
func (t *tab) refuse() {
	for {
		select {
		case r := <-t.refused:
			_ = do(t.ctx, session{t.conn, r.in}, fetch.FailRequest, fetch.FailRequestParams{RequestID: r.id, ErrorReason: r.why})
		case <-t.dialogs:
			_ = do(t.ctx, t.session, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		case <-t.ctx.Done():
			return
		}
	}
}

// answer answers a request, or lets it fail.
func (t *tab) answer(q asked) {
	if t.loads.Err() != nil {
		return
	}
	r, err := t.job.Load(t.loads, Request{URL: q.url, Kind: string(q.kind)})
	if err == nil {
		answer := fetch.FulfillRequestParams{RequestID: q.id, ResponseCode: int64(r.Status), Body: r.Body}
		for _, h := range r.Header {
			if !sendable(h) {
				continue
			}
			answer.ResponseHeaders = append(answer.ResponseHeaders, &fetch.HeaderEntry{Name: h[0], Value: h[1]})
		}
		err = do(t.ctx, session{t.conn, q.in}, fetch.FulfillRequest, answer)
	}
	if err != nil { // or it takes no such answer
		_ = do(t.ctx, session{t.conn, q.in}, fetch.FailRequest, fetch.FailRequestParams{RequestID: q.id, ErrorReason: network.ErrorReasonFailed})
	}
}

// sendable reports whether the browser takes a header field: with another one it refuses the whole answer, though it would read the rest of it from a host.
func sendable(field [2]string) bool {
	for _, c := range []byte(field[0]) { // a token (RFC 9110 §5.6.2)
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return field[0] != "" && !strings.ContainsAny(field[1], "\x00\r\n")
}

// drive has the browser show the page, and reads what it made of it.
func (t *tab) drive() error {
	if err := t.prepare(); err != nil {
		return err
	}
	went, err := call(t.ctx, t.session, page.Navigate, page.NavigateParams{URL: t.job.URL})
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
	return t.read()
}

// prepare sets up the interception of requests, and takes off the page what would get around it. The page's session has the requests of its frames and of the workers that these make; workers that
// workers make, and frames in processes of their own, have no session, or none that intercepts requests (Chromium 156): the browser's own has those.
func (t *tab) prepare() error {
	all := fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}
	return errors.Join(
		do(t.ctx, session{conn: t.conn}, fetch.Enable, all),
		do(t.ctx, t.session, fetch.Enable, all),
		do(t.ctx, t.session, page.Enable, page.EnableParams{}), // which reports dialogs
		do(t.ctx, t.session, inspector.Enable, cdp.Empty{}),
		do(t.ctx, t.session, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: scriptBefore}),
	)
}

// evaluate runs a script beside those of the page: it shares the page's document, and nothing else.
func evaluate[T any](ctx context.Context, t *tab, script string) (value T, err error) {
	for range 3 { // a page may be replaced in between
		var raw []byte
		if raw, err = t.run(ctx, script); err == nil && len(raw) > 0 {
			return value, json.Unmarshal(raw, &value)
		}
		if err == nil || ctx.Err() != nil || errors.As(err, new(*scriptError)) {
			return value, err
		}
	}
	return value, err
}

// scriptError is what a script has thrown.
type scriptError struct{ said string }

func (e *scriptError) Error() string { return fmt.Sprintf("%.300s", e.said) }

// run runs a script, and returns its value as JSON; nothing if it has none.
func (t *tab) run(ctx context.Context, script string) ([]byte, error) {
	world, err := call(ctx, t.session, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.frame, WorldName: "muninn"})
	if err != nil {
		return nil, err
	}
	yes := true
	got, err := call(ctx, t.session, runtime.Evaluate, runtime.EvaluateParams{Expression: script, ContextID: world.ExecutionContextID, ReturnByValue: &yes, AwaitPromise: &yes})
	switch {
	case err != nil:
		return nil, err
	case got.ExceptionDetails != nil:
		return nil, &scriptError{described(got.ExceptionDetails)}
	}
	return got.Result.Value, nil
}

func described(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Exception.Description
	}
	return e.Text
}

// rest waits until the page has loaded, and has asked for nothing for a while; or until there is no time left for that.
func (t *tab) rest() error {
	for late := 0; ; {
		t.mu.Lock()
		still, requests := t.open == 0 && time.Since(t.active) >= quiet, t.asked
		t.mu.Unlock()
		if still {
			complete, slow, err := t.idle()
			if err != nil && (t.ctx.Err() != nil || errors.As(err, new(*scriptError)) || late >= maxLate) {
				return err
			}
			if err != nil || slow { // the page was replaced meanwhile, or had no processor: the time has not passed for it
				late++
				t.touch()
			}
			if complete && t.stillAt(requests) && (!slow || late >= maxLate) {
				return nil
			}
		}
		if time.Now().After(t.enough) {
			t.shown.Cut = true
			return nil
		}
		select {
		case <-t.ctx.Done():
			return context.Cause(t.ctx)
		case <-time.After(quiet / 10):
		}
	}
}

// The bounds of waiting for a page on a busy machine. There half a second without a request may be one in which the page has not had a processor.
const (
	idleWait = 100 * time.Millisecond
	idleLate = 50 * time.Millisecond // what answers later has no processor
	maxLate  = 8                     // how often it is waited for then
)

// idle waits until a page has nothing to do, and reports whether it has loaded, and whether its answer was late.
func (t *tab) idle() (complete, slow bool, err error) {
	began := time.Now()
	complete, err = evaluate[bool](t.ctx, t, fmt.Sprintf(scriptIdle, idleWait.Milliseconds()))
	return complete, time.Since(began) > idleWait+idleLate, err
}

// stillAt reports whether the page waits for no answer, and has made no request since it had made so many.
func (t *tab) stillAt(requests int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open == 0 && t.asked == requests
}

// touch notes that the page was made to do something.
func (t *tab) touch() {
	t.mu.Lock()
	t.active = time.Now()
	t.mu.Unlock()
}

// scroll scrolls the page to its end as long as it grows.
func (t *tab) scroll() error {
	size := 0.0
	for t.shown.Scrolls < t.limits.Scrolls && !t.shown.Cut {
		now, err := evaluate[float64](t.ctx, t, scriptScroll)
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
	ctx, cancel := context.WithTimeout(t.ctx, pictureTime)
	defer cancel()
	height, err := evaluate[float64](ctx, t, scriptTop)
	if err != nil {
		return
	}
	quality, beyond := int64(80), true
	taken, err := call(ctx, t.session, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: &quality, CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: 1280, Height: min(max(height, 1024), maxHeight), Scale: 1},
	})
	if err != nil {
		return
	}
	t.shown.Picture = taken.Data
	switch {
	case height > maxHeight:
		t.shown.PictureTruncated = truncatedLength
	case t.shown.Cut:
		t.shown.PictureTruncated = truncatedTime
	}
}
