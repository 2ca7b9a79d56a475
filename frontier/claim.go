package frontier

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Claim holds URLs of one queue that a batch will fetch from one address.
type Claim struct {
	ID       string    `json:"id" cbor:"1,keyasint"` // also of its lease
	PLD      string    `json:"pld" cbor:"2,keyasint"`
	Queue    uint64    `json:"-" cbor:"3,keyasint"`
	URLs     []uint64  `json:"-" cbor:"4,keyasint"`
	IP       string    `json:"ip" cbor:"5,keyasint"`
	Batch    string    `json:"batch,omitempty" cbor:"6,keyasint"` // once started
	Deadline time.Time `json:"deadline" cbor:"7,keyasint"`
	Asked    time.Time `json:"asked" cbor:"8,keyasint"`          // when the lease was asked for
	Lease    time.Time `json:"lease,omitzero" cbor:"9,keyasint"` // until when it lasts; zero: none
	Earliest time.Time `json:"earliest,omitzero" cbor:"10,keyasint"`
	Ended    bool      `json:"ended,omitempty" cbor:"11,keyasint"` // fetching has ended, the lease is released
	Fails    int       `json:"fails,omitempty" cbor:"12,keyasint"`
	Round    int64     `json:"-" cbor:"13,keyasint"` // of claiming
}

// Resolve finds the address of a host. An error that is Refused or not temporary is the host's fate.
type Resolve func(ctx context.Context, host string) (addr string, err error)

// Want says what a round of claiming asks for.
type Want struct {
	Crawl   string
	Round   int64         // counts up; the same again means that its result was lost
	Claims  int           // at most
	Lanes   int           // claims that may be out at a time
	Linger  time.Duration // how long a round waits for more once it has something
	Until   time.Time     // return by then, with or without anything
	Resolve Resolve
	Refused func(error) bool
	Backoff func(failures int) time.Duration
	MaxFail int // rounds in a row in which a host cannot be resolved before its URLs fail
}

// Round is what a round of claiming yields.
type Round struct {
	Claims   []Claim
	Releases []Release
	Renewals []Release // leases to be renewed; Next is not set
	Expired  []string  // batches whose claims ran out: they are to be started again
	Drained  bool      // nothing is left and nothing is out
	Spent    string    // which budget is spent, with nothing out; empty if none is
}

func (r Round) empty() bool {
	return len(r.Claims)+len(r.Releases)+len(r.Renewals)+len(r.Expired) == 0 && !r.Drained && r.Spent == ""
}

// Claim waits until there is something to claim, to release or to tell, and returns it. Claims and
// journal stay until they are committed and confirmed, so a round that is lost is given again.
func (f *Frontier) Claim(ctx context.Context, w Want) (Round, error) {
	round := Round{Claims: f.again(w)}
	var started time.Time
	for {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		if err := f.promote(w.Crawl); err != nil {
			return round, err
		}
		claims, err := f.claimReady(ctx, w, w.Claims-len(round.Claims))
		if err != nil {
			return round, err
		}
		round.Claims = append(round.Claims, claims...)
		now := f.opts.Now()
		wake, err := f.report(w, &round, now)
		if err != nil {
			return round, err
		}
		final := w.Claims > 0 && len(round.Claims) >= w.Claims || round.Drained || round.Spent != "" || len(round.Expired) > 0
		if !round.empty() && started.IsZero() {
			started = now
		}
		if final || !started.IsZero() && now.Sub(started) >= w.Linger || !now.Before(w.Until) {
			return round, nil
		}
		if !started.IsZero() {
			wake = earliest(wake, started.Add(w.Linger))
		}
		if err := f.wait(ctx, changed, earliest(wake, w.Until)); err != nil {
			return round, err
		}
	}
}

