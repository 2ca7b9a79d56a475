package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// flags turn off what Chromium does by itself, and all ways past the interception of requests.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--enable-automation", "--disable-gpu", "--enable-unsafe-swiftshader", "--mute-audio", "--hide-scrollbars",
	"--window-size=1280,1024", "--force-color-profile=srgb", "--password-store=basic", "--use-mock-keychain",
	"--disable-background-networking", "--disable-breakpad", "--disable-client-side-phishing-detection", "--disable-component-update", "--disable-default-apps", "--disable-domain-reliability",
	"--disable-extensions", "--disable-file-system", "--disable-notifications", "--disable-sync", "--metrics-recording-only", "--safebrowsing-disable-auto-update", "--no-pings",
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-hang-monitor", "--disable-prompt-on-repost",
	"--block-new-web-contents",        // no pop-ups
	"--disable-web-security",          // what a page may read of others is for browsers with secrets
	"--disable-site-isolation-trials", // frames of other sites stay in the process whose requests are intercepted
	"--disable-features=Translate,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,IsolateOrigins,site-per-process,WebTransport,PrefetchPrivacyChanges,InterestFeedContentSuggestions,Prerender2,SpeculationRulesPrefetchProxy",
	"--enable-features=NetworkService,NetworkServiceInProcess",
	"--disable-quic", "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND",
	"--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
}

// StartError says that no browser could be started: the page that it was to show is not the cause.
type StartError struct{ Err error }

func (e *StartError) Error() string { return "start the browser: " + e.Err.Error() }

func (e *StartError) Unwrap() error { return e.Err }

// ErrDied says that the browser died while it showed a page. The page may be the cause, or the system.
var ErrDied = errors.New("the browser died")

// process is a browser that runs.
type process struct {
	conn   *conn
	memory crawl.Bytes
	pid    int
	pages  int                    // that it has shown
	page   atomic.Pointer[tab]    // that it shows
	over   atomic.Bool            // it is being ended
	fault  atomic.Pointer[string] // why it was ended
	once   sync.Once
	kill   func()        // with its processes
	said   func() string // what it has written, from the beginning
	done   chan struct{} // closed when it has ended, and its folder is deleted
}

// launch starts a browser; isolated, without network.
func launch(ctx context.Context, p Program, memory crawl.Bytes, isolated bool) (*process, error) {
	folder, err := os.MkdirTemp(p.Folder, profiles)
	if err != nil {
		return nil, err
	}
	b, err := spawn(p, folder, memory, isolated)
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("it has not started within %s", startTime))
	defer cancel()
	if err := do(ctx, session{conn: b.conn}, browser.GetVersion, cdp.Empty{}); err != nil {
		b.end()
		select {
		case <-b.done:
		case <-time.After(closeTime):
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &exitError{b.said()}
	}
	return b, nil
}

// exitError says that a browser ended instead of starting.
type exitError struct{ said string }

func (e *exitError) Error() string { return "it ended at once, and said: " + e.said }

// spawn starts the program, and has it end with the worker.
func spawn(p Program, folder string, memory crawl.Bytes, isolated bool) (*process, error) {
	theirs, commands, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, ours, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirs.Close(), commands.Close())
	}
	said := &tail{}
	cmd := exec.Command(p.Path, append(flags[:len(flags):len(flags)], "--user-data-dir="+folder)...) //nolint:gosec // the operator names it
	if !p.Sandbox {
		cmd.Args = append(cmd.Args, "--no-sandbox")
	}
	if lacksShared(memory) {
		cmd.Args = append(cmd.Args, "--disable-dev-shm-usage")
	}
	cmd.Args = append(cmd.Args, "about:blank")
	cmd.Env, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = environment(folder), []*os.File{theirs, ours}, said, said, time.Second
	separate(cmd, isolated)
	b := &process{memory: memory, done: make(chan struct{}), said: said.String}
	b.kill = func() { killAll(cmd.Process) }
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the system ends the browser with the thread that started it
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_, _ = theirs.Close(), ours.Close()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait()
		b.kill() // what it has left
		removeAll(folder)
		close(b.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, commands.Close(), answers.Close())
	}
	b.pid = cmd.Process.Pid
	b.conn = connect(answers, commands, b.heard)
	go func() { // a browser whose connection has ended is of no use
		<-b.conn.ended
		b.end()
		<-b.done
		_ = answers.Close()
	}()
	return b, nil
}

// environment is what a browser knows of the worker's: no secrets.
func environment(folder string) []string {
	env := []string{"HOME=" + folder, "XDG_CONFIG_HOME=" + folder, "XDG_CACHE_HOME=" + folder, "TMPDIR=" + temporary(folder)}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH"} {
		if value, is := os.LookupEnv(name); is {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// temporary is the folder for temporary files of a browser: its own, if the path of a socket in it is not too long for the system.
func temporary(folder string) string {
	if len(folder) > 50 {
		return os.TempDir()
	}
	return folder
}

// heard takes an event of the browser.
func (b *process) heard(session, event string, params []byte) {
	t := b.page.Load()
	if t != nil && (t.id == session || session == "" && event == fetch.RequestPaused.Method) {
		t.heard(session, event, params)
	}
}

// end kills the browser; done says when that is over. What it has not read of its commands goes to nobody, though it may not die at once.
func (b *process) end() {
	b.over.Store(true)
	b.once.Do(func() {
		b.kill()
		_ = b.conn.out.Close()
	})
}

// lost reports whether the browser has died, or is being ended.
func (b *process) lost() bool { return b.over.Load() || b.conn.reason() != nil }

// watch ends the browser when it takes more memory than it may, or holds its page when the context has ended: one that reads no more holds the goroutine that has an answer for it. over says
// that the page is closed.
func (b *process) watch(ctx context.Context, over <-chan struct{}) {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			select {
			case <-over:
			case <-time.After(holdTime):
				b.end()
			}
			return
		case <-tick.C:
		}
		if used := usageOf(b.pid, true).memory; used > int64(b.memory) {
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
	memory int64 // bytes that must stay in memory, or are swapped: what they share counts once, files that can be read again do not
	cpu    time.Duration
}

// tail keeps the beginning of what a browser says, which is why it does not start.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxSaid - t.text.Len(); room > 0 {
		t.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(t.text.String()), " ")
}

// profiles is what the names of the folders of browsers begin with.
const profiles = "browser-"

// removeOld deletes the profiles of browsers that a worker which was killed has left.
func removeOld(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(folder)
	for _, old := range list {
		if strings.HasPrefix(old.Name(), profiles) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, old.Name())))
		}
	}
	return err
}

// removeAll deletes a folder into which processes that are ending may still write.
func removeAll(folder string) {
	for range 50 {
		if os.RemoveAll(folder) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
