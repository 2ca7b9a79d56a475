package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Described is a capture without its body: a line of the index of a segment, and what its records say of it.
type Described struct {
	Indexed
	Title, Language, Level string // of its metadata record; empty if it does not say
	// Of a revisit, what its record refers to; zero if it does not say.
	RefersTo     string
	RefersToDate time.Time
}

// ReadCaptures reads the captures of a segment, in the order of their records. Responses, which are most of the bytes of the WARC object, are passed over without being
// decompressed. other, if it is not nil, is called with the records that are of no capture of the index: DNS answers, and requests. An error of
// what is stored is a DamagedError, and names the object.
func ReadCaptures(ctx context.Context, store Store, m *Manifest, other func(Captured) error) (list []Described, err error) {
	err = ReadIndexOf(ctx, store, m, func(i Indexed) error {
		list = append(list, Described{Indexed: i})
		return nil
	})
	if err != nil || m.WARC.Key == "" {
		return list, err
	}
	slices.SortStableFunc(list, func(a, b Described) int { return cmp.Compare(a.Offset, b.Offset) })
	object, err := store.Get(ctx, m.WARC.Key)
	if err == nil {
		d := describer{in: NewMemberReader(object, 0), other: other}
		err = errors.Join(d.read(list, m.WARC.Bytes), object.Close())
		var fault *StoreError
		if err != nil && !errors.As(err, &fault) && ctx.Err() == nil {
			err = damaged(err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", m.WARC.Key, err)
	}
	return list, nil
}

// describer reads what a WARC object says of captures.
type describer struct {
	in    *MemberReader
	other func(Captured) error
}

func (d *describer) read(list []Described, end int64) error {
	var last *Described
	for i := range list {
		c := &list[i]
		err := d.behind(last, c.Offset)
		switch {
		case err != nil:
			return err
		case c.Revisit:
			err = d.revisit(c)
		default:
			err = noEOF(d.in.Skip(c.Length))
		}
		if err != nil {
			return fmt.Errorf("record at %d: %w", c.Offset, err)
		}
		last = c
	}
	return d.behind(last, end)
}

func (d *describer) revisit(c *Described) error {
	rec, err := d.in.Next()
	if err != nil {
		return noEOF(err)
	}
	c.RefersTo, c.RefersToDate = rec.RefersTo, rec.RefersToDate
	return d.in.End()
}

// behind reads the records behind that of a capture, to an offset; c is nil before the first one.
func (d *describer) behind(c *Described, to int64) error {
	for described := false; d.in.Offset() < to; {
		rec, err := d.in.Next()
		switch {
		case err != nil:
			err = noEOF(err)
		case rec.Kind == "metadata" && c != nil && !described && rec.URL == c.URL:
			var m MetadataOf
			m, err = ReadMetadata(rec.Block, nil)
			c.Title, c.Language, c.Level, described = m.Title, m.Language, m.Level, true
		case d.other != nil && rec.Kind != "metadata":
			err = d.other(rec.Captured)
		}
		if err == nil {
			err = d.in.End()
		}
		if err != nil {
			return fmt.Errorf("record at %d: %w", rec.Offset, err)
		}
	}
	if at := d.in.Offset(); at > to {
		return fmt.Errorf("the index has a record at %d, within another", to)
	}
	return nil
}
