// Package checkpoint keeps the frontier of a worker in an archive, so that a worker whose disk is lost gets back what it knew, and makes
// a frontier of it again.
//
// A checkpoint is a manifest (JSON) and the objects that it names (internal/partfile): one for each partition that has entries, and one
// for what belongs to no partition. All of it is of one moment, at which no commit is half written: a batch is in the checkpoint whole,
// or not at all. A partition that has not changed since the checkpoint before keeps its object. The marks of the batches that are in the
// checkpoint are among what belongs to no partition: a rebuild knows by them which segments come after it.
package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/partfile"
)

// Version is that of the manifest's form.
const Version = 1

// Kept is how many checkpoints of a worker are kept, at least: the newest, and the one before, from which a rebuild may read.
const Kept = 2

// maxManifest bounds a manifest in bytes. One partition takes some hundred.
const maxManifest = 4 << 20

// Manifest says what a checkpoint consists of.
type Manifest struct {
	Version    int            `json:"version"`
	Worker     string         `json:"worker"`
	Instance   string         `json:"instance"` // of the data folder
	Epoch      uint64         `json:"epoch"`    // of the ring; 0: there was none
	Taken      time.Time      `json:"taken"`    // segments that were committed before are in it
	Generation uint64         `json:"generation"`
	Crawls     Object         `json:"crawls"`     // what belongs to no partition
	Partitions map[int]Object `json:"partitions"` // those that have entries
	// Tenures are the partitions that the worker owned at that moment, by the epoch since which it had: of spread crawls only these are
	// of any use.
	Tenures map[int]uint64 `json:"tenures,omitempty"`
	// Watermarks are, by spread crawl and worker, the numbers below which no batch of the worker had anything more to deliver: what it had found
	// in the partitions is in them. Those of other workers are from their checkpoints before this one.
	Watermarks map[string]map[string]uint64 `json:"watermarks,omitempty"`
	// SpreadOnly says that the worker had no crawl of its own: once it is gone for good, nobody rebuilds its frontier by hand.
	SpreadOnly bool `json:"spread_only,omitempty"`
}

// key is that of the manifest.
func (m *Manifest) key() string { return archive.Frontiers{}.Checkpoint(m.Taken, m.Worker) }

// Object is an object of a checkpoint.
type Object struct {
	Key     string `json:"key"`
	Entries uint64 `json:"entries"`
}

// Worker is whose checkpoints are made.
type Worker struct {
	Name     string
	Instance string // of the data folder: another folder counts its generations otherwise
	Epoch    uint64
	// Tenures says which partitions the worker owns now, and since which epoch; nil: it is in no ring.
	Tenures func() map[int]uint64
}

// Made says what a checkpoint has cost.
type Made struct {
	Key     string
	Parts   int // objects that were written
	Entries uint64
}

