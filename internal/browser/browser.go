// Package browser opens pages in headless Chromium. A page reaches no network: each of its requests is handed to the caller, who answers it or does not. Chromium runs in a
// network namespace of its own where the system allows that, and else with a proxy and a resolver that lead nowhere. A browser that dies, hangs or takes too much memory costs
// the page that it shows.
//
// Pages may be hostile: what one makes is bounded in the browser (time, memory), on the way (the length of a message) and here (requests that wait, what is kept). What is read
// of a page is read by scripts of a world of their own, in which its scripts change nothing (Page.createIsolatedWorld).
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
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
	maxDocument = 16 << 20               // characters of a final document with its views; the rest is cut off, and Shown says so
	maxPiece    = 1 << 20                // characters of a document that are read at a time
	maxMessage  = 32 << 20               // bytes of a message of the browser
	maxQueries  = 2000                   // requests of a page that are answered; as many more may wait
	maxAddress  = 4 * urls.MaxPage       // bytes of a URL that a page asks for
	maxLeft     = 100                    // URLs that a page wants to go to, of at most urls.MaxPage bytes
	maxHeight   = 8000                   // pixels of a picture; what is below is not on it, and Shown says so
	maxFragment = 2 << 10                // characters of a fragment that leads to a view
	maxSaid     = 4 << 10                // bytes of what a browser says that does not start
	idleTime    = time.Minute            // after which a browser that shows nothing is ended
	startTime   = 30 * time.Second       // that a browser may take to start
	quiet       = 500 * time.Millisecond // without a request, after which a page is complete
	pictureTime = 10 * time.Second       // that a picture may take
	closeTime   = 5 * time.Second        // that a browser may take to close a page, or to end
	holdTime    = time.Second            // that a browser may hold a page whose time is over
	maxFailures = 3                      // browsers in a row that did not start, after which no more pages are fetched
	failureTime = time.Minute            // after which one is tried, without a page
	openTime    = time.Hour              // after which a network namespace is tried again
)

// names are those by which Chromium is looked for.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// ErrNone says that there is no Chromium.
var ErrNone = errors.New("it has no Chromium: install it, or name its path by the worker's setting browser")

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

// ErrRoot says that Chromium would run hostile scripts as root.
var ErrRoot = errors.New("as root Chromium has no sandbox: run the worker as another user, or set browser-sandbox to false where all pages are trusted")

// Program is how browsers are started.
type Program struct {
	Path    string
	Folder  string                         // for their profiles; it is made, and what earlier browsers have left there is deleted
	Sandbox bool                           // Chromium's own, which it does not have as root
	Warn    func(what string, args ...any) // is called when the system gives no network namespace; nil: it is not
}

// Request is what a page asks for by GET.
type Request struct {
	URL  string
	Kind string // what for, by the DevTools protocol: Script, Stylesheet, XHR, Fetch, Image, Document (of a frame), …
}

// Makes reports whether the page is made of what it asks for: a script, or what a script asks for.
func (q Request) Makes() bool { return q.Kind == "Script" || q.Kind == "XHR" || q.Kind == "Fetch" }

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

// Shown is a page as the browser made it. Of a page that was not shown it has what is known.
type Shown struct {
	Document []byte   // HTML in UTF-8, with open shadow trees as templates, and the views of hash routes as sections at the end of the body
	Picture  []byte   // JPEG, of the first maxHeight pixels; nil if none could be taken
	Routes   []string // fragments of the views
	Left     []string // URLs that the page wanted to go to, in its own place: the first maxLeft of them
	Scrolls  int      // times that it was scrolled
	Blocked  int      // requests that are never answered: other methods than GET, beacons, streams, media, and those past the bounds
	Cut      bool     // its time was over before it was complete
	// Why Document and Picture are not whole (WARC-Truncated): "length", beyond maxDocument and maxHeight; "time", Cut; empty: they are.
	DocumentTruncated, PictureTruncated string
	CPU                                 time.Duration // of all processes of the browser
}

// Pool opens pages in at most Limits.Processes browsers.
type Pool struct {
	program Program
	limits  Limits
	free    chan *process // nil: it is not started

	close    sync.Once
	mu       sync.Mutex // of what follows
	idle     map[*process]*time.Timer
	ending   sync.WaitGroup // browsers that have not ended
	failures int            // starts that failed since the last that did not
	failed   time.Time      // the last of them
	why      error
	trying   bool      // a browser is started to see whether one does
	denied   int       // starts in a row that failed in a network namespace of their own, and not without
	open     time.Time // until when none is tried
}

