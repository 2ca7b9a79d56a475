package bleve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
)

// bleve makes a segment of each batch, and merges segments in the background. A search costs something for each segment, and what it finds first
// spares more work in a large segment than in small ones, so that there
// should be few. While documents are added to a part, bleve keeps some segments of each
// order of magnitude. A month that gets no more documents is merged to one.
const (
	// maxMerged is the number of documents of a segment that is the result of a merge. Segments are searched side by side: one with all documents would be
	// searched by one processor. bleve merges no segment that has half of it already.
	maxMerged = 250_000
	// maxMergedAnchors is that of anchor texts, which are short.
	maxMergedAnchors = 1_000_000
	// quietAfter is the number of segments of a crawl of which none adds to a month before its parts are merged.
	quietAfter = 8
	// quietPart is the part of a month, 1/quietPart, that must lie outside of the largest of the segments that can be merged: it bounds how often a document is merged
	// if single documents come later.
	quietPart = 8
	// mergedTogether is the number of segments that one merge takes.
	mergedTogether = 64
	// mergeTries is how often a merge that fails is tried before who waits for it gets the error.
	mergeTries = 3
)

// growing are the options of merges while documents are added: three segments of each order of magnitude, the lowest of which is floor.
func growing(floor, most int) map[string]any {
	return map[string]any{"MaxSegmentsPerTier": 3, "SegmentsPerMergeTask": 10, "TierGrowth": 10, "FloorSegmentSize": floor, "MaxSegmentSize": most}
}

// mergesOf are those options of the part of a month, or of anchor texts.
func mergesOf(month string) map[string]any {
	if month == "" {
		return growing(10_000, maxMergedAnchors)
	}
	return growing(1000, maxMerged)
}

// quiet are the options that leave as few segments as there can be.
func quiet() *mergeplan.MergePlanOptions {
	return &mergeplan.MergePlanOptions{MaxSegmentsPerTier: 1, MaxSegmentSize: maxMerged, TierGrowth: 1, SegmentsPerMergeTask: mergedTogether, FloorSegmentSize: maxMerged, ReclaimDeletesWeight: 2}
}

// rest counts a segment of a crawl that has added to some months, and merges the first of the others that has had nothing for long.
func (c *crawl) rest(ctx context.Context, added map[string]bool) error {
	c.mu.RLock()
	months := c.months
	c.mu.RUnlock()
	merged := false
	for _, p := range months {
		if added[p.month] {
			p.idle = 0
			continue
		}
		if p.idle++; p.idle < quietAfter || merged {
			continue
		}
		p.idle = 0
		var err error
		if merged, err = p.merge(ctx); err != nil {
			return err
		}
	}
	return nil
}

// merge merges all segments of a part, unless nearly all documents are in one; more segments than one merge takes by several, one after the other. A merge that ctx ends is begun again another time.
func (p *part) merge(ctx context.Context) (merged bool, err error) {
	advanced, err := p.index.Advanced()
	if err != nil {
		return false, err
	}
	s, ok := advanced.(*scorch.Scorch)
	if !ok {
		return false, fmt.Errorf("the index of %s is a %T, want one of scorch", p.month, advanced)
	}
	for before := math.MaxInt; ; merged = true {
		small, most, err := p.mergeable()
		if err != nil || small < 2 || !merged && !most || small >= before { // the last: they are too large to be merged with each other
			return merged, err
		}
		before = small
		if err := p.mergeOnce(ctx, s); err != nil {
			return true, err
		}
	}
}

// mergeable is how many segments of a part can be merged, and whether so much lies outside of the largest that it is worth it.
func (p *part) mergeable() (small int, worth bool, err error) {
	sizes, err := p.segments()
	all, largest := 0, 0
	for _, n := range sizes {
		if n < maxMerged/2 {
			all, largest, small = all+n, max(largest, n), small+1
		}
	}
	return small, (all-largest)*quietPart >= all, err
}

// merging is a merge that bleve was asked for.
type merging struct {
	ended chan error // what it ends with
	tries *atomic.Int32
}

// request has bleve merge the segments of a part. bleve tries a merge that fails again and again, and plans it each time: once it was tried often enough, or ctx has ended, nothing is planned, and
// bleve ends it.
func request(ctx context.Context, s *scorch.Scorch) *merging {
	m, options := &merging{make(chan error, 1), &atomic.Int32{}}, quiet()
	options.CalcBudget = func(size, first int64, o *mergeplan.MergePlanOptions) int {
		if ctx.Err() != nil || m.tries.Add(1) > mergeTries {
			return math.MaxInt
		}
		return mergeplan.CalcBudget(size, first, o)
	}
	go func() { m.ended <- s.ForceMerge(ctx, options) }()
	return m
}

// mergeOnce has bleve merge the segments of a part, and waits for it. bleve takes one request at a time: one that was left before is waited for first.
func (p *part) mergeOnce(ctx context.Context, s *scorch.Scorch) error {
	before := p.trouble.times()
	for {
		former := p.merging != nil
		if !former {
			p.merging = request(ctx, s)
		}
		ended, err := p.await(ctx, before)
		if !former || !ended {
			return err
		}
	}
}

// await waits until the merge that bleve was asked for has ended. It leaves it if bleve has failed too often meanwhile, whatever it was at: while a merge in the background fails, bleve tries that again and again, and
// does not come to the one that it was asked for. A merge that was left is taken when bleve comes to it.
func (p *part) await(ctx context.Context, before int) (ended bool, err error) {
	m := p.merging
	for {
		select {
		case err := <-m.ended:
			if p.merging = nil; err == nil && m.tries.Load() > mergeTries {
				err = p.failed()
			}
			return true, err
		case <-ctx.Done():
			return false, ctx.Err()
		case <-p.trouble.noted:
			if p.trouble.times()-before > mergeTries {
				return false, p.failed()
			}
		}
	}
}

// failed is the error of a merge that was tried often enough.
func (p *part) failed() error {
	return fmt.Errorf("the index %s: merge its segments (tried %d times): %w: if the disk has no room, make some: a merge needs as much as the index takes, and is begun again when more segments are indexed",
		p.dir, mergeTries, cmp.Or(p.trouble.why(), errNoMerge))
}

// errNoMerge is the cause if bleve has not said any.
var errNoMerge = errors.New("bleve says no cause")

// segments are the numbers of documents of a part's segments.
func (p *part) segments() (sizes []int, err error) {
	r, err := p.reader()
	if err != nil {
		return nil, err
	}
	v := view{part: p, reader: r}
	list, err := unitsOf(&v)
	for _, u := range list {
		sizes = append(sizes, u.size())
	}
	if failed := r.Close(); err == nil {
		err = failed
	}
	return sizes, err
}