// Make makes a checkpoint of a frontier, in a store; then it deletes those of the worker that are not needed any more (sweep). If it fails, it deletes what it wrote. One runs at a time.
func Make(ctx context.Context, store archive.Store, front *frontier.Frontier, w Worker, now time.Time) (made Made, err error) {
	former, err := Newest(ctx, store, w.Name)
	if err != nil && !errors.Is(err, ErrNone) {
		return made, err
	}
	if !now.After(former.Taken) { // the clock was set back: the newest is the last by name
		now = former.Taken.Add(time.Millisecond)
	}
	var written []string
	defer func() {
		if err == nil || made.Key != "" {
			return
		}
		for _, key := range written { // without the manifest nobody would find them: each attempt would leave more
			err = errors.Join(err, store.Delete(context.WithoutCancel(ctx), key))
		}
	}()
	m := Manifest{Version: Version, Worker: w.Name, Instance: w.Instance, Epoch: w.Epoch, Taken: now.UTC(), Partitions: map[int]Object{}}
	if m.Watermarks, err = watermarks(ctx, store, front, w.Name); err != nil {
		return made, fmt.Errorf("checkpoint: %w", err)
	}
	m.Tenures = w.tenures()
	err = front.Checkpoint(func(e *frontier.Export, generation uint64, changed func(frontier.Partition, uint64) bool) error {
		names, err := e.Names()
		if err != nil || len(names) == 0 {
			return cmp.Or(err, ErrNoCrawl)
		}
		spread, err := e.Of(frontier.SpreadCrawls).Names()
		if err != nil {
			return err
		}
		m.SpreadOnly = len(spread) == len(names)
		m.Generation = generation
		m.Tenures = both(m.Tenures, w.tenures()) // owned before and after, with one tenure, is owned at the moment between
		put := func(p frontier.Partition, key string) (Object, error) {
			written = append(written, key)
			n, err := partfile.Put(ctx, store, key, partfile.Header{Partition: p, Epoch: w.Epoch, Worker: w.Name, Created: m.Taken}, e)
			made.Parts++
			made.Entries += n
			return Object{key, n}, err
		}
		for p := range frontier.Partition(frontier.Partitions) {
			if err := ctx.Err(); err != nil {
				return err
			}
			// Of a folder that was restored from a copy, the former checkpoint may be of a later state than it has.
			same := former.Instance == w.Instance && former.Generation > 0 && generation > former.Generation && !changed(p, former.Generation)
			if o, there := former.Partitions[int(p)]; same {
				if there {
					m.Partitions[int(p)] = o
				}
				continue
			}
			if some, err := e.Some(p); err != nil || !some {
				if err != nil {
					return err
				}
				continue
			}
			o, err := put(p, archive.Frontiers{}.CheckpointPart(int(p), m.Taken, w.Name))
			if err != nil {
				return err
			}
			m.Partitions[int(p)] = o
		}
		m.Crawls, err = put(frontier.NoPartition, archive.Frontiers{}.CheckpointPart(-1, m.Taken, w.Name))
		return err
	})
	if err != nil {
		return made, fmt.Errorf("checkpoint: %w", err)
	}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return made, fmt.Errorf("checkpoint: %w", err)
	}
	made.Key = archive.Frontiers{}.Checkpoint(m.Taken, w.Name) // from here on it may be there, also if an error is returned
	if err := store.Put(ctx, made.Key, bytes.NewReader(raw), int64(len(raw))); err != nil {
		return made, fmt.Errorf("checkpoint: %w", err)
	}
	return made, sweep(ctx, store, w.Name, len(m.Watermarks) > 0)
}

// ErrNoCrawl says that a frontier knows no crawl, so that there is nothing to keep.
var ErrNoCrawl = errors.New("the frontier knows no crawl")

// ErrNone says that an archive has no checkpoint of a worker.
var ErrNone = errors.New("the archive has no checkpoint")

// Newest reads the newest checkpoint of a worker.
func Newest(ctx context.Context, store archive.Store, worker string) (m Manifest, err error) {
	list, _, err := listed(ctx, store, worker)
	if err != nil {
		return m, err
	}
	if len(list) == 0 {
		return m, fmt.Errorf("%w of worker %q: %s", ErrNone, worker, store)
	}
	return read(ctx, store, list[len(list)-1])
}

func read(ctx context.Context, store archive.Store, key string) (m Manifest, err error) {
	raw, err := archive.ReadAll(ctx, store, key, maxManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", key, err)
	}
	if m.Version != Version {
		return m, fmt.Errorf("read %s: it has version %d, and this version of Muninn reads version %d: use the version that wrote it", key, m.Version, Version)
	}
	return m, nil
}

// listed lists the keys of a worker's checkpoints, the newest last, and of their objects.
func listed(ctx context.Context, store archive.Store, worker string) (checkpoints, parts []string, err error) {
	err = store.List(ctx, archive.Frontiers{}.Checkpoints(), func(o archive.Object) error {
		switch whole, part := (archive.Frontiers{}).IsCheckpoint(o.Key, worker); {
		case whole:
			checkpoints = append(checkpoints, o.Key)
		case part:
			parts = append(parts, o.Key)
		}
		return nil
	})
	slices.SortFunc(checkpoints, cmp.Compare[string]) // by time
	return checkpoints, parts, err
}
