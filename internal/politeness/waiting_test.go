package politeness

import (
	"testing"
	"time"
)

// Each answer has the leases that its asker waits for, and until when.
func TestWaiting(t *testing.T) {
	s := New(0, 1)
	ask := func(lease, ip, crawl, reply string) Ask {
		return Ask{Lease: lease, IP: ip, PerIP: 1, Crawl: crawl, Worker: "w1", Reply: reply}
	}
	waiting := func(answers []Answer, to string) string {
		for _, a := range answers {
			if a.To == to && a.Waiting != nil {
				return a.Waiting.String()
			}
		}
		return ""
	}
	got := s.Serve(start, []Round{
		{From: "one", Round: 1, Asks: []Ask{ask("a", "10.0.0.1", "news", "one")}, Releases: []Release{{Lease: "x", IP: "10.0.0.2", Rest: time.Hour}}},
		{From: "two", Round: 1, Asks: []Ask{ask("b", "10.0.0.1", "blogs", "two"), ask("c", "10.0.0.2", "blogs", "two")}},
	})
	if text := waiting(got, "one"); text != "" {
		t.Errorf("an asker that waits for nothing gets: %s", text)
	}
	if text, want := waiting(got, "two"), "2 claims wait for leases; 10.0.0.1, for the first of them, is held by news/w1, until 2026-10-05 12:15:00 UTC at the latest"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	for range 2 { // also when the state was written out and read again
		if w := s.Find("10.0.0.2", LeaseID{"blogs", "w1", "c"}); w == nil || w.String() != "a claim waits for a lease: 10.0.0.2 rests until 2026-10-05 13:00:00 UTC" {
			t.Errorf("c waits for %v", w)
		}
		if w := s.Find("10.0.0.1", LeaseID{"news", "w1", "a"}); w != nil {
			t.Errorf("a has its lease, and waits for %v", w)
		}
		s = copyOf(t, s)
	}
	got = s.Serve(start, []Round{{From: "one", Releases: []Release{{Lease: "a", Crawl: "news", Worker: "w1", IP: "10.0.0.1"}}}})
	if text, want := waiting(got, "two"), "a claim waits for a lease: 10.0.0.2 rests until 2026-10-05 13:00:00 UTC"; text != want {
		t.Errorf("with its grant %q, want %q", text, want)
	}
}

// A borrowed lease that is not given back, because its worker was killed, holds the address for minutes, not for as long as a
// lease that is renewed.
func TestLoanRunsOut(t *testing.T) {
	const ip = "10.0.0.1"
	s := New(0, 1)
	loan := Ask{Lease: "borrower-1@" + ip, IP: ip, PerIP: 1, Crawl: "c", Worker: "w1", Rest: time.Second, Loan: true}
	answers := s.Serve(start, []Round{{From: "borrower-1", Asks: []Ask{loan}}})
	if len(answers) != 1 || len(answers[0].Grants) != 1 || !answers[0].Grants[0].Deadline.Equal(start.Add(LoanTTL)) {
		t.Fatalf("granted: %+v", answers)
	}
	s.Serve(start, []Round{{From: "c", Round: 1, Asks: []Ask{{Lease: "lender-1", IP: ip, PerIP: 1, Crawl: "c", Worker: "w1", Reply: "c"}}}})
	wake, ok := s.Wake()
	if !ok || wake.After(start.Add(LoanTTL+time.Second)) {
		t.Fatalf("the next moment is %v", wake)
	}
	s.Tick(wake)
	if got := s.Tick(start.Add(LoanTTL + time.Second)); s.Find(ip, LeaseID{"c", "w1", "lender-1"}) != nil {
		t.Errorf("after the loan has run out the address is not granted: %+v", got)
	}
}

// A confirmation takes into account all messages about its address with the same time, in any order.
func TestConfirmedAfterAllIsHeard(t *testing.T) {
	const ip = "10.0.0.1"
	s := New(0, 1)
	ask := Ask{Lease: "a", IP: ip, PerIP: 2, Crawl: "c", Worker: "w", Reply: "c"}
	s.Serve(start, []Round{{From: "c", Asks: []Ask{ask}}})
	now := start.Add(time.Second)
	got := s.Serve(now, []Round{
		{From: "c", Asks: []Ask{ask}}, {From: "d", Releases: []Release{{Lease: "b", Crawl: "d", Worker: "w", IP: ip, Rest: 10 * time.Second}}},
	})
	if len(got) != 1 || len(got[0].Grants) != 1 || !got[0].Grants[0].NotBefore.Equal(now.Add(10*time.Second)) {
		t.Errorf("%+v", got)
	}
	ended := Release{Lease: "a", Crawl: "c", Worker: "w", IP: ip}
	if got := s.Serve(now, []Round{{From: "c", Asks: []Ask{ask}}, {From: "c", Releases: []Release{ended}}}); len(got) != 0 {
		t.Errorf("a lease that has ended is confirmed: %+v", got)
	}
}
