package frontier

import (
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// DroppedURL is a URL that ended without a page, and why.
type DroppedURL struct {
	URL    string            `json:"url" cbor:"1,keyasint"`
	Kind   crawl.OutcomeKind `json:"kind" cbor:"2,keyasint"` // crawl.OutcomeFailed, OutcomeRobots or OutcomeRefused
	Reason string            `json:"reason" cbor:"3,keyasint"`
	At     time.Time         `json:"at" cbor:"4,keyasint"`
}

// lastEnds is how many URLs of each kind are remembered with their reasons; maxReason how long these may
// be, in bytes.
const (
	lastEnds  = 20
	maxReason = 300
)

// ended remembers a URL that ended without a page, in place of the oldest of its kind.
func (rec *crawlRecord) ended(o crawl.PageOutcome, now time.Time) {
	e := DroppedURL{URL: o.URL, Kind: o.Kind, Reason: strings.ToValidUTF8(o.Reason[:min(len(o.Reason), maxReason)], ""), At: now.UTC().Truncate(time.Second)}
	n, oldest := 0, -1
	for i := range rec.DroppedURLs {
		if rec.DroppedURLs[i].Kind == o.Kind {
			n++
			if oldest < 0 {
				oldest = i
			}
		}
	}
	if n >= lastEnds {
		rec.DroppedURLs = slices.Delete(rec.DroppedURLs, oldest, oldest+1)
	}
	rec.DroppedURLs = append(rec.DroppedURLs, e)
}
