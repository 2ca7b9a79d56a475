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
	"crypto/rand"
	"encoding/binary"
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

// maxManifest bounds a manifest in bytes. One partition takes some hundred, and each worker and spread crawl some ten.
const maxManifest = 32 << 20

// Manifest says what a checkpoint consists of.
type Manifest struct {
	Version    int            `json:"version"`
	Worker     string         `json:"worker"`
	Instance   string         `json:"instance"` // of the data folder
	Epoch      uint64         `json:"epoch"`    // of the ring; 0: there was none
	Taken      time.Time      `json:"taken"`    // segments that were committed before are in it
	Generation uint64         `json:"generation"`
	Mark       string         `json:"mark,omitempty"` // that the data folder keeps of its last checkpoint; empty: of a version that made none
	Crawls     Object         `json:"crawls"`         // what belongs to no partition
	Partitions map[int]Object `json:"partitions"`     // those that have entries
	// Tenures are the partitions that the worker owned at that moment, by the epoch since which it had: of spread crawls only these are
	// of any use.
	Tenures map[int]uint64 `json:"tenures,omitempty"`
	// Passed says, by spread crawl and worker, which batches of the worker had nothing more to deliver: what they had found
	// in the partitions is in them. Watermarks of other workers are from their checkpoints before this one.
	Passed map[string]frontier.Watermarks `json:"passed,omitempty"`
	// Watermarks are those of an earlier version: the numbers below which no batch of any data folder of the worker counted.
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
	Ahead   *time.Duration // see partfile.Header
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
	if err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, ErrManifest) { // nothing is taken over from one that cannot be read
		return made, err
	}
	if !now.After(former.Taken) { // the clock was set back: the newest is the last by name
		now = former.Taken.Add(time.Millisecond)
	}
	mark := newMark()
	k := keeping{store: store, worker: w, former: former, Manifest: Manifest{
		Version: Version, Worker: w.Name, Instance: w.Instance, Epoch: w.Epoch, Taken: now.UTC(), Mark: markText(mark), Partitions: map[int]Object{},
	}}
	if k.Passed, err = watermarks(ctx, store, front, w.Name); err == nil {
		k.Tenures = w.tenures()
		err = front.Checkpoint(func(e *frontier.Export, g frontier.Generations) error { return k.export(ctx, e, g) })
	}
	if err == nil {
		err = k.putManifest(ctx)
	}
	if err != nil && k.made.Key == "" {
		for _, key := range k.written { // without the manifest nobody would find them: each attempt would leave more
			err = errors.Join(err, store.Delete(context.WithoutCancel(ctx), key))
		}
	}
	if err != nil {
		return k.made, fmt.Errorf("checkpoint: %w", err)
	}
	return k.made, errors.Join(front.Kept(mark), sweep(ctx, store, w.Name, len(k.Passed) > 0))
}

// keeping is a Make in progress.
type keeping struct {
	store    archive.Store
	worker   Worker
	former   Manifest // the newest one so far
	Manifest          // that is made
	written  []string // keys of objects
	made     Made
}

// export writes the objects: of partitions that have not changed since the former checkpoint, that one's stay.
func (k *keeping) export(ctx context.Context, e *frontier.Export, g frontier.Generations) error {
	names, err := e.Names()
	if err != nil || len(names) == 0 {
		return cmp.Or(err, ErrNoCrawl)
	}
	spread, err := e.Of(frontier.SpreadCrawls).Names()
	if err != nil {
		return err
	}
	k.SpreadOnly = len(spread) == len(names)
	k.Generation = g.Present
	k.Tenures = both(k.Tenures, k.worker.tenures()) // owned before and after, with one tenure, is owned at the moment between
	follows := k.former.Instance == k.Instance && k.former.Mark != "" && k.former.Mark == markText(g.Kept)
	for p := range frontier.Partition(frontier.Partitions) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if follows && !g.Changed(p, k.former.Generation) {
			if o, there := k.former.Partitions[int(p)]; there {
				k.Partitions[int(p)] = o
			}
			continue
		}
		some, err := e.Some(p)
		if err == nil && some {
			k.Partitions[int(p)], err = k.put(ctx, e, p, archive.Frontiers{}.CheckpointPart(int(p), k.Taken, k.Worker))
		}
		if err != nil {
			return err
		}
	}
	k.Crawls, err = k.put(ctx, e, frontier.NoPartition, archive.Frontiers{}.CheckpointPart(-1, k.Taken, k.Worker))
	return err
}

func (k *keeping) put(ctx context.Context, e *frontier.Export, p frontier.Partition, key string) (Object, error) {
	k.written = append(k.written, key)
	n, err := partfile.Put(ctx, k.store, key, partfile.Header{Partition: p, Epoch: k.Epoch, Worker: k.Worker, Created: k.Taken, Ahead: k.worker.Ahead}, e)
	k.made.Parts++
	k.made.Entries += n
	return Object{key, n}, err
}

func (k *keeping) putManifest(ctx context.Context) error {
	raw, err := json.MarshalIndent(k.Manifest, "", " ")
	if err == nil && len(raw) > maxManifest {
		err = fmt.Errorf("its manifest has %d bytes, and %d at most are read", len(raw), maxManifest)
	}
	if err != nil {
		return err
	}
	k.made.Key = k.key() // from here on it may be there, also if an error is returned
	return k.store.Put(ctx, k.made.Key, bytes.NewReader(raw), int64(len(raw)))
}

// newMark is a mark that no other checkpoint has. A folder keeps that of its last one: one that was restored from a copy may have counted
// further since, but the newest checkpoint, which may be of a later state, has another mark.
func newMark() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return max(binary.BigEndian.Uint64(b[:]), 1)
}

func markText(mark uint64) string { return fmt.Sprintf("%016x", mark) }

// ErrNoCrawl says that a frontier knows no crawl, so that there is nothing to keep.
var ErrNoCrawl = errors.New("the frontier knows no crawl")

// ErrNone says that an archive has no checkpoint of a worker.
var ErrNone = errors.New("the archive has no checkpoint")

// ErrManifest says that the manifest of a checkpoint cannot be read: it is damaged, or of another version.
var ErrManifest = errors.New("the checkpoint cannot be read")

// Newest reads the newest checkpoint of a worker. Of one that cannot be read (ErrManifest) it returns when it was taken.
func Newest(ctx context.Context, store archive.Store, worker string) (m Manifest, err error) {
	list, _, err := listed(ctx, store, worker)
	if err != nil {
		return m, err
	}
	if len(list) == 0 {
		return m, fmt.Errorf("%w of worker %q: %s", ErrNone, worker, store)
	}
	key := list[len(list)-1]
	m, err = read(ctx, store, key)
	if errors.Is(err, ErrManifest) {
		m = Manifest{Taken: archive.Frontiers{}.CheckpointTaken(key)}
	}
	return m, err
}

func read(ctx context.Context, store archive.Store, key string) (m Manifest, err error) {
	raw, err := archive.ReadAll(ctx, store, key, maxManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w: delete it, and the one before it is used", ErrManifest, key, err)
	}
	if m.Version != Version {
		return m, fmt.Errorf("%w: %s has version %d, and this version of Muninn reads version %d: use the version that wrote it", ErrManifest, key, m.Version, Version)
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
