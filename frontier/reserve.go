package frontier

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
)

// Queues below the price of a crawl wait, as long as that costs little time: see queue.Price.
const (
	// reservePart is for how long lanes may stand idle beside queues that wait for the price, as a part of the time for which lanes are busy: a crawl takes so much longer.
	reservePart = 0.3
	// reserveOver is the time after which what lanes did counts for 1/e.
	reserveOver = 2 * time.Minute
	// reserveLeast is how long a round waits at least before it looks at the price again, if nothing changes meanwhile.
	reserveLeast = 10 * time.Millisecond
)

// reserve is the price of a crawl, and the time that it has cost. It is of this process: after a restart the time is counted from zero.
type reserve struct {
	price       queue.Grade
	at          time.Time
	lanes, idle int     // since then: claims that take lanes, and others that could
	busy, spare float64 // the time of these so far, in seconds
}

// pass counts the time that has passed.
func (r *reserve) pass(now time.Time) {
	if took := now.Sub(r.at).Seconds(); !r.at.IsZero() && took > 0 {
		fade := math.Exp(-took / reserveOver.Seconds())
		r.busy = r.busy*fade + float64(r.lanes)*took
		r.spare = r.spare*fade + float64(r.idle)*took
	}
	r.at = now
}

// stand says what lanes do from now on: some are busy, others are free while queues wait for the price.
func (r *reserve) stand(lanes, free, held int) { r.lanes, r.idle = lanes, min(max(free, 0), held) }

// spends reports whether a queue below the price may be claimed from all the same: waiting has taken its time and would take more.
func (r *reserve) spends(lanes, free, held int) bool {
	return r.spare > reservePart*r.busy && float64(min(free, held)) > reservePart*float64(lanes)
}

// ends is when queues below the price may be claimed from at the latest, if nothing changes meanwhile.
func (r *reserve) ends() time.Time {
	rate := float64(r.idle) - reservePart*float64(r.lanes)
	if rate <= 0 {
		return r.at.Add(reserveOver)
	}
	left := min(max((reservePart*r.busy-r.spare)/rate, 0), reserveOver.Seconds())
	return r.at.Add(max(time.Duration(left*float64(time.Second)), reserveLeast))
}

// setPrice works the price of the crawl out: Any if the order does not learn, while the reference crawl explores, and if at the present pace time runs out before the budget of pages.
// Frontier.mu is held.
func (s *state) setPrice(room int64, now time.Time) queue.Grade {
	s.reserve.pass(now)
	s.reserve.price = queue.Any
	if s.learner() == nil || s.Reference {
		return queue.Any
	}
	took, pages := now.Sub(s.Started), s.Totals.Pages
	if left := s.Definition.Budget.Time.D() - took; took > 0 && float64(pages)*left.Seconds()/took.Seconds() < float64(room) {
		return queue.Any
	}
	s.schedule.Know(s.Outcomes)
	s.reserve.price = s.schedule.Price(room)
	return s.reserve.price
}

// share is what a worker will have of the budget of pages, of which room is left to it at present. That of a crawl that is spread is allotted in small parts, of which more come: its share
// is taken for an equal one. 0, for which there is no price, if nobody knows.
func (s *state) share(shared *Shared, room int64) int64 {
	switch {
	case shared == nil || room <= 0:
		return room
	case shared.Members <= 0:
		return 0
	}
	return max(room, s.Definition.Budget.Pages/int64(shared.Members)-s.Totals.Pages-int64(s.claims.Pages()))
}

// part is how many of the pages that are left of a budget one claim may take, where queues are graded: an equal part for each of the lanes that have a queue to take it from. Else one lane would
// fetch the last pages while the others, for which nothing is left, stand idle; see guided self-scheduling, Polychronopoulos and Kuck 1987.
func (s *state) part(left int64, lanes int) int64 {
	if left <= 0 || !s.schedule.Apart() {
		return math.MaxInt64
	}
	return max(queue.Probes, (left+int64(lanes)-1)/int64(lanes))
}

// Reserve is what waits because a budget of pages buys better ones.
type Reserve struct {
	Price float64 `json:"price"` // the least worth of a queue's next page, as a part of a page's of the best hosts
	Held  int     `json:"held"`  // queues below it that could be claimed from
}

// Add is what waits with two workers of a crawl: all that is held is worth less than the higher price.
func (r *Reserve) Add(b *Reserve) *Reserve {
	if r == nil || b == nil {
		return cmp.Or(r, b)
	}
	return &Reserve{max(r.Price, b.Price), r.Held + b.Held}
}

// String says it for people.
func (r *Reserve) String() string {
	wait, their := "queues wait", "their next pages are"
	if r.Held == 1 {
		wait, their = "queue waits", "its next page is"
	}
	return fmt.Sprintf("%d %s: %s worth less than %.2f of one of the best hosts, and better ones are expected to use the budget of pages up", r.Held, wait, their, r.Price)
}

// heldBack says what waits for the price; nil if nothing does. Frontier.mu is held.
func (s *state) heldBack() *Reserve {
	n := s.schedule.Held(s.reserve.price)
	if n == 0 || s.reserve.price == queue.Any {
		return nil
	}
	return &Reserve{s.reserve.price.Worth(), n}
}

// explainPrice says what a queue is worth at a price, where hosts are compared. One of which nothing is known yet has a worth, too.
func (e *Explanation) explainPrice(price queue.Grade, q *queue.Queue) {
	if q.Waiting == 0 || !q.Costly {
		return
	}
	worth, least := q.Grade().Worth(), price.Worth()
	e.Worth, e.Price, e.Judged, e.Held = &worth, &least, q.Done.Judged, !q.Busy && q.Below(price)
}
