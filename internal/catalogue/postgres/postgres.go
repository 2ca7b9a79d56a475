package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

const (
	// lockNumber is that of the lock under which the tables are made.
	lockNumber = 0x6d756e696e6e // "muninn"
	// openNumber is that of the lock that each connection of a catalogue shares, and that who deletes catalogues has alone. A process remembers which segments
	// are there, and would not add them again.
	openNumber = lockNumber + 1
)

// Catalogue is a catalogue.Catalogue in a database.
type Catalogue struct {
	db *pgxpool.Pool

	known *catalogue.Known
}

// Open opens the catalogue of a database, or makes one: the tables are in the first schema of its search path. where is a URL
// (postgres://…) or key=value settings, as libpq has them. Close ends it.
func Open(ctx context.Context, where string) (*Catalogue, error) { return OpenSchema(ctx, where, "") }

// OpenSchema opens the catalogue in a schema of a database, or makes both; "" is the first schema of its search path.
func OpenSchema(ctx context.Context, where, schema string) (*Catalogue, error) {
	conf, err := pgxpool.ParseConfig(where)
	if err != nil {
		return nil, fmt.Errorf("open catalogue: %w", err) // without what it was given, which may hold a password
	}
	if schema != "" {
		conf.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	}
	conf.MinConns = max(conf.MinConns, 1) // one stays when nothing is asked, with the lock
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT pg_advisory_lock_shared($1)`, int64(openNumber))
		return err
	}
	db, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("open catalogue: %w", err)
	}
	c := &Catalogue{db: db, known: catalogue.NewKnown()}
	if err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return prepare(ctx, tx, schema) }); err != nil {
		db.Close()
		return nil, fmt.Errorf("open catalogue: %w", err)
	}
	return c, nil
}

// prepare makes the schema and the tables, unless they are there. Two processes may open a new catalogue at a time.
func prepare(ctx context.Context, tx pgx.Tx, schema string) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(lockNumber)); err != nil {
		return err
	}
	if schema != "" {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{schema}.Sanitize()); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, tables); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO about (name, value) VALUES ('version', $1) ON CONFLICT DO NOTHING`, version); err != nil {
		return err
	}
	var v int
	if err := tx.QueryRow(ctx, `SELECT value FROM about WHERE name = 'version'`).Scan(&v); err != nil {
		return err
	}
	if v != version {
		return fmt.Errorf("version %d: %w", v, catalogue.ErrVersion)
	}
	return nil
}

// Close closes the connections.
func (c *Catalogue) Close() error {
	c.db.Close()
	return nil
}

// Segments calls fn with each segment of the catalogue, in no order.
func (c *Catalogue) Segments(ctx context.Context, fn func(catalogue.SegmentName) error) error {
	rows, err := c.db.Query(ctx, `SELECT prefix, crawl, name FROM segments`)
	if err != nil {
		return fmt.Errorf("list the segments of the catalogue: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var s catalogue.SegmentName
		if err := rows.Scan(&s.Crawl.Prefix, &s.Crawl.Name, &s.Name); err != nil {
			return fmt.Errorf("list the segments of the catalogue: %w", err)
		}
		if err := fn(s); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list the segments of the catalogue: %w", err)
	}
	return nil
}

// AddSegments implements catalogue.Catalogue: all segments in one transaction.
func (c *Catalogue) AddSegments(ctx context.Context, segments ...catalogue.Segment) error {
	// Always in the order of numbers, so that processes that add the same segments wait for each other and not in a circle.
	list := slices.Clone(segments)
	slices.SortStableFunc(list, func(a, b catalogue.Segment) int { return cmp.Compare(a.Number(), b.Number()) })
	err := pgx.BeginFunc(ctx, c.db, func(tx pgx.Tx) error {
		for _, s := range list {
			if err := addSegment(ctx, tx, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add segments: %w", err)
	}
	return nil
}

func addSegment(ctx context.Context, tx pgx.Tx, s catalogue.Segment) error {
	number := s.Number()
	const put = `INSERT INTO segments (number, prefix, crawl, name, run, warc) VALUES ($1,$2,$3,$4,$5,$6) ON CONFLICT DO NOTHING`
	done, err := tx.Exec(ctx, put, number, s.Crawl.Prefix, s.Crawl.Name, s.Name, int64(s.Run), s.WARC)
	if err != nil {
		return err
	}
	if done.RowsAffected() == 0 {
		there, err := readSegment(tx.QueryRow(ctx, segmentOf, number))
		if err == nil && there.SegmentName != s.SegmentName {
			err = fmt.Errorf("segment %s of %s: %w: %s of %s", s.Name, s.Crawl.Name, catalogue.ErrCollision, there.Name, there.Crawl.Name)
		}
		return err
	}
	if s, err = s.Normal(); err != nil {
		return err
	}
	captures := pgx.CopyFromSlice(len(s.Entries), func(i int) ([]any, error) { return row(&s.Entries[i], number), nil })
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"captures"}, strings.Split(columns, ", "), captures); err != nil {
		return err
	}
	var batch pgx.Batch
	for _, a := range s.Answers {
		const put = `INSERT INTO answers (name, address, time, segment) VALUES ($1,$2,$3,$4) ON CONFLICT DO NOTHING`
		batch.Queue(put, a.Name, a.Address.String(), a.Date.Unix(), number)
	}
	return tx.SendBatch(ctx, &batch).Close()
}

func row(e *catalogue.Entry, number int64) []any {
	original := int64(0)
	if !e.Original.Date.IsZero() {
		original = e.Original.Date.Unix()
	}
	return []any{
		e.Key, e.Date.Unix(), number, e.Offset, e.Length, e.URL, int32(e.Status), e.MIME, e.Digest, catalogue.DigestNumber(e.Digest),
		e.Revisit, e.Score, e.Application, e.Language, e.Title, e.Original.URL, original,
	}
}
