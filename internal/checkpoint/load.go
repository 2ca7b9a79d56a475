package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/partfile"
)

// Load brings a checkpoint into a new frontier. Cut off, it leaves one that is of no use. reached, which may be nil, is called after each
// object with the number of those that are loaded and of all.
func Load(ctx context.Context, store archive.Store, m Manifest, into *frontier.Frontier, reached func(done, all int)) error {
	load := func(p frontier.Partition, o Object) error {
		in, err := partfile.Import(ctx, store, o.Key, p, frontier.AllCrawls, into, nil, nil) // it runs without Temporal
		if err == nil {
			err = m.whole(o, in.Entries)
		}
		if err != nil {
			return fmt.Errorf("load checkpoint: %w", err)
		}
		return nil
	}
	n, err := partfile.ImportCrawls(ctx, store, m.Crawls.Key, into)
	if err == nil {
		err = m.whole(m.Crawls, n)
	}
	if err != nil {
		return fmt.Errorf("load checkpoint: %w", err)
	}
	for i, p := range slices.Sorted(maps.Keys(m.Partitions)) {
		if err := load(frontier.Partition(p), m.Partitions[p]); err != nil {
			return err
		}
		if reached != nil {
			reached(i+1, len(m.Partitions))
		}
	}
	return nil
}

// whole reports an object that has other than its number of entries.
func (m *Manifest) whole(o Object, entries int) error {
	if uint64(entries) == o.Entries {
		return nil
	}
	return fmt.Errorf("%s: %w: it has %d entries, the checkpoint of %s says %d", o.Key, partfile.ErrDamaged, entries, m.Taken, o.Entries)
}
