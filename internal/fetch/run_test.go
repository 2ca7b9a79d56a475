package fetch

import (
	"context"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// kept is an exchange as a spool would hold it.
type kept struct {
	crawl.Exchange
	request  string
	response string
}

// run is a lane that has run.
type run struct {
	Ending
	err   error
	all   []kept
	pages []kept // with an outcome
}

func (r run) robots() (list []kept) {
	for _, x := range r.all {
		if x.Kind == crawl.ExchangeRobots {
			list = append(list, x)
		}
	}
	return list
}

// outcome returns the only outcome of a target.
func (r run) outcome(t *testing.T, at string) crawl.Outcome {
	t.Helper()
	var found []crawl.Outcome
	for _, p := range r.pages {
		if p.URL == at {
			found = append(found, p.Outcome)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %d outcomes, want 1: %+v (lane: %v)", at, len(found), found, r.err)
	}
	return found[0]
}

func guard(t *testing.T, networks ...string) *Guard {
	t.Helper()
	g, err := NewGuard(networks, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func seconds(s float64) crawl.Duration { return crawl.Duration(s * float64(time.Second)) }

// newClient makes a client of loopback hosts on the host's clock; change may be nil.
func newClient(t *testing.T, c *clock, change func(*Options)) *Client {
	t.Helper()
	r, err := NewResolver(nil, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Limits: DefaultLimits(), Guard: guard(t, "127.0.0.0/8"), Resolver: r, TempDir: t.TempDir()}
	if c != nil {
		o.Now, o.Sleep = c.now, c.sleep
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func pausesForTest() crawl.Politeness {
	return crawl.Politeness{
		MinDelay: seconds(2), MaxDelay: seconds(30), MaxCrawlDelay: seconds(120), Factor: 2, PerIP: 1, UserAgent: "Muninn",
	}
}

// newLane makes a lane for targets on one address; emitted exchanges are gathered in the run.
func newLane(addr netip.Addr, out *run, targets ...crawl.Target) *Lane {
	l := &Lane{
		Claim: "c", Addr: addr, Politeness: pausesForTest(), Agent: "Muninn", Targets: targets,
		ValidUntil: func() time.Time { return time.Now().Add(1000 * time.Hour) },
		LogIntent:  func(crawl.Exchange) error { return nil },
	}
	l.Emit = func(_ context.Context, x *Exchange) error {
		k := kept{Exchange: x.Exchange, request: string(x.Request)}
		if x.Response != nil {
			raw, err := io.ReadAll(x.Response)
			if err != nil {
				return err
			}
			k.response = string(raw)
		}
		out.all = append(out.all, k)
		if x.Kind == crawl.ExchangePage {
			out.pages = append(out.pages, k)
		}
		return nil
	}
	return l
}

func targets(urls ...string) (list []crawl.Target) {
	for _, u := range urls {
		list = append(list, crawl.Target{URL: u})
	}
	return list
}

// fetch runs a lane over a host's paths.
func (h *host) fetch(t *testing.T, c *Client, paths ...string) run {
	t.Helper()
	var list []crawl.Target
	for _, p := range paths {
		list = append(list, crawl.Target{URL: h.url(p)})
	}
	return h.run(t, c, nil, list...)
}

func (h *host) run(t *testing.T, c *Client, change func(*Lane), list ...crawl.Target) run {
	t.Helper()
	var out run
	l := newLane(h.addr(), &out, list...)
	if change != nil {
		change(l)
	}
	out.Ending, out.err = c.Run(t.Context(), l)
	return out
}

// TestRequisitesOfALane: what the page of a target needs is fetched right after it, and what that needs in turn.
func TestRequisitesOfALane(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{}
		}
		return answer{wire: page("200 OK", s.path)}
	})
	needs := map[string][]crawl.Target{h.url("/1"): targets(h.url("/a"), h.url("/b")), h.url("/a"): targets(h.url("/c"))}
	got := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Requisites = func(_ context.Context, of crawl.Target) ([]crawl.Target, error) { return needs[of.URL], nil }
	}, targets(h.url("/1"), h.url("/2"))...)
	var order string
	for _, x := range got.pages {
		order += strings.TrimPrefix(x.URL, h.url(""))
	}
	if order != "/1/a/c/b/2" {
		t.Errorf("the order is %s", order)
	}
}
