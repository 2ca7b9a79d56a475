package frontier

import (
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// crawlRecord is what is kept of a crawl.
type crawlRecord struct {
	ID        uint16    `cbor:"1,keyasint"`
	Name      string    `cbor:"2,keyasint"`
	Owner     string    `cbor:"3,keyasint"` // the Crawl workflow's run that it belongs to
	Run       uint32    `cbor:"4,keyasint"` // counts the runs
	Active    bool      `cbor:"5,keyasint"`
	Started   time.Time `cbor:"6,keyasint"`
	Totals    Totals    `cbor:"9,keyasint"` // of this run
	Counter   uint64    `cbor:"10,keyasint"`
	Sequence  int64     `cbor:"11,keyasint"` // of claims
	Top       []Top     `cbor:"13,keyasint,omitempty"`
	Limit     int64     `cbor:"14,keyasint,omitempty"` // pages of the present phase, 0: the budget alone
	Reference bool      `cbor:"15,keyasint,omitempty"` // the reference crawl is under way

	Ends []End `cbor:"16,keyasint,omitempty"` // URLs that ended without a page, the last of each kind

	Restore bool `cbor:"17,keyasint,omitempty"` // what another frontier knew is still to be brought in

	Lessons     uint64 `cbor:"18,keyasint,omitempty"` // the last of the order that learns
	LessonsFrom uint64 `cbor:"19,keyasint,omitempty"` // those up to it were of another topic

	TrailStep int64   `cbor:"20,keyasint,omitempty"` // pages from point to point
	Trail     []Point `cbor:"-"`                     // kept apart, written when it grows

	planRecord `cbor:"-"`
	planned    bool // planRecord is to be written
}

// planRecord is what a crawl was asked for. It is kept apart: it may be large, and the rest of the record
// is written with each batch.
type planRecord struct {
	Definition crawl.Definition `cbor:"1,keyasint"`
	Bounds     []string         `cbor:"2,keyasint"` // hosts or PLDs of the seeds, for the scope
	Learned    []byte           `cbor:"3,keyasint,omitempty"`
	Archives   []Place          `cbor:"4,keyasint,omitempty"` // all that the crawl has written to, by number
	Archive    int              `cbor:"5,keyasint,omitempty"` // number of the one that new batches go to
}

// Totals count what a run did.
type Totals struct {
	Pages    int64 `json:"pages" cbor:"1,keyasint"`    // successful responses
	Scored   int64 `json:"scored" cbor:"2,keyasint"`   // of them with a document score
	Relevant int64 `json:"relevant" cbor:"3,keyasint"` // of them at or above the threshold
	Bytes    int64 `json:"bytes" cbor:"4,keyasint"`    // on the wire
	Errors   int64 `json:"errors" cbor:"5,keyasint"`   // responses of 4xx and 5xx, and URLs that failed for good
	Robots   int64 `json:"robots" cbor:"6,keyasint"`   // refused by robots.txt
	Refused  int64 `json:"refused" cbor:"7,keyasint"`  // refused by the address guard
	Retries  int64 `json:"retries" cbor:"8,keyasint"`
	Revisits int64 `json:"revisits" cbor:"9,keyasint"`
	Links    int64 `json:"links" cbor:"10,keyasint"` // outlinks offered
	Known    int64 `json:"known" cbor:"11,keyasint"` // URLs new in this run
	Batches  int64 `json:"batches" cbor:"12,keyasint"`
	Failed   int64 `json:"failed_batches" cbor:"13,keyasint"`
	Requests int64 `json:"requests" cbor:"20,keyasint,omitempty"` // answers of any kind, but for robots.txt and DNS
}

// Top is one of the most relevant pages.
type Top struct {
	URL   string  `json:"url" cbor:"1,keyasint"`
	Score float64 `json:"score" cbor:"2,keyasint"`
}

const topPages = 20

// End is a URL that ended without a page, and why.
type End struct {
	URL    string    `json:"url" cbor:"1,keyasint"`
	Kind   string    `json:"kind" cbor:"2,keyasint"` // crawl.OutcomeFailed, OutcomeRobots or OutcomeRefused
	Reason string    `json:"reason" cbor:"3,keyasint"`
	At     time.Time `json:"at" cbor:"4,keyasint"`
}

// lastEnds is how many URLs of each kind are remembered with their reasons; maxReason how long these may
// be, in bytes.
const (
	lastEnds  = 20
	maxReason = 300
)

// ended remembers a URL that ended without a page, in place of the oldest of its kind.
func (rec *crawlRecord) ended(o crawl.Outcome, now time.Time) {
	e := End{URL: o.URL, Kind: o.Kind, Reason: strings.ToValidUTF8(o.Reason[:min(len(o.Reason), maxReason)], ""), At: now.UTC().Truncate(time.Second)}
	n, oldest := 0, -1
	for i := range rec.Ends {
		if rec.Ends[i].Kind == o.Kind {
			n++
			if oldest < 0 {
				oldest = i
			}
		}
	}
	if n >= lastEnds {
		rec.Ends = slices.Delete(rec.Ends, oldest, oldest+1)
	}
	rec.Ends = append(rec.Ends, e)
}
