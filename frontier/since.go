package frontier

import (
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// became is what became of a URL since it was last asked.
type became int

const (
	nothing became = iota
	isNew
	isChanged
	isUnchanged
	isGone
	isForbidden
)

// add counts it.
func (t *Totals) add(b became) {
	switch b {
	case isNew:
		t.New++
	case isChanged:
		t.Changed++
	case isUnchanged:
		t.Unchanged++
	case isGone:
		t.Gone++
	case isForbidden:
		t.Forbidden++
	}
}

// since says what became of a URL since it was last asked. The record is as it was before the outcome.
func (e *edit) since(pld uint64, r *record.Record, o *crawl.PageOutcome) (now became, err error) {
	known := r.Visit != (crawl.Visit{})
	switch {
	case o.Success() && (o.Kind == crawl.OutcomeUnmodified || known && o.Visit.Digest != "" && o.Visit.Digest == r.Visit.Digest):
		return isUnchanged, nil
	case o.Success() && !known:
		return isNew, nil
	case o.Success() && algorithm(o.Visit.Digest) != algorithm(r.Visit.Digest): // the definition has another one now
		return nothing, nil
	case o.Success():
		now = isChanged
	case !known:
		return nothing, nil
	case isAbsent(o):
		now = isGone
	case o.Kind == crawl.OutcomeRobots || o.Kind == crawl.OutcomeDone && forbids(o.Status):
		now = isForbidden
	default:
		return nothing, nil
	}
	// originals are the payloads of pages alone
	was, err := e.Has(e.s.keys.Digest(pld, r.Archive, r.Visit.Digest))
	switch {
	case err != nil || was:
		return now, err
	case o.Success(): // it was an error page
		return isNew, nil
	}
	return nothing, nil
}

// algorithm is that of a digest.
func algorithm(digest string) string {
	name, _, _ := strings.Cut(digest, ":")
	return name
}

// isAbsent reports whether the host says that there is no such page.
func isAbsent(o *crawl.PageOutcome) bool {
	return o.Kind == crawl.OutcomeDone && (o.Status == http.StatusNotFound || o.Status == http.StatusGone)
}

func forbids(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnavailableForLegalReasons
}

// recheck says when a URL is asked again whose outcome is for good.
func (e *edit) recheck(r *record.Record, o *crawl.PageOutcome, now became) {
	d := e.rec.Definition.Recrawl
	if !d.Adapts() {
		return
	}
	interval := r.Recheck.Interval
	switch {
	case now == isNew:
		interval = 0
	case now == isChanged:
		interval /= 2
	case now == isUnchanged || isAbsent(o):
		interval *= 2
	}
	seconds := func(bound crawl.Duration) int64 { return int64(bound.D().Seconds()) }
	r.Recheck = record.Recheck{Interval: min(max(interval, seconds(d.Min)), seconds(d.Max)), Asked: e.rec.Started.Unix()}
}

// asksFor reports whether a run asks again for a URL that an earlier one has ended.
func (rec *crawlRecord) asksFor(r *record.Record) bool {
	return !rec.Definition.Recrawl.Adapts() || r.State == record.Waiting || r.State == record.Delayed || r.Recheck.Due(rec.Started)
}
