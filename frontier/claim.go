package frontier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/times"
)

// Claim holds URLs of one queue that a batch will fetch from one address.
type Claim struct {
	ID            string    `json:"id" cbor:"1,keyasint"` // also of its lease
	PLD           string    `json:"pld" cbor:"2,keyasint"`
	Queue         uint64    `json:"-" cbor:"3,keyasint"`
	URLs          []uint64  `json:"-" cbor:"4,keyasint"`
	IP            string    `json:"ip" cbor:"5,keyasint"`
	Batch         string    `json:"batch,omitempty" cbor:"6,keyasint"` // once started
	Deadline      time.Time `json:"deadline" cbor:"7,keyasint"`
	Asked         time.Time `json:"asked" cbor:"8,keyasint"`          // when the lease was asked for
	Lease         time.Time `json:"lease,omitzero" cbor:"9,keyasint"` // until when it lasts; zero: none
	NotBefore     time.Time `json:"earliest,omitzero" cbor:"10,keyasint"`
	Ended         bool      `json:"ended,omitempty" cbor:"11,keyasint"` // fetching has ended, the lease is released
	Fails         int       `json:"fails,omitempty" cbor:"12,keyasint"`
	Round         int64     `json:"-" cbor:"13,keyasint"` // of claiming
	HostNotBefore time.Time `json:"-" cbor:"14,keyasint"` // before it the host is not asked again: fetching was cut off
	// Of the batch's present life, see Life.
	Nonce   string `json:"-" cbor:"15,keyasint,omitempty"`
	Archive int    `json:"-" cbor:"16,keyasint,omitempty"`
	Opened  bool   `json:"-" cbor:"17,keyasint,omitempty"`

	Delay   time.Duration `json:"-" cbor:"18,keyasint,omitempty"` // the longest Crawl-delay that is known of its hosts
	Reading time.Time     `json:"-" cbor:"19,keyasint,omitzero"`  // the lease is released; an answer may be read until then

	Grant int64 `json:"-" cbor:"20,keyasint,omitempty"` // number of the grant that the lease goes by; 0: none yet

	// Borrowed are hosts beside its own that it may ask now, or could when it was killed.
	Borrowed []Borrowed `json:"-" cbor:"22,keyasint,omitempty"`

	// Addresses are those beside its own whose leases it has asked for, for a robots.txt, and not given back yet.
	Addresses []string `json:"-" cbor:"24,keyasint,omitempty"`

	// Unread counts, by origin, the earlier batches in a row that could not ask for its robots.txt. (21 was their number.)
	Unread map[string]int `json:"-" cbor:"23,keyasint,omitempty"`
}

// Borrowed is the right of a claim to ask another host than its own, for a robots.txt that lies there.
type Borrowed struct {
	Queue uint64        `cbor:"1,keyasint"`
	Until time.Time     `cbor:"2,keyasint"`
	Delay time.Duration `cbor:"3,keyasint,omitempty"` // the longest Crawl-delay that is known of the host
}

// asks lists the hosts that a claim may ask: its own, and those that it has borrowed.
func (c *Claim) asks() []uint64 {
	plds := []uint64{c.Queue}
	for _, b := range c.Borrowed {
		plds = append(plds, b.Queue)
	}
	return plds
}

// withoutLoan is what a claim has borrowed beside one host.
func (c *Claim) withoutLoan(pld uint64) []Borrowed {
	return slices.DeleteFunc(slices.Clone(c.Borrowed), func(b Borrowed) bool { return b.Queue == pld })
}

// leased reports whether the claim's lease is still its own: neither has its fetching ended, nor was it given up.
func (c *Claim) leased() bool { return !c.Ended && c.Reading.IsZero() }

// Resolve finds the address of a host. An error that is Refused or not temporary is the host's fate.
type Resolve func(ctx context.Context, host string) (addr string, err error)

// Want says what a round of claiming asks for.
type Want struct {
	Round   int64         // counts up; the same again means that its result was lost
	Claims  int           // at most
	Lanes   int           // claims that may be out at a time
	Linger  time.Duration // how long a round waits for more once it has something
	Quiet   time.Duration // the same, if it has only releases that nobody of this frontier waits for
	Until   time.Time     // return by then, with or without anything
	Hold    bool          // claim nothing; a round in which nothing is out any more is Idle
	PerIP   int           // claims that may wait for the lease of one address at a time
	Resolve Resolve
	Refused func(error) bool
	Backoff func(failures int) time.Duration
	Local   func(error) bool // reports whether a look-up failed for want of a network
	MaxFail int              // rounds in a row in which a host cannot be resolved before its URLs fail
}

// Round is what a round of claiming yields.
type Round struct {
	Claims   []Claim
	Releases []Release
	Renewals []Claim      // whose leases are to be renewed
	Expired  []string     // batches whose claims ran out: they are to be started again
	Drained  bool         // nothing is left and nothing is out
	Spent    crawl.Reason // which budget is spent, with nothing out; empty if none is
	Idle     bool         // nothing is out, of a round that claims nothing

	awaited bool // the releases cannot wait
	last    bool // nothing is out and nothing is left, or nothing may be claimed: there is nothing to wait for
}

