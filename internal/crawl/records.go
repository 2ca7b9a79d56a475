package crawl

import (
	"strings"
	"time"
)

// Hop is a letter of the hop path: how a URL was found, as Heritrix and the WARC field "outlink" name it.
type Hop byte

// The letters of the hop path.
const (
	HopSeed     Hop = 'S'
	HopLink     Hop = 'L' // an ordinary link
	HopEmbed    Hop = 'E' // image, script, style sheet, frame
	HopRedirect Hop = 'R'
	HopSitemap  Hop = 'M' // named by a sitemap, or a sitemap named by a seed
	HopPrereq   Hop = 'P' // robots.txt, DNS, a probe
	HopPaging   Hop = 'N' // to the next part of the same thread or list, as the helper says; not counted as a hop

	HopSpeculative Hop = 'X' // what is probably embedded: an image that a script names
)

func (h Hop) String() string { return string(rune(h)) }

// LastHop is the last letter of a hop path; 0 if it is empty.
func LastHop(path string) Hop {
	if path == "" {
		return 0
	}
	return Hop(path[len(path)-1])
}

// Class is what a URL is to a crawl, by its hop path.
type Class uint8

// The classes of URLs.
const (
	ClassPage        Class = iota // it counts in the budgets of pages and of requests
	ClassRequisite                // a page needs it to be shown
	ClassSpeculative              // a page probably does
)

// ClassOf is the class of what a hop path leads to; a redirect has that of what redirects.
func ClassOf(path string) Class {
	switch LastHop(strings.TrimRight(path, HopRedirect.String())) {
	case HopEmbed:
		return ClassRequisite
	case HopSpeculative:
		return ClassSpeculative
	}
	return ClassPage
}

// IsRequisite reports whether a hop path leads to what a page needs to be shown: it is embedded, or a redirect of what is.
func IsRequisite(path string) bool { return ClassOf(path) == ClassRequisite }

// Hopped appends a letter to a hop path. Paging through one thing stays one letter, however long it is.
func Hopped(path string, hop Hop) string {
	if hop == HopPaging && LastHop(path) == HopPaging {
		return path
	}
	return path + hop.String()
}

// Target is a URL that a batch has claimed and will fetch.
type Target struct {
	URL          string  `json:"url"`
	Via          string  `json:"via,omitempty"`
	Path         string  `json:"path,omitempty"` // hop letters from the seed, oldest first
	Priority     float64 `json:"priority"`
	Attempts     int     `json:"attempts,omitempty"`
	Previous     Visit   `json:"previous,omitzero"`
	Prints       []byte  `json:"prints,omitempty"` // what is remembered of the page's web objects
	LinkFeatures []byte  `json:"kept,omitempty"`   // what the order kept with the link that led to it
	// Submitted is the score that it was submitted with, if it was.
	Submitted float64 `json:"submitted,omitempty"`
}

// Visit is what the frontier remembers of the last time a URL was archived: the validators of a
// conditional request, and the original that a revisit record refers to.
type Visit struct {
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Digest       string    `json:"digest,omitempty"` // payload digest of the original, "sha1:…"
	URL          string    `json:"url,omitempty"`    // of the original, if it is another
	Date         time.Time `json:"date,omitzero"`    // WARC-Date of the original
	Shown        uint64    `json:"shown,omitempty"`  // Page.Shown: what a browser made of it; below ShownFrom: by what it is not to be opened
	// Partial says that the capture is a page that is no original (Exchange.Partial): there are no validators.
	Partial bool `json:"partial,omitempty"`
}

// ShownFrom is the least hash of what a browser makes of a page.
const ShownFrom = 1 << 32

// OutcomeKind says how a claimed URL ended. Every URL ever claimed ends with one.
type OutcomeKind string

const (
	OutcomeDone       OutcomeKind = "done"       // archived
	OutcomeUnmodified OutcomeKind = "unmodified" // 304, archived as a revisit
	OutcomeRobots     OutcomeKind = "robots"     // refused by robots.txt
	OutcomeRefused    OutcomeKind = "refused"    // refused by the address guard or the scope
	OutcomeRetry      OutcomeKind = "retry"      // failed for now; it goes back with back-off
	OutcomeFailed     OutcomeKind = "failed"     // failed for good
	OutcomeReturned   OutcomeKind = "returned"   // not tried; it goes back as it was
)

