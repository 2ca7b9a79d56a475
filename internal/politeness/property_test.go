package politeness

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// model is what a careful reader of the grants knows: it checks them against the promises of the package.
type model struct {
	t       *testing.T
	now     time.Time
	held    map[string]Grant // by lease
	asks    map[string]Ask   // all that were ever made; a lease's per_ip does not change
	turns   map[string][]string
	next    map[string]time.Time
	granted int
}

func (m *model) take(grants []Grant) {
	for _, g := range grants {
		ask, known := m.asks[g.Lease]
		if !known || ask.IP != g.IP || ask.Reply != g.Reply {
			m.t.Fatalf("%s was not asked for like this: %+v", g.Lease, g)
		}
		forgotten := g.NotBefore.IsZero() && !m.next[g.IP].After(m.now) // what is past need not be known
		if !g.Deadline.Equal(m.now.Add(DefaultTTL)) || !g.NotBefore.Equal(m.next[g.IP]) && !forgotten {
			m.t.Fatalf("%+v at %s, next is %s", g, m.now, m.next[g.IP])
		}
		if _, again := m.held[g.Lease]; again {
			m.held[g.Lease] = g
			continue
		}
		if turns := m.turns[g.IP]; len(turns) == 0 || turns[0] != g.Lease {
			m.t.Fatalf("%s is granted out of turn: %v", g.Lease, turns)
		}
		m.turns[g.IP] = m.turns[g.IP][1:]
		if m.now.Before(m.next[g.IP].Add(-GrantAhead)) {
			m.t.Fatalf("%s is granted at %s, next is %s", g.Lease, m.now, m.next[g.IP])
		}
		m.held[g.Lease] = g
		m.granted++
		least := m.asks[g.Lease].PerIP
		n := 0
		for lease, h := range m.held {
			if h.IP == g.IP {
				least = min(least, m.asks[lease].PerIP)
				n++
			}
		}
		if n > least {
			m.t.Fatalf("%d leases are out on %s, %d are allowed", n, g.IP, least)
		}
	}
}

// end ends what a release, a drop or a tick ends.
func (m *model) end(ended func(Grant) bool, withdrawn func(lease string) bool) {
	for lease, g := range m.held {
		if ended(g) {
			delete(m.held, lease)
		}
	}
	for ip := range m.turns {
		m.turns[ip] = slices.DeleteFunc(m.turns[ip], withdrawn)
	}
}

// check finds a first in turn who could be served and was not, and numbers that do not agree.
func (m *model) check(s *State) {
	waiting := 0
	for ip, turns := range m.turns {
		waiting += len(turns)
		if len(turns) == 0 || m.now.Before(m.next[ip].Add(-GrantAhead)) {
			continue
		}
		limit, n := m.asks[turns[0]].PerIP, 0
		for lease, g := range m.held {
			if g.IP == ip {
				limit = min(limit, m.asks[lease].PerIP)
				n++
			}
		}
		if n < limit {
			m.t.Fatalf("%s waits on %s, %d of %d leases are out", turns[0], ip, n, limit)
		}
	}
	if held, waits := s.Counts(); held != len(m.held) || waits != waiting {
		m.t.Fatalf("counts %d, %d; the grants say %d, %d", held, waits, len(m.held), waiting)
	}
}

// TestRandom plays random commands against the state, a twin that is written out and read again now and
// then, and the model; in the end everyone who waits must be served.
func TestRandom(t *testing.T) {
	for seed := range uint64(300) {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, rand.New(rand.NewPCG(seed, 0))) }) {
			return // the next seeds would say the same
		}
	}
}

