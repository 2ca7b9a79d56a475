package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

// candidate is a queue that is about to be claimed from. No claim of it is in progress: else it would be busy, and not in the schedule.
type candidate struct {
	queue  *queue.Queue
	name   string
	fails  int
	unread map[string]int
	from   queue.Position
	limit  int // URLs
	pages  int // of them
	plan   *crawl.Definition
	claim  *Claim
	floor  queue.Position   // of the first entry
	after  queue.Position   // of the first entry after those of the claim
	failed []queuedURL      // of hosts that cannot be resolved
	stale  []queuedURL      // whose priority has changed since they were queued
	closed []queuedURL      // of patterns that are closed
	traps  *traps.Memory    // of the PLD; nil if nothing of it is suspicious
	open   []string         // patterns of it that are never closed
	whole  *learner.Learner // nil: the order does not learn
	sweep  queue.Position   // where the weighing of the queue continues
	wait   time.Duration    // if there is no claim: how long the queue waits
	busy   string           // the address for which enough claims wait; the queue is recalled when one of them does not any more
	err    error

	stopped crawl.PLDState // how an operator has ended its PLD; empty: not at all
}

// How long a queue waits that gives no claim now.
const (
	slowName   = 5 * time.Second // the look-up of its hosts continues
	noNetwork  = 30 * time.Second
	notOurs    = 10 * time.Second // this worker may not claim in its partition at present
	parkedTime = 10 * time.Minute // enough claims wait for its address; at most, see Schedule.Park
)

// waitingPart is the part of the budget that claims may take which wait for their addresses: a third. Beyond it one claim at a time waits for
// each address: what is left of the budget goes to addresses that are free.
const waitingPart = 3

// resolveTime is how long a round waits for the look-ups of its hosts; slower ones continue beside it.
const resolveTime = 3 * time.Second

// readsAtOnce is how many queues a round reads, and resolves the hosts of, at a time. A round of 128 new hosts whose names take 100 ms
// is so read within the half second that it lingers anyway (420 ms; 820 ms by 16), and one in which a fifth of the names is dead
// waits for resolveTime once. More would help little, and ask the DNS server for more than readsAtOnce × lookupsAtOnce names at once.
const readsAtOnce = 32

// lookupsAtOnce bounds the look-ups of one queue that are in progress.
const lookupsAtOnce = 16

// claimReady claims from ready queues, at most n claims.
func (h Claims) claimReady(ctx context.Context, w Want, n int) ([]Claim, error) {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return nil, err
	}
	h.f.placeQueues(s)
	now := h.f.opts.Now()
	if !w.ClaimNothing {
		s.wanted = now
	}
	n = min(n, s.claims.Room(w.limits(), w.Round))
	room, plan := s.room(w.Shared), s.Definition
	spent, ends := s.spent(w.Shared, now)
	if l := s.learner(); w.ClaimNothing || s.idles(h.f) || spent != "" && spent != crawl.ReasonPages || l != nil && l.Behind() { // what was learned decides what is claimed
		n = 0
	}
	if spent != "" {
		room = 0
	}
	requisites := w.Shared.requisites(s.Totals)
	var picked []*candidate
	s.schedule.Ends(ends)
	left := s.share(w.Shared, room)
	price := s.setPrice(left, now)
	lanes, out, regraded, waits := s.claims.Taken(w.Round), s.claims.Len(), 0, 0
	for len(picked) < n && (room > 0 || requisites) {
		q := s.schedule.Pop(now)
		if q == nil {
			break
		}
		if q.Below(price) && regraded < placedAtOnce && s.schedule.Stale(q) { // once for each: what is known of hosts does not change meanwhile
			s.schedule.Place(q, now)
			regraded++
			continue
		}
		if q.Below(price) && out+len(picked) > 0 && !s.reserve.spends(lanes+len(picked), n-len(picked), s.schedule.Held(price)+1) { // nor is any queue behind it better
			s.schedule.Place(q, now)
			waits = 1
			break
		}
		if room <= 0 && !q.Best.Requisite() { // nor has any queue behind it a requisite
			s.schedule.Place(q, now)
			break
		}
		if s.check(h.f, ring.Claim, q.PLD, s.epoch(h.f)) != nil {
			q.Next = times.Latest(q.Next, now.Add(notOurs))
			s.schedule.Place(q, now)
			continue
		}
		q.StartRead()
		if q.Stopped {
			picked = append(picked, &candidate{queue: q, name: q.Name, from: q.Floor, limit: endedAtOnce, plan: &plan, stopped: plan.StateOf(q.Name)})
			continue
		}
		limit := int64(plan.PerQueueOf(q.Name))
		pages := max(min(limit, room, q.Done.Left(plan.BudgetOf(q.Name)), s.schedule.Trial(q, price, limit), s.part(left, min(lanes+n, lanes+len(picked)+1+s.schedule.Ready(price)))), 0)
		takes := min(pages, int64(q.Waiting-q.Requisites))
		room, left = room-takes, left-takes
		picked = append(picked, &candidate{
			queue: q, name: q.Name, fails: q.Fails, unread: q.Unread, from: q.Floor, sweep: q.Sweep, whole: s.learner(), limit: int(limit), pages: int(pages), plan: &plan,
		})
	}
	s.reserve.stand(lanes+len(picked), n-len(picked), max(s.schedule.Held(price), waits))
	h.f.mu.Unlock()
	if len(picked) == 0 {
		return nil, nil
	}
	h.f.readAll(ctx, s, picked, w)
	return h.f.claimPicked(ctx, s, picked, w)
}

