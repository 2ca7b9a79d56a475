package views

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/search"
)

// maxLevels is the number of captures whose levels are kept for the index: 2 bytes each.
const maxLevels = 16 << 20

// levels remembers of segments that were read for the catalogue what the index needs of them that neither an index of captures nor a text says: the levels of
// pages. So the WARC object of a segment is read once for both.
type levels struct {
	mu      sync.Mutex
	of      map[search.SegmentName][]uint16 // numbers of levels, in the order of records
	names   []string
	numbers map[string]uint16
	count   int // of captures
}

// read takes what was read of a segment for the catalogue.
func (v *Views) read(name catalogue.SegmentName, captures []archive.Described) {
	if id := (search.SegmentName{Crawl: name.Crawl.Name, Name: name.Name}); !v.index.knows(id) {
		v.levels.keep(id, captures)
	}
}

func (l *levels) keep(id search.SegmentName, captures []archive.Described) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of, l.numbers = map[search.SegmentName][]uint16{}, map[string]uint16{}
	}
	if _, known := l.of[id]; known || l.count+len(captures) > maxLevels {
		return
	}
	list := make([]uint16, len(captures))
	for i := range captures {
		level := captures[i].Level
		n, known := l.numbers[level]
		if !known {
			if len(l.names) > 1<<16-1 { // an archive of many knowledge bases
				return
			}
			n = uint16(len(l.names))
			l.names, l.numbers[level] = append(l.names, level), n
		}
		list[i] = n
	}
	l.of[id] = list
	l.count += len(list)
}

// take returns the levels of a segment, and forgets them.
func (l *levels) take(id search.SegmentName) (list []string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	numbers, ok := l.of[id]
	delete(l.of, id)
	l.count -= len(numbers)
	for _, n := range numbers {
		list = append(list, l.names[n])
	}
	return list, ok
}

// captures are those of a segment. Where its levels are known, the index of the segment alone is read.
func (l *levels) captures(ctx context.Context, store archive.Store, m *archive.Manifest, id search.SegmentName) ([]archive.Described, error) {
	known, ok := l.take(id)
	if !ok {
		return archive.ReadCaptures(ctx, store, m, nil)
	}
	list := make([]archive.Described, 0, len(known))
	err := archive.ReadIndexOf(ctx, store, m, func(i archive.Indexed) error {
		list = append(list, archive.Described{Indexed: i})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) != len(known) { // the segment was written again, which nothing of ours does
		return archive.ReadCaptures(ctx, store, m, nil)
	}
	slices.SortStableFunc(list, func(a, b archive.Described) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := range list {
		list[i].Level = known[i]
	}
	return list, nil
}
