package frontier

import (
	"slices"
	"strings"
	"time"
)

// Status is a crawl at a glance.
type Status struct {
	Crawl     string       `json:"crawl"`
	Run       uint32       `json:"run"`
	Active    bool         `json:"active"`
	Started   time.Time    `json:"started"`
	Reference bool         `json:"reference,omitempty"`
	Totals    Totals       `json:"totals"`
	Queues    int          `json:"queues"` // with URLs waiting
	Waiting   int          `json:"waiting"`
	Delayed   int          `json:"delayed"`
	Claimed   int          `json:"claimed"`
	Lanes     int          `json:"lanes"`           // claims whose lease is held
	Asking    int          `json:"asking"`          // claims that wait for their lease
	Resting   int          `json:"resting"`         // queues with URLs that rest for more than 10 seconds, or whose host could not be reached
	Oldest    time.Time    `json:"oldest,omitzero"` // when the claim was made that is in progress longest
	Top       []Top        `json:"top,omitempty"`
	Ends      []DroppedURL `json:"ends,omitempty"`    // URLs that ended without a page, the last of each kind
	History   []Point      `json:"trail,omitempty"`   // where the run stood, from its start on
	Slow      []Queue      `json:"slow,omitempty"`    // queues that rest longest
	Reserve   *Reserve     `json:"reserve,omitempty"` // queues that wait for the price; nil if none does
	Damage
	Traps []ClosedTrap `json:"traps,omitempty"` // the last patterns that were closed
}

// Queue is a queue at a glance.
type Queue struct {
	PLD     string    `json:"pld"`
	Waiting int       `json:"waiting"`
	Next    time.Time `json:"next"`
	Fails   int       `json:"fails,omitempty"`
}

// HarvestRatio is the share of scored pages that are relevant.
func (t Totals) HarvestRatio() float64 {
	if t.Scored == 0 {
		return 0
	}
	return float64(t.Relevant) / float64(t.Scored)
}

// Progress is where a run stands.
type Progress struct {
	Totals   Totals       `json:"totals"`
	Waiting  int          `json:"waiting"`            // URLs
	Queues   int          `json:"queues"`             // that have any
	Owing    int          `json:"owing,omitempty"`    // batches, see Owing
	Harvests []float64    `json:"harvests,omitempty"` // harvest ratio of each tenth of the run so far
	Ends     []DroppedURL `json:"ends,omitempty"`     // the last URLs that ended without a page
	Longest  *Longest     `json:"longest,omitempty"`  // the queue in which most URLs wait; nil if nothing waits
	Reserve  *Reserve     `json:"reserve,omitempty"`  // queues that wait for the price; nil if none does
	Damage
	Traps []ClosedTrap `json:"traps,omitempty"` // the last patterns that were closed
}

// Progress is where the run stands, but for its ends and its longest queue.
func (s *Status) Progress() Progress {
	return Progress{Totals: s.Totals, Waiting: s.Waiting, Queues: s.Queues, Harvests: Harvests(s.History, 10), Damage: s.Damage, Traps: s.Traps}
}

// Longest is the queue in which most URLs wait: where a calendar, or another site without end, shows.
type Longest struct {
	PLD     string `json:"pld"`
	Waiting int    `json:"waiting"`
	Of      int    `json:"of"`    // URLs that wait in all queues
	Pages   int64  `json:"pages"` // that the run has of it
}

// longest is the longest queue; those whose budget is spent take nobody's turn. Frontier.mu is held.
func (s *state) longest() *Longest {
	q := s.schedule.Longest()
	if q == nil {
		return nil
	}
	return &Longest{q.Name, q.Waiting, s.waiting, q.Done.Pages}
}

// Progress returns where a crawl's run stands.
func (h Crawl) Progress() (Progress, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return Progress{}, err
	}
	return Progress{
		Totals: s.Totals, Waiting: s.waiting, Queues: s.schedule.Claimable() + s.claims.Len(), Owing: s.owing(),
		Ends: slices.Clone(s.DroppedURLs), Harvests: Harvests(s.History, 10), Longest: s.longest(), Reserve: s.heldBack(), Damage: s.Damage, Traps: s.closedTraps(),
	}, nil
}

// Running are the states of the crawls that run, for metrics: no crawl that sleeps is read for them. Queues counts those that may be
// claimed from, now or later; Resting those of them that rest.
func (f *Frontier) Running() (list []Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range f.crawls {
		if !s.Active || s.asleep {
			continue
		}
		out := Status{
			Crawl: name, Run: s.Run, Active: true, Started: s.Started, Reference: s.Reference, Totals: s.Totals,
			Waiting: max(s.waiting-s.claims.URLs(), 0), Delayed: s.delays.n, Claimed: s.claims.URLs(), History: slices.Clone(s.History),
			Queues: s.schedule.Claimable() + s.claims.Len(), Resting: s.schedule.Resting(), Reserve: s.heldBack(),
		}
		s.countClaims(&out)
		list = append(list, out)
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Crawl, b.Crawl) })
	return list
}

func (s *state) countClaims(out *Status) {
	for c := range s.claims.All() {
		if !c.Asked.IsZero() && (out.Oldest.IsZero() || c.Asked.Before(out.Oldest)) { // a batch that was reset asks for no claim
			out.Oldest = c.Asked
		}
		if c.Batch == "" {
			out.Asking++
		} else if !c.Ended {
			out.Lanes++
		}
	}
}

// Left reports whether any URL of a crawl waits, or will be tried again.
func (h Crawl) Left() (bool, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return false, err
	}
	h.f.placeQueues(s)
	return s.waitingLive() > 0 || s.delays.n > 0, nil
}

// slowest is how many of the queues that rest longest a Status names.
const slowest = 10

// Status returns the state of a crawl.
func (h Crawl) Status() (Status, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return Status{}, err
	}
	out := Status{
		Crawl: h.crawl, Run: s.Run, Active: s.Active, Started: s.Started, Reference: s.Reference, Totals: s.Totals,
		Waiting: max(s.waiting-s.claims.URLs(), 0), Delayed: s.delays.n, Claimed: s.claims.URLs(), Top: slices.Clone(s.Top), Ends: slices.Clone(s.DroppedURLs), History: slices.Clone(s.History),
		Damage: s.Damage, Traps: s.closedTraps(), Reserve: s.heldBack(),
	}
	s.countClaims(&out)
	out.Queues = s.schedule.Queues()
	resting, slow := s.schedule.Slow(h.f.opts.Now(), slowest)
	out.Resting = resting
	for _, q := range slow {
		out.Slow = append(out.Slow, Queue{q.Name, q.Waiting, q.Due(), q.Fails})
	}
	return out, nil
}
