package frontier

import "github.com/muninn-archive/muninn/internal/crawl"

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

// Count adds an outcome, but for what its page is worth.
func (t *Totals) Count(o crawl.Outcome) {
	t.Bytes += o.Bytes
	if o.Answered() {
		t.Requests++
	}
	switch o.Kind {
	case crawl.OutcomeRetry:
		t.Retries++
	case crawl.OutcomeRobots:
		t.Robots++
	case crawl.OutcomeRefused:
		t.Refused++
	case crawl.OutcomeFailed:
		t.Errors++
	case crawl.OutcomeDone:
		if o.Status >= 400 {
			t.Errors++
		}
	}
	if o.Success() {
		t.Pages++
	}
}

// Add adds what another worker, or a segment, has.
func (t *Totals) Add(o Totals) {
	more := o.fields()
	for i, n := range t.fields() {
		*n += *more[i]
	}
}

// Subtract takes away what another worker has.
func (t *Totals) Subtract(o Totals) {
	less := o.fields()
	for i, n := range t.fields() {
		*n -= *less[i]
	}
}

// fields are all of the numbers.
func (t *Totals) fields() []*int64 {
	return []*int64{
		&t.Pages, &t.Scored, &t.Relevant, &t.Bytes, &t.Errors, &t.Robots, &t.Refused, &t.Retries, &t.Revisits, &t.Links, &t.Known, &t.Batches,
		&t.Failed, &t.Requests,
	}
}

// Top is one of the most relevant pages.
type Top struct {
	URL   string  `json:"url" cbor:"1,keyasint"`
	Score float64 `json:"score" cbor:"2,keyasint"`
}

const topPages = 20
