package views

import (
	"context"
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	captures "github.com/muninn-archive/muninn/internal/catalogue/postgres"
	"github.com/muninn-archive/muninn/internal/search"
	texts "github.com/muninn-archive/muninn/internal/search/postgres"
)

// The schemas of the views in a database.
const (
	captureSchema = "muninn_captures"
	textSchema    = "muninn_texts"
)

// Database are views in a PostgreSQL database, for several servers and workers at a time. All that is added to it is added by segment, in one
// transaction, if it is not there. A database has the views of one set of archives, in which the name of each crawl is unique.
type Database struct {
	Catalogue catalogue.Catalogue
	Index     search.Index
	segments  func(context.Context, func(catalogue.SegmentName) error) error
}

// OpenDatabase opens the views of a database, postgres://… or key=value settings as libpq has them. Close ends it.
func OpenDatabase(ctx context.Context, where string) (*Database, error) {
	c, err := captures.OpenSchema(ctx, where, captureSchema)
	if err != nil {
		return nil, fmt.Errorf("open views: %w", err)
	}
	index, err := texts.Open(ctx, where, textSchema)
	if err != nil {
		return nil, fmt.Errorf("open views: %w", errors.Join(err, c.Close()))
	}
	return &Database{c, index, c.Segments}, nil
}

// DropDatabase deletes the views of a database. It refuses that while a worker or a server has them open, which remembers what segments they have, and
// would not add them again.
func DropDatabase(ctx context.Context, where string) error {
	dropped, err := captures.DropSchemas(ctx, where, captureSchema, textSchema)
	if err == nil && !dropped {
		err = errors.New("others have them open: end the servers and workers that use the database")
	}
	if err != nil {
		return fmt.Errorf("delete views: %w", err)
	}
	return nil
}

// Close closes the connections.
func (d *Database) Close() error { return errors.Join(d.Catalogue.Close(), d.Index.Close()) }

// Stale is the error of views that have a segment of a crawl that its archive does not have.
type Stale struct{ Crawl, Segment string }

// Error says what to do.
func (s *Stale) Error() string {
	return fmt.Sprintf("the database has views of another archive: it knows segment %s of %s, which is not there. Use another database; or, if the archive was made again, end all servers and workers that use this one, "+
		"and run muninn views ARCHIVE --views DATABASE --rebuild", s.Segment, s.Crawl)
}

// Check reports a *Stale if the database has a segment of a crawl of the archives that they lack. Crawls that are in none of the archives may be
// those of other servers.
func (d *Database) Check(ctx context.Context, archives []archive.Store) error {
	known := map[catalogue.SegmentName]bool{}
	err := d.segments(ctx, func(s catalogue.SegmentName) error { // before the archives are listed: to these, segments are added first
		known[s] = true
		return nil
	})
	if err != nil || len(known) == 0 {
		return err
	}
	listed, at := map[string]bool{}, map[archive.CrawlAt]bool{}
	for _, store := range archives {
		crawls, err := archive.Crawls(ctx, store)
		if err != nil {
			return fmt.Errorf("list the crawls of %s: %w", store, err)
		}
		for _, c := range crawls {
			if listed[c.Name] { // only that of the first archive is shown
				continue
			}
			listed[c.Name], at[c] = true, true
			err := store.List(ctx, archive.Layout{Prefix: c.Prefix, Crawl: c.Name}.Manifests(), func(o archive.Object) error {
				if name, is := archive.SegmentOf(o.Key); is {
					delete(known, catalogue.SegmentName{Crawl: c, Name: name})
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("list the segments of %s: %w", c.Name, err)
			}
		}
	}
	for s := range known {
		if at[s.Crawl] {
			return &Stale{s.Crawl.Name, s.Name}
		}
	}
	return nil
}
