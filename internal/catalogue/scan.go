package catalogue

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"time"
)

// Index is what an implementation reads its captures by: one shard or several, each of which has all captures of a pay-level domain, in the
// order of positions.
type Index interface {
	// Shards are the numbers of those shards that may have keys of a span.
	Shards(s Span) []int
	// Page reads the captures of a shard that a window shows, at most n rows. next is the place of the last row that was looked at;
	// more is false if there are none behind it. Rows of segments that are not whole are left out.
	Page(ctx context.Context, shard int, w Window, n int) (page []Row, next Position, more bool, err error)
}

// Row is a capture with the number of its segment.
type Row struct {
	Entry
	Number int64
}

// Position is that of the capture, without working out the number again.
func (r *Row) Position() Position { return Position{r.Key, r.Date.Unix(), r.Number, r.Offset} }

// Window is a part of a span, from a place on.
type Window struct {
	Span
	Digest  string // if it is not empty: captures with DigestNumber of it, also those of others with the same number
	After   Position
	Reverse bool // from After back
}

// The rows of a page: of the first one, and at most.
const (
	firstPage = 32
	fullPage  = 1024
)

// errEnough ends a scan that has found what it may.
var errEnough = errors.New("enough")

// Scan answers a query from an index.
func Scan(ctx context.Context, index Index, q Query, fn func(Entry) error) error {
	if err := q.check(); err != nil {
		return err
	}
	spans, err := q.spans()
	if err != nil {
		return err
	}
	s := &scan{ctx: ctx, index: index, q: &q, fn: fn, ends: time.Now().Add(q.MaxTime)}
	s.since, s.through = q.times()
	switch q.Sort {
	case Closest:
		err = s.closest(spans[0])
	case Reverse:
		for i := len(spans) - 1; i >= 0 && err == nil; i-- {
			err = s.span(spans[i])
		}
	default:
		for i := 0; i < len(spans) && err == nil; i++ {
			err = s.span(spans[i])
		}
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// scan is the state of one query.
type scan struct {
	ctx            context.Context
	index          Index
	q              *Query
	fn             func(Entry) error
	since, through int64
	found          int
	idle           int       // captures that were looked at since one fitted
	ends           time.Time // of the time that captures are looked for
}

// begin is the place before all captures of a span, in the scan's direction, or that of the page before.
func (s *scan) begin(of Span, reverse bool) (p Position, err error) {
	switch {
	case reverse && of.Exact:
		p = Position{of.From, math.MaxInt64, math.MaxInt64, math.MaxInt64}
		p.Time = min(p.Time, s.through)
	case reverse:
		p = Position{of.Until, math.MinInt64, math.MinInt64, math.MinInt64}
	default:
		p = Position{of.From, math.MinInt64, math.MinInt64, math.MinInt64}
		if of.Exact {
			p.Time = max(p.Time, s.since)
		}
	}
	if s.q.After == "" {
		return p, nil
	}
	after, err := ParseCursor(s.q.After)
	if err != nil || (after.Compare(p) > 0) == reverse {
		return p, err
	}
	if of.Exact && after.Key != of.From { // the span was whole in a page before
		p.Time, p.Segment, p.Offset = math.MaxInt64, math.MaxInt64, math.MaxInt64
		if reverse {
			p.Time, p.Segment, p.Offset = math.MinInt64, math.MinInt64, math.MinInt64
		}
		return p, nil
	}
	return after, nil
}

// Compare orders positions.
func (p Position) Compare(o Position) int {
	return cmp.Or(strings.Compare(p.Key, o.Key), cmp.Compare(p.Time, o.Time), cmp.Compare(p.Segment, o.Segment), cmp.Compare(p.Offset, o.Offset))
}

// span gives the captures of a span in the query's order.
func (s *scan) span(of Span) error {
	reverse := s.q.Sort == Reverse
	begin, err := s.begin(of, reverse)
	if err != nil {
		return err
	}
	var streams []*stream
	for _, shard := range s.index.Shards(of) {
		streams = append(streams, s.stream(shard, Window{of, s.q.Digest, begin, reverse}))
	}
	return s.merge(streams, func(a, b *Row) bool { return (a.Position().Compare(b.Position()) < 0) != reverse })
}

// closest gives the captures of a URL by their distance from a time: those before it backwards, merged with those behind it.
func (s *scan) closest(of Span) error {
	at := s.q.Closest.Unix()
	var streams []*stream
	for _, shard := range s.index.Shards(of) {
		middle := Position{of.From, at, math.MaxInt64, math.MaxInt64}
		streams = append(streams, s.stream(shard, Window{of, s.q.Digest, middle, true}), s.stream(shard, Window{of, s.q.Digest, middle, false}))
	}
	distance := func(e *Row) int64 {
		d := e.Date.Unix() - at
		return max(d, -d)
	}
	return s.merge(streams, func(a, b *Row) bool {
		c := cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(a.Date.Unix(), b.Date.Unix()))
		return c < 0
	})
}

// merge gives the captures of streams, each of which is in order.
func (s *scan) merge(streams []*stream, before func(a, b *Row) bool) error {
	for {
		var best *stream
		for _, st := range streams {
			if err := st.fill(); err != nil {
				return err
			}
			if st.head() != nil && (best == nil || before(st.head(), best.head())) {
				best = st
			}
		}
		if best == nil {
			return nil
		}
		if err := s.give(best.take()); err != nil {
			return err
		}
	}
}

// give passes a capture on that fits. It asks for each capture whether somebody waits still: the filters may take a tenth of a second for it.
func (s *scan) give(e *Entry) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.idle++; s.q.MaxScan > 0 && s.idle > s.q.MaxScan || s.q.MaxTime > 0 && time.Now().After(s.ends) {
		return ErrScan
	}
	if at := e.Date.Unix(); at < s.since || at > s.through || s.q.Digest != "" && e.Digest != s.q.Digest {
		return nil
	}
	for _, f := range s.q.Filters {
		if !f.Fits(e) {
			return nil
		}
	}
	if s.q.Admits != nil && !s.q.Admits(e) {
		return nil
	}
	if err := s.pass(e); err != nil {
		return err
	}
	s.idle = 0
	if s.found++; s.found == s.q.Limit {
		return errEnough
	}
	return nil
}