// readAll reads the heads of the picked queues and resolves their hosts, side by side.
func (f *Frontier) readAll(ctx context.Context, s *state, picked []*candidate, w Want) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, readsAtOnce)
	for _, c := range picked {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c.err = f.read(ctx, s, c, w)
		})
	}
	wg.Wait()
}

// queuedURL is an entry with its record.
type queuedURL struct {
	key record.Key
	at  queue.Position
	rec record.Record
	now uint16 // its priority by what is known now

	class crawl.Class
	err   error // why its host has no address
}

// read fills a candidate: the first entries whose hosts lie at the address of the first.
func (f *Frontier) read(ctx context.Context, s *state, c *candidate, w Want) error {
	entries, err := f.head(s, c)
	if err != nil {
		return err
	}
	if c.stopped != "" {
		c.failed = entries
		return nil
	}
	delay, err := f.crawlDelay(c.queue.PLD)
	if err != nil {
		return err
	}
	claim := &Claim{Queue: c.queue.PLD, PLD: c.name, Fails: c.fails, Unread: c.unread, Delay: delay, Round: w.Round}
	found := lookups(ctx, entries, w)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	leave := func(e queuedURL) {
		if e.at.Before(c.after) {
			c.after = e.at
		}
	}
	for _, e := range entries {
		at := found[urls.HostOf(e.rec.URL)]
		switch {
		case errors.Is(at.err, context.DeadlineExceeded):
			c.wait = max(c.wait, slowName)
			leave(e)
			continue
		case at.err != nil && w.Local != nil && w.Local(at.err):
			c.wait = max(c.wait, noNetwork)
			leave(e)
			continue
		case at.err != nil:
			e.err = at.err
			c.failed = append(c.failed, e)
			continue
		}
		if claim.IP == "" {
			claim.IP = at.addr
		}
		if at.addr == claim.IP && len(claim.URLs) < c.limit {
			claim.URLs = append(claim.URLs, e.key.URL)
			if e.class != crawl.ClassPage {
				claim.Requisites++
			}
		} else {
			leave(e)
		}
	}
	if claim.IP != "" || c.wait > 0 {
		if claim.IP != "" {
			c.claim = claim
		}
		for _, e := range c.failed { // their turn comes when they stand alone at the head
			leave(e)
		}
		c.failed = nil
	}
	return nil
}

// address is what a look-up found.
type address struct {
	addr string
	err  error
}

// lookups resolves the hosts of a queue's head, side by side. A host that takes too long has the error
// context.DeadlineExceeded: one name whose servers do not answer must not hold up all other queues.
func lookups(ctx context.Context, entries []queuedURL, w Want) map[string]address {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	found := map[string]address{}
	for _, e := range entries {
		found[urls.HostOf(e.rec.URL)] = address{}
	}
	if len(found) == 1 { // as nearly always
		for host := range found {
			addr, err := w.Resolve(ctx, host)
			found[host] = address{addr, err}
		}
		return found
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, lookupsAtOnce)
	for _, host := range slices.Collect(maps.Keys(found)) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			addr, err := w.Resolve(ctx, host)
			mu.Lock()
			defer mu.Unlock()
			found[host] = address{addr, err}
		})
	}
	wg.Wait()
	return found
}

