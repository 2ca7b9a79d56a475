package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

const (
	// shards is the number of files that a new catalogue spreads its captures over: at 10^8 of them a file has some gigabytes.
	shards = 16
	// maxShards bounds what a catalogue says of itself.
	maxShards = 1024
	// busyTimeout is how long a process waits for another one that writes, in milliseconds.
	busyTimeout = 30_000
	// pageCache is the memory of a connection to a file for its pages, in KiB.
	pageCache = 8192
	// maxConnections are the connections to one file: how many queries read it at a time.
	maxConnections = 4
)

// Catalogue is a catalogue.Catalogue in a folder.
type Catalogue struct {
	main   *file
	shards []*file
	adding sync.Mutex // one adds at a time

	known *catalogue.Known
}

// file is an open database with its prepared statements.
type file struct {
	*sql.DB
	statements map[string]*sql.Stmt
}

// Open opens the catalogue of a folder, or makes one. Close ends it.
func Open(ctx context.Context, dir string) (c *Catalogue, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open catalogue: %w", err)
	}
	c = &Catalogue{known: catalogue.NewKnown()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open catalogue in %s: %w", dir, err), c.Close())
			c = nil
		}
	}()
	c.main, err = open(ctx, filepath.Join(dir, "catalogue.db"), mainTables,
		namesOf, answersOfAddress, answersOfName, allAnswers)
	if err != nil {
		return c, err
	}
	n, err := c.about(ctx)
	if err != nil {
		return c, err
	}
	for i := range n {
		f, err := open(ctx, filepath.Join(dir, fmt.Sprintf("captures-%03d.db", i)), shardTables,
			ofKey, ofKeyReverse, ofSpan, ofSpanReverse, ofDigest, ofDigestReverse)
		if err != nil {
			return c, err
		}
		c.shards = append(c.shards, f)
	}
	return c, nil
}

// about reads of a catalogue its version and the number of its shards, and writes them into a new one.
func (c *Catalogue) about(ctx context.Context) (n int, err error) {
	const put = `INSERT OR IGNORE INTO about (name, value) VALUES ('version', ?), ('shards', ?)`
	if _, err := c.main.ExecContext(ctx, put, version, shards); err != nil {
		return 0, err
	}
	var v int
	const get = `SELECT (SELECT value FROM about WHERE name = 'version'), (SELECT value FROM about WHERE name = 'shards')`
	if err := c.main.QueryRowContext(ctx, get).Scan(&v, &n); err != nil {
		return 0, err
	}
	if v != version || n < 1 || n > maxShards {
		return 0, fmt.Errorf("version %d, %d shards: %w", v, n, catalogue.ErrVersion)
	}
	return n, nil
}

// open opens a file with its tables. A commit is on disk when it returns (synchronous FULL): a segment that is whole never lacks rows
// after a power failure.
func open(ctx context.Context, path, tables string, statements ...string) (*file, error) {
	pragmas := url.Values{"_txlock": {"immediate"}}
	for _, p := range []string{
		"page_size(8192)", fmt.Sprintf("busy_timeout(%d)", busyTimeout), "journal_mode(WAL)", "synchronous(FULL)",
		fmt.Sprintf("cache_size(-%d)", pageCache),
	} {
		pragmas.Add("_pragma", p)
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: pragmas.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	f := &file{db, map[string]*sql.Stmt{}}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for _, text := range statements {
		if f.statements[text], err = db.PrepareContext(ctx, text); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return f, nil
}

// Close closes the files.
func (c *Catalogue) Close() (err error) {
	for _, f := range append(c.shards, c.main) {
		if f == nil {
			continue
		}
		for _, s := range f.statements {
			err = errors.Join(err, s.Close())
		}
		err = errors.Join(err, f.DB.Close())
	}
	return err
}
