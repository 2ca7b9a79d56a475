package build

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// The most that is added in one step: captures, and segments. A step is a transaction, whose cost they share.
const (
	maxCaptures = 20_000
	maxSegments = 500
)

// Builder fills a catalogue. It remembers which segments it has seen, so that it looks at each manifest once.
type Builder struct {
	Store archive.Store
	To    catalogue.Catalogue
	// Describe, if it is not nil, may set title and language of a segment's captures that have none: its metadata records are of a crawler that wrote
	// none, and a derivation knows them.
	Describe func(ctx context.Context, name catalogue.SegmentName, entries []catalogue.Entry) error
	// Read, if it is not nil, is given what was read of each segment, for other views: they need not read it again. It is called by several goroutines.
	Read func(name catalogue.SegmentName, captures []archive.Described)
	// Damaged, if it is not nil, is given what says that a segment cannot be read: it is passed over. nil: filling ends with it.
	Damaged func(error)

	mu   sync.Mutex
	seen map[int64]struct{} // numbers of segments that are in the catalogue, or will never be
}

// Filled says what a call has added.
type Filled struct{ Segments, Captures, Answers int }

func (f *Filled) add(o Filled) {
	f.Segments += o.Segments
	f.Captures += o.Captures
	f.Answers += o.Answers
}

// Fill adds the segments of a crawl that are not in the catalogue. After an error, what was added stays; it may be called again.
func (b *Builder) Fill(ctx context.Context, of archive.CrawlAt) (done Filled, err error) {
	return b.FillListed(ctx, of, nil)
}

// FillListed is Fill for a caller that has listed the names of all segments of the crawl; nil: they are listed.
func (b *Builder) FillListed(ctx context.Context, of archive.CrawlAt, segments []string) (done Filled, err error) {
	var met []int64 // given back, damaged or added, once the walk is over
	f := &filling{b: b, ctx: ctx}
	walk := archive.Walk[catalogue.Segment]{
		Of:     archive.Layout{Prefix: of.Prefix, Crawl: of.Name},
		Listed: segments,
		Skip: func(segment string, _ time.Time) bool {
			name := catalogue.SegmentName{Crawl: of, Name: segment}
			if f.has(name) {
				return true
			}
			met = append(met, name.Number())
			return false
		},
		Load: func(ctx context.Context, m archive.Manifest) (catalogue.Segment, error) {
			return b.load(ctx, of, m)
		},
	}
	if b.Damaged != nil {
		walk.Damaged = func(err error) error {
			b.Damaged(err)
			return nil
		}
	}
	err = walk.Each(ctx, b.Store, func(_ archive.Manifest, s catalogue.Segment) error { return f.take(s) })
	if err == nil {
		err = f.flush()
	}
	if err = errors.Join(err, f.failed); err != nil {
		return f.done, fmt.Errorf("fill catalogue with %s: %w", of.Name, err)
	}
	b.remember(met...)
	return f.done, nil
}

func (b *Builder) remember(numbers ...int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[int64]struct{}{}
	}
	for _, n := range numbers {
		b.seen[n] = struct{}{}
	}
}

func (b *Builder) remembers(number int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, seen := b.seen[number]
	return seen
}

// filling is the state of one call of Fill.
type filling struct {
	b        *Builder
	ctx      context.Context
	segments []catalogue.Segment // that were read and are not yet added
	captures int
	done     Filled
	failed   error // of the catalogue, while the archive was listed
}

// has reports whether a segment need not be read. An error of the catalogue is kept: it is no reason to read the archive.
func (f *filling) has(name catalogue.SegmentName) bool {
	number := name.Number()
	if f.b.remembers(number) || f.failed != nil {
		return true
	}
	has, err := f.b.To.HasSegment(f.ctx, name)
	if err != nil {
		f.failed = err
		return true
	}
	if has {
		f.b.remember(number)
	}
	return has
}

func (f *filling) take(s catalogue.Segment) error {
	f.segments = append(f.segments, s)
	f.captures += len(s.Entries)
	if f.captures < maxCaptures && len(f.segments) < maxSegments {
		return nil
	}
	return f.flush()
}

func (f *filling) flush() error {
	if len(f.segments) == 0 {
		return nil
	}
	if err := f.b.To.AddSegments(f.ctx, f.segments...); err != nil {
		return err
	}
	for _, s := range f.segments {
		f.b.remember(s.Number())
		f.done.add(Filled{1, len(s.Entries), len(s.Answers)})
	}
	f.segments, f.captures = nil, 0
	return nil
}