// claimPicked makes the claims durable and puts the queues back where they belong.
func (f *Frontier) claimPicked(ctx context.Context, s *state, picked []*candidate, w Want) ([]Claim, error) {
	var claimed []Claim
	err := f.update(func(tx *transaction) (func(), error) {
		now := f.opts.Now()
		e := f.edit(tx, s)
		claimed = claimed[:0]
		f.mu.Lock()
		asking := s.claims.Asking(func(c *Claim) string { server, _ := w.server(c); return server })
		waits := s.claims.WaitingURLs()
		budget := s.room(w.Shared) + waits
		f.mu.Unlock()
		for _, c := range picked {
			if c.claim == nil {
				continue
			}
			server, most := w.server(c.claim)
			urls := int64(len(c.claim.URLs))
			if asking[server] > 0 && server == c.claim.IP && w.Server != nil && waitingPart*(waits+urls) > budget {
				most = min(most, 1)
			}
			if asking[server] >= most || f.busyUntil(s, c.claim.IP).After(now) {
				c.leaveAddress(server)
				continue
			}
			asking[server]++
			waits += urls
			if err := tx.touch(s, c.claim.Queue); err != nil {
				return nil, err
			}
			if err := tx.touch(nil, c.claim.Queue); err != nil {
				return nil, err
			}
			if f.gone(s, c.queue) || f.held(s, c.claim.Queue) || f.heldElsewhere(s, c.claim.Queue) || e.rec.Definition.StateOf(c.name) != "" {
				// meanwhile: a batch has reopened its claim, another crawl was first, or an operator has paused the PLD
				c.claim = nil
				continue
			}
			if c.claim.Epoch = s.epoch(f); s.check(f, ring.Claim, c.claim.Queue, c.claim.Epoch) != nil {
				c.claim, c.wait = nil, notOurs
				continue
			}
			e.rec.Sequence++
			if e.rec.Unclaimed {
				e.rec.Unclaimed, e.rec.First = false, uint64(e.rec.Sequence)
			}
			c.claim.ID = fmt.Sprintf("%s-%d", c.claim.PLD, e.rec.Sequence)
			c.claim.Asked, c.claim.Deadline, c.claim.Version = now, now.Add(f.opts.ClaimTTL), e.rec.Version
			claimed = append(claimed, *c.claim)
		}
		left := moves{maxMoves, maxMoved}
		for _, c := range picked {
			if err := errors.Join(e.move(c, &left), e.skipClosed(c)); err != nil {
				return nil, err
			}
		}
		save, err := f.saveClaims(tx, s, claims.Change{Claims: claimed})
		return func() {
			save()
			e.apply()
		}, err
	})
	for _, c := range picked {
		err = errors.Join(err, f.unpick(ctx, s, c, w))
	}
	return claimed, err
}

// leaveAddress says that enough claims want the address of the candidate. Those of a host group may want others than this one: its queues are not parked
// for the address, and come back by themselves.
func (c *candidate) leaveAddress(server string) {
	if c.wait = claims.BusyAddress; server == c.claim.IP {
		c.busy = server
	}
	c.claim = nil
}

// unpick puts a queue that gave no claim back, later if its host cannot be resolved.
func (f *Frontier) unpick(ctx context.Context, s *state, c *candidate, w Want) error {
	if c.claim == nil && c.wait == 0 && len(c.failed) > 0 && ctx.Err() == nil {
		if c.stopped != "" {
			return f.endStopped(s, c)
		}
		return f.unresolved(s, c, w)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	q := c.queue
	if !s.has(q) {
		return errors.Join(ctx.Err(), c.err)
	}
	if c.err == nil { // entries that came in meanwhile may stand before those that were read
		q.EndRead(queue.Read{Floor: c.floor, After: c.after, Claim: c.claim != nil})
	}
	q.Sweep = c.sweep
	q.Busy = s.claims.InProgress(q.PLD)
	if c.claim == nil && c.wait > 0 && c.busy == "" {
		q.Next = times.Latest(q.Next, f.opts.Now().Add(c.wait))
	}
	if now := f.opts.Now(); c.busy != "" {
		s.schedule.Park(q, c.busy, now.Add(parkedTime), now)
	} else {
		s.schedule.Place(q, now)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.err
}

// unresolved counts a host that has no address: its URLs wait, and fail in the end.
func (f *Frontier) unresolved(s *state, c *candidate, w Want) error {
	next := f.opts.Now() // there may be other hosts in the queue
	failing := false
	var outcomes []crawl.PageOutcome
	for _, e := range c.failed {
		kind := crawl.OutcomeReturned
		switch {
		case w.Refused(e.err):
			kind = crawl.OutcomeRefused
		case c.fails+1 >= w.MaxFail:
			kind = crawl.OutcomeFailed
		default:
			failing = true
		}
		outcomes = append(outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: e.rec.URL, Kind: kind, Reason: e.err.Error()}})
	}
	if failing {
		next = next.Add(w.Backoff(c.fails + 1))
	}
	err := f.finishQueue(s, c.queue, outcomes, c.failed, next, failing)
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if s.has(c.queue) {
			c.queue.Busy = s.claims.InProgress(c.queue.PLD)
			s.schedule.Place(c.queue, f.opts.Now())
		}
	}
	return err
}
