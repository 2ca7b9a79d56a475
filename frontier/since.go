package frontier

import (
	"net/http"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// since says what became of a URL since it was last asked: the counter of the totals that an outcome raises; nil: none. The record is as it was
// before the outcome.
func (e *edit) since(pld uint64, r *record.Record, o *crawl.PageOutcome) (counter *int64, err error) {
	t := &e.rec.Totals
	known := r.Visit != (crawl.Visit{})
	switch {
	case o.Success() && (o.Kind == crawl.OutcomeUnmodified || known && o.Visit.Digest != "" && o.Visit.Digest == r.Visit.Digest):
		return &t.Unchanged, nil
	case o.Success() && !known:
		return &t.New, nil
	case o.Success():
		counter = &t.Changed
	case !known:
		return nil, nil
	case o.Kind == crawl.OutcomeRobots:
		counter = &t.Forbidden
	case o.Kind != crawl.OutcomeDone:
		return nil, nil
	case o.Status == http.StatusNotFound || o.Status == http.StatusGone:
		counter = &t.Gone
	case o.Status == http.StatusUnauthorized || o.Status == http.StatusForbidden || o.Status == http.StatusUnavailableForLegalReasons:
		counter = &t.Forbidden
	default:
		return nil, nil
	}
	// originals are the payloads of pages alone
	was, err := e.Has(e.s.keys.Digest(pld, r.Archive, r.Visit.Digest))
	switch {
	case err != nil || was:
		return counter, err
	case o.Success(): // it was an error page
		return &t.New, nil
	}
	return nil, nil
}
