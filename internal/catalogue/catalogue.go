package catalogue

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// The errors of a catalogue. What is wrong with a query is a QueryError.
var (
	// ErrNoSegment says that a catalogue does not have a segment.
	ErrNoSegment = errors.New("the catalogue has no such segment")
	// ErrScan says that a query has looked at as many captures as it may, or for as long: those that it returned are not all.
	ErrScan = errors.New("the query looks at too many captures: name a narrower part of URLs, or a time")
	// ErrVersion says that a catalogue was made by a version whose form this one does not read.
	ErrVersion = errors.New("the catalogue has the form of another version: delete it and build it again")
	// ErrCollision says that two segments have the same number, which is a hash of their names.
	ErrCollision = errors.New("another segment has the same number")
)

// Catalogue answers which captures of which URLs an archive holds. Implementations are safe for concurrent use and pass the suite in
// internal/catalogue/catalogtest.
type Catalogue interface {
	// AddSegments adds what segments hold; all of a segment is seen, or nothing. A segment that is there already is left as it is. What was
	// added is durable when AddSegments returns; after an error, those segments that HasSegment knows are there whole. Many at once cost
	// less than one after the other.
	AddSegments(ctx context.Context, segments ...Segment) error
	// HasSegment reports whether a segment was added.
	HasSegment(ctx context.Context, name SegmentName) (bool, error)
	// Segment returns what is known of a segment, without its entries and answers; ErrNoSegment if it was not added.
	Segment(ctx context.Context, name SegmentName) (Segment, error)
	// Query calls fn with each capture that a query asks for, in its order. It ends with the first error of fn, which it returns.
	// A capture that is added meanwhile may be seen or not. A QueryError says what is wrong with the query, before fn is called.
	Query(ctx context.Context, q Query, fn func(Entry) error) error
	// Answers calls fn with answers of name servers: of a name in the order of addresses and time, of an address in that of
	// names and time.
	Answers(ctx context.Context, q AnswerQuery, fn func(Answer) error) error
	// Close frees what the catalogue holds open.
	Close() error
}

// SegmentName names a segment of an archive.
type SegmentName struct {
	Crawl archive.CrawlAt
	Name  string // Manifest.Segment
}

// Segment is what a segment adds to a catalogue.
type Segment struct {
	SegmentName
	Run     uint32   // of the crawl; 0: not known
	WARC    string   // the key of its WARC object; empty if it has none
	Entries []Entry  // Crawl, Run, Segment, WARC and Key are those of the segment and of the URL: what they hold is not read
	Answers []Answer // Segment is not read
}

// Entry is a capture.
type Entry struct {
	Key             string // of its URL, as CDXJ has it (KeyOf)
	Crawl           archive.CrawlAt
	Run             uint32
	Segment         string
	WARC            string // the key of the object that has its record
	archive.Indexed        // Date in whole seconds, UTC
	Title, Language string // of the page; empty if nobody knows them
	// Original is the capture that a revisit refers to; zero if it is none, or if its record does not say.
	Original Original
}

// Original names the capture that a revisit refers to (WARC/1.1 §5.9, §5.10).
type Original struct {
	URL  string
	Date time.Time // whole seconds, UTC
}

// Name is the name of the segment that holds a capture.
func (e *Entry) Name() SegmentName { return SegmentName{e.Crawl, e.Segment} }

// Answer is an address that a name server gave for a name.
type Answer struct {
	Name    string // of the host that was asked for, in lower case, without a dot at its end
	Address netip.Addr
	Date    time.Time // whole seconds, UTC
	Segment SegmentName
}

// AnswerQuery asks for the answers of a name, of an address, or, without both, for all in the order of names.
type AnswerQuery struct {
	Name     string
	Address  netip.Addr
	From, To time.Time // inclusive; zero: open
	Limit    int       // 0: all
	After    *Answer   // the last one of the page before
	// Admits, if it is not nil, is asked about each answer of the times that are asked for. Those that it refuses count for MaxScan, and not for Limit.
	Admits func(*Answer) bool
	// MaxScan bounds how many answers are looked at in a row that do not fit, ErrScan beyond it; 0: without a bound.
	MaxScan int
}
