package claims

import (
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// LaneEnd says how the fetching of a claim ended, or how far it came before it was cut off.
type LaneEnd struct {
	Address     time.Time          // when its address may be asked again; zero: it was not asked, or has been given back before
	Host        time.Time          // when its hosts may be asked again, at whatever address
	Delay       time.Duration      // the longest Crawl-delay that is known of its hosts
	Unreachable bool               // nothing answered; it counts against the queue
	Unread      map[string]int     // batches in a row that could not ask for a robots.txt, by origin; kept for the next one
	Trouble     politeness.Trouble // why its host is to be slowed down, see politeness.Release
}

// End ends the fetching of a claim: its lease goes into the journal, if it still has it, and its host rests. false if the claim is
// gone, or has ended.
func (s *Set) End(id string, end LaneEnd, t Terms) (ch Change, ends bool) {
	c := s.claims[id]
	if c == nil || c.Ended {
		return ch, false
	}
	if c.Leased() {
		ended := c.release(end.Address, end.Host).withTrouble(c.PLD, end)
		ended.Asked = !end.Address.IsZero()
		ch.Releases = []EndedLease{ended}
	} else { // its lease went before, with a host that was to rest as long as an answer may take
		corrected := c.release(s.journal[c.ID].Next, end.Host)
		corrected.Host, corrected.HostNext, corrected.Asked = c.PLD, end.Host, true
		ch.Releases = []EndedLease{corrected.withTrouble(c.PLD, end)}
	}
	ch.rest(c.Queue, end.Host)
	s.unreturned(c, t, &ch)
	ended := *c
	ended.Ended, ended.Borrowed, ended.Addresses = true, nil, nil
	ch.Claims = []Claim{ended}
	return ch, true
}

// Owe notes what is owed to the host of a claim that is still fetched, or whose fetching was cut off. false if that is known.
func (s *Set) Owe(id string, end LaneEnd) (ch Change, more bool) {
	c := s.claims[id]
	if c == nil || c.Ended || !end.Host.After(c.HostNotBefore) && end.Delay <= c.Delay {
		return ch, false
	}
	owing := *c
	owing.HostNotBefore, owing.Delay = times.Latest(c.HostNotBefore, end.Host), max(c.Delay, end.Delay)
	ch.rest(c.Queue, owing.HostNotBefore)
	ch.Claims = []Claim{owing}
	return ch, true
}

// Yield gives the lease of a claim back while an answer is read until a time, at most: what the server answers is said by End. Nothing changes if the claim has no lease.
func (s *Set) Yield(id string, next, until time.Time) (ch Change) {
	if c := s.claims[id]; c != nil && c.Leased() {
		reading := *c
		reading.Reading = until
		ch.Claims, ch.Releases = []Claim{reading}, []EndedLease{c.release(next, until)}
	}
	return ch
}

// Drop takes claims out, with what they have of URLs, and ends their leases. Of those whose fetching did not say when the host may
// be asked again, it is not known when the last request was made, so the longest pause runs from now on, for the
// address and for the host.
func (s *Set) Drop(list []*Claim, t Terms) (ch Change) {
	for _, c := range list {
		ch.Dropped = append(ch.Dropped, Dropped{Claim: c, Back: true})
		if c.Ended {
			continue
		}
		s.unreturned(c, t, &ch)
		if c.Batch == "" { // nothing was asked of it
			ch.Releases = append(ch.Releases, EndedLease{Lease: c.ID, IP: c.IP})
			continue
		}
		host := times.Latest(c.HostNotBefore, t.Now.Add(c.longestPause(t)))
		if c.Leased() {
			ch.Releases = append(ch.Releases, c.release(t.Now.Add(t.maxDelay(c.PLD)), host))
		}
		ch.rest(c.Queue, host)
	}
	return ch
}
