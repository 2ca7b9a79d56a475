package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Begun says that a worker has begun a run of a spread crawl. It is kept in the archive that all workers have in common, before the run has any
// URL there: who makes the worker's partitions again may not have begun the run, and would find nothing to make.
type Begun struct {
	Definition crawl.Definition `json:"definition"`
	Run        uint32           `json:"run"`
	Bounds     []string         `json:"bounds,omitempty"` // see scope.Bounds: a file of seeds need not be there any more
	Archives   []frontier.Place `json:"archives"`         // that the crawl has written to, as far as the worker knows
	Ended      bool             `json:"ended,omitempty"`
	Started    time.Time        `json:"started,omitzero"` // when the run began at the worker, by its clock; zero: not known
}

// maxBegun bounds Begun in bytes: a definition, and frontier.MaxBounds names of hosts.
const maxBegun = 64 << 20

// KeepBegun keeps that a worker has begun a run, in place of what it has kept of the crawl before.
func KeepBegun(ctx context.Context, store archive.Store, worker string, b Begun) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	key := archive.Frontiers{}.SpreadCrawl(b.Definition.Name, worker, raw)
	former, err := begunKeys(ctx, store, archive.Frontiers{}.SpreadCrawlOf(b.Definition.Name, worker))
	if err != nil {
		return err
	}
	if !slices.Contains(former, key) {
		err = store.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
	}
	for _, old := range former {
		if err == nil && old != key {
			err = store.Delete(ctx, old)
		}
	}
	return err
}

// ForgetBegun deletes what any worker has kept of a crawl.
func ForgetBegun(ctx context.Context, store archive.Store, name string) error {
	keys, err := begunKeys(ctx, store, archive.Frontiers{}.SpreadCrawlOf(name, ""))
	for _, key := range keys {
		if err == nil {
			err = store.Delete(ctx, key)
		}
	}
	return err
}

func begunKeys(ctx context.Context, store archive.Store, prefix string) (keys []string, err error) {
	err = store.List(ctx, prefix, func(o archive.Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	return keys, err
}

// begun lists the spread crawls that any worker has begun, by name: the last run of each, and the archives that any worker knows of. A damaged object is
// left out, and logged, if another worker has kept the crawl.
func begun(ctx context.Context, store archive.Store, log *slog.Logger) ([]Begun, error) {
	keys, err := begunKeys(ctx, store, archive.Frontiers{}.SpreadCrawls())
	if err != nil {
		return nil, err
	}
	all, damaged := map[string]Begun{}, map[string]error{}
	for _, key := range keys {
		raw, err := archive.ReadAll(ctx, store, key, maxBegun)
		if errors.Is(err, archive.ErrNotFound) { // it is forgotten
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		var b Begun
		if err := json.Unmarshal(raw, &b); err != nil {
			damaged[key] = err
			continue
		}
		last := all[b.Definition.Name]
		if b.Run < last.Run || b.Run == last.Run && last.Ended { // what ends is ended at all workers, or will be
			b, last = last, b
		}
		if b.Run == last.Run && !last.Started.IsZero() && (b.Started.IsZero() || last.Started.Before(b.Started)) {
			b.Started = last.Started // when the first worker began it
		}
		for _, place := range last.Archives {
			if !slices.Contains(b.Archives, place) {
				b.Archives = append(b.Archives, place)
			}
		}
		all[b.Definition.Name] = b
	}
	var list []Begun
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	for _, key := range slices.Sorted(maps.Keys(damaged)) {
		if !slices.ContainsFunc(list, func(b Begun) bool {
			return strings.HasPrefix(key, archive.Frontiers{}.SpreadCrawlOf(b.Definition.Name, ""))
		}) {
			return nil, fmt.Errorf("read %s: %w: no other worker has kept the crawl; restore the object, or delete it if the crawl is not needed", key, damaged[key])
		}
		log.Error("what a worker has kept of a spread crawl is damaged; that of the others is used", "object", key, "error", damaged[key])
	}
	return list, nil
}

// expect has the frontier know all spread crawls that any worker has begun, and returns them by name. A crawl that is bound here
// is left out: this worker cannot take part in a spread one of that name, and the partitions of the others are not to wait for it.
func (r *Partitions) expect(ctx context.Context) (known map[string]Begun, err error) {
	log := cmp.Or(r.Log, slog.New(slog.DiscardHandler))
	list, err := begun(ctx, r.Store, log)
	known = map[string]Begun{}
	for _, b := range list {
		if err == nil {
			err = r.Frontier.Expect(frontier.Elsewhere{Definition: b.Definition, Run: b.Run, Bounds: b.Bounds, Archives: b.Archives, Started: b.Started})
		}
		if errors.Is(err, frontier.ErrBound) {
			log.Error("a spread crawl is left out of partitions that are rebuilt", "crawl", b.Definition.Name, "error", err)
			err = nil
		}
		known[b.Definition.Name] = b
	}
	return known, err
}