// New makes a pool; its browsers start when pages are opened. Close ends them. The folder must be the pool's own.
func New(program Program, l Limits) (*Pool, error) {
	if program.Sandbox && os.Getuid() == 0 {
		return nil, ErrRoot
	}
	if err := removeOld(program.Folder); err != nil {
		return nil, fmt.Errorf("folder of browsers: %w", err)
	}
	p := &Pool{program: program, limits: l, free: make(chan *process, l.Processes), idle: map[*process]*time.Timer{}}
	for range l.Processes {
		p.free <- nil
	}
	return p, nil
}

// Open opens a page when a browser is free. An error says why there is no document: it is the page's own fault, unless it is a StartError or ErrDied, or ctx has ended.
func (p *Pool) Open(ctx context.Context, job Job) (Shown, error) {
	b, err := p.take(ctx)
	if err != nil {
		return Shown{}, err
	}
	if b != nil && (b.lost() || b.pages >= maxPages) {
		b.end()
		b = nil
	}
	if b == nil {
		if b, err = p.start(ctx); err != nil {
			p.free <- nil
			if ctx.Err() != nil {
				err = fmt.Errorf("no browser has started: %w", context.Cause(ctx))
			}
			return Shown{}, err
		}
	}
	shown, err := b.show(ctx, job, p.limits)
	if err != nil || b.lost() { // another takes its place: nothing of this page is left
		b.end()
		b = nil
	}
	p.release(b)
	return shown, err
}

// take waits for a browser.
func (p *Pool) take(ctx context.Context) (*process, error) {
	select {
	case b := <-p.free:
		p.taken(b)
		return b, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no browser was free: %w", context.Cause(ctx))
	}
}

// taken notes that a browser is wanted.
func (p *Pool) taken(b *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if timer := p.idle[b]; timer != nil {
		timer.Stop()
		delete(p.idle, b)
	}
}

// release puts a browser back, and ends it if it is not wanted for long.
func (p *Pool) release(b *process) {
	if b != nil {
		p.mu.Lock()
		p.idle[b] = time.AfterFunc(idleTime, func() { p.retire(b) })
		p.mu.Unlock()
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
				p.mu.Lock()
				delete(p.idle, b)
				p.mu.Unlock()
				other = nil
			}
			p.free <- other
		default:
			return
		}
	}
}

// start starts a browser, without network where the system allows that. One that does not start so, which may be for lack of memory at that time, is started without a namespace;
// after maxFailures of them in a row all are, for openTime.
func (p *Pool) start(ctx context.Context) (*process, error) {
	p.mu.Lock()
	isolated := !time.Now().Before(p.open)
	p.mu.Unlock()
	b, err := launch(ctx, p.program, p.limits.Memory, isolated)
	var lacks error
	if isolated && err != nil && ctx.Err() == nil && (denied(err) || errors.As(err, new(*exitError))) {
		lacks = err
		b, err = launch(ctx, p.program, p.limits.Memory, false)
	}
	if err == nil && lacks != nil && p.program.Warn != nil {
		p.program.Warn("a browser has no network namespace of its own: its proxy and resolver lead nowhere", "error", lacks)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil && ctx.Err() == nil:
		p.failures, p.failed, p.why = p.failures+1, time.Now(), err
	case err == nil && lacks != nil:
		if p.denied++; p.denied >= maxFailures {
			p.open, p.denied = time.Now().Add(openTime), maxFailures-1
		}
	case err == nil && isolated:
		p.denied = 0
	}
	if err != nil {
		return nil, &StartError{err}
	}
	p.failures = 0
	p.ending.Go(func() { <-b.done })
	return b, nil
}

// Fault says why no browser starts, if several in a row did not; "" otherwise. After a while one is started to see whether it does, without a page.
func (p *Pool) Fault() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures < maxFailures {
		return ""
	}
	if time.Since(p.failed) > failureTime && !p.trying {
		p.trying = true
		go p.try()
	}
	return fmt.Sprintf("the browser %s does not start: %v", p.program.Path, p.why)
}

// try starts a browser if none is wanted for a page.
func (p *Pool) try() {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.trying = false
	}()
	select {
	case b := <-p.free:
		if p.taken(b); b != nil { // that this one runs says nothing about others
			b.end()
		}
		b, _ = p.start(context.Background()) // Fault says why none does
		p.release(b)
	default: // a page has it started
	}
}

// Close ends all browsers; pages that are open come to their end first, for as long as a page may be open.
func (p *Pool) Close() { p.close.Do(p.closeAll) }

func (p *Pool) closeAll() {
	ctx, cancel := context.WithTimeout(context.Background(), p.limits.Time+closeTime)
	defer cancel()
	for range p.limits.Processes {
		if b, _ := p.take(ctx); b != nil {
			b.end()
		}
	}
	over := make(chan struct{})
	go func() {
		p.ending.Wait()
		close(over)
	}()
	select { // their folders are deleted then
	case <-over:
	case <-time.After(closeTime):
	}
}
