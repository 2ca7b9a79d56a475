package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

// GoneAfter is how old the newest checkpoint of a worker that is not in the ring must be before its checkpoints are deleted. One that is cut off from
// the ring alone makes further ones.
const GoneAfter = 24 * time.Hour

// sweep deletes the checkpoints of a worker but the newest Kept; of a ring with spread crawls also those stay that are the newest of any partition: who
// owns it by now may not have made one yet.
func sweep(ctx context.Context, store archive.Store, worker string, spread bool) error {
	err := func() error {
		list, parts, err := listed(ctx, store, worker)
		if err != nil {
			return err
		}
		keep := list[max(len(list)-Kept, 0):]
		if spread && len(keep) < len(list) {
			all, _, err := manifests(ctx, store)
			if err != nil {
				return err
			}
			needed := needed(all)
			for _, key := range list[:len(list)-len(keep)] {
				if needed[key] {
					keep = append(keep, key)
				}
			}
		}
		_, err = deleteBut(ctx, store, keep, list, parts)
		return err
	}()
	if err != nil {
		return fmt.Errorf("delete old checkpoints: %w", err)
	}
	return nil
}

// SweepGone deletes the checkpoints of workers that are gone, if they are not the newest of any partition and their worker had no crawl of its own,
// and returns the number of these checkpoints.
func SweepGone(ctx context.Context, store archive.Store, member func(worker string) bool, now time.Time) (deleted int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("delete checkpoints of workers that are gone: %w", err)
		}
	}()
	all, _, err := manifests(ctx, store)
	if err != nil {
		return 0, err
	}
	for worker, old := range gone(all, member, now) {
		list, parts, err := listed(ctx, store, worker)
		if err != nil {
			return deleted, err
		}
		keep := slices.DeleteFunc(slices.Clone(list), func(key string) bool { return slices.Contains(old, key) })
		n, err := deleteBut(ctx, store, keep, list, parts)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// needed are the keys of the checkpoints that are the newest of any partition.
func needed(all []Manifest) map[string]bool {
	keys := map[string]bool{}
	for p := range frontier.Partitions {
		if list := newestFirst(all, p); len(list) > 0 {
			keys[list[0].key()] = true
		}
	}
	return keys
}

// gone lists the checkpoints of workers that are gone and that nobody needs, by worker.
func gone(all []Manifest, member func(worker string) bool, now time.Time) map[string][]string {
	last := map[string]*Manifest{}
	for i := range all {
		if m := &all[i]; last[m.Worker] == nil || m.Taken.After(last[m.Worker].Taken) {
			last[m.Worker] = m
		}
	}
	needed, old := needed(all), map[string][]string{}
	for i := range all {
		m := &all[i]
		if l := last[m.Worker]; !member(m.Worker) && l.SpreadOnly && now.Sub(l.Taken) > GoneAfter && !needed[m.key()] {
			old[m.Worker] = append(old[m.Worker], m.key())
		}
	}
	return old
}

// deleteBut deletes the checkpoints of a list but some, and the objects that none of these names, and returns the number of these checkpoints. The
// manifests go first: none names an object that is not there. While one that stays cannot be read, nobody knows which objects it names, and nothing is deleted.
func deleteBut(ctx context.Context, store archive.Store, keep, list, parts []string) (deleted int, err error) {
	named := map[string]bool{}
	for _, key := range keep {
		m, err := read(ctx, store, key)
		if errors.Is(err, ErrManifest) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		named[key], named[m.Crawls.Key] = true, true
		for _, o := range m.Partitions {
			named[o.Key] = true
		}
	}
	for _, key := range slices.Concat(list, parts) {
		if named[key] {
			continue
		}
		if err := store.Delete(ctx, key); err != nil {
			return deleted, err
		}
		if (archive.Frontiers{}).IsManifest(key) {
			deleted++
		}
	}
	return deleted, nil
}
