package browser

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// flags turn off what Chromium does by itself, and all ways past the interception of requests. Those of chromedp come before.
var flags = map[string]any{
	"headless":                        true,
	"disable-gpu":                     true,
	"mute-audio":                      true,
	"hide-scrollbars":                 true,
	"no-pings":                        true,
	"disable-component-update":        true,
	"disable-domain-reliability":      true,
	"disable-quic":                    true,
	"disable-file-system":             true,
	"disable-notifications":           true,
	"disable-web-security":            true, // what a page may read of others is for browsers with secrets
	"disable-site-isolation-trials":   true, // frames of other sites stay in the process whose requests are intercepted
	"disable-features":                "Translate,MediaRouter,OptimizationHints,IsolateOrigins,site-per-process,WebTransport,PrefetchPrivacyChanges,InterestFeedContentSuggestions",
	"block-new-web-contents":          true, // no pop-ups
	"proxy-server":                    "http://127.0.0.1:9",
	"proxy-bypass-list":               "<-loopback>",
	"host-resolver-rules":             "MAP * ~NOTFOUND",
	"webrtc-ip-handling-policy":       "disable_non_proxied_udp",
	"force-webrtc-ip-handling-policy": "disable_non_proxied_udp",
	"window-size":                     "1280,1024",
	"disable-popup-blocking":          false,
}

// process is a browser that runs.
type process struct {
	ctx    context.Context
	cancel context.CancelFunc
	pid    int
	memory crawl.Bytes
	pages  int
	idle   *time.Timer
	once   sync.Once
	fault  atomic.Pointer[string] // why it was ended
}

// start starts a browser, without network where the system allows that.
func start(path string, memory crawl.Bytes) (*process, error) {
	b, err := startOnce(path, memory, true)
	if err != nil {
		b, err = startOnce(path, memory, false)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

func startOnce(path string, memory crawl.Bytes, isolated bool) (*process, error) {
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	for name, value := range flags {
		options = append(options, chromedp.Flag(name, value))
	}
	options = append(options, chromedp.ExecPath(path), chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { separate(cmd, isolated) }))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancelBrowser := chromedp.NewContext(allocator, chromedp.WithLogf(drop), chromedp.WithErrorf(drop), chromedp.WithDebugf(drop))
	b := &process{ctx: ctx, memory: memory, cancel: func() {
		cancelBrowser()
		cancel()
	}}
	late := time.AfterFunc(startTime, b.end)
	err := chromedp.Do(ctx)
	if !late.Stop() && err == nil {
		err = fmt.Errorf("it has not started within %s", startTime)
	}
	if err != nil {
		b.end()
		return nil, err
	}
	b.pid = chromedp.FromContext(ctx).Browser.Process().Pid
	return b, nil
}

func drop(string, ...any) {}

// end kills the browser.
func (b *process) end() {
	b.once.Do(func() {
		if b.idle != nil {
			b.idle.Stop()
		}
		go b.cancel() // which waits for the process
	})
}

// lost reports whether the browser has died.
func (b *process) lost() bool { return b.ctx.Err() != nil }

// watch ends the browser when it takes more memory than it may, until the context ends.
func (b *process) watch(ctx context.Context) {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if used := usageOf(b.pid).memory; used > int64(b.memory) {
			why := fmt.Sprintf("the browser took more than %s of memory", b.memory)
			b.fault.Store(&why)
			b.end()
			return
		}
	}
}

// watchPause is how long the memory of a browser is not looked at.
const watchPause = 250 * time.Millisecond

// usage is what the processes of a browser have taken.
type usage struct {
	memory int64 // bytes that they do not share
	cpu    time.Duration
}
