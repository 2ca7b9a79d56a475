package politeness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// pass serves the rounds of one moment. The addresses that it touches get their grants at its end: all releases, renewals and asks for an
// address are known before anybody gets it.
type pass struct {
	s          *State
	now        time.Time
	touched    map[string]bool
	askedAgain []*holder // that have asked again, and have their leases confirmed
	freed      map[string]bool
	grants     []Grant
}

func (s *State) begin(now time.Time) *pass {
	s.forget(now)
	return &pass{s: s, now: now, touched: map[string]bool{}, freed: map[string]bool{}}
}

// Serve serves rounds and returns the answers, in the order of those they go to: to each sender that waits for one, and to
// each asker that has a lease now. The answer to none ("") has the grants of asks that name nobody.
func (s *State) Serve(now time.Time, rounds []Round) []Answer {
	p := s.begin(now)
	answers := map[string]*Answer{}
	for _, r := range rounds {
		fault := s.fault(r)
		if fault == "" {
			differing := s.noteGroups(now, r)
			refused, busy := p.round(r)
			if r.Round > 0 {
				a := answerTo(answers, r.From)
				a.Round, a.Refused, a.Differing = max(a.Round, r.Round), append(a.Refused, refused...), differing
				a.Busy = append(a.Busy, busy...)
			}
			continue
		}
		a := answerTo(answers, r.From)
		a.Round, a.Fault = max(a.Round, r.Round), fault
	}
	return s.answers(p.grantTouched(), answers)
}

// fault reports why a round cannot be served: a worker with another number of shards asks for addresses that belong to
// another shard, and both shards would grant a lease for the same address.
func (s *State) fault(r Round) string {
	if s.Shards == 0 || r.Shards == 0 || s.Shards == r.Shards {
		return ""
	}
	return fmt.Sprintf("politeness has %d shards, the worker that asks was started with politeness-shards %d", s.Shards, r.Shards)
}

func (p *pass) round(r Round) (refused []Key, busy []string) {
	if r.Known != nil {
		p.endUnknown(*r.Known)
	}
	for _, gone := range r.Gone {
		p.endGone(gone)
	}
	for _, release := range r.Releases {
		p.release(release)
	}
	for _, renewal := range r.Renewals {
		if p.s.late(p.now, r, renewal.Ask) || !p.renew(renewal) {
			refused = append(refused, Key{Lease: renewal.Lease, Number: renewal.Number})
		}
	}
	for _, ask := range r.Asks {
		if p.s.late(p.now, r, ask) || !p.ask(ask) {
			busy = append(busy, ask.Lease)
		}
	}
	return refused, busy
}

// Tick ends the leases whose deadline has passed and returns what can be granted now.
func (s *State) Tick(now time.Time) []Answer {
	p := s.begin(now)
	for a := s.busy.first(); a != nil && !a.due.After(now); a = s.busy.first() {
		for _, h := range slices.Clone(p.touch(a.ip).holders) {
			if !h.Deadline.After(now) {
				p.end(a, h, h.Deadline.Add(h.rest()))
			}
		}
	}
	return s.answers(p.grantTouched(), map[string]*Answer{})
}

// Undelivered frees what was granted to an asker that is gone. A lease that was granted before, and is only confirmed,
// stays: its lane may be making requests.
func (s *State) Undelivered(now time.Time, grants []Grant) []Answer {
	p := s.begin(now)
	for _, g := range grants {
		if a := s.at(g.IP); a != nil {
			if h := a.grant(g.Number); h != nil && h.First == g.Number {
				p.end(p.touch(a.ip), h, time.Time{})
			}
		}
	}
	return s.answers(p.grantTouched(), map[string]*Answer{})
}

// number numbers a grant or an ask by Temporal's time in microseconds, so that numbers grow even over a loss of the state.
func (p *pass) number() int64 {
	p.s.Last = max(p.s.Last+1, p.now.UnixMicro())
	return p.s.Last
}

// touch returns an address, which it makes known and takes out of its agenda until the pass ends.
func (p *pass) touch(ip string) *address {
	ip = p.s.key(ip)
	a := p.s.addresses[ip]
	if a == nil {
		var next time.Time
		if p.s.Floor.After(p.now) {
			next = p.s.Floor
		}
		a = p.s.add(ip, next)
	}
	a.leave()
	p.touched[ip] = true
	return a
}

