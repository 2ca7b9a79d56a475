package bleve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// view is what a search sees of a part: its content at one moment.
type view struct {
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
			list = append(list, view{name, p.month, r, p.month == ""})
			if p.month == "" {
				anchors.add(p.sums())
			} else {
				sum.add(p.sums())
			}
		}
	}
	return list, sum, anchors, nil
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
	credits, err := anchorCredits(ctx, q, views, sumAnchors)
	if err != nil {
		return a, fmt.Errorf("search anchor texts: %w", err)
	}
	size := o.Offset + o.Limit
	if o.Fold && o.Limit > 0 {
		size = min(3*size+foldMargin, search.MaxFolded)
	}
	s := searching{q, credits, o}
	matches, err := s.run(ctx, views, sum, size)
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
			o.Facets, o.Histogram = false, false
			more, err := searching{q, credits, o}.run(ctx, views, sum, search.MaxFolded)
			if err != nil {
				return nil, err
			}
			list = more.list
		}
		return load(list[offset:min(offset+foldMargin, len(list))])
	})
	return a, err
}

// foldMargin is the number of hits that are loaded at a time while duplicates are folded.
const foldMargin = 64

// searching is a search over several parts.
type searching struct {
	query   query.Query
	credits map[uint64]float64
	options search.Options
}

// matched is what several parts have found.
type matched struct {
	total int
	list  []found // in the order of rank
	tally *search.Tally
}

func (s searching) run(ctx context.Context, views []view, sum lengths, size int) (*matched, error) {
	var readers []index.IndexReader
	for _, v := range views {
		if !v.anchors {
			readers = append(readers, v.reader)
		}
	}
	w, err := weigh(ctx, s.query, readers, sum, fieldText, fieldTitle)
	if err != nil {
		return nil, err
	}
	results := make([]*collected, len(views))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, v := range views {
		if v.anchors || !within(s.query, v.month) {
			continue
		}
		group.Go(func() (err error) {
			results[i], err = s.part(ctx, v, w, size)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := &matched{tally: search.NewTally()}
	for _, c := range results {
		if c == nil {
			continue
		}
		all.total += c.total
		all.list = append(all.list, c.best.list...)
		for key, n := range c.keys {
			all.tally.AddKey(key, *n)
		}
		for domain, n := range c.domains {
			all.tally.AddDomain(domain, *n)
		}
	}
	slices.SortFunc(all.list, func(a, b found) int { return a.compare(&b) })
	all.list = all.list[:min(size, len(all.list))]
	return all, nil
}

func (s searching) part(ctx context.Context, v view, w *weights, size int) (*collected, error) {
	b := builder{ctx, v.reader, v.crawl, w, terms.New()}
	made, err := b.query(s.query)
	if err != nil {
		return nil, err
	}
	c, err := collect(ctx, v, made, s.credits, size, s.options.Facets || s.options.Histogram)
	return c, errors.Join(err, made.Close())
}

// load reads what is shown of matches.
func load(list []found) ([]search.Hit, error) {
	var hits []search.Hit
	for _, f := range list {
		id, err := f.reader.ExternalID(f.id)
		if err != nil {
			return nil, err
		}
		doc, err := f.reader.Document(id)
		if err != nil {
			return nil, err
		}
		var s stored
		doc.VisitFields(func(field index.Field) {
			if field.Name() == fieldStored {
				err = json.Unmarshal(field.Value(), &s)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("read document %s of the index: %w", id, err)
		}
		s.Crawl = f.crawl
		hits = append(hits, search.Hit{Segment: s.Segment, Document: s.Document, Rank: f.rank, Content: s.Content})
	}
	return hits, nil
}

// anchorCredits are the scores of the URLs that anchor texts with words of a query lead to, by the hashes of the URLs.
func anchorCredits(ctx context.Context, q query.Query, views []view, sum lengths) (map[uint64]float64, error) {
	var readers []index.IndexReader
	for _, v := range views {
		if v.anchors {
			readers = append(readers, v.reader)
		}
	}
	w, err := weigh(ctx, q, readers, sum, fieldText)
	if err != nil || len(w.slots) == 0 {
		return nil, err
	}
	credits := map[uint64]float64{}
	for _, r := range readers {
		if err := creditsOf(ctx, r, w, credits); err != nil {
			return nil, err
		}
	}
	return highest(credits, search.MaxAnchorTargets), nil
}

// maxAnchorWords is the number of words of a query, the rarest, that are searched for in anchor texts: a common word credits half of all URLs.
const maxAnchorWords = 8

// creditsOf adds the credits of one part.
func creditsOf(ctx context.Context, r index.IndexReader, w *weights, credits map[uint64]float64) error {
	b := builder{ctx: ctx, reader: r, weights: w}
	slots, err := b.slots(fieldText, w.rarest(maxAnchorWords), 1, false)
	if err != nil || len(slots) == 0 {
		return err
	}
	s, err := searcher.NewDisjunctionSearcher(ctx, r, slots, 0, scored)
	if err != nil {
		return closing(err, slots...)
	}
	best, err := collectTargets(ctx, r, s)
	for _, t := range best {
		credits[t.url] = max(credits[t.url], t.score)
	}
	return errors.Join(err, s.Close())
}

// highest are the n highest of some credits.
func highest(credits map[uint64]float64, n int) map[uint64]float64 {
	var list []target
	for url, score := range credits {
		list = append(list, target{url, score})
	}
	slices.SortFunc(list, target.compare)
	kept := map[uint64]float64{}
	for _, t := range list[:min(n, len(list))] {
		kept[t.url] = t.score
	}
	return kept
}

// parseTarget reads the hash of a URL.
func parseTarget(value []byte) uint64 {
	url, _ := strconv.ParseUint(string(value), 36, 64)
	return url
}
