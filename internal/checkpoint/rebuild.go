package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// Rebuild makes the frontier of a worker whose disk is lost: of its newest checkpoint, and of the segments that were committed after it.
// It works in a folder of its own beside the frontier's; killed at any moment, the next call continues.
type Rebuild struct {
	Data   string // the worker's data folder: it has no frontier
	Worker string
	Store  archive.Store // that has the checkpoints
	// Open opens the archive of a crawl.
	Open func(ctx context.Context, where string) (archive.Store, error)
	// Engine makes the results of batches out of segments.
	Engine  func(*frontier.Frontier) *pipeline.Engine
	Options frontier.Options
	Log     *slog.Logger
}

// Rebuilt says what a frontier was made of.
type Rebuilt struct {
	Frontier   string    `json:"frontier"`   // its folder
	Checkpoint time.Time `json:"checkpoint"` // when it was made
	Partitions int       `json:"partitions"` // with entries
	Segments   int       `json:"segments"`   // that came after it, and were brought in by this call
}

// The folders and the file of a rebuild, in the data folder.
const (
	rebuildFolder = frontier.Folder + ".rebuild"
	rebuildFile   = rebuildFolder + ".json"
)

// ErrFrontier says that the data folder has a frontier.
var ErrFrontier = errors.New("there is a frontier already: move it away if it is to be made again")

// progress is how far a rebuild is.
type progress struct {
	Checkpoint string `json:"checkpoint"` // the key of its manifest
	Loaded     bool   `json:"loaded"`     // the folder has all of it
}

// logEvery is how often a rebuild says how far it is.
const logEvery = 10 * time.Second

// Run rebuilds the frontier. ErrFrontier if there is one, ErrNone if there is no checkpoint, frontier.ErrLocked if another Run is
// in progress.
func (r *Rebuild) Run(ctx context.Context) (out Rebuilt, err error) {
	out.Frontier = filepath.Join(r.Data, frontier.Folder)
	if _, err := os.Stat(out.Frontier); !errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("rebuild frontier in %s: %w", out.Frontier, cmp.Or(err, ErrFrontier))
	}
	if err := os.MkdirAll(r.Data, 0o755); err != nil {
		return out, fmt.Errorf("rebuild frontier: %w", err)
	}
	front, m, err := r.load(ctx)
	if err != nil {
		return out, fmt.Errorf("rebuild frontier: %w", err)
	}
	out.Checkpoint, out.Partitions = m.Taken, len(m.Partitions)
	out.Segments, err = r.replay(ctx, front, m)
	if err := errors.Join(err, front.Close()); err != nil {
		return out, fmt.Errorf("rebuild frontier: %w", err)
	}
	if err := os.Rename(r.dir(), out.Frontier); err != nil {
		return out, fmt.Errorf("rebuild frontier: %w", err)
	}
	return out, errors.Join(disk.SyncDir(r.Data), os.Remove(r.file()))
}

func (r *Rebuild) dir() string  { return filepath.Join(r.Data, rebuildFolder) }
func (r *Rebuild) file() string { return filepath.Join(r.Data, rebuildFile) }

