package politeness

import (
	"testing"
	"time"
)

// A report of a host has its slow-down, its rest, who holds its addresses and who waits there.
func TestHostReport(t *testing.T) {
	s := New(0, 0)
	ask := func(lease, crawl, ip, host string) {
		s.Serve(start, []Round{{Asks: []Ask{{Lease: lease, Crawl: crawl, Worker: "w", IP: ip, PerIP: 1, Host: host}}}})
	}
	ask("a-1", "one", "10.0.0.1", "a.example")
	ask("b-1", "two", "10.0.0.1", "b.example")
	ask("c-1", "two", "10.0.0.2", "c.example")
	s.Serve(start, []Round{{Releases: []Release{{Lease: "x", IP: "10.0.0.3", Number: 1, Rest: time.Second, Host: "b.example", HostRest: time.Minute, Trouble: TroubleBusy}}}})
	r := s.Host(start, "b.example", []string{"10.0.0.3"})
	if r.Slow == nil || r.Slow.Why != "429" || r.Slow.Steps != 1 || !r.NotBefore.Equal(start.Add(time.Minute)) || r.Slow.Reported().Sub(start) > time.Millisecond {
		t.Errorf("%+v", r)
	}
	if len(r.Addresses) != 2 || r.Addresses[0].Address != "10.0.0.1" || r.Addresses[1].Address != "10.0.0.3" || !r.Addresses[1].NotBefore.Equal(start.Add(time.Second)) {
		t.Fatalf("%+v", r.Addresses)
	}
	at := r.Addresses[0]
	if at.Waiting != 1 || len(at.Waits) != 1 || at.Waits[0].Crawl != "two" || len(at.Leases) != 1 || at.Leases[0].Crawl != "one" || !at.Leases[0].Until.Equal(start.Add(DefaultTTL)) {
		t.Errorf("%+v", at)
	}
	if r := s.Host(start.Add(time.Hour), "b.example", nil); r.Slow != nil || !r.NotBefore.IsZero() {
		t.Errorf("an hour later: %+v", r)
	}
	if r := s.Host(start, "unknown.example", nil); len(r.Addresses) != 0 {
		t.Errorf("%+v", r)
	}
}
