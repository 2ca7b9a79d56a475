package checkpoint

import (
	"context"
	"maps"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

func (w Worker) tenures() map[int]uint64 {
	if w.Tenures == nil {
		return nil
	}
	return w.Tenures()
}

// both are the partitions that two lists have with the same tenure.
func both(a, b map[int]uint64) map[int]uint64 {
	out := maps.Clone(a)
	maps.DeleteFunc(out, func(p int, tenure uint64) bool {
		other, owned := b[p]
		return !owned || other != tenure
	})
	return out
}

// watermarks are those of a frontier now, and those that the newest checkpoints of other workers know. It comes before the moment of a
// checkpoint: what was delivered then is in the partitions.
func watermarks(ctx context.Context, store archive.Store, front *frontier.Frontier, worker string) (map[string]frontier.Watermarks, error) {
	names, err := front.SpreadCrawls()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	all, _, err := manifests(ctx, store) // a watermark that is too low has a rebuild read more than it needs
	if err != nil {
		return nil, err
	}
	marks := map[string]frontier.Watermarks{}
	for _, name := range names {
		marks[name] = frontier.Watermarks{}
		for _, m := range all {
			m.addTo(name, marks[name])
		}
		mark, err := front.Crawl(name).Watermark()
		if err != nil {
			return nil, err
		}
		marks[name].Add(worker, mark)
	}
	return marks, nil
}

// addTo adds the watermarks of a crawl.
func (m *Manifest) addTo(name string, marks frontier.Watermarks) {
	for worker, list := range m.Passed[name] {
		for _, w := range list {
			marks.Add(worker, w)
		}
	}
	for worker, below := range m.Watermarks[name] {
		marks.Add(worker, frontier.Watermark{Below: below})
	}
}
