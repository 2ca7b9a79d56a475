// Package browsertest looks at pages with headless Chromium, as they are on the web and as ReplayWeb.page replays them from an archive,
// and says where the two differ.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// What a view is, and how long one may take.
const (
	width, height = 1200, 1600             // of the window, in pixels
	quiet         = 120 * time.Millisecond // without a request in progress, after the page is loaded
	limit         = 30 * time.Second       // of a view
)

// Browser is a headless Chromium with one tab. Its methods are not for several goroutines.
type Browser struct {
	ctx  context.Context
	stop func()
	log  traffic
}

// Start starts a browser for which hosts have these addresses, and no other host exists.
func Start(ctx context.Context, path string, resolve map[string]netip.Addr) (*Browser, error) {
	var rules []string
	for _, host := range slices.Sorted(maps.Keys(resolve)) {
		rules = append(rules, "MAP "+host+" "+resolve[host].String())
	}
	rules = append(rules, "MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1")
	return start(ctx, path, chromedp.Flag("no-proxy-server", true), chromedp.Flag("host-resolver-rules", strings.Join(rules, ",")))
}

// StartBehind starts a browser whose requests all go to an HTTP proxy, HOST:PORT with an IP address, those to loopback addresses as well.
func StartBehind(ctx context.Context, path, proxy string) (*Browser, error) {
	host, _, err := net.SplitHostPort(proxy)
	if err != nil {
		return nil, fmt.Errorf("start %s behind a proxy: %w", path, err)
	}
	return start(ctx, path, chromedp.Flag("proxy-server", "http://"+proxy), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND,EXCLUDE "+host))
}

func start(ctx context.Context, path string, network ...chromedp.ExecAllocatorOption) (*Browser, error) {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-site-isolation-trials", true), // the frames of a page are in one process, and one session sees them all
		chromedp.Flag("disable-features", "Translate,IsolateOrigins,site-per-process,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,OptimizationHints,MediaRouter,AutofillServerCommunication,NetworkTimeServiceQuerying"),
		chromedp.Flag("disable-component-update", true), // what follows keeps the browser from asking for things of its own
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("gaia-url", "http://127.0.0.1:9"),
		chromedp.Flag("disable-lcd-text", true), // or the letters of a frame have other pixels than those of a page
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
		chromedp.Flag("window-size", fmt.Sprintf("%d,%d", width, height)),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(ctx, append(options, network...)...)
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {})) // it reports events that this version does not know
	b := &Browser{ctx: ctx, stop: func() { cancel(); stopAllocator() }}
	if err := b.prepare(); err != nil {
		b.stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Quiet reports whether the page that the tab went to is loaded, and has requested nothing for a while.
func (b *Browser) Quiet() bool { return b.log.awaited() == "" }

// Close ends the browser.
func (b *Browser) Close() { b.stop() }

func (b *Browser) prepare() error {
	if err := chromedp.Listen(b.ctx, b.log.note); err != nil {
		return err
	}
	_, errs := do(b.ctx, network.Enable, network.EnableParams{})
	_, err := do(b.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}) // each page requests all that it needs
	errs = errors.Join(errs, err)
	_, err = do(b.ctx, page.Enable, page.EnableParams{})
	errs = errors.Join(errs, err)
	_, err = do(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	return errors.Join(errs, err)
}

func do[P, R any](ctx context.Context, command cdp.Command[P, R], params P) (R, error) {
	return chromedp.Call(ctx, command, params)
}

// traffic is what the tab has requested since it went to a page.
type traffic struct {
	mu       sync.Mutex
	loaded   bool
	changed  time.Time
	pending  map[network.RequestID]int // places in requests
	requests []Request
}

// Request is what a page has requested.
type Request struct {
	URL    string
	Type   string // Document, Image, Stylesheet, Font …
	Status int    // of HTTP; 0 without an answer
	Error  string // of the browser, if the answer was of no use to it
}

func (l *traffic) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded, l.changed, l.pending, l.requests = false, time.Now(), map[network.RequestID]int{}, nil
}

// note is called for each event of the tab.
func (l *traffic) note(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *page.EventLoadEventFired:
		l.loaded = true
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "http") {
			return
		}
		if at, again := l.pending[e.RequestID]; again && e.RedirectResponse != nil {
			l.requests[at].Status = int(e.RedirectResponse.Status)
		}
		if l.pending != nil {
			l.pending[e.RequestID] = len(l.requests)
		}
		l.requests = append(l.requests, Request{URL: e.Request.URL, Type: string(e.Type)})
	case *network.EventResponseReceived:
		if at, known := l.pending[e.RequestID]; known {
			l.requests[at].Status = int(e.Response.Status)
			if e.Type == network.ResourceTypeMedia { // players read as much as they want
				delete(l.pending, e.RequestID)
			}
		}
	case *network.EventLoadingFinished:
		delete(l.pending, e.RequestID)
	case *network.EventLoadingFailed:
		if at, known := l.pending[e.RequestID]; known {
			l.requests[at].Error = e.ErrorText
			delete(l.pending, e.RequestID)
		}
	default:
		return
	}
	l.changed = time.Now()
}

// awaited is what a visit waits for; "" if the page is loaded and has requested nothing for a while.
func (l *traffic) awaited() (waits string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.pending {
		return l.requests[at].URL
	}
	if !l.loaded {
		return "the load event"
	}
	if time.Since(l.changed) < quiet {
		return "the end of its requests"
	}
	return ""
}

// visit goes to a page and waits until it is loaded.
func (b *Browser) visit(ctx context.Context, url string) ([]Request, error) {
	b.log.reset()
	went, err := do(ctx, page.Navigate, page.NavigateParams{URL: url})
	if err != nil || went.ErrorText != "" {
		return nil, errors.Join(err, errors.New(went.ErrorText))
	}
	tick := time.NewTicker(quiet / 10)
	defer tick.Stop()
	for {
		waits := b.log.awaited()
		if waits == "" {
			b.log.mu.Lock()
			defer b.log.mu.Unlock()
			return slices.Clone(b.log.requests), nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: it waits for %s", ctx.Err(), waits)
		}
	}
}
