// Package politeness holds the rules by which leases on IP addresses are granted: a pure state
// machine, without clock and without Temporal. At most per_ip leases are out on an address at a time,
// over all crawls and workers, and none before the address's next time.
package politeness

import (
	"maps"
	"slices"
	"time"
)

// Limits and defaults.
const (
	// DefaultTTL is how long a lease lasts if it is neither renewed nor released.
	DefaultTTL = 15 * time.Minute
	// GrantAhead is how far before an address's next time a lease is granted already: the holder
	// waits the rest out itself, which saves a timer.
	GrantAhead = 2 * time.Second
	// MaxPause bounds how far ahead a release can set an address's next time.
	MaxPause = 24 * time.Hour
	// ExpiryPause is how long an address rests after a lease that ended by its deadline: when its holder
	// last asked is not known.
	ExpiryPause = 30 * time.Second
	// minSweep is the number of addresses below which it is not worth looking for idle ones.
	minSweep = 64
)

// Ask is the wish of a batch to fetch from an address.
type Ask struct {
	Lease  string `json:"lease"` // unique; the claim's ID
	IP     string `json:"ip"`
	PerIP  int    `json:"per_ip"`
	Worker string `json:"worker"`
	Reply  string `json:"reply"` // the workflow that is told of the grant
}

// Release ends a lease or withdraws an ask; Next is when the address may be asked again, zero if that
// changes nothing.
type Release struct {
	Lease string    `json:"lease"`
	IP    string    `json:"ip"`
	Next  time.Time `json:"next,omitzero"`
}

// Renewal puts off a lease's deadline.
type Renewal struct {
	Lease string `json:"lease"`
	IP    string `json:"ip"`
}

