package fetch

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/urls"
)

// steered is a lane whose settings change while it waits for the nth time.
type steered struct {
	mu      sync.Mutex
	now     Settings
	over    bool
	waits   int
	at      int
	until   []time.Duration // how long each wait would have taken
	change  func(*steered)
	changed chan struct{}
}

func (s *steered) settings(urls.URL) Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// lane makes a client and a change of a lane that is steered.
func (s *steered) lane(t *testing.T, h *host) (*Client, func(*Lane)) {
	s.changed = make(chan struct{})
	s.now = Settings{pausesForTest(), s.changed}
	c := newClient(t, h.clock, nil)
	c.sleep = func(ctx context.Context, until time.Time) error {
		wait := until.Sub(h.clock.now())
		if wait > 0 {
			s.waits++
			s.until = append(s.until, wait.Round(100*time.Millisecond))
			if s.waits == s.at {
				s.mu.Lock()
				s.change(s)
				s.mu.Unlock()
				close(s.changed)
				<-ctx.Done()
				return ctx.Err()
			}
		}
		return h.clock.sleep(ctx, until)
	}
	return c, func(l *Lane) {
		l.Settings = s.settings
		l.ValidUntil = func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.over {
				return time.Time{}
			}
			return h.clock.now().Add(time.Hour)
		}
	}
}

// A delay that is changed while a lane waits counts for the pause that runs, longer or shorter.
func TestDelayChanges(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     time.Duration // of the pause that is changed
	}{{2, 10, 10 * time.Second}, {20, 1, time.Second}} {
		h := newHost(t, func(seen) answer { return answer{wire: page("200 OK", "x")} })
		s := &steered{at: 2, change: func(s *steered) {
			s.now.Politeness.MinDelay, s.now.Changed = seconds(c.to), nil
		}}
		client, change := s.lane(t, h)
		s.now.Politeness.MinDelay = seconds(c.from)
		out := h.run(t, client, change, targets(h.url("/1"), h.url("/2"), h.url("/3"))...)
		if out.err != nil || len(out.pages) != 3 || len(s.until) != 4 {
			t.Fatalf("%v, %d pages, waits %v", out.err, len(out.pages), s.until)
		}
		for i, at := range []int{2, 3} { // the rest of the changed pause, and the next one
			if got := s.until[at]; got > c.want || got < c.want-time.Second {
				t.Errorf("%v → %v: wait %d is of %v, want %v: %v", c.from, c.to, i, got, c.want, s.until)
			}
		}
	}
}

// A lane whose time is over ends while it waits, and gives its targets back.
func TestLaneIsEnded(t *testing.T) {
	h := newHost(t, func(seen) answer { return answer{wire: page("200 OK", "x")} })
	s := &steered{at: 2, change: func(s *steered) { s.over = true }}
	client, change := s.lane(t, h)
	out := h.run(t, client, change, targets(h.url("/1"), h.url("/2"), h.url("/3"))...)
	for path, kind := range map[string]crawl.OutcomeKind{"/1": crawl.OutcomeDone, "/2": crawl.OutcomeReturned, "/3": crawl.OutcomeReturned} {
		if o := out.outcome(t, h.url(path)); out.err != nil || o.Kind != kind {
			t.Errorf("%s: %+v, %v", path, o, out.err)
		}
	}
}

// Each host has the delays that are set for it. Between two hosts of a PLD, the longer one holds.
func TestDelayOfHost(t *testing.T) {
	h := newHost(t, func(seen) answer { return answer{wire: page("200 OK", "x")} })
	var asked []string
	out := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Settings = func(u urls.URL) Settings {
			asked = append(asked, u.Host())
			return Settings{Politeness: pausesForTest()}
		}
	}, targets(h.url("/1"))...)
	if out.err != nil || len(asked) == 0 || asked[0] != "127.0.0.1" {
		t.Errorf("%v, settings of %q", out.err, asked)
	}
	slow, fast := pausesForTest(), pausesForTest()
	slow.MinDelay, fast.MinDelay = seconds(10), seconds(1)
	now := time.Now()
	for _, c := range []struct {
		first, second crawl.Politeness
	}{{slow, fast}, {fast, slow}} {
		p := pace{politeness: c.first}
		p.originKnown("http://a.a.example", 0, time.Minute)
		p.requestEnded(now, 0)
		p.originKnown("http://b.a.example", 0, time.Minute)
		p.politeness = c.second
		if got := p.next().Sub(now); got != 10*time.Second {
			t.Errorf("%v, then %v: a pause of %v", c.first.MinDelay, c.second.MinDelay, got)
		}
	}
}

// Of two hosts of a PLD that a lane asks in turn, one of which obeys no Crawl-delay, the other one rests for its own: measured between
// requests to it.
func TestCrawlDelayOfHost(t *testing.T) {
	free, bound := pausesForTest(), pausesForTest()
	free.MinDelay, free.MaxCrawlDelay, bound.MinDelay, bound.MaxCrawlDelay = 0, 0, 0, seconds(60)
	at := func(host string) urls.URL {
		u, err := urls.Parse("http://" + host + ".a.example/")
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	l := &Lane{Settings: func(u urls.URL) Settings {
		if u == at("bound") {
			return Settings{Politeness: bound}
		}
		return Settings{Politeness: free}
	}}
	ten := rulesEntry{rules: robots.Parse([]byte("User-agent: *\nCrawl-delay: 10\n"), "muninn")}
	now := time.Now()
	last := now
	for i, host := range []string{"free", "bound", "free", "bound"} {
		l.takeRobots(at(host), ten, true)
		l.steer(at(host))
		if next := l.pace.next(); next.After(now) {
			now = next
		}
		if host == "bound" {
			if gap := now.Sub(last); i > 1 && gap < 10*time.Second {
				t.Errorf("the host is asked again after %v", gap)
			}
			last = now
		}
		l.pace.requestEnded(now, 0)
	}
}

// A target that is forbidden while the lane waits for it is not requested.
func TestForbiddenBeforeRequest(t *testing.T) {
	h := newHost(t, func(seen) answer { return answer{wire: page("200 OK", "x")} })
	out := h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
		l.Check = func(u urls.URL) error {
			if u.String() == h.url("/2") {
				return &RefusedError{"it was submitted as blacklisted"}
			}
			return nil
		}
	}, targets(h.url("/1"), h.url("/2"), h.url("/3"))...)
	for path, kind := range map[string]crawl.OutcomeKind{"/1": crawl.OutcomeDone, "/2": crawl.OutcomeRefused, "/3": crawl.OutcomeDone} {
		if o := out.outcome(t, h.url(path)); out.err != nil || o.Kind != kind {
			t.Errorf("%s: %+v, %v", path, o, out.err)
		}
	}
	for _, r := range h.requests {
		if r.path == "/2" {
			t.Error("it was requested")
		}
	}
}
