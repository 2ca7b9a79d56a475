package fetch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// delaying serves a robots.txt with a Crawl-delay of 10 s that refuses /private.
func delaying(s seen) answer {
	if s.path == "/robots.txt" {
		return answer{wire: page("200 OK", "User-agent: *\nDisallow: /private\nCrawl-delay: 10\n")}
	}
	return answer{wire: page("200 OK", "page")}
}

const crawlDelay = 10 * time.Second

// If the robots.txt that a lane has just fetched disallows all of its URLs, the host rests for its Crawl-delay.
func TestRefusedLaneOwesTheDelay(t *testing.T) {
	h := newHost(t, delaying)
	c := newClient(t, h.clock, nil)
	first := h.fetch(t, c, "/private")
	if first.err != nil || first.Delay != crawlDelay {
		t.Fatalf("it ends with a delay of %s, %v; want %s", first.Delay, first.err, crawlDelay)
	}
	h.run(t, c, func(l *Lane) { l.NotBefore = first.Next }, targets(h.url("/public"))...)
	if gaps := h.gaps(); len(gaps) != 1 || gaps[0] < crawlDelay {
		t.Errorf("asked again after %v, want %s", gaps, crawlDelay)
	}
}

// If the last of several origins at an address is refused, the next lane keeps its delay, too.
func TestRefusedLastOriginIsOwedTheDelay(t *testing.T) {
	open := newHost(t, fixed(page("200 OK", "page")))
	h := newHost(t, delaying)
	open.clock = h.clock
	c := newClient(t, h.clock, nil)
	first := h.run(t, c, nil, targets(open.url("/a"), h.url("/private"))...)
	h.run(t, c, func(l *Lane) { l.NotBefore = first.Next }, targets(h.url("/public"))...)
	if gaps := h.gaps(); len(gaps) != 1 || gaps[0] < crawlDelay {
		t.Errorf("asked again after %v, want %s", gaps, crawlDelay)
	}
	if first.Delay != crawlDelay {
		t.Errorf("it ends with a delay of %s", first.Delay)
	}
}

// The rest that follows from the log is right after each entry, because a lane may be cut off after any of them.
func TestLogSaysWhatIsOwed(t *testing.T) {
	asksToWait := func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{wire: page("503 Busy", "", "Retry-After: 600")}
		}
		return answer{}
	}
	longest := pausesForTest().MaxDelay.D()
	tests := []struct {
		name   string
		answer func(seen) answer
		known  time.Duration
		want   []time.Duration // of each entry of the log
	}{
		{"a host never met", delaying, 0, []time.Duration{longest, crawlDelay, crawlDelay, crawlDelay}},
		{"a host that is known to be slow", delaying, time.Minute, []time.Duration{time.Minute, crawlDelay, crawlDelay, crawlDelay}},
		{"a host that asks to wait", asksToWait, 0, []time.Duration{longest, 10 * time.Minute, 10 * time.Minute}},
		{"a host without robots.txt", func(s seen) answer {
			if s.path == "/robots.txt" {
				return answer{}
			}
			return answer{wire: page("200 OK", "page")}
		}, 0, []time.Duration{longest, 2 * time.Second, 2 * time.Second, 2 * time.Second}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHost(t, test.answer)
			var got []crawl.Exchange
			h.run(t, newClient(t, h.clock, nil), func(l *Lane) {
				l.Delay = test.known
				l.LogIntent = func(x crawl.Exchange) error { got = append(got, x); return nil }
				l.Emit = func(_ context.Context, x *Exchange) error { got = append(got, x.Exchange); return nil }
			}, targets(h.url("/a"))...)
			if len(got) != len(test.want) {
				t.Fatalf("%d entries, want %d: %+v", len(got), len(test.want), got)
			}
			for i, want := range test.want {
				if owed := got[i].Pause; owed > want || owed < want-time.Second {
					t.Errorf("%s of %s owes %s, want %s", got[i].Kind, got[i].URL, owed, want)
				}
			}
		})
	}
}

// A complete answer counts even if the lane is stopped meanwhile: it is archived, and the host rests for its delay.
func TestWholeRobotsCountsForAStoppedLane(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	h := newHost(t, func(s seen) answer {
		if strings.HasPrefix(s.path, "/robots") {
			stop()
		}
		return delaying(s)
	})
	c := newClient(t, h.clock, nil)
	var out run
	l := newLane(h.addr(), &out, targets(h.url("/a"))...)
	ending, err := c.Run(ctx, l)
	if err == nil || len(out.robots()) != 1 || len(out.pages) != 0 {
		t.Fatalf("%d robots.txt kept, %d pages: %v", len(out.robots()), len(out.pages), err)
	}
	if owed := ending.Next.Sub(h.log()[0].at); owed < crawlDelay {
		t.Errorf("the host is owed %s, want %s", owed, crawlDelay)
	}
	h.run(t, c, func(l *Lane) { l.NotBefore = ending.Next }, targets(h.url("/a"))...)
	if log := h.log(); len(log) != 2 || log[1].path != "/a" {
		t.Errorf("%d requests: robots.txt was asked for again", len(log))
	}
}
