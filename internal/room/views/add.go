package views

import (
	"context"
	"slices"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/room"
)

// Added says how many segments were added to the catalogue, and to the index.
type Added struct{ Captures, Texts int }

// Add adds segments of a crawl of one of the archives to the views that lack them. One whose text was not derived comes into the catalogue alone. One that
// is damaged is passed over: State names it. After an error, what was added stays; it may be called again.
func (v *Views) Add(ctx context.Context, of archive.CrawlAt, in archive.Store, names []string) (added Added, err error) {
	captures, err := v.builders[slices.Index(v.Archives, in)].Add(ctx, of, names...)
	added.Captures = captures.Segments
	if err != nil {
		return added, err
	}
	texts, err := v.fill(ctx, room.Crawl{CrawlAt: of, Store: in}, names)
	added.Texts = texts.Segments
	return added, err
}

// Segments are the names of the segments of a crawl, in their order.
func Segments(ctx context.Context, of archive.CrawlAt, in archive.Store) ([]string, error) {
	list, err := segments(ctx, room.Crawl{CrawlAt: of, Store: in})
	slices.Sort(list)
	return list, err
}
