package activities

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/room/views"
)

// Database is the PostgreSQL database of the views of a reading room. It is opened when it is needed: a worker crawls without it.
type Database struct {
	Where string

	mu sync.Mutex // protects db
	db *views.Database
}

func (d *Database) open(ctx context.Context) (*views.Database, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db != nil {
		return d.db, nil
	}
	db, err := views.OpenDatabase(ctx, d.Where)
	if err == nil {
		d.db = db
	}
	return db, err
}

// Check reports whether it can be opened.
func (d *Database) Check(ctx context.Context) error {
	_, err := d.open(ctx)
	return err
}

// Close closes it.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db == nil {
		return nil
	}
	db := d.db
	d.db = nil
	return db.Close()
}

// ViewsInput names segments that are added to the views.
type ViewsInput struct {
	DerivedFrom
	Segments []string `json:"segments,omitempty"` // empty: all of the crawl
}

// ViewsResult counts segments that were added.
type ViewsResult struct {
	Captures int      `json:"captures,omitempty"` // to the catalogue
	Texts    int      `json:"texts,omitempty"`    // to the index
	Damaged  []string `json:"damaged,omitempty"`  // what says that a segment cannot be read; the last of them
}

// viewedAtOnce are the segments between two positions of the cursor.
const viewedAtOnce = 20

// Views adds segments to the views of the worker's database that lack them. It is idempotent by segment. Its heartbeat has the cursor, the last segment that
// all views have; a further attempt continues behind it.
func (a *Activities) Views(ctx context.Context, in ViewsInput) (out ViewsResult, err error) {
	if a.Database == nil {
		return out, errors.New("this worker has no database of views (setting views)")
	}
	store, err := a.Archives.Open(ctx, in.Archive)
	if err != nil {
		return out, err
	}
	db, err := a.Database.open(ctx)
	if err != nil {
		return out, err
	}
	list := slices.Sorted(slices.Values(in.Segments))
	if len(list) == 0 {
		if list, err = views.Segments(ctx, in.at(), store); err != nil {
			return out, err
		}
	}
	v := views.New(views.Config{Archives: []archive.Store{store}, Catalogue: db.Catalogue, Index: db.Index, Dir: a.Spool.TempDir(), Log: a.Log, Now: a.Now})
	var cursor atomic.Value
	if was := viewedTo(ctx); was != "" {
		cursor.Store(was)
		at, found := slices.BinarySearch(list, was)
		if found {
			at++
		}
		list = list[at:]
	}
	heartbeatWith(ctx, cursor.Load)
	for part := range slices.Chunk(list, viewedAtOnce) {
		added, err := v.Add(ctx, in.at(), store, part)
		out.Captures += added.Captures
		out.Texts += added.Texts
		if err != nil {
			if ctx.Err() == nil && cursor.Load() != nil { // the last beat may be seconds old
				activity.RecordHeartbeat(ctx, cursor.Load())
			}
			return out, err
		}
		cursor.Store(part[len(part)-1])
	}
	out.Damaged = v.State().Faults
	return out, nil
}

// viewedTo is the cursor of an earlier attempt.
func viewedTo(ctx context.Context) (cursor string) {
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &cursor) != nil {
		return ""
	}
	return cursor
}
