package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/fnv"
)

// AddSegments implements catalogue.Catalogue. A segment is first named, then its captures are written to their shards, then it is whole: queries pass over
// captures of segments that are not. What a crash leaves is written over by the next attempt.
func (c *Catalogue) AddSegments(ctx context.Context, segments ...catalogue.Segment) error {
	c.adding.Lock()
	defer c.adding.Unlock()
	list, err := c.missing(ctx, segments)
	if err != nil || len(list) == 0 {
		return err
	}
	if err := c.main.inTx(ctx, func(tx *sql.Tx) error { return name(ctx, tx, list) }); err != nil {
		return fmt.Errorf("add segments: %w", err)
	}
	rows := make([][]*catalogue.Entry, len(c.shards))
	for i := range list {
		for k := range list[i].Entries {
			e := &list[i].Entries[k]
			shard := c.shardOf(catalogue.PLDOf(e.Key))
			rows[shard] = append(rows[shard], e)
		}
	}
	for shard, entries := range rows {
		if len(entries) == 0 {
			continue
		}
		slices.SortFunc(entries, func(a, b *catalogue.Entry) int { return a.Position().Compare(b.Position()) })
		if err := c.shards[shard].inTx(ctx, func(tx *sql.Tx) error { return put(ctx, tx, entries) }); err != nil {
			return fmt.Errorf("add captures: %w", err)
		}
	}
	if err := c.main.inTx(ctx, func(tx *sql.Tx) error { return finish(ctx, tx, list) }); err != nil {
		return fmt.Errorf("add segments: %w", err)
	}
	return nil
}

// missing are those segments that are not whole in the catalogue, each once, in their normal form.
func (c *Catalogue) missing(ctx context.Context, segments []catalogue.Segment) (list []catalogue.Segment, err error) {
	seen := map[catalogue.SegmentName]bool{}
	for _, s := range segments {
		has, err := c.HasSegment(ctx, s.SegmentName)
		if err != nil {
			return nil, err
		}
		if has || seen[s.SegmentName] {
			continue
		}
		seen[s.SegmentName] = true
		if s, err = s.Normal(); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// shardOf is the shard of a pay-level domain.
func (c *Catalogue) shardOf(pld string) int { return int(fnv.Sum32(pld) % uint32(len(c.shards))) }

func (f *file) inTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := f.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// name writes which segments are about to be added.
func name(ctx context.Context, tx *sql.Tx, list []catalogue.Segment) error {
	for _, s := range list {
		const put = `INSERT OR IGNORE INTO segments (number, prefix, crawl, name, run, warc) VALUES (?,?,?,?,?,?)`
		if _, err := tx.ExecContext(ctx, put, s.Number(), s.Crawl.Prefix, s.Crawl.Name, s.Name, s.Run, s.WARC); err != nil {
			return err
		}
		var there catalogue.SegmentName
		const get = `SELECT prefix, crawl, name FROM segments WHERE number = ?`
		if err := tx.QueryRowContext(ctx, get, s.Number()).Scan(&there.Crawl.Prefix, &there.Crawl.Name, &there.Name); err != nil {
			return err
		}
		if there != s.SegmentName {
			return fmt.Errorf("segment %s of %s: %w: %s of %s", s.Name, s.Crawl.Name, catalogue.ErrCollision, there.Name, there.Crawl.Name)
		}
	}
	return nil
}

func put(ctx context.Context, tx *sql.Tx, entries []*catalogue.Entry) error {
	stmt, err := tx.PrepareContext(ctx, insertCapture)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	for _, e := range entries {
		p, original := e.Position(), int64(0)
		if !e.Original.Date.IsZero() {
			original = e.Original.Date.Unix()
		}
		if _, err := stmt.ExecContext(ctx, p.Key, p.Time, p.Segment, p.Offset, e.Length, e.URL, e.Status, e.MIME, e.Digest, catalogue.DigestNumber(e.Digest),
			e.Revisit, e.Score, e.Application, e.Language, e.Title, e.Original.URL, original); err != nil {
			return err
		}
	}
	return nil
}

// finish adds the answers of segments, and makes the segments whole.
func finish(ctx context.Context, tx *sql.Tx, list []catalogue.Segment) error {
	stmt, err := tx.PrepareContext(ctx, `INSERT OR IGNORE INTO answers (name, address, time, segment) VALUES (?,?,?,?)`)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	for _, s := range list {
		for _, a := range s.Answers {
			if _, err := stmt.ExecContext(ctx, a.Name, a.Address.String(), a.Date.Unix(), s.Number()); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE segments SET whole = 1, run = ?, warc = ? WHERE number = ?`, s.Run, s.WARC, s.Number()); err != nil {
			return err
		}
	}
	return nil
}
