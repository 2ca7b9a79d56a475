package politeness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// model follows the grants, and checks them against the invariants of the package.
type model struct {
	t       *testing.T
	now     time.Time
	held    map[LeaseID]Grant
	number  map[LeaseID]int64 // the last of each lease
	asks    map[LeaseID]Ask   // all that were ever made; a lease's per_ip does not change
	turns   map[string][]LeaseID
	next    map[string]time.Time
	granted int
}

func (m *model) take(grants []Grant) {
	for _, g := range grants {
		ask, known := m.asks[g.ID]
		if !known || ask.IP != g.IP || ask.Reply != g.Reply {
			m.t.Fatalf("%s was not asked for like this: %+v", g.Lease, g)
		}
		forgotten := g.NotBefore.IsZero() && !m.next[g.IP].After(m.now) // what is past need not be known
		if g.Number < m.number[g.ID] || g.Number == m.number[g.ID] && g.Number < m.now.UnixMicro() {
			m.t.Fatalf("%+v after number %d", g, m.number[g.ID])
		}
		m.number[g.ID] = g.Number
		if !g.Deadline.Equal(m.now.Add(DefaultTTL)) || !g.NotBefore.Equal(m.next[g.IP]) && !forgotten {
			m.t.Fatalf("%+v at %s, next is %s", g, m.now, m.next[g.IP])
		}
		if _, again := m.held[g.ID]; again {
			m.held[g.ID] = g
			continue
		}
		if turns := m.turns[g.IP]; len(turns) == 0 || turns[0] != g.ID {
			m.t.Fatalf("%v is granted out of turn: %v", g.ID, turns)
		}
		m.turns[g.IP] = m.turns[g.IP][1:]
		if m.now.Before(m.next[g.IP].Add(-GrantAhead)) {
			m.t.Fatalf("%v is granted at %s, next is %s", g.Lease, m.now, m.next[g.IP])
		}
		m.held[g.ID] = g
		m.granted++
		least := m.asks[g.ID].PerIP
		n := 0
		for lease, h := range m.held {
			if h.IP == g.IP {
				least = min(least, m.asks[lease].PerIP)
				n++
			}
		}
		if n > least {
			m.t.Fatalf("%d leases are held on %s, %d are allowed", n, g.IP, least)
		}
	}
}

// end ends what a release, a drop or a tick ends.
func (m *model) end(ended func(Grant) bool, withdrawn func(lease LeaseID) bool) {
	for lease, g := range m.held {
		if ended(g) {
			delete(m.held, lease)
		}
	}
	for ip := range m.turns {
		m.turns[ip] = slices.DeleteFunc(m.turns[ip], withdrawn)
	}
}

// check finds an ask that could be granted and was not, and counts that do not agree.
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
			m.t.Fatalf("%v waits on %s, %d of %d leases are held", turns[0], ip, n, limit)
		}
	}
	if held, waits, _ := s.Counts(); held != len(m.held) || waits != waiting {
		m.t.Fatalf("counts %d, %d; the grants say %d, %d", held, waits, len(m.held), waiting)
	}
	raw, err := json.Marshal(s)
	if err != nil || len(raw) > s.bytes {
		m.t.Fatalf("its JSON has %d bytes, %d were counted, %v: %s", len(raw), s.bytes, err, raw)
	}
}

// TestRandom runs random commands on the state of an execution of the first versions, without the rules that TestAllRules plays, on a twin that is encoded and decoded from time to time, and
// on the model; in the end every ask must be granted.
func TestRandom(t *testing.T) {
	for seed := range uint64(100) {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, rand.New(rand.NewPCG(seed, 0))) }) {
			return // the next seeds would fail as well
		}
	}
}

// leaseOf is the lease with a number; crawls and workers use the same numbers.
func leaseOf(n int) LeaseID {
	return LeaseID{Crawl: fmt.Sprint(n % 2), Worker: fmt.Sprint(n / 2 % 3), Claim: fmt.Sprint(n / 6)}
}

