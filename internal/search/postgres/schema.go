package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/muninn-archive/muninn/internal/search"
)

// Index is the full-text index in a schema of a database. It implements search.Index.
type Index struct {
	pool   *pgxpool.Pool
	schema string // quoted
	scored int    // maxScored, but for tests
}

var _ search.Index = (*Index)(nil)

// minVersion is the oldest version of PostgreSQL that is tested, as server_version_num has it.
const minVersion = 150000

// tables make the schema. The documents of a segment have its name and a number.
const tables = `
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.segments (
	crawl text NOT NULL, name text NOT NULL, documents integer NOT NULL,
	PRIMARY KEY (crawl, name)
);
CREATE TABLE IF NOT EXISTS {schema}.lexemes (
	term text NOT NULL PRIMARY KEY,
	documents bigint NOT NULL              -- that have the term in text or title
) WITH (fillfactor = 60);                      -- each segment changes rows: room for that in their pages, so that indexes and table do not grow with it
CREATE TABLE IF NOT EXISTS {schema}.documents (
	crawl text NOT NULL, segment text NOT NULL, seq integer NOT NULL,
	url text NOT NULL, site text NOT NULL, host text NOT NULL,
	seconds bigint NOT NULL,               -- date of the capture, since 1970
	status integer NOT NULL, score double precision NOT NULL,
	lang text NOT NULL, type text NOT NULL, media text NOT NULL, app text NOT NULL, level text NOT NULL,
	author tsvector NOT NULL, terms tsvector NOT NULL, -- words of titles have weight A
	key text NOT NULL,                     -- search.KeyOf
	content text NOT NULL,                 -- search.ContentOf
	stored text NOT NULL,                  -- what is shown, in JSON
	PRIMARY KEY (crawl, segment, seq)
);
CREATE INDEX IF NOT EXISTS documents_terms ON {schema}.documents USING gin (terms);
CREATE INDEX IF NOT EXISTS documents_author ON {schema}.documents USING gin (author) WHERE author <> '';
CREATE INDEX IF NOT EXISTS documents_site ON {schema}.documents (site, host);
CREATE INDEX IF NOT EXISTS documents_seconds ON {schema}.documents (seconds);
CREATE TABLE IF NOT EXISTS {schema}.anchors (
	target bigint NOT NULL,                -- hash of the URL that they lead to
	terms tsvector NOT NULL
);
CREATE INDEX IF NOT EXISTS anchors_terms ON {schema}.anchors USING gin (terms);
`

// schemaLock is the key of the advisory lock under which the schema is made: CREATE … IF NOT EXISTS fails if two make it at the same time.
const schemaLock = 0x6d756e696e6e

// Open opens the index in a schema of the database of a connection string, in which it makes tables if there are none.
func Open(ctx context.Context, connection, schema string) (*Index, error) {
	config, err := pgxpool.ParseConfig(connection)
	if err != nil {
		return nil, fmt.Errorf("open the search index: the connection string is wrong (such as postgres://user@host/database): %w", err)
	}
	if schema == "" {
		return nil, errors.New("open the search index: the name of the schema is empty: give it one")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	x := &Index{pool, pgx.Identifier{schema}.Sanitize(), maxScored}
	if err := x.prepare(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	return x, nil
}

func (x *Index) prepare(ctx context.Context) error {
	return pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
		var version int
		if err := tx.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
			return err
		}
		if version < minVersion {
			return fmt.Errorf("PostgreSQL has version %d.%d: use version 15 or later", version/10000, version%10000)
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(schemaLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, x.sql(tables), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		var current bool
		const isCurrent = "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'target')"
		if err := tx.QueryRow(ctx, isCurrent, x.schema+".anchors").Scan(&current); err != nil {
			return err
		}
		if !current {
			return fmt.Errorf("the schema %s was made by another version: muninn views ARCHIVE --views DATABASE --rebuild builds it again", x.schema)
		}
		return nil
	})
}

// sql puts the name of the schema into a statement.
func (x *Index) sql(statement string) string {
	return strings.ReplaceAll(statement, "{schema}", x.schema)
}

// HasSegment implements search.Index.
func (x *Index) HasSegment(ctx context.Context, name search.SegmentName) (has bool, err error) {
	err = x.pool.QueryRow(ctx, x.sql("SELECT EXISTS (SELECT FROM {schema}.segments WHERE crawl = $1 AND name = $2)"), clean(name.Crawl), clean(name.Name)).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("look for segment %s in the search index: %w", name, err)
	}
	return has, nil
}

// Close implements search.Index.
func (x *Index) Close() error {
	x.pool.Close()
	return nil
}

// clean makes a text that PostgreSQL takes: it has no zero byte and is UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
