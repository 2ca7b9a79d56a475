package search

import (
	"context"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/internal/search/query"
)

// Source is where the documents come from: the derivation of texts, and the facts of the captures.
type Source interface {
	// Segments calls fn with each segment that has documents to index.
	Segments(ctx context.Context, fn func(SegmentName) error) error
	// Pages calls fn with each capture of a segment that says something, in an order that is always the same.
	Pages(ctx context.Context, name SegmentName, fn func(Page) error) error
}

// Page is a capture with what was derived of it. Its Facts are those of the capture; Crawl and Type are filled in, and so is the language of the anchors.
type Page struct {
	query.Facts
	Run     uint32
	Objects []Object
	Anchors []Anchor
}

// Object is a web object of a page.
type Object struct {
	N                         int
	Type, Title, Author, Text string
	Date                      time.Time // that the page gives it; searches by date mean the capture
}

// Filled is what Fill has done.
type Filled struct {
	Segments, Documents int // that were added
	Known               int // segments that the index had already
}

// Fill adds the segments of a source that the index does not have. What it has added stays if it ends with an error; to call it again
// continues. progress, which may be nil, is called after each segment that was added.
func Fill(ctx context.Context, index Index, source Source, progress func(Filled)) (done Filled, err error) {
	err = source.Segments(ctx, func(name SegmentName) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		known, err := index.HasSegment(ctx, name)
		if err != nil {
			return fmt.Errorf("look for segment %s in the index: %w", name, err)
		}
		if known {
			done.Known++
			return nil
		}
		s, err := read(ctx, source, name)
		if err != nil {
			return fmt.Errorf("read the texts of segment %s: %w", name, err)
		}
		if err := index.AddSegment(ctx, s); err != nil {
			return fmt.Errorf("index segment %s: %w", name, err)
		}
		done.Segments++
		done.Documents += len(s.Documents)
		if progress != nil {
			progress(done)
		}
		return nil
	})
	return done, err
}

func read(ctx context.Context, source Source, name SegmentName) (Segment, error) {
	s := Segment{SegmentName: name}
	err := source.Pages(ctx, name, func(p Page) error {
		p.Crawl = name.Crawl
		s.Documents = append(s.Documents, p.Documents()...)
		for _, a := range p.Anchors {
			a.Language = p.Language
			s.Anchors = append(s.Anchors, a)
		}
		return nil
	})
	return s, err
}

// Documents are the capture and its web objects. Objects have the facts of their capture, but their own type, author and texts.
func (p *Page) Documents() []Document {
	whole := Document{Facts: p.Facts, Run: p.Run, N: WholePage}
	whole.Type = query.Page
	list := []Document{whole}
	for _, o := range p.Objects {
		d := whole
		d.N, d.Type, d.Author, d.Title, d.Text = o.N, o.Type, o.Author, o.Title, o.Text
		if d.Title == "" && d.Text == "" && d.Author == "" {
			continue
		}
		list = append(list, d)
	}
	return list
}
