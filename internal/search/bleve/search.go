package bleve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// view is what a search sees of a part: its content at one moment.
type view struct {
	part    *part
	crawl   string
	month   string
	reader  index.IndexReader
	anchors bool
}

// views opens the parts that a query may find something in, and those with anchor texts of their crawls.
func (x *Index) views(q query.Query) (list []view, sum, anchors lengths, err error) {
	wanted := map[string]bool{} // crawls that the query limits itself to
	for _, n := range q.Parts() {
		if is, ok := n.(query.Is); ok && is.Field == query.Crawl {
			wanted[is.Value] = true
		}
	}
	for name, c := range x.crawls {
		if len(wanted) > 0 && !wanted[name] {
			continue
		}
		c.mu.RLock()
		parts := append(slices.Clone(c.months), c.anchors)
		c.mu.RUnlock()
		for _, p := range parts {
			r, err := p.reader()
			if err != nil {
				return nil, sum, anchors, errors.Join(err, closeViews(list))
			}
			list = append(list, view{p, name, p.month, r, p.month == ""})
			if p.month == "" {
				anchors.add(p.sums())
			} else {
				sum.add(p.sums())
			}
		}
	}
	return list, sum, anchors, nil
}

// unitsOf are the segments of views: those of documents, and those of anchor texts.
func (x *Index) unitsOf(views []view) (pages, links []*unit, err error) {
	for i := range views {
		list, err := unitsOf(&views[i])
		if err != nil {
			return nil, nil, err
		}
		if views[i].anchors {
			links = append(links, list...)
		} else {
			pages = append(pages, list...)
		}
	}
	x.columns.keep(slices.Concat(pages, links))
	return pages, links, nil
}

func closeViews(list []view) (err error) {
	for _, v := range list {
		err = errors.Join(err, v.reader.Close())
	}
	return err
}

// lastYear is the last that the name of a month can have: names are compared as texts, and are in the order of time only if all years have four digits.
const lastYear = 9999

// within reports whether a month may have captures of the period of a query. A period that ends behind the last year, as that of date:..9999, is open.
func within(q query.Query, month string) bool {
	from, to := q.Period()
	if to.Year() > lastYear {
		to = time.Time{}
	}
	return month == noMonth || (from.IsZero() || month >= search.MonthOf(from)) && (to.IsZero() || month <= search.MonthOf(to))
}

// Search implements search.Index. It searches parts side by side.
func (x *Index) Search(ctx context.Context, q query.Query, o search.Options) (a search.Answer, err error) {
	if o, err = o.Check(); err != nil {
		return a, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return a, ErrClosed
	}
	views, sum, sumAnchors, err := x.views(q)
	if err != nil {
		return a, fmt.Errorf("search: %w", err)
	}
	defer func() { err = errors.Join(err, closeViews(views)) }()
	pages, links, err := x.unitsOf(views)
	if err != nil {
		return a, fmt.Errorf("search: %w", err)
	}
	p := phrasesOf(q)
	slots := slotsOf(q, p)
	credits, err := anchorCredits(ctx, slots, links, sumAnchors, x.columns)
	if err != nil {
		return a, fmt.Errorf("search anchor texts: %w", err)
	}
	w, err := weigh(ctx, slots, pages, sum)
	if err != nil {
		return a, fmt.Errorf("search: %w", err)
	}
	size := o.Offset + o.Limit
	if o.Fold && o.Limit > 0 {
		size = min(3*size+foldMargin, search.MaxFolded)
	}
	s := searching{q, p, w, credits, x.columns, o, make([]*matched, len(pages))}
	matches, err := s.run(ctx, pages, size)
	if err != nil {
		return a, fmt.Errorf("search: %w", err)
	}
	a.Total = matches.total
	if o.Facets || o.Histogram {
		matches.tally.Fill(&a, o)
	}
	list := matches.list
	if !o.Fold {
		a.Hits, err = load(list[min(o.Offset, len(list)):])
		return a, err
	}
	a.Hits, err = search.Fold(o, func(offset int) ([]search.Hit, error) {
		if offset == len(list) && offset < matches.total && len(list) < search.MaxFolded {
			s.options.Facets, s.options.Histogram = false, false
			more, err := s.run(ctx, pages, min(foldGrowth*len(list), search.MaxFolded))
			if err != nil {
				return nil, err
			}
			list = more.list
		}
		return load(list[offset:min(offset+foldMargin, len(list))])
	})
	return a, err
}

