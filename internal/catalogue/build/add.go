package build

import (
	"context"
	"fmt"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// Add adds segments of a crawl that are named and not in the catalogue: Fill lists those of the whole crawl. After an error, what was added stays;
// it may be called again.
func (b *Builder) Add(ctx context.Context, of archive.CrawlAt, segments ...string) (Filled, error) {
	f := &filling{b: b, ctx: ctx}
	err := f.named(of, segments)
	if err == nil {
		err = f.flush()
	}
	if err != nil {
		return f.done, fmt.Errorf("fill catalogue with segments of %s: %w", of.Name, err)
	}
	return f.done, nil
}

func (f *filling) named(of archive.CrawlAt, segments []string) error {
	for _, name := range segments {
		if f.has(catalogue.SegmentName{Crawl: of, Name: name}) {
			continue
		}
		if f.failed != nil {
			return f.failed
		}
		s, given, err := f.b.read(f.ctx, of, name)
		switch {
		case err != nil && f.ctx.Err() == nil && archive.Damaged(err) && f.b.Damaged != nil:
			f.b.Damaged(err)
		case err != nil:
			return err
		case !given:
			if err := f.take(s); err != nil {
				return err
			}
		}
	}
	return f.failed
}

// read reads what a segment adds; given says that its batch was given back: it has nothing.
func (b *Builder) read(ctx context.Context, of archive.CrawlAt, name string) (s catalogue.Segment, given bool, err error) {
	m, err := archive.ReadSegment(ctx, b.Store, archive.Layout{Prefix: of.Prefix, Crawl: of.Name}, name)
	if err != nil || m.GivenBack {
		return s, m.GivenBack, err
	}
	s, err = b.load(ctx, of, m)
	return s, false, err
}
