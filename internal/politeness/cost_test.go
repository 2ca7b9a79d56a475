package politeness

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// resting is a state with so many addresses that rest for an hour. Some of them have leases.
func resting(n int) *State {
	s := New(0, 1)
	for i := range n {
		ip := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		s.Serve(start, []Round{{Releases: []Release{{Lease: "l", IP: ip, Rest: time.Hour + time.Duration(i)*time.Second}}}})
	}
	return s
}

// round serves what a busy crawl sends in a round: some asks, the releases of the leases of the round before, and a tick.
func round(s *State, i int, now time.Time) {
	r := Round{From: "c", Round: int64(i + 1)}
	for k := range 10 {
		r.Asks = append(r.Asks, Ask{Lease: fmt.Sprintf("example.org-%d-%d", i, k), IP: fmt.Sprintf("192.0.%d.%d", k, i%256), PerIP: 1, Reply: "c"})
		if i > 0 {
			r.Releases = append(r.Releases, Release{Lease: fmt.Sprintf("example.org-%d-%d", i-1, k), IP: fmt.Sprintf("192.0.%d.%d", k, (i-1)%256), Rest: time.Second})
		}
	}
	s.Serve(now, []Round{r})
	s.Wake()
	s.Tick(now)
}

// The cost of a round grows with the logarithm of the number of resting addresses. The test counts comparisons, because times vary.
func TestRoundsAreCheap(t *testing.T) {
	cost := func(n int) float64 {
		s := resting(n)
		s.busy.steps, s.idle.steps = 0, 0
		const rounds = 200
		for i := range rounds {
			round(s, i, start.Add(time.Duration(i)*time.Second))
		}
		return float64(s.busy.steps+s.idle.steps) / rounds
	}
	few, many := cost(100), cost(10_000)
	t.Logf("comparisons a round of ten claims: %.0f with 100 addresses that rest, %.0f with 10,000", few, many)
	if many > 3*few {
		t.Errorf("a round costs %.0f comparisons with 10,000 addresses that rest, %.0f with 100", many, few)
	}
}

// An execution's rounds are replayed within a second, and its state stays well below what Temporal takes.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		raw, err := json.Marshal(resting(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var s State
				if err := json.Unmarshal(raw, &s); err != nil {
					b.Fatal(err)
				}
				for i := range 200 {
					round(&s, i, start.Add(time.Duration(i)*time.Second))
				}
			}
			b.ReportMetric(float64(len(raw))/float64(n), "B/address")
		})
	}
}

// The state stays below its bound: addresses with the shortest rest are forgotten first, and unknown addresses rest until that
// time. Beyond the bound, asks are refused, but releases and renewals are handled.
func TestStateIsBounded(t *testing.T) {
	s := New(0, 1)
	ip := func(i int) string { return fmt.Sprintf("2001:db8:%x:%x:ffff:ffff:ffff:ffff", i>>12, i&4095) }
	serve := func(at time.Time, r Round) []Answer {
		answers := s.Serve(at, []Round{r})
		if s.bytes > MaxBytes {
			t.Fatalf("%d bytes", s.bytes)
		}
		return answers
	}
	n := 0
	for ; s.Floor.IsZero(); n++ {
		serve(start, Round{Releases: []Release{{Lease: "l", IP: ip(n), Rest: time.Hour - time.Duration(n)*50*time.Millisecond}}})
	}
	if n < 10_000 {
		t.Errorf("%d addresses only", n)
	}
	// The floor is bounded, so that hosts that ask for hours do not stop the crawl: an unknown address waits a minute.
	if want := start.Add(MaxFloor); !s.Floor.Equal(want) {
		t.Errorf("the floor is %v, want %v", s.Floor, want)
	}
	if got := serve(start, Round{Asks: []Ask{{Lease: "unknown", IP: "10.0.0.1"}}}); len(got) != 0 {
		t.Errorf("granted below the floor: %+v", got)
	}
	got := s.Tick(start.Add(MaxFloor - GrantAhead))
	if len(got) != 1 || !got[0].Grants[0].NotBefore.Equal(s.Floor) {
		t.Errorf("granted %+v, the floor is %v", got, s.Floor)
	}
	raw, err := json.Marshal(s)
	if err != nil || len(raw) > MaxBytes {
		t.Fatalf("%d bytes of JSON, %v", len(raw), err)
	}
	later := start.Add(2 * time.Minute)
	for n = 0; s.Turned == 0; n++ {
		serve(later, Round{Asks: []Ask{{Lease: fmt.Sprint("lease", n), IP: ip(n), Reply: "r"}}})
	}
	if held, waiting, _ := s.Counts(); held+waiting < 4000 {
		t.Errorf("%d leases and %d asks only", held, waiting)
	}
	answers := s.Serve(later, []Round{{From: "r", Round: 1, Renewals: []Renewal{{Ask{Lease: "at work", IP: "10.0.0.2"}, 1}}}})
	if len(answers) != 1 || len(answers[0].Refused) > 0 {
		t.Errorf("a renewal is refused because there is no room: %+v", answers)
	}
}

// A shard that is never idle, and therefore never ticks, does not grow with every address.
func TestForgets(t *testing.T) {
	s, now := New(0, 1), start
	most := 0
	for i := range 20_000 {
		now = now.Add(time.Second)
		ip := fmt.Sprintf("10.0.%d.%d", i/256, i%256)
		s.Serve(now, []Round{{Asks: []Ask{{Lease: "a", IP: ip}}}})
		s.Serve(now, []Round{{Releases: []Release{{Lease: "a", IP: ip, Rest: 30 * time.Second}}}})
		_, _, addresses := s.Counts()
		most = max(most, addresses)
	}
	if most > 40 {
		t.Errorf("%d addresses were kept, about 30 have a pause", most)
	}
}
