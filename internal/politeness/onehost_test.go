package politeness

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostsModel follows who asks each host.
type hostsModel struct {
	t     *testing.T
	now   time.Time
	asks  map[LeaseID]Ask
	held  map[LeaseID]Grant
	next  map[string]time.Time // of each host, by the pauses of its lanes
	since map[LeaseID]time.Time
	n     int
}

func (m *hostsModel) take(answers []Answer) {
	for _, a := range answers {
		for _, g := range a.Grants {
			if _, again := m.held[g.ID]; again {
				continue
			}
			ask := m.asks[g.ID]
			for other := range m.held {
				if m.asks[other].Host == ask.Host {
					m.t.Fatalf("%v is granted %s while %v asks it", g.ID, ask.Host, other)
				}
			}
			from := g.NotBefore
			if g.HostNotBefore.After(from) {
				from = g.HostNotBefore
			}
			if next := m.next[ask.Host]; next.After(m.now) && next.After(from) {
				m.t.Fatalf("%v may ask %s from %s on, its next time is %s", g.ID, ask.Host, from, next)
			}
			if waits := from.Sub(m.now); waits > GrantAhead {
				m.t.Fatalf("%v keeps %s for %s, until its host may be asked", g.ID, ask.IP, waits)
			}
			m.held[g.ID] = g
			delete(m.since, g.ID)
			m.n++
		}
	}
}

// A host is asked by one claim at a time and at one pace, at whatever address; all asks are granted in the end; and a state that is written and read
// again does the same.
func TestHostsAreKeptApart(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playHosts(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func playHosts(t *testing.T, random *rand.Rand) {
	state, twin := New(0, 0), New(0, 0)
	for _, s := range []*State{state, twin} {
		s.Fair, s.Ends = true, true
		s.CountServers()
		s.KeepHostsApart(true)
	}
	m := &hostsModel{t: t, now: start, asks: map[LeaseID]Ask{}, held: map[LeaseID]Grant{}, next: map[string]time.Time{}, since: map[LeaseID]time.Time{}}
	both := func(do func(*State) []Answer) {
		t.Helper()
		answers := do(state)
		if again := do(twin); !reflect.DeepEqual(again, answers) {
			t.Fatalf("the twin answers %+v, not %+v", again, answers)
		}
		m.take(answers)
		for ip, a := range state.addresses {
			if a.empty() {
				continue
			}
			if due := state.wake(a, m.now); due.IsZero() && a.list != nil || !due.IsZero() && (a.list != &state.busy || !a.due.Equal(due)) {
				t.Fatalf("at %s %s is due at %s, and entered at %s", m.now, ip, due, a.due)
			}
		}
		if random.IntN(4) != 0 {
			return
		}
		raw, err := json.Marshal(state)
		if err != nil || len(raw) > state.bytes {
			t.Fatalf("its JSON has %d bytes, %d were counted, %v: %s", len(raw), state.bytes, err, raw)
		}
	}
	steps := func(n int, asking bool) {
		for i := range n {
			m.now = m.now.Add(time.Duration(random.IntN(1500)+1) * time.Millisecond)
			if random.IntN(10) == 0 {
				twin = copyOf(t, twin)
			}
			for n := 0; ; n++ { // what one pass grants may leave something to grant for the next
				wake, ok := state.Wake()
				if !ok || wake.After(m.now) {
					break
				}
				if n == 5 {
					t.Fatalf("at %s it is to wake at %s, again and again", m.now, wake)
				}
				both(func(s *State) []Answer { return s.Tick(m.now) })
			}
			var r Round
			if asking && random.IntN(2) == 0 {
				ask := Ask{
					Lease: fmt.Sprint(i), Crawl: fmt.Sprint(random.IntN(2)), Worker: fmt.Sprint(random.IntN(3)), Reply: "r", Rest: time.Minute,
					IP: fmt.Sprintf("10.0.0.%d", random.IntN(5)), Host: fmt.Sprintf("h%d.example", random.IntN(4)), PerIP: 1 + random.IntN(2),
				}
				m.asks[ask.ID()], m.since[ask.ID()] = ask, m.now
				r.Asks = append(r.Asks, ask)
			}
			for _, id := range slices.SortedFunc(maps.Keys(m.held), func(a, b LeaseID) int { return strings.Compare(a.String(), b.String()) }) {
				if random.IntN(4) != 0 {
					continue
				}
				g, ask := m.held[id], m.asks[id]
				rest := time.Duration(random.IntN(8)+1) * time.Second
				r.Releases = append(r.Releases, Release{Lease: id.Claim, Crawl: id.Crawl, Worker: id.Worker, IP: ask.IP, Number: g.Number, Rest: rest, Asked: true})
				delete(m.held, id)
				m.next[ask.Host] = m.now.Add(rest)
			}
			both(func(s *State) []Answer { return s.Serve(m.now, []Round{r}) })
		}
	}
	steps(200, true)
	for range 50 {
		if held, waiting, _ := state.Counts(); held+waiting > 0 {
			steps(40, false)
		}
	}
	if held, waiting, _ := state.Counts(); held+waiting > 0 || len(m.since) > 0 || m.n < 50 {
		t.Fatalf("%d held, %d wait in the end, %d were granted", held, waiting, m.n)
	}
	m.now = m.now.Add(MaxPause)
	both(func(s *State) []Answer { return s.Tick(m.now) })
	if len(state.uses) > 0 {
		t.Errorf("uses are left: %v", state.uses)
	}
}

// An ask that waits for its host says so: for the claim that asks it, then for its rest.
func TestWaitingForHost(t *testing.T) {
	s := New(0, 0)
	s.KeepHostsApart(true)
	asks := []Ask{
		{Lease: "1", IP: "10.0.0.1", Crawl: "news", Worker: "w1", Reply: "one", Host: "wide.example"},
		{Lease: "2", IP: "10.0.0.2", Crawl: "old", Worker: "w2", Reply: "two", Host: "wide.example"},
	}
	s.Serve(start, []Round{{Asks: asks}})
	if got, want := s.Waiting("two").String(), "a claim waits for a lease: wide.example is held by news/w1, until 2026-10-05 12:15:00 UTC at the latest"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.Serve(start, []Round{{Releases: []Release{{Lease: "1", IP: "10.0.0.1", Crawl: "news", Worker: "w1", Rest: 30 * time.Second}}}})
	if got, want := s.Waiting("two").String(), "a claim waits for a lease: wide.example rests until 2026-10-05 12:00:30 UTC"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
