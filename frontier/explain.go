package frontier

import (
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// URLState is where a URL stands in a crawl.
type URLState string

// The states of a URL. All but the first two are those of its record.
const (
	URLUnknown     URLState = "unknown"
	URLClaimed     URLState = "claimed"
	URLWaiting     URLState = "waiting"
	URLDelayed     URLState = "delayed" // until another attempt
	URLDone        URLState = "done"
	URLFailed      URLState = "failed"
	URLRefused     URLState = "refused"
	URLBlacklisted URLState = "blacklisted"
	URLTrapped     URLState = "trap" // of a closed pattern
)

// Explanation says why a URL stands where it stands.
type Explanation struct {
	URL      string    `json:"url"`
	SameAs   string    `json:"same_as,omitempty"` // the URL that is asked for in its place; the rest is of it
	State    URLState  `json:"state"`
	Via      string    `json:"via,omitempty"`
	Path     string    `json:"path,omitempty"` // hop letters from the seed
	Run      uint32    `json:"run,omitempty"`  // that saw it last
	Attempts int       `json:"attempts,omitempty"`
	Due      time.Time `json:"due,omitzero"` // if delayed
	// Interval is that of a URL in a crawl with recrawl; runs that begin from Again on ask for it again.
	Interval crawl.Duration `json:"interval,omitzero"`
	Again    time.Time      `json:"again,omitzero"`
	// Trap is the closed pattern of a URL that is not fetched for that.
	Trap *ClosedTrap `json:"trap,omitempty"`
	// Redirects are those in a row that led here; MaxRedirects how many are followed.
	Redirects    int `json:"redirects,omitempty"`
	MaxRedirects int `json:"max_redirects,omitempty"`

	Strategy string         `json:"strategy"`
	Update   string         `json:"update"`
	Priority float64        `json:"priority"`          // in its queue, as it was queued
	Now      float64        `json:"now"`               // by what is known now
	Links    uint32         `json:"links"`             // that were scored
	First    float64        `json:"first"`             // score of the first of them
	Last     float64        `json:"last"`              // … of the last
	Mean     float64        `json:"mean"`              // … their mean
	Max      float64        `json:"max"`               // … of the best
	Parts    crawl.Parts    `json:"parts,omitempty"`   // of the score of the link that counts
	Weights  []order.Weight `json:"learned,omitempty"` // of an order that learns, in logits
	// Estimators are by what such an order takes pages for relevant.
	Estimators []order.Estimator `json:"estimators,omitempty"`

	// Worth is what the next page of the queue may well be worth, as a part of one of the best hosts; Price what it must be worth at present. Both are nil if no hosts are compared. Held says
	// that the queue is below the price, and waits: better URLs are expected to use the budget of pages up.
	Worth  *float64 `json:"worth,omitempty"`
	Price  *float64 `json:"price,omitempty"`
	Held   bool     `json:"held,omitempty"`
	Judged int64    `json:"judged,omitempty"` // pages of the host by which it is compared

	PLD     string              `json:"pld"`
	Before  int                 `json:"before"`            // URLs that stand before it in its queue; at most maxBefore are counted
	Waiting int                 `json:"waiting"`           // URLs of the queue
	Next    time.Time           `json:"next,omitzero"`     // the queue is not claimed from before
	Busy    bool                `json:"busy,omitempty"`    // a claim of the queue is in progress
	Asking  *Claim              `json:"asking,omitempty"`  // that claim, if it waits for its lease
	Waits   *politeness.Waiting `json:"waits,omitempty"`   // what it waits for, if that is known
	Fails   int                 `json:"fails,omitempty"`   // batches in a row that could not reach the host
	Spent   bool                `json:"spent,omitempty"`   // the PLD's budget is spent
	Ordered crawl.PLDState      `json:"ordered,omitempty"` // by an operator for the PLD: paused, stopped or aborted
}

// maxBefore bounds the URLs that Explain counts.
const maxBefore = 100_000

// Explain returns where a canonical URL stands in a crawl, and why.
func (h URLs) Explain(u urls.URL) (Explanation, error) {
	k := record.KeyOf(u)
	out := Explanation{URL: u.String(), PLD: u.PLD(), State: URLUnknown}
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return out, err
	}
	form, price, apart := s.scope.Canonical(u), s.reserve.price, s.schedule != nil && s.schedule.Apart()
	definition, whole, claimed := s.Definition, s.learner(), s.claims.Holder(k.PLD, k.URL) != ""
	for c := range s.claims.All() {
		if c.Queue == k.PLD && c.Batch == "" {
			asking := *c
			out.Asking = &asking
		}
	}
	h.f.mu.Unlock()
	q, known, err := h.f.queueOf(s, k.PLD)
	if err != nil {
		return out, fmt.Errorf("explain %s: %w", u, err)
	}
	if known {
		if apart {
			out.explainPrice(price, &q)
		}
		out.Waiting, out.Next, out.Busy, out.Fails, out.Spent = q.Waiting, q.Due(), q.Busy, q.Fails, q.Spent
	}
	out.Ordered = definition.StateOf(out.PLD)
	out.Strategy, out.Update = definition.Order.Strategy, definition.Order.Update
	err = h.f.store.View(func(txn store.Reader) error {
		r, found, err := txn.Record(s.keys.Record(k))
		if err == nil && !found {
			r, found, err = txn.Record(s.keys.Record(record.KeyOf(form)))
		}
		if err == nil && found && r.State == record.Same {
			if u, err = urls.Trusted(r.URL); err != nil {
				return err
			}
			r, found, err = txn.Record(s.keys.Record(record.KeyOf(u)))
		}
		if err != nil || !found {
			return err
		}
		if r.URL != out.URL {
			out.SameAs = r.URL
		}
		out.State = URLState(r.State.String())
		if claimed {
			out.State = URLClaimed
		}
		out.Via, out.Path, out.Run, out.Attempts = r.Via, r.Path, r.Run, int(r.Attempts)
		if out.Redirects = scope.Redirects(r.Path); out.Redirects > 0 {
			out.MaxRedirects = definition.Scope.MaxRedirects
		}
		if r.State == record.Trapped {
			if out.Trap, err = trapOf(txn, s.keys, u); err != nil {
				return err
			}
		}
		if n := r.Recheck.Interval; n > 0 && definition.Recrawl.Adapts() {
			out.Interval, out.Again = crawl.Duration(time.Duration(n)*time.Second), time.Unix(r.Recheck.Earliest(), 0).UTC()
		}
		if r.State == record.Delayed {
			out.Due = time.Unix(r.Due, 0).UTC()
		}
		a := r.Scores
		out.Links, out.First, out.Last, out.Max, out.Mean = a.Count, float64(a.First), float64(a.Last), float64(a.Max), a.Value(crawl.UpdateAvg)
		out.Parts = crawl.DecodeParts(r.Parts)
		if whole != nil {
			kept, _ := counts(whole.Order, &r, definition.Order.Update)
			out.Weights, out.Estimators = whole.Order.Explain(kept), whole.Order.Estimators()
		}
		now, err := openSites(txn, s.keys, whole).priority(k.PLD, &r, &definition)
		if err != nil {
			return err
		}
		out.Now = queue.Score(now)
		if r.State != record.Waiting {
			return nil
		}
		out.Priority = queue.Score(r.Position.Priority)
		return txn.Keys(s.keys.Entries(k.PLD), func(key store.Key) (bool, error) {
			at, ok := key.Position()
			if ok && at.Before(r.Position) {
				out.Before++
			}
			return ok && at.Before(r.Position) && out.Before < maxBefore, nil
		})
	})
	if err != nil {
		return out, fmt.Errorf("explain %s: %w", u, err)
	}
	return out, nil
}