// again returns the claims of a round that is asked for once more.
func (f *Frontier) again(w Want) []Claim {
	f.mu.Lock()
	defer f.mu.Unlock()
	var claims []Claim
	if s, err := f.get(w.Crawl); err == nil {
		for _, c := range s.claims {
			if c.Round == w.Round && c.Batch == "" {
				claims = append(claims, *c)
			}
		}
	}
	slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return claims
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// report fills in what is not a claim and tells when to look again.
func (f *Frontier) report(w Want, round *Round, now time.Time) (wake time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(w.Crawl)
	if err != nil {
		return wake, err
	}
	wake = now.Add(time.Minute)
	round.Releases, round.Renewals, round.Expired = nil, nil, nil
	for _, r := range s.journal {
		round.Releases = append(round.Releases, r)
	}
	slices.SortFunc(round.Releases, func(a, b Release) int { return cmp.Compare(a.Lease, b.Lease) })
	expired := map[string]bool{}
	for _, c := range s.claims {
		if c.Batch != "" && now.After(c.Deadline) {
			expired[c.Batch] = true
		}
		due := c.Lease.Add(-f.opts.LeaseTTL / 2)
		if c.Lease.IsZero() || c.Ended {
			continue
		}
		if now.After(due) {
			round.Renewals = append(round.Renewals, Release{Lease: c.ID, IP: c.IP})
		} else {
			wake = earliest(wake, due.Add(time.Second))
		}
	}
	for batch := range expired {
		round.Expired = append(round.Expired, batch)
	}
	slices.Sort(round.Expired)
	if next, ok := s.order.nextTime(); ok && !next.IsZero() {
		wake = earliest(wake, next)
	}
	if s.delayed > 0 {
		wake = earliest(wake, time.Unix(s.due, 0))
	}
	spent := s.spent(now)
	if left := s.Started.Add(s.Definition.Budget.Time.D()); spent == "" {
		wake = earliest(wake, left)
	}
	if len(s.claims)+len(s.journal)+len(round.Claims) == 0 {
		round.Spent = spent
		round.Drained = s.waitingLive() == 0 && s.delayed == 0
	}
	return wake, nil
}

// spent names the budget that is spent.
func (s *state) spent(now time.Time) string {
	b := s.Definition.Budget
	switch {
	case s.Limit > 0 && s.Totals.Pages >= s.Limit:
		return "phase"
	case s.Totals.Pages >= b.Pages:
		return "pages"
	case s.Totals.Bytes >= int64(b.Bytes):
		return "bytes"
	case !now.Before(s.Started.Add(b.Time.D())):
		return "time"
	}
	return ""
}

// room is how many more URLs may be out, by the page budgets: each may become a page.
func (s *state) room() int64 {
	limit := s.Definition.Budget.Pages
	if s.Limit > 0 {
		limit = min(limit, s.Limit)
	}
	return limit - s.Totals.Pages - int64(len(s.taken))
}

// waitingLive counts entries of queues whose PLD budget is not spent.
func (s *state) waitingLive() int {
	n := s.waiting
	if s.Definition.Budget.PerPLD > 0 {
		for _, q := range s.queues {
			if q.spent {
				n -= q.waiting
			}
		}
	}
	return n
}

// candidate is a queue that is about to be claimed from.
type candidate struct {
	queue  *queue
	name   string
	fails  int
	from   place
	limit  int
	claim  *Claim
	floor  place       // of the first entry
	rest   place       // of the first entry that the claim leaves
	failed []queuedURL // of hosts that cannot be resolved
	err    error
}

// claimReady claims from ready queues, at most n claims.
func (f *Frontier) claimReady(ctx context.Context, w Want, n int) ([]Claim, error) {
	f.mu.Lock()
	s, err := f.get(w.Crawl)
	if err != nil {
		f.mu.Unlock()
		return nil, err
	}
	now := f.opts.Now()
	n = min(n, w.Lanes-len(s.claims))
	room := s.room()
	if s.spent(now) != "" {
		n = 0
	}
	var picked []*candidate
	for len(picked) < n && room > 0 {
		q := s.order.pop(now)
		if q == nil {
			break
		}
		limit := min(int64(s.Definition.Order.PerQueue), room)
		if per := s.Definition.Budget.PerPLD; per > 0 {
			limit = min(limit, per-q.done)
		}
		room -= min(limit, int64(q.waiting))
		q.busy, q.since = true, lastPlace
		picked = append(picked, &candidate{queue: q, name: q.name, fails: q.fails, from: q.floor, limit: int(limit)})
	}
	taken := make(map[urlKey]bool, len(s.taken))
	if len(picked) > 0 {
		for k := range s.taken {
			taken[k] = true
		}
	}
	f.mu.Unlock()
	if len(picked) == 0 {
		return nil, nil
	}
	f.readAll(ctx, s, picked, taken, w)
	return f.settle(ctx, s, picked, w)
}

// readAll reads the heads of the picked queues and resolves their hosts, side by side.
func (f *Frontier) readAll(ctx context.Context, s *state, picked []*candidate, taken map[urlKey]bool, w Want) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for _, c := range picked {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c.err = f.read(ctx, s, c, taken, w)
		})
	}
	wg.Wait()
}

