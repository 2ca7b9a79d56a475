package politeness

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Crawls that always have asks for an address get it by weight, however many asks each has and when they came.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := New(0, 0), start
		s.Fair = true
		crawls := rapid.IntRange(2, 4).Draw(t, "crawls")
		weights, total := make([]int, crawls), 0
		for i := range weights {
			weights[i] = rapid.IntRange(1, 5).Draw(t, "weight")
			total += weights[i]
		}
		asked, granted, held := 0, make([]int, crawls), Release{}
		ask := func(crawl int) []Answer {
			asked++
			return s.Serve(now, []Round{{Asks: []Ask{{Lease: fmt.Sprint(asked), IP: "10.0.0.1", PerIP: 1, Crawl: fmt.Sprint(crawl), Weight: weights[crawl]}}}})
		}
		take := func(answers []Answer) {
			for _, a := range answers {
				for _, g := range a.Grants {
					var crawl int
					_, _ = fmt.Sscan(g.ID.Crawl, &crawl)
					granted[crawl]++
					held = Release{Lease: g.Lease, Crawl: g.ID.Crawl, IP: g.IP, Number: g.Number}
				}
			}
		}
		for crawl := range crawls {
			for range rapid.IntRange(2, 9).Draw(t, "asks") {
				take(ask(crawl))
			}
		}
		clear(granted)
		rounds := 20 * total
		for range rounds {
			now = now.Add(time.Second)
			if rapid.IntRange(0, 19).Draw(t, "encoded") == 0 {
				s = copyOf(t, s)
			}
			var crawl int
			_, _ = fmt.Sscan(held.Crawl, &crawl)
			take(ask(crawl)) // asks again before it gives back
			take(s.Serve(now, []Round{{Releases: []Release{held}}}))
		}
		for crawl, n := range granted {
			if want := rounds * weights[crawl] / total; n < want-crawls || n > want+crawls {
				t.Fatalf("%v grants for the weights %v", granted, weights)
			}
		}
		for range asked {
			take(s.Serve(now, []Round{{Releases: []Release{held}}}))
		}
		s.Tick(now.Add(MaxPause))
		if held, waiting, _ := s.Counts(); held+waiting > 0 || s.bytes != stateBytes {
			t.Fatalf("%d leases are held, %d asks wait, %d bytes", held, waiting, s.bytes)
		}
	})
}

// A crawl that had no asks for a while, beside two that always have, does not get the address for as long as it was away.
func TestTurnAfterAPause(t *testing.T) {
	s, asked := New(0, 0), 0
	s.Fair = true
	var got []string
	var held Release
	take := func(answers []Answer) {
		for _, a := range answers {
			for _, g := range a.Grants {
				got = append(got, g.ID.Crawl)
				held = Release{Lease: g.Lease, Crawl: g.ID.Crawl, IP: g.IP, Number: g.Number}
			}
		}
	}
	ask := func(crawl string) {
		asked++
		take(s.Serve(start, []Round{{Asks: []Ask{{Lease: fmt.Sprint(asked), IP: "10.0.0.1", PerIP: 1, Crawl: crawl}}}}))
	}
	for range 4 {
		for _, crawl := range []string{"a", "b"} {
			ask(crawl)
		}
	}
	ask("c")
	for round := range 120 {
		if round == 100 { // it had its turn long ago, and comes back
			got = nil
			for range 8 {
				ask("c")
			}
		}
		last := held.Crawl
		take(s.Serve(start, []Round{{Releases: []Release{held}}}))
		if last != "c" {
			ask(last)
		}
	}
	row, most := 0, 0
	for _, crawl := range got {
		if row++; crawl != "c" {
			row = 0
		}
		most = max(most, row)
	}
	if most > 2 || most == 0 {
		t.Errorf("after its pause the crawl gets %d grants in a row: %v", most, got)
	}
}

// A crawl with one ask waits for one grant of each other, not for all their asks.
func TestOneAskBesideMany(t *testing.T) {
	s := New(0, 0)
	s.Fair = true
	for i := range 50 {
		s.Serve(start, []Round{{Asks: []Ask{{Lease: fmt.Sprint(i), IP: "10.0.0.1", PerIP: 1, Crawl: "large"}}}})
	}
	s.Serve(start, []Round{{Asks: []Ask{{Lease: "0", IP: "10.0.0.1", PerIP: 1, Crawl: "small"}}}})
	for i := range 2 {
		for _, a := range s.Serve(start, []Round{{Releases: []Release{{Lease: fmt.Sprint(i), Crawl: "large", IP: "10.0.0.1"}}}}) {
			for _, g := range a.Grants {
				if g.ID.Crawl == "small" {
					return
				}
			}
		}
	}
	t.Error("the small crawl waits for more than two grants")
}
