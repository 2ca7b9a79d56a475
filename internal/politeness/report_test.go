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

// TestSlowest: of the hosts that are slowed down those are named that rest longest, and all are counted; a host whose rest is over is none of them.
func TestSlowest(t *testing.T) {
	s := NewPresent(0, 1)
	for i, minutes := range []int{5, 90, 1, 30, 60} {
		r := Release{Lease: "x-1", Crawl: "c", Worker: "w", IP: "10.0.0.1", Number: int64(i + 1), Host: string(rune('a'+i)) + ".example", HostRest: time.Duration(minutes) * time.Minute, Trouble: TroubleBusy}
		s.Serve(start, []Round{{Releases: []Release{r}}})
	}
	list, all := s.Slowest(start.Add(2*time.Minute), 3)
	if all != 4 || len(list) != 3 || list[0].Host != "b.example" || list[1].Host != "e.example" || list[2].Host != "d.example" || list[0].Why != TroubleBusy || list[0].Steps != 1 {
		t.Errorf("%d: %+v", all, list)
	}
}
