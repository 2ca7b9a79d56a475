package politeness

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// HostWait is the longest rest of a host, beside the pause of a lane, for which asks for it wait in the line. At a longer one they are granted: the
// claim learns of the rest and gives its lease back.
const HostWait = time.Minute

// What the JSON form of a state takes for keeping hosts apart, and of a host that was asked last at an address, beside the strings in it, at most.
const apartBytes, lastBytes = 64, 8

// hostUse is who asks a host, and who waits to, at whatever addresses of the shard.
type hostUse struct {
	holders []*holder
	waiters []*waiter
	rests   *address // the address at which it was asked last, if no other host was asked there since: it rests as long; else nil
}

// KeepHostsApart has a host asked under the leases of one claim at a time, at whatever addresses, or no longer. Executions of earlier versions do not, also if the state comes
// from one that did: what they do must be the same when they are replayed.
//
// Invariant: all leases on the host of an ask are its own claim's, or it waits; and nobody gets a lease on the host at another address before the pause
// of the lane before is over. The asks for a host that is free are served in the order in which they came, each when its address is free: none waits
// for an address that another one stands in line for. An address does not wait for a host: it is leased for the other hosts that lie at it.
func (s *State) KeepHostsApart(on bool) {
	if s.Apart == on {
		return
	}
	if s.Apart = on; on {
		s.bytes += apartBytes
	} else {
		s.bytes -= apartBytes
	}
	for _, ip := range slices.Sorted(maps.Keys(s.addresses)) {
		if a := s.addresses[ip]; on {
			s.schedule(a, time.Time{})
		} else {
			s.setLast(a, "")
			s.schedule(a, time.Time{})
		}
	}
}

// use is the use of a host, which it begins.
func (s *State) use(host string) *hostUse {
	u := s.uses[host]
	if u == nil {
		u = &hostUse{}
		s.uses[host] = u
	}
	return u
}

// noteUse changes the use of a host, and forgets one that is over.
func (s *State) noteUse(host string, change func(u *hostUse)) {
	if host == "" {
		return
	}
	u := s.use(host)
	if change(u); len(u.holders)+len(u.waiters) == 0 && u.rests == nil {
		delete(s.uses, host)
	}
}

func (s *State) useAsHolder(h *holder) {
	s.noteUse(h.Host, func(u *hostUse) { u.holders = append(u.holders, h) })
}

func (s *State) useAsWaiter(w *waiter) {
	s.noteUse(w.Host, func(u *hostUse) { u.waiters = append(u.waiters, w) })
}

func (s *State) endUseAsHolder(h *holder) {
	s.noteUse(h.Host, func(u *hostUse) {
		u.holders = slices.DeleteFunc(u.holders, func(other *holder) bool { return other == h })
	})
}

func (s *State) endUseAsWaiter(w *waiter) {
	s.noteUse(w.Host, func(u *hostUse) {
		u.waiters = slices.DeleteFunc(u.waiters, func(other *waiter) bool { return other == w })
	})
}

// setLast notes which host was asked last at an address, for as long as it rests; none if host is empty. A host was asked last at one address.
func (s *State) setLast(a *address, host string) {
	if !s.Apart && host != "" {
		return
	}
	if a.last != "" {
		s.bytes -= lastBytes + len(a.ip) + len(a.last)
		s.noteUse(a.last, func(u *hostUse) { u.rests = nil })
		a.last = ""
	}
	if host == "" {
		return
	}
	if before := s.use(host).rests; before != nil {
		if before.next.After(a.next) {
			return
		}
		s.setLast(before, "")
	}
	a.last = host
	s.bytes += lastBytes + len(a.ip) + len(host)
	s.noteUse(host, func(u *hostUse) { u.rests = a })
}

// restoreLast takes over which hosts were asked last at which addresses.
func (s *State) restoreLast(last map[string]string) {
	for _, ip := range slices.Sorted(maps.Keys(last)) {
		if a := s.addresses[ip]; a != nil {
			s.setLast(a, last[ip])
		}
	}
}

// sameClaim reports whether two asks are for leases of one claim: its own, or one that it borrows.
func sameClaim(a, b Ask) bool {
	first, _, _ := strings.Cut(a.Lease, loanMark)
	second, _, _ := strings.Cut(b.Lease, loanMark)
	return first == second && a.Crawl == b.Crawl && a.Worker == b.Worker
}

// askedBy is a lease under which another claim may ask the host of an ask; nil if there is none.
func (s *State) askedBy(ask Ask) *holder {
	u := s.uses[ask.Host]
	if u == nil || ask.Host == "" || !s.Apart {
		return nil
	}
	for _, h := range u.holders {
		if !sameClaim(h.Ask, ask) {
			return h
		}
	}
	return nil
}

// hostRests is until when a host rests for which asks wait.
func (s *State) hostRests(host string) time.Time {
	if !s.Apart || host == "" {
		return time.Time{}
	}
	until := s.hosts[host].shortRest()
	if u := s.uses[host]; u != nil && u.rests != nil {
		until = times.Latest(until, u.rests.next)
	}
	return until
}

// shortRest is until when a host rests if that is no longer than HostWait in all.
func (h hostRest) shortRest() (until time.Time) {
	if h.Short {
		until = h.Next
	}
	if h.Slow.Rest <= HostWait {
		until = times.Latest(until, h.Slow.Until)
	}
	if h.until().After(until) {
		return time.Time{}
	}
	return until
}

