package frontier

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Steering is what a batch that is in progress must know at once of what operators order.
type Steering struct {
	Definition *crawl.Definition // as it is now; it must not be changed
	Aborted    bool              // the crawl's batches end at once
	Changed    <-chan struct{}   // closed when any of it may have changed; then it is asked for again
}

// Steering returns what is in force now.
func (h Crawl) Steering() (Steering, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.peek(h.crawl)
	if err != nil {
		return Steering{}, err
	}
	if s.steered == nil {
		s.steered = make(chan struct{})
	}
	d := s.Definition
	return Steering{&d, s.Aborted, s.steered}, nil
}

// announce says to the batches in progress that what is in force may have changed; Frontier.mu is held.
func (s *state) announce() {
	if s.steered != nil {
		close(s.steered)
		s.steered = nil
	}
}

// Abort ends the run at once: nothing more is claimed, and the batches in progress end with what they have. Once nothing is in progress, a round
// says that the run was aborted.
func (h Crawl) Abort() error {
	return h.change(func(rec *crawlRecord) { rec.Aborted = true })
}

// Banned reports whether a URL was submitted as blacklisted. A batch that has claimed it before asks this before its request.
func (h URLs) Banned(u urls.URL) (banned bool, err error) {
	s, err := h.state()
	if err != nil {
		return false, err
	}
	err = h.f.store.View(func(txn store.Reader) error {
		r, found, err := txn.Record(s.keys.Record(record.KeyOf(u)))
		banned = found && r.State == record.Banned
		return err
	})
	return banned, err
}

// Fate is what has become of a URL.
type Fate uint8

// The fates of URLs.
const (
	FateUnknown  Fate = iota // this run has not found it
	FateQueued               // it waits, also for another attempt
	FateEnded                // it has ended in this run without a capture, or is not to be asked for
	FateArchived             // a batch that is committed has brought it, in this run or an earlier one
)

// Fate is that of a URL here, or of the one that is asked for in its place: of one that is another worker's nothing is known.
func (h URLs) Fate(text string) (fate Fate, err error) {
	s, err := h.state()
	if err != nil {
		return fate, err
	}
	h.f.mu.Lock()
	run, bound := s.Run, s.scope
	h.f.mu.Unlock()
	u, err := urls.Trusted(text)
	if err != nil { // no batch asks for it
		return FateEnded, nil
	}
	err = h.f.store.View(func(txn store.Reader) error {
		r, found, err := txn.Record(s.keys.Record(record.KeyOf(u)))
		if err == nil && !found && bound != nil {
			r, found, err = txn.Record(s.keys.Record(record.KeyOf(bound.Canonical(u))))
		}
		if err == nil && found && r.State == record.Same { // the one of its form that is asked for
			var first urls.URL
			if first, err = urls.Trusted(r.URL); err == nil {
				r, found, err = txn.Record(s.keys.Record(record.KeyOf(first)))
			}
		}
		switch {
		case err != nil || !found:
		case r.State == record.Done || r.Visit.Digest != "":
			fate = FateArchived
		case r.State == record.Banned:
			fate = FateEnded
		case r.Run != run:
		case r.State == record.Waiting || r.State == record.Delayed:
			fate = FateQueued
		case r.State == record.Failed || r.State == record.Refused:
			fate = FateEnded
		}
		return err
	})
	return fate, err
}

// steer brings a queue up to what the definition says of its PLD; Frontier.mu is held.
func (s *state) steer(q *queue.Queue) {
	state := s.Definition.StateOf(q.Name)
	q.Paused, q.Stopped, q.Weight = state == crawl.StatePaused, stopped(state), s.Definition.WeightOf(q.Name)
	q.Limit(s.pldLeft(q))
}

func stopped(state crawl.PLDState) bool {
	return state == crawl.StateStopped || state == crawl.StateAborted
}

// restRaised lists the hosts that a change lets rest longer between two requests, with the time before which none is asked: the last
// request may have been made just now.
func restRaised(was, is *crawl.Definition, now time.Time) map[uint64]time.Time {
	rests := map[uint64]time.Time{}
	raise := func(pld, host string) {
		before, after := was.PolitenessFor(pld, host).MinDelay, is.PolitenessFor(pld, host).MinDelay
		if key := xxhash.Sum64String(pld); after > before {
			rests[key] = times.Latest(rests[key], now.Add(after.D()))
		}
	}
	for pld := range is.Overrides.PLDs {
		raise(pld, "")
	}
	for host := range is.Overrides.Hosts {
		if u, err := urls.Parse("http://" + host + "/"); err == nil {
			raise(u.PLD(), host)
		}
	}
	return rests
}

// endedAtOnce is how many URLs of a stopped PLD end in one transaction.
const endedAtOnce = 500

// endStopped ends the URLs at the head of the queue of a stopped PLD.
func (f *Frontier) endStopped(s *state, c *candidate) error {
	outcomes := make([]crawl.PageOutcome, len(c.failed))
	for i, e := range c.failed {
		outcomes[i] = crawl.PageOutcome{Outcome: crawl.Outcome{URL: e.rec.URL, Kind: crawl.OutcomeRefused, Reason: "an operator has " + string(c.stopped) + " " + c.name}}
	}
	f.mu.Lock()
	next := c.queue.Next
	f.mu.Unlock()
	err := f.finishQueue(s, c.queue, outcomes, c.failed, next, false)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !s.has(c.queue) {
		return err
	}
	if c.queue.Busy = s.claims.InProgress(c.queue.PLD); err == nil && !c.queue.Busy {
		c.queue.EndRead(queue.Read{Floor: c.after}) // else the next portion would read over what is deleted
	}
	s.schedule.Place(c.queue, f.opts.Now())
	return err
}
