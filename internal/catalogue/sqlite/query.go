package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// Query implements catalogue.Catalogue.
func (c *Catalogue) Query(ctx context.Context, q catalogue.Query, fn func(catalogue.Entry) error) error {
	return catalogue.Scan(ctx, c, q, fn)
}

// Shards implements catalogue.Index.
func (c *Catalogue) Shards(s catalogue.Span) []int {
	if pld, one := s.PLD(); one {
		return []int{c.shardOf(pld)}
	}
	all := make([]int, len(c.shards))
	for i := range all {
		all[i] = i
	}
	return all
}

// Page implements catalogue.Index.
func (c *Catalogue) Page(ctx context.Context, shard int, w catalogue.Window, n int) (page []catalogue.Row, next catalogue.Position, more bool, err error) {
	text, args := statement(w)
	rows, err := c.shards[shard].statements[text].QueryContext(ctx, append(args, n)...)
	if err != nil {
		return nil, next, false, fmt.Errorf("read catalogue: %w", err)
	}
	defer func() { _ = rows.Close() }()
	seen := 0
	for ; rows.Next(); seen++ {
		r, err := scanCapture(rows)
		if err != nil {
			return nil, next, false, fmt.Errorf("read catalogue: %w", err)
		}
		page, next = append(page, r), r.Position()
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, next, false, fmt.Errorf("read catalogue: %w", err)
	}
	whole := page[:0]
	for _, r := range page {
		s, err := c.segment(ctx, r.Number)
		if errors.Is(err, catalogue.ErrNoSegment) {
			continue
		}
		if err != nil {
			return nil, next, false, err
		}
		r.Crawl, r.Run, r.Segment, r.WARC = s.Crawl, s.Run, s.Name, s.WARC
		whole = append(whole, r)
	}
	return whole, next, seen == n, nil
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
		until = w.From + "\x00"
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

func scanCapture(rows *sql.Rows) (r catalogue.Row, err error) {
	var at, original, digest int64
	err = rows.Scan(&r.Key, &at, &r.Number, &r.Offset, &r.Length, &r.URL, &r.Status, &r.MIME, &r.Digest, &digest, &r.Revisit, &r.Score,
		&r.Application, &r.Language, &r.Title, &r.Original.URL, &original)
	r.Date = time.Unix(at, 0).UTC()
	if original != 0 {
		r.Original.Date = time.Unix(original, 0).UTC()
	}
	return r, err
}

const namesOf = `SELECT prefix, crawl, name, run, warc FROM segments WHERE number = ? AND whole`

// segment is the segment with a number; ErrNoSegment if there is none that is whole.
func (c *Catalogue) segment(ctx context.Context, number int64) (catalogue.Segment, error) {
	return c.known.Segment(number, func() (s catalogue.Segment, err error) {
		row := c.main.statements[namesOf].QueryRowContext(ctx, number)
		err = row.Scan(&s.Crawl.Prefix, &s.Crawl.Name, &s.Name, &s.Run, &s.WARC)
		if errors.Is(err, sql.ErrNoRows) {
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

// The statements of answers: each row with its place in the order.
const (
	answersOfName    = `SELECT name, address, time, segment FROM answers WHERE name = ? AND (address, time, segment) > (?,?,?) ORDER BY address, time, segment LIMIT ?`
	answersOfAddress = `SELECT name, address, time, segment FROM answers WHERE address = ? AND (name, time, segment) > (?,?,?) ORDER BY name, time, segment LIMIT ?`
	allAnswers       = `SELECT name, address, time, segment FROM answers WHERE (name, address, time, segment) > (?,?,?,?) ORDER BY name, address, time, segment LIMIT ?`
)

// ReadAnswers implements catalogue.AnswerIndex.
func (c *Catalogue) ReadAnswers(ctx context.Context, q catalogue.AnswerQuery, at catalogue.AnswerPosition, n int) (page []catalogue.Answer, err error) {
	var rows *sql.Rows
	switch {
	case q.Name != "":
		rows, err = c.main.statements[answersOfName].QueryContext(ctx, q.Name, at.Address, at.Time, at.Segment, n)
	case q.Address.IsValid():
		rows, err = c.main.statements[answersOfAddress].QueryContext(ctx, q.Address.String(), at.Name, at.Time, at.Segment, n)
	default:
		rows, err = c.main.statements[allAnswers].QueryContext(ctx, at.Name, at.Address, at.Time, at.Segment, n)
	}
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	defer func() { _ = rows.Close() }()
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
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
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

// Answers implements catalogue.Catalogue.
func (c *Catalogue) Answers(ctx context.Context, q catalogue.AnswerQuery, fn func(catalogue.Answer) error) error {
	return catalogue.ScanAnswers(ctx, c, q, fn)
}
