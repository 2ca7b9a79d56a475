package views

import (
	"context"
	"errors"
	"sync"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// remembering is an index that remembers which segments it has: each pass asks for all of them.
type remembering struct {
	search.Index
	mu    sync.Mutex
	known map[search.SegmentName]bool
}

func (r *remembering) knows(name search.SegmentName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[name]
}

// HasSegment implements search.Index.
func (r *remembering) HasSegment(ctx context.Context, name search.SegmentName) (bool, error) {
	if r.knows(name) {
		return true, nil
	}
	has, err := r.Index.HasSegment(ctx, name)
	if has && err == nil {
		r.remember(name)
	}
	return has, err
}

// AddSegment implements search.Index.
func (r *remembering) AddSegment(ctx context.Context, s search.Segment) error {
	err := r.Index.AddSegment(ctx, s)
	if err == nil {
		r.remember(s.SegmentName)
	}
	return err
}

func (r *remembering) remember(name search.SegmentName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[name] = true
}

// fill adds segments to the index that were derived, and that it does not have.
func (v *Views) fill(ctx context.Context, c room.Crawl, names []string) (search.Filled, error) {
	return search.Fill(ctx, v.index, &source{views: v, crawl: c, names: names}, nil)
}

// source implements search.Source for segments of a crawl.
type source struct {
	views *Views
	crawl room.Crawl
	names []string
}

// Segments implements search.Source: those that were derived.
func (s *source) Segments(ctx context.Context, fn func(search.SegmentName) error) error {
	for _, name := range s.names {
		id := search.SegmentName{Crawl: s.crawl.Name, Name: name}
		if s.views.index.knows(id) || s.views.failed[id] {
			continue
		}
		_, err := derive.ReadManifest(ctx, s.crawl.Store, s.crawl.CrawlAt, derive.Text, name)
		if errors.Is(err, archive.ErrNotFound) {
			continue
		}
		if err == nil {
			err = fn(id)
		}
		if err != nil && ctx.Err() == nil && archive.Damaged(err) {
			s.views.failed[id] = true
			s.views.fault(err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type captureID struct {
	url  string
	date int64
}

// Pages implements search.Source.
func (s *source) Pages(ctx context.Context, name search.SegmentName, fn func(search.Page) error) error {
	documents := map[captureID]*derive.Document{}
	err := derive.Read(ctx, s.crawl.Store, s.crawl.CrawlAt, derive.Text, name.Name, func(d *derive.Document) error {
		documents[captureID{d.URL, d.Date.Unix()}] = d
		return nil
	})
	if err != nil || len(documents) == 0 {
		return err
	}
	m, err := archive.ReadSegment(ctx, s.crawl.Store, s.crawl.Layout(), name.Name)
	if err != nil {
		return err
	}
	captures, err := s.views.levels.captures(ctx, s.crawl.Store, &m, name)
	if err != nil {
		return err
	}
	for i := range captures {
		c := &captures[i]
		id := captureID{c.URL, c.Date.Unix()}
		d := documents[id]
		if d == nil {
			continue
		}
		delete(documents, id) // a URL that a segment has twice in a second has one document
		if err := fn(pageOf(m.Run, c, d)); err != nil {
			return err
		}
	}
	return nil
}

func pageOf(run uint32, c *archive.Described, d *derive.Document) search.Page {
	p := search.Page{Run: run, Facts: query.Facts{
		URL: c.URL, Date: c.Date, Status: c.Status, MIME: c.MIME, Digest: c.Digest, Score: c.Score, Application: c.Application, Level: c.Level,
		Language: d.Language, Author: d.Author, Title: d.Title, Text: d.Text,
	}}
	for _, o := range d.Objects {
		p.Objects = append(p.Objects, search.Object{N: o.N, Type: o.Type, Title: o.Title, Author: o.Author, Text: o.Text, Date: o.Date})
	}
	for _, a := range d.Anchors {
		p.Anchors = append(p.Anchors, search.Anchor{URL: a.URL, Text: a.Text})
	}
	return p
}
