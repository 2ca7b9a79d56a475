package frontier

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// HostReport is what the frontier knows of a host, over all crawls of the worker.
type HostReport struct {
	PLD    string        `json:"pld"`
	Next   time.Time     `json:"next,omitzero"` // no crawl asks it before
	Queues []QueueReport `json:"queues,omitempty"`
}

// QueueReport is the queue of a host in a crawl whose run has not ended.
type QueueReport struct {
	Crawl      string         `json:"crawl"`
	Waiting    int            `json:"waiting"`               // URLs, claimed ones included
	Next       time.Time      `json:"next,omitzero"`         // it is not claimed from before
	Busy       bool           `json:"busy,omitempty"`        // a claim of it is in progress
	Asking     bool           `json:"asking,omitempty"`      // that claim waits for its lease
	IP         string         `json:"ip,omitempty"`          // of that claim
	Fails      int            `json:"fails,omitempty"`       // batches in a row that could not reach the host
	CrawlDelay time.Duration  `json:"crawl_delay,omitempty"` // the longest that any of its hosts has asked for
	MinDelay   time.Duration  `json:"min_delay"`             // of the definition, with what is set for the PLD and the host
	MaxDelay   time.Duration  `json:"max_delay"`
	Pages      int64          `json:"pages"`             // of this run
	Left       *int64         `json:"left,omitempty"`    // URLs that budget.per_pld leaves; nil without one
	Spent      bool           `json:"spent,omitempty"`   // that budget is spent
	Weight     int            `json:"weight,omitempty"`  // of the crawl, beside others
	Ordered    crawl.PLDState `json:"ordered,omitempty"` // by an operator for the PLD: paused, stopped or aborted
}

// Host reports what is known of the host of a URL.
func (f *Frontier) Host(at urls.URL) (HostReport, error) {
	pld := record.KeyOf(at).PLD
	f.mu.Lock()
	out := HostReport{PLD: at.PLD()}
	if next := f.hosts.next[pld]; next.After(f.opts.Now()) {
		out.Next = next
	}
	var states []*state
	for _, name := range slices.Sorted(maps.Keys(f.crawls)) {
		if s := f.crawls[name]; s.Active && !s.asleep {
			states = append(states, s)
		}
	}
	f.mu.Unlock()
	for _, s := range states {
		q, known, err := f.queueOf(s, pld)
		if err != nil {
			return out, err
		}
		if !known {
			continue
		}
		f.mu.Lock()
		d := s.Definition
		pauses := d.PolitenessFor(at.PLD(), at.Host())
		r := QueueReport{
			Crawl: s.Name, Waiting: q.Waiting, Next: q.Due(), Busy: q.Busy, Fails: q.Fails, CrawlDelay: q.Delay, Pages: q.Done.Pages, Spent: q.Spent,
			MinDelay: pauses.MinDelay.D(), MaxDelay: pauses.MaxDelay.D(), Weight: max(d.Politeness.Weight, 1), Ordered: d.StateOf(at.PLD()),
		}
		for c := range s.claims.All() {
			if c.Queue == pld && !c.Ended {
				r.IP, r.Asking = c.IP, c.Batch == ""
			}
		}
		f.mu.Unlock()
		if left := q.Done.Left(d.BudgetOf(at.PLD())); left != math.MaxInt64 {
			left = max(left, 0)
			r.Left = &left
		}
		out.Queues = append(out.Queues, r)
	}
	return out, nil
}
