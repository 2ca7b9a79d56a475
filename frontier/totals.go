package frontier

import (
	"fmt"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

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
	Known    int64 `json:"known" cbor:"11,keyasint"` // URLs that the run has found or asked for
	Batches  int64 `json:"batches" cbor:"12,keyasint"`
	Failed   int64 `json:"failed_batches" cbor:"13,keyasint"`
	Requests int64 `json:"requests" cbor:"20,keyasint,omitempty"` // answers of any kind, but for robots.txt, DNS and what pages need or probably need
	// Of requisites of pages, each once, whatever pages embed it:
	Requisites         int64 `json:"requisites,omitempty" cbor:"21,keyasint,omitempty"`          // known, in this run
	RequisitesArchived int64 `json:"requisites_archived,omitempty" cbor:"22,keyasint,omitempty"` // of them
	RequisitesCut      int64 `json:"requisites_cut,omitempty" cbor:"23,keyasint,omitempty"`      // left out, because the budget of requisites was spent, or that of the page that embeds them, each time they were found
	RequisiteBytes     int64 `json:"requisite_bytes,omitempty" cbor:"24,keyasint,omitempty"`     // on the wire, counted in Bytes

	// Of what pages ask for while they are open in a browser, each time one does. It is no URL that the frontier knows:
	Loads  int64 `json:"loads,omitempty" cbor:"28,keyasint,omitempty"`
	Loaded int64 `json:"loaded,omitempty" cbor:"29,keyasint,omitempty"` // of them, that are archived

	// Of what pages probably need (crawl.ClassSpeculative):
	Speculative         int64 `json:"speculative,omitempty" cbor:"25,keyasint,omitempty"`          // known, in this run
	SpeculativeArchived int64 `json:"speculative_archived,omitempty" cbor:"26,keyasint,omitempty"` // of them
	SpeculativeBytes    int64 `json:"speculative_bytes,omitempty" cbor:"27,keyasint,omitempty"`    // on the wire, counted in Bytes

	// What became of URLs since they were last asked, in an earlier run. Segments of earlier versions do not say it, so that batches of a lost worker of
	// these are not counted here.
	New       int64 `json:"new" cbor:"31,keyasint,omitempty"`       // pages that were not archived before, or were no pages when they were last asked
	Changed   int64 `json:"changed" cbor:"32,keyasint,omitempty"`   // pages with another payload
	Unchanged int64 `json:"unchanged" cbor:"33,keyasint,omitempty"` // pages with the same payload, or 304
	Gone      int64 `json:"gone" cbor:"34,keyasint,omitempty"`      // pages that have become 404 or 410
	Forbidden int64 `json:"forbidden" cbor:"35,keyasint,omitempty"` // pages that have become 401, 403 or 451, or that robots.txt disallows
	NotDue    int64 `json:"not_due" cbor:"36,keyasint,omitempty"`   // URLs that the run has not asked for, because their interval is not over
}

// CountBecame adds what became of a page.
func (t *Totals) CountBecame(b crawl.Became) {
	switch b {
	case crawl.BecameNew:
		t.New++
	case crawl.BecameChanged:
		t.Changed++
	case crawl.BecameUnchanged:
		t.Unchanged++
	case crawl.BecameGone:
		t.Gone++
	case crawl.BecameForbidden:
		t.Forbidden++
	}
}

// Since says what became of the pages of earlier runs; empty in a first run.
func (t Totals) Since() string {
	if t.Changed+t.Unchanged+t.Gone+t.Forbidden+t.NotDue == 0 {
		return ""
	}
	text := fmt.Sprintf("%d new, %d changed, %d unchanged, %d gone, %d forbidden", t.New, t.Changed, t.Unchanged, t.Gone, t.Forbidden)
	if t.NotDue > 0 {
		text += fmt.Sprintf("; %d not asked, by recrawl", t.NotDue)
	}
	return text
}

// Count adds an outcome of a URL, but for what its page is worth.
func (t *Totals) Count(o crawl.Outcome, class crawl.Class) {
	t.Bytes += o.Bytes
	archived := o.Kind == crawl.OutcomeDone || o.Kind == crawl.OutcomeUnmodified
	switch {
	case class == crawl.ClassRequisite:
		t.RequisiteBytes += o.Bytes
		if archived {
			t.RequisitesArchived++
		}
	case class == crawl.ClassSpeculative:
		t.SpeculativeBytes += o.Bytes
		if archived {
			t.SpeculativeArchived++
		}
	case o.Answered():
		t.Requests++
		if o.Success() {
			t.Pages++
		}
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
		if o.Status >= 400 && !absentIcon(&o, class) {
			t.Errors++
		}
	}
}

// absentIcon reports whether a host says that it has no icon, which browsers ask for without a page that names it: that is an answer, and no error.
func absentIcon(o *crawl.Outcome, class crawl.Class) bool {
	if class != crawl.ClassRequisite || o.Status != 404 && o.Status != 410 {
		return false
	}
	u, err := urls.Trusted(o.URL)
	return err == nil && u.RequestURI() == crawl.IconPath
}

// CountLoaded adds what a page has asked for while it was open; archived: it got it.
func (t *Totals) CountLoaded(bytes int64, archived bool) {
	if t.Loads++; archived {
		t.Loaded++
	}
	t.Bytes += bytes
	t.RequisiteBytes += bytes
}

// AllRequisites counts the requisites of pages, with what these ask for while they are open in a browser.
func (t Totals) AllRequisites() int64 { return t.Requisites + t.Loads }

// AllArchived counts those that are archived.
func (t Totals) AllArchived() int64 { return t.RequisitesArchived + t.Loaded }

// RequisiteShare is the share of the requisites of pages that are archived; 1 if there are none. If some were left out it is the least that it may be, for these
// count each time they are found.
func (t Totals) RequisiteShare() float64 {
	all := t.AllRequisites() + t.RequisitesCut
	if all == 0 {
		return 1
	}
	return min(float64(t.AllArchived())/float64(all), 1)
}

// RequisitesText says how many of the requisites of pages are archived; empty if there are none.
func (t Totals) RequisitesText() string {
	known, archived := t.AllRequisites(), t.AllArchived()
	if known+t.RequisitesCut == 0 {
		if t.SpeculativeArchived > 0 {
			return fmt.Sprintf("%d files that pages probably need are archived", t.SpeculativeArchived)
		}
		return ""
	}
	text := fmt.Sprintf("%.1f %% of requisites of pages are archived (%d of %d)", 100*t.RequisiteShare(), archived, known)
	if t.RequisitesCut > 0 {
		text = fmt.Sprintf("at least %s; their budget left out %d, counted on each page that embeds them", text, t.RequisitesCut)
	}
	if t.SpeculativeArchived > 0 {
		text += fmt.Sprintf("; and %d files that pages probably need", t.SpeculativeArchived)
	}
	return text
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
		&t.Failed, &t.Requests, &t.Requisites, &t.RequisitesArchived, &t.RequisitesCut, &t.RequisiteBytes,
		&t.Loads, &t.Loaded, &t.Speculative, &t.SpeculativeArchived, &t.SpeculativeBytes,
		&t.New, &t.Changed, &t.Unchanged, &t.Gone, &t.Forbidden, &t.NotDue,
	}
}

// Top is one of the most relevant pages.
type Top struct {
	URL   string  `json:"url" cbor:"1,keyasint"`
	Score float64 `json:"score" cbor:"2,keyasint"`
}

const topPages = 20
