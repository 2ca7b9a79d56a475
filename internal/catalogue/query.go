package catalogue

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Match says which URLs a query asks for, beside the one that it names.
type Match uint8

// The match types of CDX servers.
const (
	Exact  Match = iota // the URL
	Prefix              // those whose keys begin with its key
	Host                // those of its host and port
	Domain              // those of its host and of the hosts below it, at all ports
	Range               // those from its key on, before that of Until; without a URL all
)

// Sort is the order of an answer.
type Sort uint8

// The orders of answers.
const (
	Forward Sort = iota // by key and time
	Reverse             // the opposite
	Closest             // by the distance from a time; of two that are as far the earlier first
)

// Query asks for captures, as CDX servers do. Its zero fields ask for nothing in particular.
type Query struct {
	URL     string // as people write it: without a scheme it is of http
	Key     string // in place of URL
	Match   Match
	Until   string // with Range: the URL before whose key the answer ends
	Digest  string // of the payload, with its algorithm: sha1:…; without a URL over all of them
	From    time.Time
	To      time.Time // inclusive, both in whole seconds; zero: open
	Sort    Sort
	Closest time.Time // for the order of that name, which needs Exact
	Filters []Filter  // all must fit
	// Admits, if it is not nil, is asked about each capture that fits, after all other conditions. Those that it refuses count for MaxScan, and not for Limit.
	Admits func(*Entry) bool
	Limit  int    // 0: all
	After  string // what Entry.Cursor says of the last capture of the page before; not with Closest
	// MaxScan bounds how many captures are looked at in a row that do not fit, ErrScan beyond it; 0: without a bound.
	MaxScan int
	// MaxTime bounds the time that captures are looked for, without that of the function that gets them, ErrScan beyond it; 0: without a bound.
	MaxTime time.Duration
}

// QueryError says what is wrong with a query.
type QueryError struct{ Field, Fault string }

func (e *QueryError) Error() string { return e.Field + " " + e.Fault }

// check finds what is wrong with a query beside its URL.
func (q *Query) check() error {
	switch {
	case q.Sort == Closest && q.Closest.IsZero():
		return &QueryError{"closest", "is missing: the order by distance needs a time"}
	case q.Sort == Closest && (q.Match != Exact || q.URL == "" && q.Key == ""):
		return &QueryError{"sort", "is closest, which needs matchType exact"}
	case q.Sort == Closest && q.After != "":
		return &QueryError{"sort", "is closest, which has no further pages: use from and to"}
	case q.Limit < 0:
		return &QueryError{"limit", "is below 0"}
	case !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From):
		return &QueryError{"to", "is before from"}
	}
	return checkFilters(q.Filters)
}

// times are the first and the last second that the query asks for.
func (q *Query) times() (since, through int64) { return times(q.From, q.To) }

func times(from, to time.Time) (since, through int64) {
	since, through = math.MinInt64, math.MaxInt64
	if !from.IsZero() {
		since = from.Unix()
	}
	if !to.IsZero() {
		through = to.Unix()
	}
	return since, through
}

// Times are the first and the last second that the query asks for (Unix time).
func (q *AnswerQuery) Times() (since, through int64) { return times(q.From, q.To) }

// Position is the place of a capture in the order of a catalogue: by key, time, segment and offset.
type Position struct {
	Key     string
	Time    int64 // Unix time in seconds
	Segment int64 // SegmentName.Number
	Offset  int64
}

// Position is the place of a capture.
func (e *Entry) Position() Position {
	return Position{e.Key, e.Date.Unix(), e.Name().Number(), e.Offset}
}

// Cursor names the place of a capture, for Query.After.
func (e *Entry) Cursor() string { return e.Position().Cursor() }

// Cursor is the form of a position for Query.After.
func (p Position) Cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %d %s", p.Time, p.Segment, p.Offset, p.Key))
}

// ParseCursor reads what Position.Cursor has written.
func ParseCursor(text string) (p Position, err error) {
	bad := &QueryError{"resumeKey", "is none that a former answer has given"}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, bad
	}
	parts := strings.SplitN(string(raw), " ", 4)
	if len(parts) != 4 || checkKey(parts[3]) != nil {
		return p, bad
	}
	for i, to := range []*int64{&p.Time, &p.Segment, &p.Offset} {
		if *to, err = strconv.ParseInt(parts[i], 10, 64); err != nil {
			return Position{}, bad
		}
	}
	p.Key = parts[3]
	return p, nil
}
