// Package browser opens pages in headless Chromium. A page reaches no network: each of its requests is handed to the caller, who answers it or does not. Chromium runs in a
// network namespace of its own where the system allows that, and else with a proxy and a resolver that lead nowhere. A browser that dies, hangs or takes too much memory costs
// the page that it shows.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Limits bound the browsers of a worker.
type Limits struct {
	Processes int           // browsers, each of which shows one page at a time
	Memory    crawl.Bytes   // of a browser with all of its processes
	Time      time.Duration // a page is open, with the requests that it makes and the pauses between them
	Scrolls   int           // times that a page is scrolled to its end
	Routes    int           // views of a page behind hash routes ("#/ravens") that are shown
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits {
	return Limits{Processes: 1, Memory: 1 << 30, Time: time.Minute, Scrolls: 10, Routes: 50}
}

// Bounds that no setting changes.
const (
	LeastMemory crawl.Bytes = 256 << 20       // that Chromium itself needs
	LeastTime               = 5 * time.Second // for a page

	maxPages    = 100                    // that a browser shows before another takes its place
	maxDocument = 16 << 20               // characters of a final document; a longer one is cut off
	maxQueries  = 2000                   // requests of a page
	maxHeight   = 8000                   // pixels of a picture; what is below is not on it
	idleTime    = time.Minute            // after which a browser that shows nothing is ended
	startTime   = 30 * time.Second       // that a browser may take to start
	quiet       = 500 * time.Millisecond // without a request, after which a page is complete
	closeTime   = 5 * time.Second        // that a browser may take to close a page
)

// names are those by which Chromium is looked for.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// ErrNone says that there is no Chromium.
var ErrNone = errors.New("no Chromium was found: install it, or name its path")

// Find returns the path of Chromium: the one that is given, or the first in PATH. The error is ErrNone if none is given, and PATH has none.
func Find(path string) (string, error) {
	if path != "" {
		info, err := os.Stat(path)
		if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
			err = errors.New("it is no program")
		}
		if err != nil {
			return "", fmt.Errorf("browser %q: %w", path, err)
		}
		return path, nil
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", ErrNone
}

// Request is what a page asks for by GET.
type Request struct {
	URL  string
	Kind string // what for, by the DevTools protocol: Script, Stylesheet, XHR, Fetch, Image, Document (of a frame), …
}

// Response is an answer; its encodings are taken off.
type Response struct {
	Status int
	Header [][2]string
	Body   []byte
}

// Job is a page to open.
type Job struct {
	URL string
	// Load answers a request of the page, the first of which is the page itself. An error lets it fail. It is called by the goroutine of Open, with a context that ends when
	// the page's time does.
	Load func(ctx context.Context, r Request) (Response, error)
}

// Shown is a page as the browser made it.
type Shown struct {
	Document []byte        // HTML in UTF-8, with open shadow trees as templates, and the views of hash routes as sections at the end of the body
	Picture  []byte        // JPEG, of the first maxHeight pixels; nil if none could be taken
	Routes   []string      // fragments of the views
	Left     []string      // URLs that the page wanted to go to, in its own place
	Scrolls  int           // times that it was scrolled
	Blocked  int           // requests that are never answered: other methods than GET, beacons, streams, media
	Cut      bool          // its time was over before it was complete
	CPU      time.Duration // of all processes of the browser
}

// Pool opens pages in at most Limits.Processes browsers.
type Pool struct {
	path   string
	limits Limits
	free   chan *process // nil: it is not started
	ended  chan struct{}
}

// New makes a pool; its browsers start when pages are opened. Close ends them.
func New(path string, l Limits) *Pool {
	p := &Pool{path: path, limits: l, free: make(chan *process, l.Processes), ended: make(chan struct{})}
	for range l.Processes {
		p.free <- nil
	}
	return p
}

// Open opens a page when a browser is free. An error says why there is no document: the page's own fault, or ctx has ended.
func (p *Pool) Open(ctx context.Context, job Job) (Shown, error) {
	var b *process
	select {
	case b = <-p.free:
	case <-ctx.Done():
		return Shown{}, fmt.Errorf("no browser was free: %w", context.Cause(ctx))
	}
	if b != nil && (b.lost() || b.pages >= maxPages) {
		b.end()
		b = nil
	}
	var shown Shown
	var err error
	if b == nil {
		b, err = start(p.path, p.limits.Memory)
	}
	if err == nil {
		shown, err = b.show(ctx, job, p.limits)
	}
	if err != nil && b != nil { // another takes its place: nothing of this page is left
		b.end()
		b = nil
	}
	p.release(b)
	return shown, err
}

// release puts a browser back, and ends it if it is not wanted for long.
func (p *Pool) release(b *process) {
	if b != nil {
		b.idle = time.AfterFunc(idleTime, func() { p.retire(b) })
	}
	p.free <- b
}

// retire ends a browser that shows no page.
func (p *Pool) retire(b *process) {
	for range p.limits.Processes {
		select {
		case other := <-p.free:
			if other == b {
				b.end()
				other = nil
			}
			p.free <- other
		default:
			return
		}
	}
}

// Close ends all browsers; pages that are open come to their end first.
func (p *Pool) Close() {
	for range p.limits.Processes {
		if b := <-p.free; b != nil {
			b.end()
		}
	}
}
