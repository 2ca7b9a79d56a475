package frontier

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// Resolve finds the address of a host. An error that is Refused or not temporary is the host's fate.
type Resolve func(ctx context.Context, host string) (addr string, err error)

// Want says what a round of claiming asks for.
type Want struct {
	Round        int64         // counts up; the same again means that its result was lost
	Claims       int           // at most
	Lanes        int           // claims that may be in progress at a time, but for those that wait for their first lease
	Waiting      int           // claims that may wait for it beside them
	Linger       time.Duration // how long a round waits for more once it has something
	Quiet        time.Duration // the same, if it has only releases that nobody of this frontier waits for
	Until        time.Time     // return by then, with or without anything
	ClaimNothing bool          // claim nothing; a round in which nothing is in progress any more is Idle
	// Server is what a host counts as at an address, and how many claims may wait for its lease at a time; nil: its address, and as many as
	// there are.
	Server func(pld, ip string) (server string, waiting int)
	// Later is until when the release of an address waits, or its renewals if the key is empty: who is to be sent them does not answer. Zero: they do not; nil: none does.
	Later   func(ip string, release politeness.Key) time.Time
	Resolve Resolve
	Refused func(error) bool
	Backoff func(failures int) time.Duration
	Local   func(error) bool // reports whether a look-up failed because there is no network
	MaxFail int              // rounds in a row in which a host cannot be resolved before its URLs fail
	Shared  *Shared          // of a crawl that is spread; nil: this frontier has all of the crawl
}

// waits reports whether what is to be sent of an address waits, and if so, notes when the round has to look again.
func (w Want) waits(ip string, release politeness.Key, now time.Time, wake *time.Time) bool {
	if w.Later == nil {
		return false
	}
	until := w.Later(ip, release)
	if !until.After(now) {
		return false
	}
	*wake = times.Earliest(*wake, until)
	return true
}

// server is what a claim waits for, and how many claims may at a time.
func (w Want) server(c *Claim) (server string, waiting int) {
	if w.Server == nil {
		return c.IP, math.MaxInt
	}
	return w.Server(c.PLD, c.IP)
}

// limits are how many claims may be in progress.
func (w Want) limits() claims.Limits { return claims.Limits{Lanes: w.Lanes, Waiting: w.Waiting} }

// Shared is what a round keeps to of a crawl on which other workers work, too. Its functions are called with a lock held, and get what
// the run has come to here, and the URLs in progress.
type Shared struct {
	Room  func(t Totals, inProgress int64) int64 // URLs that may be claimed by this worker's part of the budgets
	Short func(t Totals, inProgress int64) bool  // that is too little; the crawl is to be asked for more
	// Empty and Asked say that the crawl knows of it already, by an earlier round: this one waits for a change.
	Empty, Asked bool
	// Members is how many workers the crawl has, roughly; 0: nobody knows, and nothing waits for a price.
	Members int
	// Timed says that the crawl keeps the budget of time: this worker's clock does not matter.
	Timed bool
	// Requisites reports whether requisites of pages may be claimed, for which Room does not count; nil: they may.
	Requisites func(t Totals) bool
}

// requisites reports whether requisites may be claimed, whatever is left of the budget of pages.
func (h *Shared) requisites(t Totals) bool { return h == nil || h.Requisites == nil || h.Requisites(t) }

// emptyLasts is how long nothing must be left at a worker of a crawl that is spread before it says so: others deliver more, and its crawl would
// be sent word each time.
const emptyLasts = time.Second

