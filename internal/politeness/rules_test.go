package politeness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// outstanding is a lease as its holder knows it.
type outstanding struct {
	ask   Ask
	grant Grant
}

// shardModel knows only what hosts would see: who may ask, and from when on.
type shardModel struct {
	state, twin *State
	now         time.Time
	n           int // leases that were ever asked for
	waits       map[LeaseID]Ask
	held        map[LeaseID]outstanding
	number      int64
	address     map[string]time.Time // before it, nobody may ask the address
	host        map[string]time.Time
	sent        []Release // that may come again
	granted     int
	epoch       map[string]uint64 // of each worker, by the ring
	gaveUp      map[string]time.Time
}

func byName(a, b LeaseID) int { return strings.Compare(a.String(), b.String()) }

// both plays one event on the state and on a twin that was written and read in between.
func (m *shardModel) both(t *rapid.T, do func(*State) []Answer) (answers []Answer) {
	if rapid.IntRange(0, 9).Draw(t, "written and read") == 0 {
		m.twin = copyOf(t, m.twin)
	}
	answers = do(m.state)
	if again := do(m.twin); !reflect.DeepEqual(again, answers) {
		t.Fatalf("a state that was written and read answers %+v, not %+v", again, answers)
	}
	var grants []Grant
	for _, a := range answers {
		grants = append(grants, a.Grants...)
		for _, lease := range a.Busy {
			maps.DeleteFunc(m.waits, func(id LeaseID, _ Ask) bool { return id.Claim == lease })
		}
	}
	slices.SortFunc(grants, func(a, b Grant) int { return cmp.Compare(a.Number, b.Number) })
	for _, g := range grants {
		m.grant(t, g)
	}
	m.check(t)
	return answers
}

// grant takes a grant, which must not let its holder ask beside another, or too early.
func (m *shardModel) grant(t *rapid.T, g Grant) {
	old, again := m.held[g.ID]
	ask, waits := m.waits[g.ID]
	switch {
	case again:
		ask = old.ask
	case !waits:
		t.Fatalf("%v is granted what it does not wait for", g.ID)
	}
	if g.Number <= m.number && !again {
		t.Fatalf("%v has the number %d, after %d", g.ID, g.Number, m.number)
	}
	m.number = max(m.number, g.Number)
	delete(m.waits, g.ID)
	m.held[g.ID] = outstanding{ask, g}
	if again {
		return
	}
	m.granted++
	at, least := 0, ask.PerIP
	for id, o := range m.held {
		if o.ask.IP == ask.IP {
			at, least = at+1, min(least, o.ask.PerIP)
		}
		if id != g.ID && o.ask.Host == ask.Host && !sameClaim(o.ask, ask) {
			t.Fatalf("%v is granted %s while %v asks it", g.ID, ask.Host, id)
		}
	}
	if at > least {
		t.Fatalf("%d leases are held at %s, %d are allowed", at, ask.IP, least)
	}
	from := g.NotBefore
	if g.HostNotBefore.After(from) {
		from = g.HostNotBefore
	}
	for what, next := range map[string]time.Time{ask.IP: m.address[ask.IP], ask.Host: m.host[ask.Host]} {
		if next.After(m.now) && next.After(from) {
			t.Fatalf("at %s %v may ask from %s on, %s rests until %s", m.now, g.ID, from, what, next)
		}
	}
}

// rests notes that an address, and its host, may not be asked for some time.
func (m *shardModel) rests(ask Ask, rest, hostRest time.Duration) {
	if next := m.now.Add(rest); next.After(m.address[ask.IP]) {
		m.address[ask.IP] = next
	}
	if next := m.now.Add(max(rest, hostRest)); next.After(m.host[ask.Host]) {
		m.host[ask.Host] = next
	}
}

// ended forgets leases, whose addresses rest as their asks say, from a moment on.
func (m *shardModel) ended(over func(LeaseID, outstanding) bool) {
	for id, o := range m.held {
		if over(id, o) {
			m.rests(o.ask, o.ask.Rest, 0)
			delete(m.held, id)
		}
	}
}

func (m *shardModel) check(t *rapid.T) {
	if held, waiting, _ := m.state.Counts(); held != len(m.held) || waiting != len(m.waits) {
		t.Fatalf("it counts %d leases and %d asks; there are %d and %d", held, waiting, len(m.held), len(m.waits))
	}
	raw, err := json.Marshal(m.state)
	if err != nil || len(raw) > m.state.bytes {
		t.Fatalf("its JSON form has %d bytes, %d were counted, %v", len(raw), m.state.bytes, err)
	}
	for ip, a := range m.state.addresses {
		if a.empty() {
			continue
		}
		if due := m.state.wake(a, m.now); due.IsZero() && a.list != nil || !due.IsZero() && (a.list != &m.state.busy || !a.due.Equal(due)) {
			t.Fatalf("at %s %s is due at %s, and entered at %s", m.now, ip, due, a.due)
		}
	}
}

