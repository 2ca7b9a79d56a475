package frontier

import (
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Became says what became of a page that a batch has fetched, as the batch's commit will count it. It is empty if the commit will count nothing, as of a URL that
// another batch has ended meanwhile.
func (h URLs) Became(o *crawl.PageOutcome) (now crawl.Became, err error) {
	s, err := h.state()
	if err != nil {
		return "", err
	}
	u, err := urls.Trusted(o.URL)
	if err != nil { // no batch asks for it
		return "", nil
	}
	k := record.KeyOf(u)
	err = h.f.store.View(func(txn store.Reader) error {
		r, found, err := txn.Record(s.keys.Record(k))
		if err != nil || !found || r.State != record.Waiting {
			return err
		}
		now, err = s.since(txn, k.PLD, &r, o)
		return err
	})
	return now, err
}

// since says what became of a URL since it was last asked. The record is as it was before the outcome.
func (s *state) since(txn store.Reader, pld uint64, r *record.Record, o *crawl.PageOutcome) (now crawl.Became, err error) {
	known := r.Visit != (crawl.Visit{})
	same := o.Visit.Digest != "" && o.Visit.Digest == r.Visit.Digest
	if o.Visit.Shown >= crawl.ShownFrom && r.Visit.Shown >= crawl.ShownFrom { // what its scripts make of it may change though the page does not
		same = o.Visit.Shown == r.Visit.Shown
	}
	switch {
	case o.Success() && (o.Kind == crawl.OutcomeUnmodified || known && same):
		return crawl.BecameUnchanged, nil
	case o.Success() && !known:
		return crawl.BecameNew, nil
	case o.Success() && algorithm(o.Visit.Digest) != algorithm(r.Visit.Digest): // the definition has another one now
		return "", nil
	case o.Success():
		now = crawl.BecameChanged
	case !known:
		return "", nil
	case isAbsent(o):
		now = crawl.BecameGone
	case o.Kind == crawl.OutcomeRobots || o.Kind == crawl.OutcomeDone && forbids(o.Status):
		now = crawl.BecameForbidden
	default:
		return "", nil
	}
	was, err := s.original(txn, pld, r)
	was = was || r.Visit.Partial
	switch {
	case err != nil || was:
		return now, err
	case o.Success(): // it was an error page
		return crawl.BecameNew, nil
	}
	return "", nil
}

// original reports whether the last capture of a URL is of a page, and no partial one: originals are the payloads of pages alone.
func (s *state) original(txn store.Reader, pld uint64, r *record.Record) (bool, error) {
	if r.Visit.Partial || r.Visit.Digest == "" {
		return false, nil
	}
	return txn.Has(s.keys.Digest(pld, r.Archive, r.Visit.Digest))
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
func (e *edit) recheck(r *record.Record, o *crawl.PageOutcome, now crawl.Became) {
	d := e.rec.Definition.Recrawl
	if !d.Adapts() {
		return
	}
	interval := r.Recheck.Interval
	switch {
	case now == crawl.BecameNew:
		interval = 0
	case now == crawl.BecameChanged:
		interval /= 2
	case now == crawl.BecameUnchanged || isAbsent(o):
		interval *= 2
	}
	seconds := func(bound crawl.Duration) int64 { return int64(bound.D().Seconds()) }
	r.Recheck = record.Recheck{Interval: min(max(interval, seconds(d.Min)), seconds(d.Max)), Asked: e.rec.Started.Unix()}
}

// asksFor reports whether a run asks again for a URL that an earlier one has ended.
func (rec *crawlRecord) asksFor(r *record.Record) bool {
	return !rec.Definition.Recrawl.Adapts() || r.State == record.Waiting || r.State == record.Delayed || r.Recheck.Due(rec.Started)
}
