package search

import (
	"context"
	"fmt"

	"github.com/muninn-archive/muninn/internal/search/query"
)

// Index is a full-text index of the captures and web objects of crawls. It is safe for concurrent use. The suite
// internal/search/searchtest says what an implementation must do.
type Index interface {
	// AddSegment indexes the documents of a segment. They are found once it returns. A segment that is added again, whole or after an
	// attempt that failed, leaves what one attempt leaves: a segment has the same documents each time.
	AddSegment(ctx context.Context, s Segment) error
	// HasSegment reports whether AddSegment has indexed a segment whole.
	HasSegment(ctx context.Context, name SegmentName) (bool, error)
	// Search answers a query. The same content gives the same answer, in whatever order its segments were added.
	Search(ctx context.Context, q query.Query, o Options) (Answer, error)
	// Close ends the use of the index.
	Close() error
}

// SegmentName names a segment of a crawl.
type SegmentName struct{ Crawl, Name string }

func (n SegmentName) String() string { return n.Crawl + "/" + n.Name }

// Segment is what an index needs of a segment.
type Segment struct {
	SegmentName
	Documents []Document
	Anchors   []Anchor
}

// Document is a capture or a web object in one.
type Document struct {
	query.Facts
	Run uint32 // of the crawl; 0 if it is not known
	// N is the place of the web object among those of its page, from 0, and WholePage of the capture itself.
	N int
}

// WholePage is the N of the document of a capture.
const WholePage = -1

// Anchor is an anchor text with the URL that it leads to, and the language of the page on which it stands.
type Anchor struct{ URL, Text, Language string }

// Options say what an answer has.
type Options struct {
	Limit  int // hits, at most MaxHits
	Offset int // hits that are left out before; Offset and Limit are together at most MaxReach
	// Facets asks for the counts of values, at most Values of each (20 if it is 0, at most MaxValues).
	Facets bool
	Values int
	// Histogram asks for the counts of all months.
	Histogram bool
	// Fold shows of several documents with the same content only the first. Totals, facets and histogram count them all.
	Fold bool
}

// Bounds of what an answer has.
const (
	// MaxHits is the number of hits that an answer has at most.
	MaxHits = 1000
	// MaxReach is the number of hits that can be reached at all. A query that has more must be narrowed.
	MaxReach = 10_000
	// MaxValues is the number of values of a facet that an answer has at most.
	MaxValues = 1000
	// MaxFolded is the number of hits, of those beyond the offset too, that are looked at for as many as are asked for without duplicates.
	MaxFolded = 10_000
	// someValues is the number of values of a facet if none is given.
	someValues = 20
)

// Check refuses options outside of the bounds, and fills in defaults.
func (o Options) Check() (Options, error) {
	switch {
	case o.Limit < 0 || o.Offset < 0 || o.Values < 0:
		return o, fmt.Errorf("search: limit %d, offset %d and values %d must not be negative", o.Limit, o.Offset, o.Values)
	case o.Limit > MaxHits:
		return o, fmt.Errorf("search: the limit is %d: ask for at most %d hits", o.Limit, MaxHits)
	case o.Offset+o.Limit > MaxReach:
		return o, fmt.Errorf("search: only the first %d hits can be shown: narrow the query, for example by a date or a site", MaxReach)
	}
	if o.Values == 0 {
		o.Values = someValues
	}
	o.Values = min(o.Values, MaxValues)
	return o, nil
}

// Answer is what is found.
type Answer struct {
	Total  int // documents that match
	Hits   []Hit
	Facets map[Facet]Counts // nil if they are not asked for
	Months []Count          // histogram of captures by month, in the order of time, without months that have none
}

// Hit is a document that matches. It has no text: that is in the derivation of its segment.
type Hit struct {
	Segment string
	Document
	Rank       float64 // higher ranks come first
	Content    string  // names what the document says: others with the same name are duplicates
	Duplicates int     // of the hits that Fold has looked at, those that it has left out because they have this content
}
