package bleve

import (
	"context"
	"fmt"

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

// merge merges all segments of a part, unless nearly all documents are in one. A merge that ctx ends is begun again another time.
func (p *part) merge(ctx context.Context) (bool, error) {
	advanced, err := p.index.Advanced()
	if err != nil {
		return false, err
	}
	s, ok := advanced.(*scorch.Scorch)
	if !ok {
		return false, fmt.Errorf("the index of %s is a %T, want one of scorch", p.month, advanced)
	}
	sizes, err := p.segments()
	if err != nil {
		return false, err
	}
	all, largest, small := 0, 0, 0
	for _, n := range sizes {
		if n < maxMerged/2 {
			all, largest, small = all+n, max(largest, n), small+1
		}
	}
	if small < 2 || (all-largest)*quietPart < all {
		return false, nil
	}
	// scorch tries a merge that fails again and again without an end, and looks at ctx between: a caller that waits for it looks, too.
	ended := make(chan error, 1)
	go func() { ended <- s.ForceMerge(ctx, quiet()) }()
	select {
	case err = <-ended:
		return true, err
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

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
