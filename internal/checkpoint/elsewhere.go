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
	former, err := keysOf(ctx, store, archive.Frontiers{}.SpreadCrawlOf(b.Definition.Name, worker))
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
	keys, err := keysOf(ctx, store, archive.Frontiers{}.SpreadCrawlOf(name, ""))
	for _, key := range keys {
		if err == nil {
			err = store.Delete(ctx, key)
		}
	}
	return err
}

func keysOf(ctx context.Context, store archive.Store, prefix string) (keys []string, err error) {
	err = store.List(ctx, prefix, func(o archive.Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	return keys, err
}

// eachBegun reads what workers have kept under a prefix, each object once. It returns the objects that are damaged, and why. What is gone once it is to be read, its worker has replaced, or all is
// forgotten: it lists again.
func eachBegun(ctx context.Context, store archive.Store, prefix string, each func(Begun)) (damaged map[string]error, err error) {
	damaged = map[string]error{}
	read := map[string]bool{}
	for gone := true; gone; {
		gone = false
		keys, err := keysOf(ctx, store, prefix)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if read[key] {
				continue
			}
			raw, err := archive.ReadAll(ctx, store, key, maxBegun)
			if errors.Is(err, archive.ErrNotFound) {
				gone = true
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", key, err)
			}
			read[key] = true
			var b Begun
			if err := json.Unmarshal(raw, &b); err != nil {
				damaged[key] = err
				continue
			}
			each(b)
		}
	}
	return damaged, nil
}

// LastBegun is the last run of a spread crawl that any worker has begun, and whether one of them has ended it; 0 if none has kept any. Objects that are damaged are left
// out: they are replaced when their workers begin the next run.
func LastBegun(ctx context.Context, store archive.Store, name string) (run uint32, ended bool, err error) {
	_, err = eachBegun(ctx, store, archive.Frontiers{}.SpreadCrawlOf(name, ""), func(b Begun) {
		switch {
		case b.Run > run:
			run, ended = b.Run, b.Ended
		case b.Run == run:
			ended = ended || b.Ended
		}
	})
	return run, ended, err
}

// begun lists the spread crawls that any worker has begun, by name: the last run of each, and the archives that any worker knows of. A damaged object is
// left out, and logged, if another worker has kept the crawl.
func begun(ctx context.Context, store archive.Store, log *slog.Logger) ([]Begun, error) {
	all := map[string]Begun{}
	damaged, err := eachBegun(ctx, store, archive.Frontiers{}.SpreadCrawls(), func(b Begun) {
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
	})
	if err != nil {
		return nil, err
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