// deadline is when a lease that is granted now ends if it is neither renewed nor released.
func (p *pass) deadline(ask Ask) time.Time {
	if ask.Loan {
		return p.now.Add(min(p.s.TTL, LoanTTL))
	}
	return p.now.Add(p.s.TTL)
}

// ask takes an ask into the line; false if that is full.
func (p *pass) ask(ask Ask) bool {
	a := p.touchFor(ask)
	line := ask
	ask.Line = 0
	if h := a.holder(ask.ID()); h != nil {
		p.s.bytes += sizeOf(ask) - sizeOf(h.Ask)
		p.s.endUseAsHolder(h)
		h.Ask, h.Deadline = ask, p.deadline(ask)
		p.s.useAsHolder(h)
		if h.Number < p.now.UnixMicro() { // not granted in this very pass
			h.Number = p.number()
		}
		p.askedAgain = append(p.askedAgain, h)
		return true
	}
	if w := a.waiter(ask.ID()); w != nil {
		if w.Reply == ask.Reply {
			p.s.bytes += sizeOf(ask) - sizeOf(w.Ask)
			p.s.endUseAsWaiter(w)
			w.Ask = ask
			p.s.useAsWaiter(w)
			return true
		}
		place := slices.Index(a.waiters, w)
		p.s.withdraw(a, w)
		again := &waiter{ask, p.number()}
		p.s.enqueue(a, again)
		copy(a.waiters[place+1:], a.waiters[place:]) // keeps its place in the line of the address
		a.waiters[place] = again
		return true
	}
	if !p.s.admits(p.now, a, line) {
		return false
	}
	room := sizeOf(ask)
	if p.s.Exact {
		room += restRoom
	}
	if !p.s.makeRoom(p.now, room) {
		p.s.Turned++
		return true
	}
	p.s.limitTurn(a, ask.Crawl)
	p.s.enqueue(a, &waiter{ask, p.number()})
	return true
}

// release ends a grant, unless there is a newer one of the same lease. It may come twice, or after its lease's deadline; the
// rest of the address counts nevertheless.
func (p *pass) release(r Release) {
	p.restHost(r)
	p.slowServer(r)
	a := p.s.at(r.IP)
	if a == nil && (r.Rest <= 0 || !p.s.makeRoom(p.now, addressBytes+len(r.IP))) {
		if p.s.Exact && r.Rest > 0 { // there is no room for it: it rests as all unknown addresses do
			p.s.Floor = times.Latest(p.s.Floor, ceilMillis(p.now.Add(min(r.Rest, MaxFloor))))
		}
		return
	}
	a = p.touch(r.IP)
	var next time.Time
	if r.Rest > 0 {
		next = p.now.Add(min(r.Rest, MaxPause))
	}
	if h := a.holder(r.ID()); h != nil && (r.Number == 0 || r.Number >= h.Number) {
		p.end(a, h, next)
	}
	if w := a.waiter(r.ID()); w != nil && r.Number == 0 {
		p.s.withdraw(a, w)
	}
	a.push(next)
	p.free(a.last)
	if rest := p.s.hosts[serverName(a.ip)].Server.pause(p.now); rest > 0 && r.Number > 0 {
		a.push(p.now.Add(rest))
	}
}

// renew extends a deadline. A lease that is not held, because it ran out or the shard lost its state, is held again if the
// address is free: its holder is making requests, and comes before all that wait.
func (p *pass) renew(r Renewal) bool {
	a := p.touchFor(r.Ask)
	if h := a.holder(r.ID()); h != nil {
		h.Deadline = p.now.Add(p.s.TTL)
		h.Rest = max(h.Rest, r.Rest)
		return true
	}
	if !a.free(r.PerIP) || p.s.askedBy(r.Ask) != nil {
		return false
	}
	if w := a.waiter(r.ID()); w != nil {
		p.s.withdraw(a, w)
	}
	p.s.Last = max(p.s.Last, r.Number)
	p.s.addHolder(a, &holder{Ask: r.Ask, Number: r.Number, Deadline: p.now.Add(p.s.TTL)})
	p.free(r.Host)
	return true
}