// Round is what a round of claiming yields.
type Round struct {
	Claims   []Claim
	Line     int // how many of the crawl may wait for a lease of an address, see politeness.Ask
	Releases []EndedLease
	Renewals []Claim      // whose leases are to be renewed
	Expired  []string     // batches whose claims ran out: they are to be started again
	Drained  bool         // nothing is left and nothing is in progress
	Spent    crawl.Reason // which budget is spent, with nothing in progress; empty if none is
	Idle     bool         // nothing is in progress, of a round that claims nothing
	// Of a crawl that is spread, which is never Drained here: Empty says that nothing is left and nothing in progress at this worker, Short
	// that URLs wait and the worker's part of the budgets is too small. InProgress counts URLs.
	Empty, Short bool
	InProgress   int64

	awaited bool // the releases cannot wait
	late    bool // a claim has waited too long for its lease: the next round withdraws it
	last    bool // nothing is in progress and nothing is left, or nothing may be claimed: there is nothing to wait for
}

func (r Round) empty() bool {
	return len(r.Claims)+len(r.Releases)+len(r.Renewals)+len(r.Expired) == 0 && !r.late && !r.Drained && !r.Idle && r.Spent == ""
}

// Claim waits until there is something to claim, to release or to report, and returns it. Claims and
// journal stay until they are committed and confirmed, so a round that is lost is given again.
func (h Claims) Claim(ctx context.Context, w Want) (Round, error) {
	round := Round{Claims: h.claimsOfRound(w)}
	var linger lingering
	var empty time.Time // since when nothing is left
	for {
		h.f.mu.Lock()
		changed := h.f.changed
		h.f.mu.Unlock()
		if err := h.promote(); err != nil {
			return round, err
		}
		claimed, err := h.claimReady(ctx, w, w.Claims-len(round.Claims))
		if err != nil {
			return round, err
		}
		round.Claims = append(round.Claims, claimed...)
		now := h.f.opts.Now()
		wake, err := h.report(w, &round, now)
		if err != nil {
			return round, err
		}
		wake = times.Earliest(wake, w.debounce(&round, &empty, now))
		final := w.Claims > 0 && len(round.Claims) >= w.Claims || round.Drained || round.Idle || round.Spent != "" || len(round.Expired) > 0 || w.Shared.answers(round)
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
func (h Claims) claimsOfRound(w Want) []Claim {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil {
		return copied(s.claims.Where(func(c *Claim) bool { return c.Round == w.Round && c.Batch == "" }))
	}
	return nil
}

// report fills in what is not a claim and returns when to look again.
func (h Claims) report(w Want, round *Round, now time.Time) (wake time.Time, err error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return wake, err
	}
	h.f.placeQueues(s) // else a queue whose budget was raised would seem spent
	wake = now.Add(time.Minute)
	round.Line = s.claims.Line(w.limits(), w.Round)
	journal := s.claims.Releases()
	unconfirmed := len(journal)
	round.Releases = slices.DeleteFunc(journal, func(r EndedLease) bool { return w.waits(r.IP, r.Key(), now, &wake) })
	round.awaited = h.f.awaited(s, round.Releases, now)
	renewals, due := s.claims.Renewals(now, h.f.opts.LeaseTTL)
	renewals = slices.DeleteFunc(renewals, func(c *Claim) bool { return w.waits(c.IP, politeness.Key{}, now, &wake) })
	if round.Renewals = copied(renewals); !due.IsZero() {
		wake = times.Earliest(wake, due)
	}
	round.Expired = s.claims.Expired(now)
	if ends := s.claims.WaitEnds(s.terms()); !ends.IsZero() {
		if round.late = now.After(ends); !round.late {
			wake = times.Earliest(wake, ends.Add(time.Millisecond))
		}
	}
	s.schedule.Promote(now) // which claiming does not, if it may claim nothing
	if next, ok := s.schedule.NextTime(); ok && !next.IsZero() {
		wake = times.Earliest(wake, next)
	}
	if s.reserve.idle > 0 { // the ready queues wait for the price
		if next, ok := s.schedule.NextDue(); ok {
			wake = times.Earliest(wake, next)
		}
		wake = times.Earliest(wake, s.reserve.ends())
	}
	if s.delays.n > 0 {
		wake = times.Earliest(wake, time.Unix(s.delays.first, 0))
	}
	spent, ends := s.spent(w.Shared, now)
	if !ends.IsZero() && ends.After(now) {
		wake = times.Earliest(wake, ends)
	}
	if spent == crawl.ReasonPages && s.requisitesDue(now) && !w.ClaimNothing { // they are fetched, for they belong to its pages
		spent = ""
	}
	drained := s.waitingLive() == 0 && s.delays.n == 0
	nothingOut := s.inProgress()+len(round.Claims) == 0
	round.last = nothingOut && (w.ClaimNothing || spent != "" || drained)
	if nothingOut && unconfirmed == 0 {
		round.Spent, round.Idle, round.Drained = spent, w.ClaimNothing, drained
	}
	if w.Shared != nil {
		round.Empty, round.Drained = round.Drained, false
		round.InProgress = int64(s.claims.Pages())
		round.Short = !drained && !w.ClaimNothing && w.Shared.Short(s.Totals, round.InProgress)
	}
	return wake, nil
}

// answers reports whether a round ends because the crawl is to learn of something.
func (h *Shared) answers(r Round) bool {
	return h != nil && (r.Empty && !h.Empty || r.Short && !h.Asked)
}

// debounce leaves out that nothing is left at this worker until that has lasted, and returns when to look again for that. since is since
// when nothing is left. A round that may claim nothing does not wait.
func (w Want) debounce(r *Round, since *time.Time, now time.Time) (wake time.Time) {
	wake = w.Until
	if !r.Empty || w.Shared.Empty || w.ClaimNothing {
		*since = time.Time{}
		return wake
	}
	if since.IsZero() {
		*since = now
	}
	if lasted := since.Add(emptyLasts); now.Before(lasted) {
		r.Empty, wake = false, times.Earliest(wake, lasted)
	}
	return wake
}

// spent names the budget that is spent, and when that of time is; the zero time if the crawl keeps it.
func (s *state) spent(shared *Shared, now time.Time) (reason crawl.Reason, ends time.Time) {
	b := s.Definition.Budget
	if shared == nil || !shared.Timed {
		ends = s.Started.Add(b.Time.D())
	}
	switch {
	case s.Aborted:
		reason = crawl.ReasonAborted
	case s.Limit > 0 && s.Totals.Pages >= s.Limit:
		reason = crawl.ReasonPhase
	case s.Totals.Requests >= b.MaxRequests():
		reason = crawl.ReasonRequests
	case s.Totals.Bytes >= int64(b.Bytes):
		reason = crawl.ReasonBytes
	case !ends.IsZero() && !now.Before(ends):
		reason = crawl.ReasonTime
	case s.Totals.Pages >= b.Pages: // the last: what pages need is fetched within the others
		reason = crawl.ReasonPages
	}
	return reason, ends
}

// requisitesWait is how long a run whose pages are all fetched waits for a host that rests and that has requisites of them.
const requisitesWait = time.Minute

// requisitesDue reports whether requisites of pages wait that can be claimed now or soon.
func (s *state) requisitesDue(now time.Time) bool {
	return s.schedule.RequisitesBy(now.Add(requisitesWait))
}

// room is how many more URLs may be in progress, by the budgets of pages and requests: each may become a page.
func (s *state) room(shared *Shared) int64 {
	limit := s.Definition.Budget.Pages
	if s.Limit > 0 {
		limit = min(limit, s.Limit)
	}
	requests := s.Definition.Budget.MaxRequests() - s.Totals.Requests
	inProgress := int64(s.claims.Pages())
	room := min(limit-s.Totals.Pages, requests) - inProgress
	if shared != nil {
		room = min(room, shared.Room(s.Totals, inProgress))
	}
	return room
}

// waitingLive counts entries of queues whose PLD budget is not spent.
func (s *state) waitingLive() int { return s.waiting - s.schedule.SpentEntries() }
