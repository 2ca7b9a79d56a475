package fetch

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/faults"
)

// startWorld serves a world and makes a client of it.
func startWorld(t *testing.T, w *webworld.World, change func(*Options)) *Client {
	t.Helper()
	if err := w.Start(t.Context()); err != nil {
		t.Skipf("the loopback addresses are not available: %v", err)
	}
	t.Cleanup(func() { _ = w.Close() })
	r, err := NewResolver(w.Resolve(), "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, nil, func(o *Options) {
		o.Resolver = r
		change(o)
	})
}

// worldDelay is the pause between requests. On a busy machine a server notices late that a response was cut off, and measures a
// shorter pause. A pause that is really not kept is far shorter than half of it.
const worldDelay = 40 * time.Millisecond

// crawlSites runs one lane per address, side by side, over the pages of a world.
func crawlSites(t *testing.T, w *webworld.World, c *Client, pages []string, attempts int) map[string]*run {
	t.Helper()
	byIP := map[netip.Addr][]crawl.Target{}
	for _, page := range pages {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		ip := w.Resolve()[u.Hostname()]
		byIP[ip] = append(byIP[ip], crawl.Target{URL: page, Attempts: attempts})
	}
	runs := map[string]*run{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for ip, list := range byIP {
		wg.Go(func() {
			var out run
			l := newLane(ip, &out, list...)
			l.Politeness.MinDelay, l.Politeness.MaxDelay = crawl.Duration(worldDelay), crawl.Duration(worldDelay)
			l.Politeness.MaxCrawlDelay = crawl.Duration(2 * worldDelay)
			out.Ending, out.err = c.Run(t.Context(), l)
			mu.Lock()
			defer mu.Unlock()
			for _, target := range list {
				runs[target.URL] = &out
			}
		})
	}
	wg.Wait()
	return runs
}

// polite checks what the servers measured.
func polite(t *testing.T, w *webworld.World) {
	t.Helper()
	s := w.Stats()
	if s.PeakConnections > 1 || s.PeakRequests > 1 {
		t.Errorf("%d connections and %d requests at once on an address", s.PeakConnections, s.PeakRequests)
	}
	for host, first := range s.RobotsLate {
		if !strings.HasSuffix(first, "/robots.txt") { // a host without one takes it for a page
			t.Errorf("%s: %s was asked for before robots.txt", host, first)
		}
	}
	if len(s.Disallowed) > 0 || len(s.Strangers) > 0 {
		t.Errorf("disallowed %v, strangers %v", s.Disallowed, s.Strangers)
	}
	if s.MinGap != nil && s.MinGap.Pause < worldDelay/2 {
		t.Errorf("a gap of %s from %s to %s", s.MinGap.Pause, s.MinGap.From, s.MinGap.To)
	}
	for page, n := range s.Repeated() { // what a kept-alive connection does not answer is asked for once more
		if n > 2 || !strings.HasPrefix(page, "http://garbage.") && !strings.HasPrefix(page, "http://hangup.") {
			t.Errorf("%s was answered %d times", page, n)
		}
	}
}

// TestFaultsWorld: every target of every broken server ends with exactly one outcome, and the server's good
// pages are fetched nevertheless.
func TestFaultsWorld(t *testing.T) {
	for attempts, name := range map[int]string{0: "first attempt", 3: "last attempt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := faults.New(webworld.Options{FirstIP: netip.AddrFrom4([4]byte{127, 81, byte(attempts), 1})})
			c := startWorld(t, w, func(o *Options) {
				l := &o.Limits
				// long for good servers on a busy machine; robots.txt of slowrobots takes 10 s at least
				l.FirstByte, l.Idle, l.Total, l.RobotsTimeout = seconds(8), seconds(8), seconds(10), seconds(5)
				l.BodyBytes, l.MemoryBytes = 256<<10, 16<<10
			})
			var pages []string
			for _, seed := range w.Seeds() {
				pages = append(pages, seed, seed+"fault", seed+"after")
			}
			runs := crawlSites(t, w, c, pages, attempts)
			checkFaults(t, pages, runs, attempts == 3)
			polite(t, w)
		})
	}
}