// queuedURL is an entry with its record.
type queuedURL struct {
	key urlKey
	at  place
	rec record
	err error // why its host has no address
}

// read fills a candidate: the first entries whose hosts lie at the address of the first.
func (f *Frontier) read(ctx context.Context, s *state, c *candidate, taken map[urlKey]bool, w Want) error {
	entries, err := f.head(s, c, taken)
	if err != nil {
		return err
	}
	claim := &Claim{Queue: c.queue.pld, PLD: c.name, Fails: c.fails, Round: w.Round}
	hosts := map[string]error{}
	addrs := map[string]string{}
	leave := func(e queuedURL) {
		if e.at.before(c.rest) {
			c.rest = e.at
		}
	}
	for _, e := range entries {
		host := hostOf(e.rec.url)
		if _, asked := addrs[host]; !asked {
			addrs[host], hosts[host] = w.Resolve(ctx, host)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := hosts[host]; err != nil {
			e.err = err
			c.failed = append(c.failed, e)
			continue
		}
		if claim.IP == "" {
			claim.IP = addrs[host]
		}
		if addrs[host] == claim.IP && len(claim.URLs) < c.limit {
			claim.URLs = append(claim.URLs, e.key.url)
		} else {
			leave(e)
		}
	}
	if claim.IP != "" {
		c.claim = claim
		for _, e := range c.failed { // their turn comes when they stand alone at the head
			leave(e)
		}
		c.failed = nil
	}
	return nil
}

// hostOf cuts the host out of a canonical URL, for a tenth of what parsing it costs.
func hostOf(canonical string) string {
	_, rest, _ := strings.Cut(canonical, "://")
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		host = host[:at]
	}
	return host
}

// head reads the first live entries of a queue, and where the queue begins and goes on behind them.
func (f *Frontier) head(s *state, c *candidate, taken map[urlKey]bool) (entries []queuedURL, err error) {
	c.floor, c.rest = lastPlace, lastPlace
	err = f.view(func(txn *badger.Txn) error {
		pld := c.queue.pld
		return scan(txn, pldKey(kindQueue, s.id, pld), queueKey(s.id, pld, c.from), true, func(key, value []byte) (bool, error) {
			_, at, ok := parseQueueKey(key)
			if !ok || len(value) != 8 {
				return true, nil
			}
			if at.before(c.floor) {
				c.floor = at
			}
			k := urlKey{pld, binary.BigEndian.Uint64(value)}
			if taken[k] {
				return true, nil
			}
			if len(entries) == c.limit {
				c.rest = at
				return false, nil
			}
			r, found, err := getRecord(txn, recordKey(s.id, k))
			if err != nil {
				return false, err
			}
			if found {
				entries = append(entries, queuedURL{key: k, at: at, rec: r})
			}
			return true, nil
		})
	})
	return entries, err
}

// settle makes the claims durable and puts the queues back where they belong.
func (f *Frontier) settle(ctx context.Context, s *state, picked []*candidate, w Want) ([]Claim, error) {
	var claims []Claim
	err := f.update(func(txn *badger.Txn) (func(), error) {
		now := f.opts.Now()
		rec := f.draft(s)
		claims = claims[:0]
		for _, c := range picked {
			if c.claim == nil {
				continue
			}
			if err := f.touch(s, c.claim.Queue); err != nil {
				return nil, err
			}
			if f.held(s, c.claim.Queue) { // a batch has reopened its claim meanwhile
				c.claim = nil
				continue
			}
			rec.Sequence++
			c.claim.ID = fmt.Sprintf("%s-%d", c.claim.PLD, rec.Sequence)
			c.claim.Asked, c.claim.Deadline = now, now.Add(f.opts.ClaimTTL)
			if err := setCBOR(txn, textKey(kindClaim, s.id, c.claim.ID), c.claim); err != nil {
				return nil, err
			}
			claims = append(claims, *c.claim)
		}
		return func() {
			for _, c := range picked {
				if c.claim != nil {
					s.hold(c.claim)
				}
			}
		}, nil
	})
	for _, c := range picked {
		err = errors.Join(err, f.unpick(ctx, s, c, w))
	}
	return claims, err
}

