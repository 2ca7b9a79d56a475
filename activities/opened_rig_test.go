package activities

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
)

// scripted is a browser whose pages do what a test says.
type scripted func(ctx context.Context, job browser.Job) (browser.Shown, error)

func (s scripted) Open(ctx context.Context, job browser.Job) (browser.Shown, error) {
	return s(ctx, job)
}

func (scripted) Fault() string { return "" }

// asks is a page that asks for URLs, one after the other; got has what it gets.
func asks(got *[]string, urls ...string) scripted {
	return func(ctx context.Context, job browser.Job) (browser.Shown, error) {
		for _, url := range append([]string{job.URL}, urls...) {
			r, err := job.Load(ctx, browser.Request{URL: url, Kind: "Fetch"})
			*got = append(*got, fmt.Sprintf("%d %s %v", r.Status, r.Body, err))
		}
		return browser.Shown{Document: []byte("<title>shown</title>" + noIcon)}, nil
	}
}

// openedRig is a rig with a fetcher, for a crawl that opens its pages: answer answers the requests, at pipes.
type openedRig struct {
	*rig
	mu      sync.Mutex
	asked   []string // paths
	runs    int
	robots  string                    // robots.txt; empty: there is none
	edit    func(d *crawl.Definition) // may be nil
	options fetch.Options             // of its fetcher
}

// shell is an empty page.
const shell = `<title>shell</title><div id=app></div><script src=/app.js></script>` + noIcon

func newOpenedRig(t *testing.T, answer func(r *http.Request) (status int, header, body string)) *openedRig {
	t.Helper()
	r := &openedRig{rig: newRig(t)}
	r.Browser = asks(new([]string))
	addr := netip.MustParseAddr(rigIP)
	resolver, err := fetch.NewResolver(map[string]netip.Addr{"a.example": addr}, "127.0.0.1:1")
	r.must(err)
	guard, err := fetch.NewGuard([]string{"192.0.2.0/24"}, nil)
	r.must(err)
	r.Settings.BatchTime = time.Minute
	dial := func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			in := bufio.NewReader(there)
			for {
				q, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				r.mu.Lock()
				r.asked = append(r.asked, q.URL.Path)
				r.mu.Unlock()
				status, header, body := 404, "", ""
				if q.URL.Path != "/robots.txt" {
					status, header, body = answer(q)
				} else if r.robots != "" {
					status, body = 200, r.robots
				}
				length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
				if status == 304 {
					length = ""
				}
				if _, err := fmt.Fprintf(there, "HTTP/1.1 %d x\r\n%s%s\r\n%s", status, header, length, body); err != nil {
					return
				}
			}
		}()
		return here, nil
	}
	r.options = fetch.Options{Limits: fetch.DefaultLimits(), Guard: guard, Resolver: resolver, TempDir: r.Spool.TempDir(), Dial: dial}
	r.Fetch = fetch.New(r.options)
	return r
}

// run begins a run of the crawl, and returns when its first batch is fetched.
func (r *openedRig) run() BatchInput {
	r.t.Helper()
	in := r.open()
	r.fetch(in)
	return in
}

// open begins a run of the crawl, and opens its first batch.
func (r *openedRig) open() BatchInput {
	r.t.Helper()
	r.runs++
	r.begin(fmt.Sprint("run ", r.runs), func(d *crawl.Definition) {
		d.Browser, d.Politeness.MinDelay, d.Politeness.Factor = crawl.BrowserAuto, crawl.Duration(time.Millisecond), 0
		if r.edit != nil {
			r.edit(d)
		}
	})
	in := r.batch()
	_, err := call[OpenResult](r.rig, r.Open, in)
	r.must(err)
	return in
}

// fetch is an attempt of FETCH.
func (r *openedRig) fetch(in BatchInput) FetchResult {
	r.t.Helper()
	out, err := call[FetchResult](r.rig, r.FetchTargets, in)
	r.must(err)
	return out
}

// cutOff is an attempt of FETCH by a worker that is stopped while a page is open, and forgets what lies in memory: the page does first what a test says.
func (r *openedRig) cutOff(in BatchInput, first scripted) {
	r.t.Helper()
	stop := make(chan struct{})
	r.env = newEnv(r.Activities)
	r.env.SetWorkerStopChannel(stop)
	r.Browser = scripted(func(ctx context.Context, job browser.Job) (browser.Shown, error) {
		_, _ = first(ctx, job)
		close(stop)
		<-ctx.Done()
		return browser.Shown{}, context.Cause(ctx)
	})
	if _, err := call[FetchResult](r.rig, r.FetchTargets, in); err == nil {
		r.t.Fatal("the attempt was not cut off")
	}
	r.pageAnswers.clear()
	r.env = newEnv(r.Activities)
}

// end archives and commits a batch.
func (r *openedRig) end(in BatchInput) {
	r.t.Helper()
	_, err := call[ProcessResult](r.rig, r.Process, in)
	r.must(err)
	r.must(r.do(r.Commit, in))
}

// records are the records of the archive.
func (r *openedRig) records() []string {
	r.t.Helper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(r.dir, rigCrawl, "data", "*.warc.gz"))
	r.must(err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		r.must(err)
		z, err := gzip.NewReader(bytes.NewReader(raw))
		r.must(err)
		_, err = io.Copy(&all, z)
		r.must(err)
	}
	return strings.Split(all.String(), "WARC/1.1\r\n")
}

// conclude ends the run.
func (r *openedRig) conclude() {
	r.t.Helper()
	_, err := call[EndResult](r.rig, r.End, EndInput{Crawl: rigCrawl, Owner: fmt.Sprint("run ", r.runs)})
	r.must(err)
}
