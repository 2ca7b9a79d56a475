// Package record has the values that the frontier keeps in its store, and their encodings: what is known of a URL, of a queue, of a
// host. It is pure: it knows neither the store nor what memory holds.
package record

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// State is what has become of a URL.
type State byte

// The states of a URL. They are part of the format.
const (
	Waiting State = 1 // in its queue, claimed or not
	Delayed State = 2 // out of its queue until a time
	Done    State = 3
	Failed  State = 4
	Refused State = 5 // by robots.txt or the address guard
	Banned  State = 6 // never to be fetched, in any run: somebody has said so
	Same    State = 7 // the canonical form of another URL, which has the record's place: Record.URL
	Trapped State = 8 // out of its queue: of a closed pattern of its PLD (internal/traps), until that is opened again
)

func (s State) String() string {
	switch s {
	case Waiting:
		return "waiting"
	case Delayed:
		return "delayed"
	case Done:
		return "done"
	case Failed:
		return "failed"
	case Refused:
		return "refused"
	case Banned:
		return "blacklisted"
	case Same:
		return "known by another URL"
	case Trapped:
		return "trap"
	}
	return ""
}

// End says how a URL has ended that is done: whether what it embeds, or leads to by a redirect, is known since.
type End byte

// The ends of a URL. They are part of the format.
const (
	Unread End = 0 // it has not changed (304), or its host had a fault; or an earlier version has written it
	Read   End = 1
	Absent End = 2 // 404 or 410
)

// Expected is the number of attempts of a banned URL that waited when it was banned: a batch may have asked for it, and is going to bring what it has archived of it.
const Expected = 1

// Key is the identity of a URL within a crawl: the hashes of its PLD and of itself.
type Key struct{ PLD, URL uint64 }

// KeyOf returns the key of a URL.
func KeyOf(u urls.URL) Key { return KeyIn(u.PLD(), u) }

// KeyIn returns the key of a URL whose PLD is known.
func KeyIn(pld string, u urls.URL) Key {
	return Key{xxhash.Sum64String(pld), xxhash.Sum64String(u.String())}
}

// Record is what the frontier knows of a URL.
type Record struct {
	State    State
	Run      uint32 // the run of the crawl that saw it last
	Attempts uint8
	End      End            // if done
	Position queue.Position // in the queue, if waiting
	Due      int64          // if delayed, Unix seconds
	Via      string         // URL of the page that it was found on; empty: none
	Path     string         // hop letters, abbreviated
	URL      string
	Visit    crawl.Visit // the last capture
	Archive  int         // number of the archive that the visit is in
	Group    int         // of the link that it was found by, on its own host; 0: none

	Recheck Recheck

	Scores        Scores
	Features      []byte  // what the order keeps with the link that counts
	FeaturesScore float32 // the score that this link had when it was found
	Parts         []byte  // of this score, by crawl.Parts.Encode
	OtherFeatures []byte  // of the best of the other links, for an order that learns
	OtherScore    float32
}

// Recheck says when a URL is asked again, in a crawl whose pages have intervals.
type Recheck struct {
	Interval int64 // seconds; 0: none is known
	Asked    int64 // Unix seconds: the start of the run that has asked last
}

// early is the part of an interval that a run may be early: the runs of a schedule do not begin to the second.
const early = 10

// Earliest is the Unix time from which on a run asks again that begins then.
func (r Recheck) Earliest() int64 { return r.Asked + r.Interval - r.Interval/early }

// Due reports whether a run that begins at a time asks again.
func (r Recheck) Due(run time.Time) bool { return run.Unix() >= r.Earliest() }

// LinkFeatures lists what the order keeps with links to the URL, that of the link that counts first.
func (r *Record) LinkFeatures() (list [][]byte) {
	for _, k := range [][]byte{r.Features, r.OtherFeatures} {
		if len(k) > 0 {
			list = append(list, k)
		}
	}
	return list
}

// Add takes in a link to the URL: its score, and its features if it is the one that counts by the update function; with two,
// the features of the best of the others as well.
func (r *Record) Add(link Link, update string, two bool) {
	first := r.Scores.Count == 0
	counts := float32(link.Score) > r.Scores.Max
	switch update {
	case crawl.UpdateFirst:
		counts = false
	case crawl.UpdateLast:
		counts = true
	}
	r.Scores.Add(link.Score)
	other := link
	if counts || first {
		other = Link{Score: float64(r.FeaturesScore), Features: r.Features}
		r.Features, r.FeaturesScore, r.Parts = link.Features, float32(link.Score), link.Parts
	}
	if two && len(other.Features) > 0 && (len(r.OtherFeatures) == 0 || float32(other.Score) > r.OtherScore) {
		r.OtherFeatures, r.OtherScore = other.Features, float32(other.Score)
	}
}

// Submitted is the score that a URL was submitted with; 0 if it was found.
func (r *Record) Submitted() float64 {
	if r.Path == crawl.HopSeed.String() && r.Via == "" {
		return float64(r.Scores.First)
	}
	return 0
}