// last gives the outcome of a fault at the last attempt; first at an earlier one. Faults that are not here
// are done at once.
var faultOutcomes = map[string]struct {
	first, last crawl.OutcomeKind
	truncated   string
}{
	"drip":       {crawl.OutcomeDone, crawl.OutcomeDone, "time"},
	"flood":      {crawl.OutcomeDone, crawl.OutcomeDone, "length"},
	"bomb":       {crawl.OutcomeDone, crawl.OutcomeDone, "length"},
	"bigheader":  {crawl.OutcomeRetry, crawl.OutcomeFailed, ""},
	"manylinks":  {crawl.OutcomeDone, crawl.OutcomeDone, "length"},
	"reset":      {crawl.OutcomeRetry, crawl.OutcomeDone, "disconnect"},
	"mute":       {crawl.OutcomeRetry, crawl.OutcomeFailed, ""},
	"short":      {crawl.OutcomeRetry, crawl.OutcomeDone, "disconnect"},
	"badchunk":   {crawl.OutcomeRetry, crawl.OutcomeDone, "disconnect"},
	"garbage":    {crawl.OutcomeFailed, crawl.OutcomeFailed, ""},
	"hangup":     {crawl.OutcomeRetry, crawl.OutcomeFailed, ""},
	"deep":       {crawl.OutcomeDone, crawl.OutcomeDone, "length"},
	"slowrobots": {crawl.OutcomeRetry, crawl.OutcomeRobots, ""},
	"muterobots": {crawl.OutcomeRetry, crawl.OutcomeRobots, ""},
}

func checkFaults(t *testing.T, pages []string, runs map[string]*run, last bool) {
	t.Helper()
	for _, page := range pages {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(u.Hostname(), ".")
		r := runs[page]
		if r.err != nil {
			t.Errorf("%s: %v", page, r.err)
		}
		o := r.outcome(t, page)
		want := faultOutcomes[name]
		kind := want.first
		if last {
			kind = want.last
		}
		if kind == "" || (u.Path != "/fault" && !strings.HasSuffix(name, "erobots") && !strings.HasSuffix(name, "wrobots")) {
			kind, want.truncated = crawl.OutcomeDone, ""
		}
		if o.Kind != kind {
			t.Errorf("%s: %+v, want %s", page, o, kind)
		}
		at := slices.IndexFunc(r.pages, func(k kept) bool { return k.URL == page })
		if got := r.pages[at].Truncated; got != want.truncated {
			t.Errorf("%s: truncated %q, want %q", page, got, want.truncated)
		}
	}
}

// TestDemoWorld fetches every allowed page of the demo with side-by-side lanes and checks it against the truth.
func TestDemoWorld(t *testing.T) {
	t.Parallel()
	w := webworld.NewDemo(webworld.Options{FirstIP: netip.MustParseAddr("127.82.0.1")})
	c := startWorld(t, w, func(*Options) {})
	truth := map[string]webworld.Page{}
	var pages []string
	for _, p := range w.Pages() {
		if truth[p.URL].URL == "" {
			pages = append(pages, p.URL)
		}
		truth[p.URL] = p
	}
	runs := crawlSites(t, w, c, pages, 0)
	done := 0
	for _, page := range pages {
		o, p := runs[page].outcome(t, page), truth[page]
		busy := o.Status == http.StatusTooManyRequests || o.Status >= http.StatusInternalServerError
		done += btoi(o.Kind == crawl.OutcomeDone)
		switch {
		case !p.Allowed && o.Kind != crawl.OutcomeRobots && o.Kind != crawl.OutcomeReturned && !strings.Contains(o.Reason, "robots.txt answers 500"):
			t.Errorf("%s is disallowed: %+v", page, o)
		case p.Allowed && o.Kind == crawl.OutcomeDone && o.Status != p.Status:
			t.Errorf("%s: status %d, want %d", page, o.Status, p.Status)
		case p.Allowed && o.Kind != crawl.OutcomeDone && o.Kind != crawl.OutcomeReturned && !(busy && o.Kind == crawl.OutcomeRetry):
			t.Errorf("%s: %+v, want status %d", page, o, p.Status)
		}
	}
	polite(t, w)
	s := w.Stats()
	if s.Connections > s.Requests/2 {
		t.Errorf("%d connections for %d requests: they are not reused", s.Connections, s.Requests)
	}
	if done < len(pages)/2 {
		t.Errorf("only %d of %d pages are done", done, len(pages))
	}
	t.Logf("%d pages, %d done, %d requests, %d connections", len(pages), done, s.Requests, s.Connections)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
