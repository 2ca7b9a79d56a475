package politeness

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever crawls report of a host, in whatever order and however often: a grant never lets it be asked before the longest rest that
// a trouble was to bring, rests double and stay within a day, and half a quiet hour forgives.
func TestSlowDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := New(0, 0), start
		var sent []Release
		var last SlowDown
		for i := range rapid.IntRange(1, 30).Draw(t, "troubles") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Minute)).Draw(t, "pass")))
			if rapid.IntRange(0, 9).Draw(t, "encoded") == 0 {
				s = copyOf(t, s)
			}
			ask := Ask{Lease: string(rune('a' + i)), IP: rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2"}).Draw(t, "ip"), PerIP: 9, Host: "h.example", Crawl: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "crawl")}
			granted := s.Serve(now, []Round{{Asks: []Ask{ask}}})
			if len(granted) == 0 || len(granted[0].Grants) == 0 {
				t.Fatalf("%+v is not granted", ask)
			}
			g := granted[0].Grants[0]
			if last.Until.After(now) && (g.SlowUntil.Before(last.Until) || g.HostNotBefore.Before(g.SlowUntil)) {
				t.Fatalf("%+v at %s, slowed down until %s", g, now, last.Until)
			}
			trouble := Release{Lease: ask.Lease, Crawl: ask.Crawl, IP: ask.IP, Number: g.Number, Host: ask.Host, Trouble: TroubleBusy,
				HostRest: time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "rest"))}
			now = now.Add(time.Second)
			s.Serve(now, []Round{{Releases: []Release{trouble}}})
			slow := s.hosts[ask.Host].Slow
			double := 2 * last.Rest
			if last.forgiven(now) {
				double = 0
			}
			if want := min(max(trouble.HostRest, leastSlow, double), MaxSlow); slow.Rest != want {
				t.Fatalf("rests %s after %+v and %+v, want %s", slow.Rest, last, trouble, want)
			}
			if rests := slow.Until.Sub(now); rests < min(trouble.HostRest, MaxSlow) || rests < slow.Rest-slow.Rest/slowJitter || rests > slow.Rest+time.Millisecond {
				t.Fatalf("rests %s, without jitter %s", rests, slow.Rest)
			}
			last, sent = slow, append(sent, trouble)
			s.Serve(now, []Round{{Releases: []Release{rapid.SampledFrom(sent).Draw(t, "again")}}})
			if s.hosts[ask.Host].Slow != last {
				t.Fatalf("a repeated release makes %+v of %+v", s.hosts[ask.Host].Slow, last)
			}
		}
	})
}

// Hosts that are slowed down leave the room of a shard to leases.
func TestSlowHostsLeaveRoom(t *testing.T) {
	s := New(0, 0)
	s.CountServers()
	for i := range 20_000 {
		host := leaseOf(i).String() + ".example"
		s.Serve(start, []Round{{Releases: []Release{{Lease: "a", IP: "10.0.0.1", Number: 1, Host: host, HostRest: time.Hour, Trouble: TroubleTimeOut}}}})
	}
	if s.hostBytes > maxHostBytes || s.bytes > MaxBytes || len(s.hosts) < 2000 {
		t.Errorf("%d hosts take %d of %d bytes", len(s.hosts), s.hostBytes, s.bytes)
	}
	if got := s.Serve(start, []Round{{Asks: []Ask{{Lease: "b", IP: "10.0.0.2", PerIP: 1}}}}); len(got) == 0 || len(got[0].Grants) != 1 {
		t.Errorf("an ask gets %+v", got)
	}
}

// Whatever the clocks of two workers show: the one that asks a host next does so after the rest that the other has reported is over,
// by the host's own clock, and not much later.
func TestSlowDownAcrossClocks(t *testing.T) {
	const delivery, rest = 2 * time.Second, time.Minute
	for _, reporter := range []time.Duration{-2 * time.Minute, 2 * time.Minute} {
		for _, next := range []time.Duration{-2 * time.Minute, 2 * time.Minute} {
			s := New(0, 1)
			met := start // the host asks to be left alone for the rest
			hostNext := met.Add(reporter).Add(rest)
			served := met.Add(delivery)
			s.Serve(served, []Round{{Releases: []Release{{Lease: "a", IP: "10.0.0.1", Number: 1, Host: "h.example", Trouble: TroubleBusy,
				HostRest: RestOf(hostNext, met.Add(reporter))}}}})
			granted := s.Serve(served, []Round{{Asks: []Ask{{Lease: "b", IP: "10.0.0.1", PerIP: 1, Host: "h.example"}}}})[0].Grants[0]
			taken := served.Add(delivery) // by an activity that Temporal says began as the round was served
			local := ClockOf(taken.Add(next), served).Local(granted)
			asks := local.SlowUntil.Add(-next)
			if local.HostNotBefore.Before(local.SlowUntil) || asks.Before(met.Add(rest)) || asks.After(met.Add(rest+2*delivery+time.Second)) {
				t.Errorf("clocks at %s and %s: asked %s after the trouble", reporter, next, asks.Sub(met))
			}
		}
	}
}