// readyAt is when an ask may be granted at an address that has room; false if that is not known yet, because its host is asked.
func (s *State) readyAt(a *address, w *waiter) (at time.Time, known bool) {
	return times.Latest(a.next, s.hostRests(w.Host)).Add(-GrantAhead), s.askedBy(w.Ask) == nil
}

// next is the ask that gets an address at a time; nil if none does.
func (s *State) next(a *address, now time.Time) *waiter {
	if !s.Apart {
		if len(a.waiters) == 0 || a.next.Add(-GrantAhead).After(now) {
			return nil
		}
		return a.nextWaiter(s.Fair, a.waiters)
	}
	ready := a.waiters[:0:0]
	for _, w := range a.waiters {
		if at, known := s.readyAt(a, w); known && !at.After(now) {
			ready = append(ready, w)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	return a.nextWaiter(s.Fair, ready)
}

// grantsAt is when the next ask for an address gets it, if nothing else happens; zero if none will.
//
// Invariant: it is never before now if the state is exact. An ask that may be granted from an earlier moment on stands behind one that may be from a later moment on, and both moments
// are over: the one in front gets the address next, and it may need more room there than is free. In executions of earlier versions the address counted as due since the earlier moment, and
// the shard woke for nothing until a lease ended.
func (s *State) grantsAt(a *address, now time.Time) time.Time {
	if !s.Apart {
		if len(a.waiters) > 0 && a.free(a.nextWaiter(s.Fair, a.waiters).PerIP) {
			return a.next.Add(-GrantAhead)
		}
		return time.Time{}
	}
	var moments []time.Time
	for _, w := range a.waiters {
		if at, known := s.readyAt(a, w); known && !slices.ContainsFunc(moments, at.Equal) {
			moments = append(moments, at)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	for _, at := range moments {
		if s.Exact {
			at = times.Latest(at, now)
		}
		if a.free(s.next(a, at).PerIP) {
			return at
		}
	}
	return time.Time{}
}

// free notes that it has changed who asks a host, or from when on it may be asked.
func (p *pass) free(host string) {
	if p.s.Apart && host != "" {
		p.freed[host] = true
	}
}

// end takes a lease off its address. The address and the host are not to be asked before next; zero if nothing was asked. The host that was asked there
// before, and still rests, does so by an entry of its own.
func (p *pass) end(a *address, h *holder, next time.Time) {
	p.s.end(a, h)
	p.free(h.Host)
	p.free(a.last)
	if p.s.Apart && !next.IsZero() {
		if a.last != h.Host {
			p.restFrom(a.last, a.next)
		}
		a.push(next)
		p.s.setLast(a, h.Host)
	}
	a.push(next)
}

// restFrom has a host rest until then by an entry of its own, as its address is going to rest for another one.
func (p *pass) restFrom(host string, next time.Time) {
	known := p.s.hosts[host]
	if host == "" || !next.After(p.now) || !next.After(known.Next) {
		return
	}
	known.Next, known.Short, known.Lease = next, true, "" // no release of the lease that has said the rest before may shorten it
	p.keepHost(host, known, p.s.hostRoom())
}

// inTurn lists the addresses that were touched, and those that are wanted for hosts that have become free, in the order in which they are granted: each
// is served until it is full, those first whose first ask that can be granted has waited for longest.
func (p *pass) inTurn() []string {
	if !p.s.Apart {
		return slices.Sorted(maps.Keys(p.touched))
	}
	for _, ip := range p.wantedFor(slices.Sorted(maps.Keys(p.freed))) {
		p.touch(ip)
	}
	since := make(map[string]int64, len(p.touched))
	touched := slices.Sorted(maps.Keys(p.touched))
	for _, ip := range touched {
		if a := p.s.addresses[ip]; a != nil {
			if w := p.s.next(a, p.now); w != nil {
				since[ip] = w.Since
			}
		}
	}
	slices.SortFunc(touched, func(a, b string) int {
		return cmp.Or(cmp.Compare(since[a], since[b]), cmp.Compare(a, b))
	})
	return touched
}

// wantedFor lists the addresses at which asks wait for hosts.
func (p *pass) wantedFor(hosts []string) []string {
	var ips []string
	for _, host := range hosts {
		if u := p.s.uses[host]; u != nil && host != "" {
			for _, w := range u.waiters {
				ips = append(ips, p.s.at(w.IP).ip)
			}
		}
	}
	return ips
}

// scheduleTouched enters the addresses that were touched when they are due.
//
// Invariant: after each pass all addresses are entered as if the state had just been read. A grant changes when others are due: an ask that waits for
// the host is passed over from then on, and the ask behind it may be granted earlier, as it takes a second lease at the address and the first does not.
func (p *pass) scheduleTouched(touched []string) {
	if p.s.Apart {
		hosts := make([]string, 0, len(p.grants))
		for _, g := range p.grants {
			if a := p.s.at(g.IP); a != nil {
				if h := a.holder(g.ID); h != nil {
					hosts = append(hosts, h.Host)
				}
			}
		}
		touched = append(touched, p.wantedFor(hosts)...)
	}
	for _, ip := range touched {
		if a := p.s.addresses[ip]; a != nil {
			p.s.schedule(a, p.now)
		}
	}
}
