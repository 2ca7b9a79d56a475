package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// Query implements catalogue.Catalogue.
func (c *Catalogue) Query(ctx context.Context, q catalogue.Query, fn func(catalogue.Entry) error) error {
	return catalogue.Scan(ctx, c, q, fn)
}

// Shards implements catalogue.Index: all captures are in one table.
func (c *Catalogue) Shards(catalogue.Span) []int { return []int{0} }

// Page implements catalogue.Index.
func (c *Catalogue) Page(ctx context.Context, _ int, w catalogue.Window, n int) (page []catalogue.Row, next catalogue.Position, more bool, err error) {
	text, args := statement(w)
	rows, err := c.db.Query(ctx, text, append(args, n)...)
	if err != nil {
		return nil, next, false, fmt.Errorf("read catalogue: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanCapture(rows)
		if err != nil {
			return nil, next, false, fmt.Errorf("read catalogue: %w", err)
		}
		page, next = append(page, r), r.Position()
	}
	if err := rows.Err(); err != nil {
		return nil, next, false, fmt.Errorf("read catalogue: %w", err)
	}
	for i := range page {
		s, err := c.segment(ctx, page[i].Number)
		if err != nil {
			return nil, next, false, err
		}
		e := &page[i]
		e.Crawl, e.Run, e.Segment, e.WARC = s.Crawl, s.Run, s.Name, s.WARC
	}
	return page, next, len(page) == n, nil
}

// statement is that of a window, with all arguments but the number of rows.
func statement(w catalogue.Window) (text string, args []any) {
	at := w.After
	if w.Exact && w.Digest == "" {
		if text = ofKey; w.Reverse {
			text = ofKeyReverse
		}
		return text, []any{w.From, at.Time, at.Segment, at.Offset}
	}
	from, until := w.From, w.Until
	if w.Exact {
		until = w.From + "\x01" // which no key has
	}
	end := until
	if text = ofSpan; w.Reverse {
		text, end = ofSpanReverse, from
	}
	args = []any{at.Key, at.Time, at.Segment, at.Offset, end}
	if w.Digest != "" {
		if text = ofDigest; w.Reverse {
			text = ofDigestReverse
		}
		args = append([]any{catalogue.DigestNumber(w.Digest)}, args...)
	}
	return text, args
}

func scanCapture(rows pgx.Rows) (r catalogue.Row, err error) {
	var at, original, digest int64
	err = rows.Scan(&r.Key, &at, &r.Number, &r.Offset, &r.Length, &r.URL, &r.Status, &r.MIME, &r.Digest, &digest, &r.Revisit, &r.Score,
		&r.Application, &r.Language, &r.Title, &r.Original.URL, &original)
	r.Date = time.Unix(at, 0).UTC()
	if original != 0 {
		r.Original.Date = time.Unix(original, 0).UTC()
	}
	return r, err
}

const segmentOf = `SELECT prefix, crawl, name, run, warc FROM segments WHERE number = $1`

func readSegment(row pgx.Row) (s catalogue.Segment, err error) {
	var run int64
	err = row.Scan(&s.Crawl.Prefix, &s.Crawl.Name, &s.Name, &run, &s.WARC)
	s.Run = uint32(run)
	return s, err
}

// segment is the segment with a number; ErrNoSegment if there is none.
func (c *Catalogue) segment(ctx context.Context, number int64) (catalogue.Segment, error) {
	return c.known.Segment(number, func() (s catalogue.Segment, err error) {
		s, err = readSegment(c.db.QueryRow(ctx, segmentOf, number))
		if errors.Is(err, pgx.ErrNoRows) {
			return s, catalogue.ErrNoSegment
		}
		if err != nil {
			return s, fmt.Errorf("read catalogue: %w", err)
		}
		return s, nil
	})
}

// Segment implements catalogue.Catalogue.
func (c *Catalogue) Segment(ctx context.Context, name catalogue.SegmentName) (catalogue.Segment, error) {
	s, err := c.segment(ctx, name.Number())
	return catalogue.Named(s, err, name)
}

// HasSegment implements catalogue.Catalogue.
func (c *Catalogue) HasSegment(ctx context.Context, name catalogue.SegmentName) (bool, error) {
	return catalogue.Has(ctx, c, name)
}

// Answers implements catalogue.Catalogue.
func (c *Catalogue) Answers(ctx context.Context, q catalogue.AnswerQuery, fn func(catalogue.Answer) error) error {
	return catalogue.ScanAnswers(ctx, c, q, fn)
}

// ReadAnswers implements catalogue.AnswerIndex.
func (c *Catalogue) ReadAnswers(ctx context.Context, q catalogue.AnswerQuery, at catalogue.AnswerPosition, n int) (page []catalogue.Answer, err error) {
	var rows pgx.Rows
	switch {
	case q.Name != "":
		rows, err = c.db.Query(ctx, answersOfName, q.Name, at.Address, at.Time, at.Segment, n)
	case q.Address.IsValid():
		rows, err = c.db.Query(ctx, answersOfAddress, q.Address.String(), at.Name, at.Time, at.Segment, n)
	default:
		rows, err = c.db.Query(ctx, allAnswers, at.Name, at.Address, at.Time, at.Segment, n)
	}
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		var a catalogue.Answer
		var address string
		var at, number int64
		err := rows.Scan(&a.Name, &address, &at, &number)
		if err == nil {
			a.Address, err = netip.ParseAddr(address)
		}
		if err != nil {
			return nil, fmt.Errorf("read answers: %w", err)
		}
		a.Date = time.Unix(at, 0).UTC()
		page, numbers = append(page, a), append(numbers, number)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	for i := range page {
		s, err := c.segment(ctx, numbers[i])
		if err != nil {
			return nil, err
		}
		page[i].Segment = s.SegmentName
	}
	return page, nil
}