func play(t *testing.T, random *rand.Rand) {
	state, twin := New(0, 0), New(0, 0)
	m := &model{
		t: t, now: start, held: map[LeaseID]Grant{}, asks: map[LeaseID]Ask{}, turns: map[string][]LeaseID{}, next: map[string]time.Time{},
		number: map[LeaseID]int64{},
	}
	both := func(do func(*State) []Answer) []Answer {
		t.Helper()
		answers := do(state)
		if again := do(twin); !reflect.DeepEqual(again, answers) {
			t.Fatalf("the twin answers %+v, not %+v", again, answers)
		}
		var grants []Grant
		for _, a := range answers {
			grants = append(grants, a.Grants...)
		}
		slices.SortFunc(grants, func(a, b Grant) int { return cmp.Compare(a.Number, b.Number) }) // answers stand in the order of askers
		m.take(grants)
		return answers
	}
	serve := func(r Round) []Answer {
		t.Helper()
		return both(func(s *State) []Answer { return s.Serve(m.now, []Round{r}) })
	}
	leases := 0
	for range 200 {
		m.now = m.now.Add(time.Duration(random.IntN(3000)+1) * time.Millisecond)
		if random.IntN(40) == 0 {
			m.now = m.now.Add(DefaultTTL)
		}
		if random.IntN(10) == 0 {
			twin = copyOf(t, twin)
		}
		m.tick(both)
		switch random.IntN(10) {
		case 0, 1, 2, 3:
			var asks []Ask
			for range 1 + random.IntN(4) {
				n := random.IntN(leases + 3)
				lease := leaseOf(n)
				ask, known := m.asks[lease]
				if !known {
					ask = Ask{Lease: lease.Claim, Crawl: lease.Crawl, Worker: lease.Worker, IP: fmt.Sprintf("10.0.0.%d", random.IntN(4)), PerIP: 1 + random.IntN(3), Rest: time.Minute}
					leases = max(leases, n)
				}
				ask.Reply = fmt.Sprint(n)
				m.asks[lease] = ask
				if _, held := m.held[lease]; !held && !slices.Contains(m.turns[ask.IP], lease) {
					m.turns[ask.IP] = append(m.turns[ask.IP], lease)
				}
				asks = append(asks, ask)
			}
			serve(Round{Asks: asks})
		case 4, 5, 6:
			ask := m.asks[leaseOf(random.IntN(leases+1))]
			if ask.IP == "" {
				continue
			}
			r := Release{Lease: ask.Lease, Crawl: ask.Crawl, Worker: ask.Worker, IP: ask.IP, Number: m.number[ask.ID()] - int64(random.IntN(2)), Rest: time.Duration(max(random.IntN(10_000)-2000, 0)) * time.Millisecond}
			if random.IntN(4) == 0 {
				r.Number = 0
			}
			if next := m.now.Add(r.Rest); r.Rest > 0 && next.After(m.next[r.IP]) {
				m.next[r.IP] = next
			}
			m.end(func(g Grant) bool { return g.ID == r.ID() && (r.Number == 0 || r.Number >= g.Number) }, func(lease LeaseID) bool { return lease == r.ID() && r.Number == 0 })
			serve(Round{Releases: []Release{r}})
		case 7:
			ask := m.asks[leaseOf(random.IntN(leases+1))]
			if ask.IP == "" {
				continue
			}
			refused := false
			for _, a := range serve(Round{From: "x", Round: 1, Renewals: []Renewal{{ask, m.number[ask.ID()]}}}) {
				refused = refused || len(a.Refused) > 0
			}
			m.renewed(ask, refused)
		case 8:
			worker := fmt.Sprint(random.IntN(3))
			gone := func(lease LeaseID) bool { return lease.Worker == worker && lease.Crawl == "0" }
			m.end(func(g Grant) bool {
				if over := gone(g.ID); over && m.next[g.IP].Before(m.now.Add(time.Minute)) {
					m.next[g.IP] = m.now.Add(time.Minute)
				}
				return gone(g.ID)
			}, gone)
			serve(Round{Known: &Known{Crawl: "0", Worker: worker, At: m.now.Add(time.Second)}})
		}
		m.check(state)
	}
	m.finish(t, state, both)
}

// renewed checks the result of a renewal: it is refused if the address is full, and else revives a lease that had ended.
func (m *model) renewed(ask Ask, refused bool) {
	g, held := m.held[ask.ID()]
	least, n := ask.PerIP, 0
	for lease, other := range m.held {
		if other.IP == ask.IP {
			least = min(least, m.asks[lease].PerIP)
			n++
		}
	}
	if full := !held && n >= least; refused != full {
		m.t.Fatalf("a renewal of %s, held %v, with %d of %d leases held, is refused: %v", ask.Lease, held, n, least, refused)
	}
	if refused {
		return
	}
	if !held {
		g = Grant{Lease: ask.Lease, ID: ask.ID(), IP: ask.IP, Number: m.number[ask.ID()]}
		m.turns[ask.IP] = slices.DeleteFunc(m.turns[ask.IP], func(lease LeaseID) bool { return lease == ask.ID() })
	}
	g.Deadline = m.now.Add(DefaultTTL)
	m.held[ask.ID()] = g
}

func (m *model) tick(both func(func(*State) []Answer) []Answer) {
	m.end(func(g Grant) bool {
		over := !g.Deadline.After(m.now)
		if next := ceilMillis(g.Deadline.Add(time.Minute)); over && next.After(m.next[g.IP]) {
			m.next[g.IP] = next
		}
		return over
	}, func(LeaseID) bool { return false })
	both(func(s *State) []Answer { return s.Tick(m.now) })
}

// finish goes from one wake-up to the next: with deadlines alone, every ask must be granted and the state must become empty.
func (m *model) finish(t *testing.T, state *State, both func(func(*State) []Answer) []Answer) {
	for range 8 * len(m.asks) {
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
	if held, waiting, _ := state.Counts(); held+waiting > 0 {
		t.Fatalf("%d leases are held and %d asks wait in the end", held, waiting)
	}
	if m.granted == 0 {
		t.Error("nothing was ever granted: the test tests nothing")
	}
	m.now = m.now.Add(MaxPause)
	m.tick(both)
	if _, _, addresses := state.Counts(); addresses > 0 || state.bytes != stateBytes {
		t.Errorf("%d addresses are never forgotten, %d bytes", addresses, state.bytes)
	}
}