// load opens a frontier that has all of a checkpoint: the newest, or that with which a former call has begun.
func (r *Rebuild) load(ctx context.Context) (front *frontier.Frontier, m Manifest, err error) {
	var p progress
	raw, err := os.ReadFile(r.file())
	if err == nil && json.Unmarshal(raw, &p) != nil {
		p = progress{} // a power failure may leave a damaged note: the load begins again
	}
	if err == nil && p.Loaded {
		if m, err = read(ctx, r.Store, p.Checkpoint); err == nil {
			front, err = frontier.OpenContext(ctx, r.dir(), r.Options)
			return front, m, err
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, archive.ErrNotFound) {
		return nil, m, err
	}
	if m, err = Newest(ctx, r.Store, r.Worker); err != nil {
		return nil, m, err
	}
	if err := r.empty(ctx); err != nil {
		return nil, m, err
	}
	if front, err = frontier.OpenContext(ctx, r.dir(), r.Options); err != nil {
		return nil, m, err
	}
	r.Log.Info("the frontier is loaded from a checkpoint", "taken", m.Taken, "partitions", len(m.Partitions))
	said := time.Now()
	err = Load(ctx, r.Store, m, front, func(done, all int) {
		if time.Since(said) > logEvery {
			said = time.Now()
			r.Log.Info("the frontier is loaded from a checkpoint", "partitions", done, "of", all)
		}
	})
	if err == nil {
		err = r.note(progress{archive.Frontiers{}.Checkpoint(m.Taken, r.Worker), true})
	}
	if err != nil {
		return nil, m, errors.Join(err, front.Close())
	}
	return front, m, nil
}

// empty deletes what a former call has left that was cut off while it loaded; another that is in progress has the folder locked.
func (r *Rebuild) empty(ctx context.Context) error {
	if _, err := os.Stat(r.dir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	front, err := frontier.OpenContext(ctx, r.dir(), r.Options)
	if errors.Is(err, frontier.ErrLocked) {
		return err
	}
	if err == nil {
		err = front.Close()
	}
	if errRemove := os.RemoveAll(r.dir()); errRemove != nil {
		return errors.Join(err, errRemove)
	}
	return nil
}

// note keeps how far the rebuild is.
func (r *Rebuild) note(p progress) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return disk.WriteFile(r.file(), func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// segment is one that came after the checkpoint.
type segment struct {
	archive.Manifest
	store  archive.Store
	number int    // of its archive, in its crawl
	run    uint32 // that it counts for, if partitions are made again
}

// replay brings in the segments that came after the checkpoint, in the order in which they were made: a URL was found before it was
// fetched.
func (r *Rebuild) replay(ctx context.Context, front *frontier.Frontier, m Manifest) (n int, err error) {
	var names []string
	err = front.Export(func(e *frontier.Export) error {
		all, err := e.Names()
		for _, name := range all {
			if !front.Spread(name) { // others own the partitions of a spread crawl by now: the ring says which are to be made again
				names = append(names, name)
			}
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	engine := r.Engine(front)
	for _, name := range names {
		list, err := r.after(ctx, front, name, m.Taken)
		if err != nil {
			return n, err
		}
		plan, err := front.Crawl(name).Plan()
		if err != nil {
			return n, err
		}
		r.Log.Info("segments are brought in that came after the checkpoint", "crawl", name, "segments", len(list))
		again, err := r.submitted(ctx, front, name, plan.Run, m.Taken)
		if err != nil {
			return n, err
		}
		said := time.Now()
		for s, err := range ahead(ctx, list) {
			if err == nil {
				err = again.until(ctx, s.Created)
			}
			if err != nil {
				return n, err
			}
			left, err := engine.Recover(ctx, plan.Definition, s.store, s.Manifest, s.number)
			if err != nil {
				return n, err
			}
			c, err := left.Commit(s.Batch)
			if err != nil {
				return n, err
			}
			c.Archive, c.Recovered = s.number, true
			if err := front.Crawl(name).Commit(c); err != nil {
				return n, err
			}
			if n++; time.Since(said) > logEvery {
				said = time.Now()
				r.Log.Info("segments are brought in that came after the checkpoint", "crawl", name, "brought in", n, "of", len(list))
			}
		}
		if err := again.all(ctx); err != nil {
			return n, err
		}
	}
	return n, nil
}

// submitted brings in what was submitted to a crawl after the checkpoint. Of an earlier run only what is blacklisted counts.
func (r *Rebuild) submitted(ctx context.Context, front *frontier.Frontier, name string, run uint32, taken time.Time) (*resubmitting, error) {
	return resubmittingSince(ctx, r.Store, name, taken, func(list submitted) error {
		known := front.Crawl(name).URLs()
		if list.Run < run {
			return known.Resubmit(list.Run, list.URLs, func(frontier.Partition) bool { return true })
		}
		_, err := known.Submit(list.ID, list.URLs)
		return err
	}, func(err error) {
		r.Log.Error("the frontier is rebuilt without submitted URLs", "crawl", name, "error", err)
	})
}

// after lists the segments of a crawl that the frontier does not have.
func (r *Rebuild) after(ctx context.Context, front *frontier.Frontier, name string, taken time.Time) ([]segment, error) {
	plan, err := front.Crawl(name).Plan()
	if err != nil {
		return nil, err
	}
	has := func(batch string) bool { return front.Crawl(name).Batch(batch).Committed() }
	skip := func(segment string, _ time.Time) bool {
		if batch, ok := archive.BatchOfSegment(segment); ok && has(batch) {
			return true
		}
		return has(pipeline.RestoreMark(segment))
	}
	return segmentsOf(ctx, r.Open, name, plan, skip, func(m archive.Manifest) bool {
		return !has(m.Batch) && (!archive.IsEndsBatch(m.Batch) || m.Created.After(taken))
	}, nil)
}

// segmentsOf lists the segments of a crawl in all its archives, in the order in which they were made. Manifests of those that skip names are not read;
// keep chooses among the others. damaged is that of archive.Walk.
func segmentsOf(
	ctx context.Context, open func(ctx context.Context, where string) (archive.Store, error), name string, plan frontier.Plan,
	skip func(segment string, changed time.Time) bool, keep func(archive.Manifest) bool, damaged func(error) error,
) (list []segment, err error) {
	for number, place := range plan.Archives {
		store, err := open(ctx, place.Where)
		if err != nil {
			return nil, err
		}
		walk := archive.Walk[struct{}]{Of: archive.Layout{Prefix: place.Prefix, Crawl: name}, Skip: skip, Damaged: damaged}
		err = walk.Each(ctx, store, func(m archive.Manifest, _ struct{}) error {
			if keep(m) {
				list = append(list, segment{m, store, number, m.Run})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b segment) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Batch, b.Batch))
	})
	return list, nil
}
