package frontier

import (
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/times"
)

// LaneEnd says how the fetching of a claim ended, or how far it came before it was cut off.
type LaneEnd struct {
	Address     time.Time      // when its address may be asked again; zero: it was not asked, or has been given back before
	Host        time.Time      // when its hosts may be asked again, at whatever address
	Delay       time.Duration  // the longest Crawl-delay that is known of its hosts
	Unreachable bool           // nothing answered; it counts against the queue
	Unread      map[string]int // batches in a row that could not ask for a robots.txt, by origin; kept for the next one
	Trouble     string         // why its host is to be slowed down, see politeness.Release
}

// Leases lists the leases of a crawl that may be out, be asked for, or be on their way back.
func (h Crawl) Leases() ([]string, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return nil, err
	}
	leases := slices.Collect(maps.Keys(s.claims))
	for lease := range s.journal {
		if s.claims[lease] == nil {
			leases = append(leases, lease)
		}
	}
	slices.Sort(leases)
	return leases, nil
}

// LeaseUntil returns until when a claim's lease lasts; the zero time if it has none.
func (h Lane) LeaseUntil() time.Time {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		if c, known := s.claims[h.claim]; known && c.leased() {
			return c.Lease
		}
	}
	return time.Time{}
}

// End says that a claim's fetching has ended: its lease goes into the journal of releases, if it still has it,
// and its hosts rest.
func (h Lane) End(end LaneEnd) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		c, known := s.claims[h.claim]
		if !known || c.Ended {
			h.f.mu.Unlock()
			return nil, nil
		}
		ended := *c
		ended.Ended = true
		q := s.queue(c.Queue, c.PLD)
		fails, unread := 0, end.Unread
		if end.Unreachable {
			fails = q.Fails + 1
		}
		pace, delay := q.PaceAfter(len(c.URLs), c.NotBefore, times.Latest(end.Host, h.f.opts.Now())), max(q.Delay, end.Delay)
		m := record.OfQueue(q)
		m.Next, m.Fails, m.Unread, m.Pace, m.Delay = record.Millis(end.Host), fails, unread, pace.Milliseconds(), delay.Milliseconds()
		h.f.mu.Unlock()
		if err := tx.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := s.saveMeta(tx.Tx, c.Queue, m); err != nil {
			return nil, err
		}
		var releases []Release
		if c.leased() {
			releases = []Release{c.release(end.Address, end.Host).withTrouble(c.PLD, end)}
		} else if !c.Reading.IsZero() { // its lease went before, with a host that was to rest as long as an answer may take
			corrected := c.release(s.journal[c.ID].Next, end.Host)
			corrected.Host, corrected.HostNext = c.PLD, end.Host
			releases = []Release{corrected.withTrouble(c.PLD, end)}
		}
		rests := map[uint64]time.Time{c.Queue: end.Host}
		h.f.unreturned(s, c, rests)
		releases = append(releases, h.f.unreturnedAddresses(s, c)...)
		ended.Borrowed, ended.Addresses = nil, nil
		rest, err := h.f.restHosts(tx, rests)
		if err != nil {
			return nil, err
		}
		apply, err := h.f.saveClaims(tx, s, []Claim{ended}, releases)
		return func() {
			q.Next, q.Fails, q.Unread, q.Pace, q.Delay = end.Host, fails, unread, pace, delay
			apply()
			rest()
			s.schedule.Place(q, h.f.opts.Now())
		}, err
	})
}

// KeepRest notes what is owed to the host of a claim that is still fetched, or whose fetching was cut off.
func (h Lane) KeepRest(end LaneEnd) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		c, known := s.claims[h.claim]
		if !known || c.Ended || !end.Host.After(c.HostNotBefore) && end.Delay <= c.Delay {
			h.f.mu.Unlock()
			return nil, nil
		}
		owing := *c
		owing.HostNotBefore, owing.Delay = times.Latest(c.HostNotBefore, end.Host), max(c.Delay, end.Delay)
		q := s.queue(c.Queue, c.PLD)
		m := record.OfQueue(q)
		delay := max(q.Delay, end.Delay)
		m.Delay = delay.Milliseconds()
		h.f.mu.Unlock()
		if err := tx.touch(s, c.Queue); err != nil {
			return nil, err
		}
		if err := s.saveMeta(tx.Tx, c.Queue, m); err != nil {
			return nil, err
		}
		rest, err := h.f.restHost(tx, c.Queue, owing.HostNotBefore)
		if err != nil {
			return nil, err
		}
		apply, err := h.f.saveClaims(tx, s, []Claim{owing}, nil)
		return func() {
			q.Delay = delay
			apply()
			rest()
		}, err
	})
}

// Yield gives the lease of a claim back while an answer is still read, at most until a time: its address may be
// asked again from next on, its hosts not before the claim has ended. It asks nothing more.
func (h Lane) Yield(next, until time.Time) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		h.f.mu.Lock()
		c, known := s.claims[h.claim]
		if !known || !c.leased() {
			h.f.mu.Unlock()
			return nil, nil
		}
		reading := *c
		reading.Reading = until
		h.f.mu.Unlock()
		if err := tx.touch(s, c.Queue); err != nil {
			return nil, err
		}
		return h.f.saveClaims(tx, s, []Claim{reading}, []Release{c.release(next, until)})
	})
}