// pass lets time pass: the shard wakes whenever it says so.
func (m *shardModel) pass(t *rapid.T, by time.Duration) {
	until := m.now.Add(by)
	for n := 0; ; {
		wake, ok := m.state.Wake()
		if !ok || wake.After(until) {
			break
		}
		if n++; !wake.After(m.now) && n > 40 {
			t.Fatalf("at %s it wakes at %s, again and again", m.now, wake)
		}
		if wake.After(m.now) {
			m.now, n = wake, 0
		}
		m.ended(func(_ LeaseID, o outstanding) bool { return !o.grant.Deadline.After(m.now) })
		m.both(t, func(s *State) []Answer { return s.Tick(m.now) })
	}
	m.now = until
}

func (m *shardModel) serve(t *rapid.T, r Round) []Answer {
	return m.both(t, func(s *State) []Answer { return s.Serve(m.now, []Round{r}) })
}

func (m *shardModel) ask(t *rapid.T) {
	ask := Ask{
		Lease: fmt.Sprint(m.n), Crawl: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "crawl"), Worker: rapid.SampledFrom([]string{"v", "w", "z"}).Draw(t, "worker"), Reply: "r",
		IP: fmt.Sprintf("10.0.0.%d", rapid.IntRange(0, 4).Draw(t, "ip")), Host: fmt.Sprintf("h%d.example", rapid.IntRange(0, 5).Draw(t, "host")),
		PerIP: rapid.IntRange(1, 3).Draw(t, "per_ip"), Rest: time.Minute, Permit: rapid.Bool().Draw(t, "permit"), Weight: rapid.IntRange(0, 3).Draw(t, "weight"),
	}
	line := ask
	if rapid.Bool().Draw(t, "line") {
		line.Line = 2
	}
	m.n++
	m.waits[ask.ID()] = ask
	r := Round{From: "r", Round: 1, Worker: ask.Worker, Epoch: m.epoch[ask.Worker], Asks: []Ask{line}}
	late := r.Epoch > 1 && m.now.Before(m.gaveUp[ask.Worker].Add(departedKept)) && rapid.IntRange(0, 3).Draw(t, "late") == 0 // it was sent before the worker was given up
	if late {
		r.Epoch--
	}
	m.serve(t, r)
	if _, waits := m.waits[ask.ID()]; late && ask.Permit && (waits || m.held[ask.ID()].ask.IP != "") {
		t.Fatalf("%v is taken, though its worker was given up since it was sent", ask.ID())
	}
}

// one draws a lease that is held, or an ask that waits.
func one[V any](t *rapid.T, of map[LeaseID]V) (id LeaseID, some bool) {
	if len(of) == 0 {
		return id, false
	}
	return rapid.SampledFrom(slices.SortedFunc(maps.Keys(of), byName)).Draw(t, "lease"), true
}

func (m *shardModel) release(t *rapid.T) {
	id, some := one(t, m.held)
	if !some {
		return
	}
	o := m.held[id]
	r := Release{
		Lease: id.Claim, Crawl: id.Crawl, Worker: id.Worker, IP: o.ask.IP, Number: o.grant.Number, Asked: true, Host: o.ask.Host,
		Rest: time.Duration(rapid.IntRange(0, 8000).Draw(t, "rest")) * time.Millisecond, Trouble: rapid.SampledFrom([]Trouble{"", "", "", TroubleBusy, TroubleTimeOut, TroubleConnection}).Draw(t, "trouble"),
	}
	if rapid.IntRange(0, 3).Draw(t, "longer") == 0 {
		r.HostRest = time.Duration(rapid.IntRange(0, 300).Draw(t, "host rest")) * time.Second
	}
	delete(m.held, id)
	m.rests(o.ask, r.Rest, r.HostRest)
	m.sent = append(m.sent, r)
	m.serve(t, Round{Releases: []Release{r}})
}

// again sends a release that was sent before.
func (m *shardModel) again(t *rapid.T) {
	if len(m.sent) == 0 {
		return
	}
	r := rapid.SampledFrom(m.sent).Draw(t, "sent again")
	if next := m.now.Add(r.Rest); next.After(m.address[r.IP]) {
		m.address[r.IP] = next
	}
	m.serve(t, Round{Releases: []Release{r}})
}

func (m *shardModel) renew(t *rapid.T) {
	id, some := one(t, m.held)
	if !some {
		return
	}
	o := m.held[id]
	for _, a := range m.serve(t, Round{From: "r", Round: 1, Renewals: []Renewal{{o.ask, o.grant.Number}}}) {
		if len(a.Refused) > 0 {
			t.Fatalf("the renewal of %v, which is held, is refused", id)
		}
	}
	o = m.held[id]
	o.grant.Deadline = m.now.Add(DefaultTTL)
	m.held[id] = o
}