// pass calls fn, whose time is not that of the scan.
func (s *scan) pass(e *Entry) error {
	if s.q.MaxTime == 0 {
		return s.fn(*e)
	}
	begun := time.Now()
	err := s.fn(*e)
	s.ends = s.ends.Add(time.Since(begun))
	return err
}

// stream reads the captures of a shard page by page.
type stream struct {
	scan   *scan
	shard  int
	window Window
	n      int // rows of the next page
	page   []Row
	at     int
	ended  bool
}

func (s *scan) stream(shard int, w Window) *stream {
	n := firstPage
	if s.q.Limit > 0 && s.q.Limit < n && len(s.q.Filters) == 0 && s.q.Admits == nil {
		n = s.q.Limit
	}
	return &stream{scan: s, shard: shard, window: w, n: n}
}

// head is the next capture; nil if there is none.
func (st *stream) head() *Row {
	if st.at == len(st.page) {
		return nil
	}
	return &st.page[st.at]
}

func (st *stream) take() *Entry {
	r := st.head()
	st.at++
	return &r.Entry
}

// fill reads pages until there is a next capture, or the end.
func (st *stream) fill() (err error) {
	for st.at == len(st.page) && !st.ended {
		var more bool
		st.page, st.window.After, more, err = st.scan.index.Page(st.scan.ctx, st.shard, st.window, st.n)
		if err != nil {
			return err
		}
		st.at, st.ended, st.n = 0, !more, min(2*st.n, fullPage)
		if past := st.past(); past {
			st.ended = true
		}
	}
	return nil
}

// past reports whether an exact window is behind the times that the query asks for, so that nothing of what follows fits.
func (st *stream) past() bool {
	if !st.window.Exact {
		return false
	}
	at := st.window.After.Time
	return !st.window.Reverse && at > st.scan.through || st.window.Reverse && at < st.scan.since
}