// Outcome is what FETCH knows of the end of a claimed URL.
type Outcome struct {
	URL    string      `json:"url"`
	Kind   OutcomeKind `json:"kind"`
	Status int         `json:"status,omitempty"` // HTTP status, 0 if there was no response
	Reason string      `json:"reason,omitempty"`
	Bytes  int64       `json:"bytes,omitempty"` // on the wire, both ways
	After  time.Time   `json:"after,omitzero"`  // a retry not before
	Visit  Visit       `json:"visit,omitzero"`  // what to remember: the validators, until ARCHIVE adds the record
}

// PageOutcome is what COMMIT takes: how a claimed URL ended, and what became of its page.
type PageOutcome struct {
	Outcome
	Score        float64 `json:"score,omitempty"`       // the document score, −1 if there is none
	Revisit      bool    `json:"revisit,omitempty"`     // archived as a revisit record
	Requisite    bool    `json:"requisite,omitempty"`   // of ClassRequisite
	Speculative  bool    `json:"speculative,omitempty"` // of ClassSpeculative
	Level        string  `json:"level,omitempty"`       // level and application by the helper
	App          string  `json:"app,omitempty"`         //
	Prints       []byte  `json:"prints,omitempty"`      // what to remember of its web objects
	Worth        float64 `json:"worth,omitempty"`       // see Verdict
	PageFeatures []byte  `json:"seen,omitempty"`        // see Verdict
	Print        *Print  `json:"print,omitempty"`       // what it reads like; nil if nothing was understood
	Loaded       bool    `json:"loaded,omitempty"`      // a page has loaded it while it was open: it counts in bytes, and the URL has an outcome of its own, or none
}

// SetClass says what the URL is to the crawl.
func (o *PageOutcome) SetClass(c Class) {
	o.Requisite, o.Speculative = c == ClassRequisite, c == ClassSpeculative
}

// Class is what the URL is to the crawl.
func (o *PageOutcome) Class() Class {
	switch {
	case o.Requisite:
		return ClassRequisite
	case o.Speculative:
		return ClassSpeculative
	}
	return ClassPage
}

// Print says what a page reads like: near-duplicates have prints that differ in few bits. See internal/traps.
type Print struct {
	All        uint64 `json:"all,omitempty"` // of all its text
	Own        uint64 `json:"own,omitempty"` // of what does not stand in blocks of links
	Words      int    `json:"words,omitempty"`
	OwnWords   int    `json:"own_words,omitempty"`
	Requisites uint64 `json:"requisites,omitempty"` // of the paths of images and other embeds
	Sketch     []byte `json:"sketch,omitempty"`     // of some of its shingles outside blocks of links, two bytes each
}

// Became is what became of a page since it was last asked for, in an earlier run; empty if nothing did, or if there was no page.
type Became string

// What may become of a page.
const (
	BecameNew       Became = "new"       // it was not archived before, or was no page
	BecameChanged   Became = "changed"   // it has another payload; if it was opened in a browser both times, other texts or links
	BecameUnchanged Became = "unchanged" // it has the same payload, or texts and links; or the answer is 304
	BecameGone      Became = "gone"      // it has become 404 or 410
	BecameForbidden Became = "forbidden" // it has become 401, 403 or 451, or robots.txt disallows it
)

// Success reports whether a response counts as a page in budgets and harvest ratio.
func (o Outcome) Success() bool {
	return (o.Kind == OutcomeDone && o.Status >= 200 && o.Status < 300) || o.Kind == OutcomeUnmodified
}

// Answered reports whether the host answered, whatever it said: what the budget of requests counts.
func (o Outcome) Answered() bool { return o.Status > 0 || o.Success() }

// Discovery is an outlink on its way to the frontier: what the queue needs and no more.
type Discovery struct {
	URL   string  `json:"url"`
	Via   string  `json:"via,omitempty"`
	Path  string  `json:"path"` // hop letters including the last
	Score float64 `json:"score"`
	// Known says that Path is what the frontier has kept of the URL, in an earlier run.
	Known bool `json:"known,omitempty"`
	// Language is that of the page that links, if the scope asks for it and it is known.
	Language string `json:"language,omitempty"`
	// TagPath is where the link stands, if what was learned of such places has a say in its priority.
	TagPath      string `json:"tag_path,omitempty"`
	LinkFeatures []byte `json:"keep,omitempty"`  // see LinkVerdict
	Parts        []byte `json:"parts,omitempty"` // by Parts.Encode
}