// askAgain asks for what is held or waits.
func (m *shardModel) askAgain(t *rapid.T) {
	id, some := one(t, m.held)
	ask := m.held[id].ask
	if rapid.Bool().Draw(t, "one that waits") || !some {
		if id, some = one(t, m.waits); !some {
			return
		}
		ask = m.waits[id]
	}
	m.serve(t, Round{From: "r", Round: 1, Asks: []Ask{ask}})
}

// withdraw takes an ask back.
func (m *shardModel) withdraw(t *rapid.T) {
	if id, some := one(t, m.waits); some {
		ask := m.waits[id]
		delete(m.waits, id)
		m.serve(t, Round{Releases: []Release{ask.Withdrawal()}})
	}
}

// gone says that the ring has given a worker up, or that it has left.
func (m *shardModel) gone(t *rapid.T) {
	g := Gone{Worker: rapid.SampledFrom([]string{"v", "w"}).Draw(t, "gone"), At: m.now.Add(time.Second), Left: rapid.Bool().Draw(t, "left")}
	m.epoch[g.Worker]++ // it comes back by this epoch
	g.Epoch, m.gaveUp[g.Worker] = m.epoch[g.Worker], m.now
	m.ended(func(id LeaseID, o outstanding) bool { return id.Worker == g.Worker && o.ask.Permit })
	maps.DeleteFunc(m.waits, func(id LeaseID, ask Ask) bool { return id.Worker == g.Worker && (ask.Permit || !g.Left) })
	m.serve(t, Round{Gone: []Gone{g}})
}

// known is the first round of a controller: what it does not know belongs to a run that is gone.
func (m *shardModel) known(t *rapid.T) {
	k := Known{Crawl: "one", Worker: rapid.SampledFrom([]string{"v", "w"}).Draw(t, "known"), At: m.now.Add(time.Second)}
	its := func(id LeaseID) bool { return id.Crawl == k.Crawl && id.Worker == k.Worker }
	for _, id := range slices.SortedFunc(maps.Keys(m.held), byName) {
		if its(id) && rapid.Bool().Draw(t, "is known") {
			k.Leases = append(k.Leases, id.Claim)
		}
	}
	m.ended(func(id LeaseID, _ outstanding) bool { return its(id) && !slices.Contains(k.Leases, id.Claim) })
	maps.DeleteFunc(m.waits, func(id LeaseID, _ Ask) bool { return its(id) })
	m.serve(t, Round{Known: &k})
}

// undelivered says that a grant has found nobody.
func (m *shardModel) undelivered(t *rapid.T) {
	if id, some := one(t, m.held); some {
		o := m.held[id]
		if a := m.state.at(o.ask.IP).holder(id); a.First == o.grant.Number {
			delete(m.held, id)
		}
		m.both(t, func(s *State) []Answer { return s.Undelivered(m.now, []Grant{o.grant}) })
	}
}

// TestAllRules plays random histories with all rules together, as shards have them: whatever is asked, released, sent again, renewed, given up or lost, no address has more leases than it may
// have, no host is asked under the leases of two claims, none is asked before its rest is over; a state that was written and read does the same; and in the end every ask was granted.
func TestAllRules(t *testing.T) {
	granted := 0
	rapid.Check(t, func(t *rapid.T) {
		m := &shardModel{state: NewPresent(0, 0), twin: NewPresent(0, 0), now: start, waits: map[LeaseID]Ask{}, held: map[LeaseID]outstanding{}, address: map[string]time.Time{}, host: map[string]time.Time{}, epoch: map[string]uint64{"v": 1, "w": 1, "z": 1}, gaveUp: map[string]time.Time{}}
		t.Repeat(map[string]func(*rapid.T){
			"ask": m.ask, "ask more": m.ask, "ask again": m.askAgain, "release": m.release, "release more": m.release, "again": m.again, "renew": m.renew,
			"withdraw": m.withdraw, "gone": m.gone, "known": m.known, "undelivered": m.undelivered,
			"wait": func(t *rapid.T) {
				m.pass(t, time.Duration(rapid.IntRange(1, 5000).Draw(t, "milliseconds"))*time.Millisecond)
			},
			"wait long": func(t *rapid.T) { m.pass(t, time.Duration(rapid.IntRange(1, 20).Draw(t, "minutes"))*time.Minute) },
		})
		for n := 0; len(m.held)+len(m.waits) > 0; n++ { // with deadlines alone
			if n > 10*m.n+10 {
				t.Fatalf("%d leases are held, %d asks wait in the end", len(m.held), len(m.waits))
			}
			m.pass(t, DefaultTTL)
		}
		m.pass(t, 2*MaxPause)
		m.serve(t, Round{})
		if _, _, addresses := m.state.Counts(); addresses > 0 {
			t.Fatalf("%d addresses are never forgotten", addresses)
		}
		granted += m.granted
	})
	if granted == 0 {
		t.Error("nothing was granted: the test tests nothing")
	}
}