// Grant gives a lease. The holder makes no request before NotBefore or after Deadline.
type Grant struct {
	Lease     string    `json:"lease"`
	IP        string    `json:"ip"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Deadline  time.Time `json:"deadline"`
	Reply     string    `json:"-"`
}

// Distinct returns one grant a lease: the one with the latest deadline, at the place of the first. A lease
// that is asked for twice is granted twice, for an answer may be lost; whoever acts on grants must act once.
func Distinct(grants []Grant) []Grant {
	at := make(map[string]int, len(grants))
	var out []Grant
	for _, g := range grants {
		i, seen := at[g.Lease]
		switch {
		case !seen:
			at[g.Lease] = len(out)
			out = append(out, g)
		case g.Deadline.After(out[i].Deadline):
			out[i] = g
		}
	}
	return out
}

// Holder is a lease that is out.
type Holder struct {
	Ask
	Deadline time.Time `json:"deadline"`
}

// Address is what is known of one IP address.
type Address struct {
	Holders []Holder  `json:"holders,omitempty"`
	Waiters []Ask     `json:"waiters,omitempty"` // first come, first served
	Next    time.Time `json:"next,omitzero"`
}

// State is the state of one shard. Its JSON form carries it over continue-as-new.
type State struct {
	Addresses map[string]*Address `json:"addresses"`
	TTL       time.Duration       `json:"ttl"`

	swept int // addresses that the last sweep left
}

// New returns an empty state; ttl 0 means DefaultTTL.
func New(ttl time.Duration) *State {
	if ttl <= 0 {
		ttl = DefaultTTL
	}
	return &State{Addresses: map[string]*Address{}, TTL: ttl}
}

// Ask takes asks and returns what can be granted now, of these and of earlier ones on the same
// addresses. An ask whose lease is held already is granted again: the answer may have been lost.
func (s *State) Ask(now time.Time, asks []Ask) []Grant {
	var grants []Grant
	touched := make([]string, 0, len(asks))
	for _, ask := range asks {
		a := s.address(ask.IP)
		if i := a.holder(ask.Lease); i >= 0 {
			a.Holders[i].Ask = ask
			a.Holders[i].Deadline = now.Add(s.TTL)
			grants = append(grants, a.grant(a.Holders[i]))
			continue
		}
		if i := a.waiter(ask.Lease); i >= 0 {
			a.Waiters[i] = ask
		} else {
			a.Waiters = append(a.Waiters, ask)
		}
		touched = append(touched, ask.IP)
	}
	s.sweep(now)
	return append(grants, s.settle(now, touched)...)
}

// Release takes releases and returns the leases that this frees for others. A release may come twice, or
// after its lease's deadline: when the address may be asked again counts all the same.
func (s *State) Release(now time.Time, releases []Release) []Grant {
	touched := make([]string, 0, len(releases))
	for _, r := range releases {
		if _, known := s.Addresses[r.IP]; !known && !r.Next.After(now) {
			continue
		}
		a := s.address(r.IP)
		if held := a.holder(r.Lease); held >= 0 {
			a.Holders = slices.Delete(a.Holders, held, held+1)
		}
		if limit := now.Add(MaxPause); r.Next.After(limit) {
			r.Next = limit
		}
		if r.Next.After(a.Next) {
			a.Next = r.Next
		}
		if i := a.waiter(r.Lease); i >= 0 {
			a.Waiters = slices.Delete(a.Waiters, i, i+1)
		}
		touched = append(touched, r.IP)
	}
	return s.settle(now, touched)
}

// Renew puts off the deadlines of leases that are still held.
func (s *State) Renew(now time.Time, renewals []Renewal) {
	for _, r := range renewals {
		if a, known := s.Addresses[r.IP]; known {
			if i := a.holder(r.Lease); i >= 0 {
				a.Holders[i].Deadline = now.Add(s.TTL)
			}
		}
	}
}

// Drop ends all leases and asks of a worker that has left the ring.
func (s *State) Drop(now time.Time, worker string) []Grant {
	var touched []string
	for _, ip := range s.sorted() {
		a := s.Addresses[ip]
		a.Holders = slices.DeleteFunc(a.Holders, func(h Holder) bool { return h.Worker == worker })
		a.Waiters = slices.DeleteFunc(a.Waiters, func(w Ask) bool { return w.Worker == worker })
		touched = append(touched, ip)
	}
	return s.settle(now, touched)
}

// Tick ends the leases whose deadline has passed and returns what can be granted now.
func (s *State) Tick(now time.Time) []Grant {
	ips := s.sorted()
	for _, ip := range ips {
		a := s.Addresses[ip]
		a.Holders = slices.DeleteFunc(a.Holders, func(h Holder) bool {
			if h.Deadline.After(now) {
				return false
			}
			if next := h.Deadline.Add(ExpiryPause); next.After(a.Next) {
				a.Next = next
			}
			return true
		})
	}
	return s.settle(now, ips)
}

// Wake is the next moment at which Tick has something to do; false if there is none.
func (s *State) Wake() (time.Time, bool) {
	var wake time.Time
	sooner := func(t time.Time) {
		if wake.IsZero() || t.Before(wake) {
			wake = t
		}
	}
	for _, ip := range s.sorted() {
		a := s.Addresses[ip]
		for _, h := range a.Holders {
			sooner(h.Deadline)
		}
		if len(a.Waiters) > 0 && a.free() {
			sooner(a.Next.Add(-GrantAhead))
		}
	}
	return wake, !wake.IsZero()
}

// Counts returns the numbers of leases held and of asks waiting.
func (s *State) Counts() (held, waiting int) {
	for _, ip := range s.sorted() {
		a := s.Addresses[ip]
		held += len(a.Holders)
		waiting += len(a.Waiters)
	}
	return held, waiting
}

// settle grants what can be granted on the addresses and forgets those of which nothing is left to know.
func (s *State) settle(now time.Time, ips []string) []Grant {
	slices.Sort(ips)
	var grants []Grant
	for _, ip := range slices.Compact(ips) {
		a, known := s.Addresses[ip]
		if !known {
			continue
		}
		for len(a.Waiters) > 0 && a.free() && !a.Next.Add(-GrantAhead).After(now) {
			h := Holder{Ask: a.Waiters[0], Deadline: now.Add(s.TTL)}
			a.Waiters = slices.Delete(a.Waiters, 0, 1)
			a.Holders = append(a.Holders, h)
			grants = append(grants, a.grant(h))
		}
		if len(a.Holders)+len(a.Waiters) == 0 && !a.Next.After(now) {
			delete(s.Addresses, ip)
		}
	}
	return grants
}

// sweep forgets the addresses whose next time has passed since their last lease ended. It waits until
// the addresses have doubled, so that it costs an ask next to nothing, and the state stays as small as
// what is in use.
func (s *State) sweep(now time.Time) {
	if len(s.Addresses) < 2*s.swept+minSweep {
		return
	}
	for _, ip := range s.sorted() {
		a := s.Addresses[ip]
		if len(a.Holders)+len(a.Waiters) == 0 && !a.Next.After(now) {
			delete(s.Addresses, ip)
		}
	}
	s.swept = len(s.Addresses)
}

func (s *State) address(ip string) *Address {
	a, known := s.Addresses[ip]
	if !known {
		a = &Address{}
		s.Addresses[ip] = a
	}
	return a
}

func (s *State) sorted() []string {
	return slices.Sorted(maps.Keys(s.Addresses))
}

// free tells whether the first waiter's per_ip and that of every holder leave room for one more.
func (a *Address) free() bool {
	limit := max(a.Waiters[0].PerIP, 1)
	for _, h := range a.Holders {
		limit = min(limit, max(h.PerIP, 1))
	}
	return len(a.Holders) < limit
}

func (a *Address) grant(h Holder) Grant {
	return Grant{Lease: h.Lease, IP: h.IP, NotBefore: a.Next, Deadline: h.Deadline, Reply: h.Reply}
}

func (a *Address) holder(lease string) int {
	return slices.IndexFunc(a.Holders, func(h Holder) bool { return h.Lease == lease })
}

func (a *Address) waiter(lease string) int {
	return slices.IndexFunc(a.Waiters, func(w Ask) bool { return w.Lease == lease })
}