func play(t *testing.T, random *rand.Rand) {
	state, twin := New(0), New(0)
	m := &model{t: t, now: start, held: map[string]Grant{}, asks: map[string]Ask{}, turns: map[string][]string{}, next: map[string]time.Time{}}
	both := func(do func(*State) []Grant) {
		t.Helper()
		grants := do(state)
		if again := do(twin); !reflect.DeepEqual(again, grants) {
			t.Fatalf("the twin grants %+v, not %+v", again, grants)
		}
		m.take(grants)
	}
	leases := 0
	for range 200 {
		m.now = m.now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
		if random.IntN(40) == 0 {
			m.now = m.now.Add(DefaultTTL)
		}
		if random.IntN(10) == 0 {
			twin = copyOf(t, twin)
		}
		switch random.IntN(10) {
		case 0, 1, 2, 3:
			var asks []Ask
			for range 1 + random.IntN(4) {
				n := random.IntN(leases + 3)
				lease := fmt.Sprint(n)
				ask, known := m.asks[lease]
				if !known {
					ask = Ask{Lease: lease, IP: fmt.Sprintf("10.0.0.%d", random.IntN(4)), PerIP: 1 + random.IntN(3)}
					leases = max(leases, n)
				}
				ask.Worker, ask.Reply = fmt.Sprint(random.IntN(3)), lease
				m.asks[lease] = ask
				if _, held := m.held[lease]; !held && !slices.Contains(m.turns[ask.IP], lease) {
					m.turns[ask.IP] = append(m.turns[ask.IP], lease)
				}
				asks = append(asks, ask)
			}
			both(func(s *State) []Grant { return s.Ask(m.now, asks) })
		case 4, 5, 6:
			ask := m.asks[fmt.Sprint(random.IntN(leases+1))]
			r := Release{Lease: ask.Lease, IP: ask.IP, Next: m.now.Add(time.Duration(random.IntN(10_000)-2000) * time.Millisecond)}
			if r.IP != "" && r.Next.After(m.next[r.IP]) {
				m.next[r.IP] = r.Next
			}
			m.end(func(g Grant) bool { return g.Lease == r.Lease }, func(lease string) bool { return lease == r.Lease })
			both(func(s *State) []Grant { return s.Release(m.now, []Release{r}) })
		case 7:
			ask := m.asks[fmt.Sprint(random.IntN(leases+1))]
			if g, held := m.held[ask.Lease]; held {
				g.Deadline = m.now.Add(DefaultTTL)
				m.held[ask.Lease] = g
			}
			both(func(s *State) []Grant { s.Renew(m.now, []Renewal{{ask.Lease, ask.IP}}); return nil })
		case 8:
			worker := fmt.Sprint(random.IntN(3))
			m.end(func(g Grant) bool { return m.asks[g.Lease].Worker == worker }, func(lease string) bool { return m.asks[lease].Worker == worker })
			both(func(s *State) []Grant { return s.Drop(m.now, worker) })
		}
		m.tick(both)
		m.check(state)
	}
	m.finish(t, state, both)
}

func (m *model) tick(both func(func(*State) []Grant)) {
	m.end(func(g Grant) bool {
		over := !g.Deadline.After(m.now)
		if next := g.Deadline.Add(ExpiryPause); over && next.After(m.next[g.IP]) {
			m.next[g.IP] = next
		}
		return over
	}, func(string) bool { return false })
	both(func(s *State) []Grant { return s.Tick(m.now) })
}

// finish goes from one wake to the next: deadlines alone must serve everyone and empty the state.
func (m *model) finish(t *testing.T, state *State, both func(func(*State) []Grant)) {
	for range 4 * len(m.asks) {
		wake, ok := state.Wake()
		if !ok {
			break
		}
		if wake.After(m.now) {
			m.now = wake
		}
		m.tick(both)
		m.check(state)
	}
	if held, waiting := state.Counts(); held+waiting > 0 {
		t.Fatalf("%d leases are out and %d asks wait in the end", held, waiting)
	}
	if m.granted == 0 {
		t.Error("nothing was ever granted: the test tests nothing")
	}
	m.now = m.now.Add(MaxPause)
	m.tick(both)
	if len(state.Addresses) > 0 {
		t.Errorf("%d addresses are never forgotten", len(state.Addresses))
	}
}

// TestForgets: a shard that is never idle, and so never ticks, does not grow with every address it saw.
func TestForgets(t *testing.T) {
	s, now := New(0), start
	most := 0
	for i := range 20_000 {
		now = now.Add(time.Second)
		ip := fmt.Sprintf("10.0.%d.%d", i/256, i%256)
		s.Ask(now, []Ask{{Lease: "a", IP: ip}})
		s.Release(now, []Release{{Lease: "a", IP: ip, Next: now.Add(30 * time.Second)}})
		most = max(most, len(s.Addresses))
	}
	if most > 300 {
		t.Errorf("%d addresses were kept, about 30 have a pause", most)
	}
}
