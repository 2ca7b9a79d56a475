package archive

import (
	"context"
	"slices"
)

// CrawlAt is a crawl in a store.
type CrawlAt struct{ Prefix, Name string }

// Crawls finds the crawls of a store, under whatever prefix. It lists the store whole.
func Crawls(ctx context.Context, store Store) (list []CrawlAt, err error) {
	err = store.List(ctx, "", func(o Object) error {
		crawl, folder, _ := split(o.Key)
		if at := (CrawlAt{crawl.Prefix, crawl.Crawl}); folder == folderSegments && !slices.Contains(list, at) {
			list = append(list, at)
		}
		return nil
	})
	return list, err
}

// EachLogged calls fn with the lines of a crawl's log, segment by segment.
func EachLogged(ctx context.Context, store Store, crawl CrawlAt, fn func(Logged) error) error {
	walk := Walk[[]Logged]{
		Of: Layout{crawl.Prefix, crawl.Name},
		Load: func(ctx context.Context, m Manifest) (lines []Logged, err error) {
			err = ReadLog(ctx, store, &m, func(l Logged) error {
				lines = append(lines, l)
				return nil
			})
			return lines, err
		},
	}
	return walk.Each(ctx, store, func(_ Manifest, lines []Logged) error {
		for _, l := range lines {
			if err := fn(l); err != nil {
				return err
			}
		}
		return nil
	})
}