func (r Round) empty() bool {
	return len(r.Claims)+len(r.Releases)+len(r.Renewals)+len(r.Expired) == 0 && !r.Drained && !r.Idle && r.Spent == ""
}

// Claim waits until there is something to claim, to release or to report, and returns it. Claims and
// journal stay until they are committed and confirmed, so a round that is lost is given again.
func (h Crawl) Claim(ctx context.Context, w Want) (Round, error) {
	round := Round{Claims: h.claimsOfRound(w)}
	var linger lingering
	for {
		h.f.mu.Lock()
		changed := h.f.changed
		h.f.mu.Unlock()
		if err := h.promote(); err != nil {
			return round, err
		}
		claims, err := h.claimReady(ctx, w, w.Claims-len(round.Claims))
		if err != nil {
			return round, err
		}
		round.Claims = append(round.Claims, claims...)
		now := h.f.opts.Now()
		wake, err := h.report(w, &round, now)
		if err != nil {
			return round, err
		}
		final := w.Claims > 0 && len(round.Claims) >= w.Claims || round.Drained || round.Idle || round.Spent != "" || len(round.Expired) > 0
		end := linger.until(w, round, now)
		if final || !end.IsZero() && !now.Before(end) || !now.Before(w.Until) {
			return round, nil
		}
		if !end.IsZero() {
			wake = times.Earliest(wake, end)
		}
		if err := h.f.wait(ctx, changed, times.Earliest(wake, w.Until)); err != nil {
			return round, err
		}
	}
}

// claimsOfRound returns the claims of a round that is asked for once more.
func (h Crawl) claimsOfRound(w Want) []Claim {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var claims []Claim
	if s, err := h.f.get(h.crawl); err == nil {
		for _, c := range s.claims {
			if c.Round == w.Round && c.Batch == "" {
				claims = append(claims, *c)
			}
		}
	}
	slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return claims
}

// report fills in what is not a claim and returns when to look again.
func (h Crawl) report(w Want, round *Round, now time.Time) (wake time.Time, err error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return wake, err
	}
	h.f.placeQueues(s) // else a queue whose budget was raised would seem spent
	wake = now.Add(time.Minute)
	round.Releases, round.Renewals, round.Expired = nil, nil, nil
	for _, r := range s.journal {
		round.Releases = append(round.Releases, r)
	}
	slices.SortFunc(round.Releases, func(a, b Release) int { return cmp.Compare(a.Lease, b.Lease) })
	round.awaited = h.f.awaited(s, round.Releases, now)
	expired := map[string]bool{}
	for _, c := range s.claims {
		if c.Batch != "" && now.After(c.Deadline) {
			expired[c.Batch] = true
		}
		due := c.Lease.Add(-h.f.opts.LeaseTTL / 2)
		if !h.f.renewable(c, now) {
			continue
		}
		if now.After(due) {
			round.Renewals = append(round.Renewals, *c)
		} else {
			wake = times.Earliest(wake, due.Add(time.Second))
		}
	}
	slices.SortFunc(round.Renewals, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	for batch := range expired {
		round.Expired = append(round.Expired, batch)
	}
	slices.Sort(round.Expired)
	s.schedule.Promote(now) // which claiming does not, if it may claim nothing
	if next, ok := s.schedule.NextTime(); ok && !next.IsZero() {
		wake = times.Earliest(wake, next)
	}
	if s.delays.n > 0 {
		wake = times.Earliest(wake, time.Unix(s.delays.first, 0))
	}
	spent := s.spent(now)
	if left := s.Started.Add(s.Definition.Budget.Time.D()); spent == "" {
		wake = times.Earliest(wake, left)
	}
	drained := s.waitingLive() == 0 && s.delays.n == 0
	nothingOut := len(s.claims)+len(round.Claims) == 0
	round.last = nothingOut && (w.Hold || spent != "" || drained)
	if nothingOut && len(s.journal) == 0 {
		round.Spent, round.Idle, round.Drained = spent, w.Hold, drained
	}
	return wake, nil
}

// spent names the budget that is spent.
func (s *state) spent(now time.Time) crawl.Reason {
	b := s.Definition.Budget
	switch {
	case s.Limit > 0 && s.Totals.Pages >= s.Limit:
		return crawl.ReasonPhase
	case s.Totals.Pages >= b.Pages:
		return crawl.ReasonPages
	case s.Totals.Requests >= b.MaxRequests():
		return crawl.ReasonRequests
	case s.Totals.Bytes >= int64(b.Bytes):
		return crawl.ReasonBytes
	case !now.Before(s.Started.Add(b.Time.D())):
		return crawl.ReasonTime
	}
	return ""
}

// room is how many more URLs may be out, by the budgets of pages and requests: each may become a page.
func (s *state) room() int64 {
	limit := s.Definition.Budget.Pages
	if s.Limit > 0 {
		limit = min(limit, s.Limit)
	}
	requests := s.Definition.Budget.MaxRequests() - s.Totals.Requests
	return min(limit-s.Totals.Pages, requests) - int64(s.taken.n)
}

// waitingLive counts entries of queues whose PLD budget is not spent.
func (s *state) waitingLive() int { return s.waiting - s.schedule.SpentEntries() }
