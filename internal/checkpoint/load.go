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
		_, n, err := partfile.Import(ctx, store, o.Key, p, frontier.AllCrawls, into)
		if err == nil && uint64(n) != o.Entries {
			err = fmt.Errorf("%s: %w: it has %d entries, the checkpoint of %s says %d", o.Key, partfile.ErrDamaged, n, m.Taken, o.Entries)
		}
		if err != nil {
			return fmt.Errorf("load checkpoint: %w", err)
		}
		return nil
	}
	if err := load(frontier.NoPartition, m.Crawls); err != nil {
		return err
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
