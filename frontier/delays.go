package frontier

import (
	"cmp"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// delays is what memory knows of the URLs of a crawl that wait for their next attempt. On disk they stand by partition, and there by
// time; so memory has the first time of each partition.
type delays struct {
	n     int
	first int64                     // when the first of all is due, or earlier; Unix seconds
	by    map[store.Partition]int64 // when the first of a partition is due, or earlier
}

// add counts a URL of a PLD that is due at a time.
func (d *delays) add(pld uint64, at int64) {
	if d.by == nil {
		d.by = map[store.Partition]int64{}
	}
	if d.n == 0 || at < d.first {
		d.first = at
	}
	p := store.PartitionOf(pld)
	if first, known := d.by[p]; !known || at < first {
		d.by[p] = at
	}
	d.n++
}

// addMany counts n URLs of a partition of which there were none, the first of them due at a time.
func (d *delays) addMany(p store.Partition, first int64, n int) {
	if d.by == nil {
		d.by = map[store.Partition]int64{}
	}
	if d.n == 0 || first < d.first {
		d.first = first
	}
	d.by[p] = first
	d.n += n
}

// due lists the partitions that have a URL which is due by now, the first of them first.
func (d *delays) due(now int64) (list []store.Partition) {
	for p, first := range d.by {
		if first <= now {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b store.Partition) int { return cmp.Or(cmp.Compare(d.by[a], d.by[b]), cmp.Compare(a, b)) })
	return list
}

// remove takes out n URLs that were due; next says of each partition that was looked at when its first is due now, 0 if it has none.
func (d *delays) remove(n int, next map[store.Partition]int64) {
	d.n -= n
	for p, first := range next {
		if d.by[p] = first; first == 0 {
			delete(d.by, p)
		}
	}
	d.first = math.MaxInt64
	for _, first := range d.by {
		d.first = min(d.first, first)
	}
}