// foldGrowth is how many times more hits a search is asked for again if those that it was asked for had too many duplicates.
const foldGrowth = 8

// foldMargin is the number of hits that are loaded at a time while duplicates are folded.
const foldMargin = 64

// searching is a search over several parts.
type searching struct {
	query   query.Query
	phrases phrases
	weights *weights
	credits map[uint64]float64
	columns *columns
	options search.Options
	roots   []*matched // what the query matches in each unit, for another run
}

// outcome is what several parts have found.
type outcome struct {
	total int
	list  []found // in the order of rank
	tally *search.Tally
}

// run searches units side by side, for so many documents.
func (s searching) run(ctx context.Context, units []*unit, size int) (*outcome, error) {
	c := collector{s.query, s.phrases, s.weights, s.credits, s.columns, size, s.options.Facets || s.options.Histogram, newLowest(size), s.roots}
	results := make([]*collected, len(units))
	err := sideBySide(ctx, units, func(ctx context.Context, i int, u *unit) (err error) {
		if within(s.query, u.month) {
			results[i], err = c.unit(ctx, i, u)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all, low := &outcome{tally: search.NewTally()}, c.low.get()
	for _, r := range results {
		if r == nil {
			continue
		}
		all.total += r.total
		for i := range r.best.list {
			if r.best.list[i].rank >= low {
				all.list = append(all.list, r.best.list[i])
			}
		}
		for key, n := range r.keys {
			all.tally.AddKey(key, n)
		}
		for domain, n := range r.domains {
			all.tally.AddDomain(domain, n)
		}
	}
	slices.SortFunc(all.list, func(a, b found) int { return a.compare(&b) })
	all.list = all.list[:min(size, len(all.list))]
	return all, nil
}

// sideBySide calls fn for units, as many at a time as there are processors; the largest come first, so that none of them is left alone at the end.
func sideBySide(ctx context.Context, units []*unit, fn func(ctx context.Context, i int, u *unit) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	order := make([]int, len(units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(units[b].size(), units[a].size()) })
	for _, i := range order {
		group.Go(func() error { return fn(ctx, i, units[i]) })
	}
	return group.Wait()
}

// load reads what is shown of matches.
func load(list []found) ([]search.Hit, error) {
	var hits []search.Hit
	for _, f := range list {
		var s stored
		var failed error
		err := f.segment.VisitStoredFields(uint64(f.doc), func(field string, _ byte, value []byte, _ []uint64) bool {
			if field != fieldStored {
				return true
			}
			failed = json.Unmarshal(value, &s)
			return false
		})
		if err = errors.Join(err, failed); err != nil {
			return nil, fmt.Errorf("read a document of the index: %w", err)
		}
		s.Crawl = f.crawl
		hits = append(hits, search.Hit{Segment: s.Segment, Document: s.Document, Rank: f.rank, Content: s.Content})
	}
	return hits, nil
}

// anchorCredits are the scores of the URLs that anchor texts with words of a query lead to, by the hashes of the URLs.
func anchorCredits(ctx context.Context, slots []terms.Slot, units []*unit, sum lengths, values *columns) (map[uint64]float64, error) {
	if len(slots) == 0 {
		return nil, nil
	}
	w, err := weigh(ctx, slots, units, sum)
	if err != nil {
		return nil, err
	}
	var best bestTargets
	err = sideBySide(ctx, units, func(ctx context.Context, _ int, u *unit) error {
		list, err := targets(ctx, u, w, values, &best.low)
		best.add(list)
		return err
	})
	credits := map[uint64]float64{}
	for _, t := range best.list {
		credits[t.url] = t.score
	}
	return credits, err
}