// unpick puts a queue that gave no claim back, later if its host cannot be resolved.
func (f *Frontier) unpick(ctx context.Context, s *state, c *candidate, w Want) error {
	if c.claim == nil && len(c.failed) > 0 && ctx.Err() == nil {
		return f.unresolved(s, c, w)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	q := c.queue
	if c.err == nil { // entries that came in meanwhile may stand before those that were read
		q.floor, q.best = c.floor, c.floor
		if c.claim != nil {
			q.best = c.rest
		}
		if q.since.before(q.floor) {
			q.floor = q.since
		}
		if q.since.before(q.best) {
			q.best = q.since
		}
	}
	q.busy = s.held(q.pld)
	s.order.place(q, f.opts.Now())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.err
}

// unresolved counts a host that has no address: its URLs wait, and fail in the end.
func (f *Frontier) unresolved(s *state, c *candidate, w Want) error {
	next := f.opts.Now() // there may be other hosts in the queue
	failing := false
	var outcomes []crawl.Outcome
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
		outcomes = append(outcomes, crawl.Outcome{URL: e.rec.url, Kind: kind, Reason: e.err.Error()})
	}
	if failing {
		next = next.Add(w.Backoff(c.fails + 1))
	}
	err := f.finishQueue(s, c.queue, outcomes, next, failing)
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		c.queue.busy = s.held(c.queue.pld)
		s.order.place(c.queue, f.opts.Now())
	}
	return err
}

// held tells whether a claim is out on a queue; Frontier.mu is held.
func (s *state) held(pld uint64) bool {
	for _, c := range s.claims {
		if c.Queue == pld {
			return true
		}
	}
	return false
}

func (f *Frontier) held(s *state, pld uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return s.held(pld)
}

// hold puts a claim into memory; Frontier.mu is held.
func (s *state) hold(c *Claim) {
	if was, known := s.claims[c.ID]; known {
		s.free(was)
	}
	s.claims[c.ID] = c
	for _, u := range c.URLs {
		s.taken[urlKey{c.Queue, u}] = c.ID
	}
	q := s.queue(c.Queue, c.PLD)
	q.busy = true
	s.order.remove(q)
}

// drop takes a claim out of memory; back tells that some of its URLs stay in the queue. Frontier.mu is
// held.
func (s *state) drop(c *Claim, back bool, now time.Time) {
	delete(s.claims, c.ID)
	s.free(c)
	q := s.queue(c.Queue, "")
	q.busy = false
	q.spent = s.pldSpent(q)
	if back {
		q.best = q.floor
	}
	s.order.place(q, now)
}

// free lets go of a claim's URLs; Frontier.mu is held.
func (s *state) free(c *Claim) {
	for _, u := range c.URLs {
		k := urlKey{c.Queue, u}
		if s.taken[k] == c.ID {
			delete(s.taken, k)
		}
	}
}

// promote brings delayed URLs whose time has come back into their queues.
func (f *Frontier) promote(name string) error {
	f.mu.Lock()
	s, err := f.get(name)
	now := f.opts.Now().Unix()
	idle := err != nil || s.delayed == 0 || s.due > now
	f.mu.Unlock()
	if idle {
		return err
	}
	return f.update(func(txn *badger.Txn) (func(), error) {
		rec := f.draft(s)
		changes, taken, next := map[uint64]*change{}, 0, int64(0)
		var due []urlKey
		var times []int64
		var keys [][]byte
		err := scan(txn, prefix(kindDelayed, s.id), nil, false, func(key, _ []byte) (bool, error) {
			at, k, ok := parseDelayedKey(key)
			if !ok {
				return true, nil
			}
			if at > now || len(keys) >= 1000 {
				next = at
				return false, nil
			}
			due, times, keys = append(due, k), append(times, at), append(keys, slices.Clone(key))
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		for i, k := range due {
			if err := txn.Delete(keys[i]); err != nil {
				return nil, err
			}
			taken++
			r, found, err := getRecord(txn, recordKey(s.id, k))
			if err != nil {
				return nil, err
			}
			if !found || r.state != stateDelayed || r.due != times[i] {
				continue
			}
			rec.Counter++
			r.state = stateWaiting
			r.place = place{priority16(r.scores.value(rec.Definition.Order.Update), rec.Definition.Order.Update == crawl.UpdateSum), rec.Counter}
			if err := setQueued(txn, s.id, k, &r); err != nil {
				return nil, err
			}
			if changes[k.pld] == nil {
				changes[k.pld] = &change{pld: k.pld}
			}
			changes[k.pld].added = append(changes[k.pld].added, r.place)
		}
		return func() {
			s.delayed -= taken
			s.due = next
			for _, c := range changes {
				f.applyChange(s, c)
			}
		}, nil
	})
}
