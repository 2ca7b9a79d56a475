package crawl

import "time"

// Hop is a letter of the hop path: how a URL was found, as Heritrix and the WARC field "outlink" name it.
type Hop byte

// The letters of the hop path.
const (
	HopSeed     Hop = 'S'
	HopLink     Hop = 'L' // an ordinary link
	HopEmbed    Hop = 'E' // image, script, style sheet, frame
	HopRedirect Hop = 'R'
	HopSitemap  Hop = 'M' // named by a sitemap, or a sitemap named by a seed
	HopPrereq   Hop = 'P' // robots.txt, DNS
	HopPaging   Hop = 'N' // to the next part of the same thread or list, as the helper says; not counted as a hop
)

func (h Hop) String() string { return string(rune(h)) }

// LastHop is the last letter of a hop path; 0 if it is empty.
func LastHop(path string) Hop {
	if path == "" {
		return 0
	}
	return Hop(path[len(path)-1])
}

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
}

// Outlink is a discovered URL (paper §4.2). Block is the index of the page's text block around the
// anchor, −1 if there is none.
type Outlink struct {
	URL          string  `json:"url"`
	Hop          Hop     `json:"hop"`
	Context      string  `json:"context,omitempty"` // where it stood, such as "a/@href"
	Anchor       string  `json:"anchor,omitempty"`
	Block        int     `json:"block"`
	TagPath      string  `json:"tag_path,omitempty"`
	Rel          string  `json:"rel,omitempty"`
	Level        string  `json:"level,omitempty"` // the page level the helper expects behind it
	Prior        float64 `json:"prior,omitempty"` // the helper's priority in [0,1]; 0: it said nothing
	Score        float64 `json:"score"`
	Parts        Parts   `json:"parts,omitempty"`
	LinkFeatures []byte  `json:"-"` // what the order wants to have again when the link is followed
}

// Page is what was understood of one response. Three steps fill it, each its own fields and no other's: internal/pipeline has a
// type for each state of a page.
type Page struct {
	// By the parser (internal/page).
	URL         string    `json:"url"`
	Status      int       `json:"status"`
	MIME        string    `json:"mime,omitempty"`
	Charset     string    `json:"charset,omitempty"`
	Title       string    `json:"title,omitempty"`
	Language    string    `json:"language,omitempty"` // ISO 639-1, empty if unsure
	Description string    `json:"description,omitempty"`
	Generator   string    `json:"generator,omitempty"`
	Canonical   string    `json:"canonical,omitempty"`
	Blocks      []string  `json:"blocks,omitempty"` // text blocks in document order
	Links       []Outlink `json:"links,omitempty"`
	LinksCut    int       `json:"links_cut,omitempty"`
	NoIndex     bool      `json:"noindex,omitempty"`
	NoFollow    bool      `json:"nofollow,omitempty"`

	// By the helper (internal/aah), which also gives links their level, prior and paging.
	Content     []bool   `json:"-"` // blocks that are content; nil: the helper did not say
	Application string   `json:"application,omitempty"`
	Version     string   `json:"version,omitempty"` // of the application
	Level       string   `json:"level,omitempty"`
	Terminal    bool     `json:"terminal,omitempty"`   // the level holds what the archive is for
	Rule        string   `json:"rule,omitempty"`       // which rule of the knowledge base recognised the application
	LevelRule   string   `json:"level_rule,omitempty"` // … and the level
	Confidence  float64  `json:"confidence,omitempty"` // of the application, in (0,1]
	Base        string   `json:"kb,omitempty"`         // checksum of the knowledge base
	Prints      []byte   `json:"-"`                    // what is remembered of the objects for the next time
	Objects     []Object `json:"objects,omitempty"`

	// By the judge (internal/score), which also gives links their score and its parts.
	Score        float64 `json:"score"` // the document score, −1 if nothing was said
	Worth        float64 `json:"-"`     // for the topic, in [0,1], by an order that learns
	PageFeatures []byte  `json:"-"`     // what such an order learns of the page; nil: nothing
}

// The kinds of outcome of a claimed URL. Every URL ever claimed ends with one.
const (
	OutcomeDone       = "done"       // archived
	OutcomeUnmodified = "unmodified" // 304, archived as a revisit
	OutcomeRobots     = "robots"     // refused by robots.txt
	OutcomeRefused    = "refused"    // refused by the address guard or the scope
	OutcomeRetry      = "retry"      // failed for now; it goes back with back-off
	OutcomeFailed     = "failed"     // failed for good
	OutcomeReturned   = "returned"   // not tried; it goes back as it was
)

// Discovery is the outlink on its way to the frontier; source is the URL of its page, path the hop letters of that. places
// tells that what was learned of the places that links stand at has a say (Definition.ByPlaces): it has, where the helper
// said nothing.
func (l *Outlink) Discovery(source, path string, places bool) Discovery {
	d := Discovery{URL: l.URL, Via: source, Path: Hopped(path, l.Hop), Score: l.Score, LinkFeatures: l.LinkFeatures, Parts: l.Parts.Encode()}
	if places && l.Prior == 0 && l.Hop == HopLink {
		d.TagPath = l.TagPath
	}
	return d
}

// Outcome is what became of one claimed URL.
type Outcome struct {
	URL          string    `json:"url"`
	Kind         string    `json:"kind"`
	Status       int       `json:"status,omitempty"` // HTTP status, 0 if there was no response
	Reason       string    `json:"reason,omitempty"`
	Bytes        int64     `json:"bytes,omitempty"`   // on the wire, both ways
	After        time.Time `json:"after,omitzero"`    // a retry not before
	Score        float64   `json:"score,omitempty"`   // the document score, −1 if there is none
	Visit        Visit     `json:"visit,omitzero"`    // what to remember
	Revisit      bool      `json:"revisit,omitempty"` // archived as a revisit record
	Level        string    `json:"level,omitempty"`   // level and application by the helper
	App          string    `json:"app,omitempty"`     //
	Prints       []byte    `json:"prints,omitempty"`  // what to remember of its web objects
	Worth        float64   `json:"worth,omitempty"`   // see Page
	PageFeatures []byte    `json:"seen,omitempty"`    // see Page
}

// Success tells whether a response counts as a page in budgets and harvest ratio.
func (o Outcome) Success() bool {
	return (o.Kind == OutcomeDone && o.Status >= 200 && o.Status < 300) || o.Kind == OutcomeUnmodified
}

// Answered tells whether the host answered, whatever it said: what the budget of requests counts.
func (o Outcome) Answered() bool { return o.Status > 0 || o.Success() }

// Discovery is an outlink on its way to the frontier: what the queue needs and no more.
type Discovery struct {
	URL   string  `json:"url"`
	Via   string  `json:"via,omitempty"`
	Path  string  `json:"path"` // hop letters including the last
	Score float64 `json:"score"`
	// TagPath is where the link stands, if what was learned of such places has a say in its priority.
	TagPath      string `json:"tag_path,omitempty"`
	LinkFeatures []byte `json:"keep,omitempty"`  // see Outlink
	Parts        []byte `json:"parts,omitempty"` // by Parts.Encode
}