// endUnknown ends what a crawl has on a worker beside the leases that are known. Requests may have been made until now.
func (p *pass) endUnknown(k Known) {
	known := make(map[string]bool, len(k.Leases))
	for _, lease := range k.Leases {
		known[lease] = true
	}
	gone := func(ask Ask, number int64) bool {
		claim, _, _ := strings.Cut(ask.Lease, loanMark) // a borrowed lease is its claim's
		return ask.Crawl == k.Crawl && ask.Worker == k.Worker && number < k.At.UnixMicro() && !known[claim]
	}
	p.endAll(gone, gone)
}

// endGone ends what a worker has that is not in the ring any more.
func (p *pass) endGone(g Gone) {
	asked := func(ask Ask, number int64) bool { return ask.Worker == g.Worker && number < g.At.UnixMicro() }
	permitted := func(ask Ask, number int64) bool { return ask.Permit && asked(ask, number) }
	p.s.depart(g.Worker, departure{g.Epoch, ceilMillis(p.now)})
	if g.Left {
		p.endAll(permitted, permitted)
	} else {
		p.endAll(permitted, asked)
	}
}

// endAll ends leases, as if requests had been made until now, and withdraws asks.
func (p *pass) endAll(leases, asks func(ask Ask, number int64) bool) {
	for _, ip := range slices.Sorted(maps.Keys(p.s.addresses)) {
		a := p.s.addresses[ip]
		for _, h := range slices.Clone(a.holders) {
			if leases(h.Ask, h.Number) {
				p.end(p.touch(ip), h, p.now.Add(h.rest()))
			}
		}
		for _, w := range slices.Clone(a.waiters) {
			if asks(w.Ask, w.Since) {
				p.s.withdraw(p.touch(ip), w)
			}
		}
	}
}

// grantTouched grants what can be granted on the addresses that were touched.
func (p *pass) grantTouched() []Grant {
	for _, h := range p.askedAgain { // after all messages about the address
		if a := p.s.at(h.IP); a.holder(h.ID()) == h {
			p.grants = append(p.grants, p.grant(a, h))
		}
	}
	touched := p.inTurn()
	for _, ip := range touched {
		a := p.s.addresses[ip]
		if a == nil {
			continue
		}
		for {
			if p.s.next(a, p.now) == nil {
				break
			}
			p.s.setTurns(a)
			w := p.s.next(a, p.now)
			if !a.free(w.PerIP) {
				break
			}
			p.s.withdraw(a, w)
			p.s.countTurn(a, w)
			h := &holder{Ask: w.Ask, Number: p.number(), Deadline: p.deadline(w.Ask)}
			h.First = h.Number
			p.s.addHolder(a, h)
			p.grants = append(p.grants, p.grant(a, h))
		}
		if len(a.waiters) == 0 {
			p.s.clearTurns(a)
		}
		if a.empty() {
			p.s.setRefused(a, nil)
		}
	}
	p.scheduleTouched(touched)
	p.s.forget(p.now)
	return p.grants
}

func (p *pass) grant(a *address, h *holder) Grant {
	g := Grant{Lease: h.Lease, ID: h.ID(), IP: h.IP, Number: h.Number, NotBefore: a.next, Deadline: h.Deadline, Reply: h.Reply}
	host, server := p.s.hosts[h.Host], p.s.hosts[serverName(a.ip)]
	until := times.Latest(host.until(), server.Slow.Until)
	if elsewhere := p.s.hostRests(h.Host); elsewhere.After(a.next) {
		until = times.Latest(until, elsewhere)
	}
	if until.After(p.now) {
		g.HostNotBefore = until
	}
	if slow := times.Latest(host.Slow.Until, server.Slow.Until); slow.After(p.now) {
		g.SlowUntil = slow
	}
	return g
}

func (h *holder) rest() time.Duration {
	if h.Rest > 0 {
		return min(h.Rest, MaxPause)
	}
	return DefaultRest
}

func answerTo(answers map[string]*Answer, id string) *Answer {
	if answers[id] == nil {
		answers[id] = &Answer{To: id}
	}
	return answers[id]
}

// answers adds grants to answers, and what their askers wait for.
func (s *State) answers(grants []Grant, answers map[string]*Answer) []Answer {
	for _, g := range Distinct(grants) {
		a := answerTo(answers, g.Reply)
		a.Grants = append(a.Grants, g)
	}
	var out []Answer
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		a := answers[id]
		if id != "" {
			a.Waiting = s.Waiting(id)
		}
		out = append(out, *a)
	}
	return out
}
