package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/klauspost/compress/gzip"
)

// Member is a record of a segment's WARC object, in which each record is a gzip member.
type Member struct {
	Captured
	Offset int64 // where the gzip member begins in the object, in bytes
}

// MemberReader reads the records of a part of a WARC object, whose members are compressed one by one, from a stream.
type MemberReader struct {
	// Most bounds a record that is read to its end: header and block, in bytes without compression; 0: without a bound.
	Most int64

	in      position
	packed  *bufio.Reader
	zip     *gzip.Reader
	text    *bufio.Reader
	bounded io.LimitedReader
}

// NewMemberReader reads from r, which begins at an offset of its object.
func NewMemberReader(r io.Reader, offset int64) *MemberReader {
	return newMemberReader(r, offset, 64<<10)
}

func newMemberReader(r io.Reader, offset int64, buffer int) *MemberReader {
	m := &MemberReader{packed: bufio.NewReaderSize(nil, buffer), text: bufio.NewReaderSize(nil, 4<<10)}
	m.Reset(r, offset)
	return m
}

// Reset reads from another stream of the same or another object.
func (m *MemberReader) Reset(r io.Reader, offset int64) {
	m.in = position{r, offset}
	m.packed.Reset(&m.in)
}

// Offset is where the reader is: behind the last record that End has ended.
func (m *MemberReader) Offset() int64 { return m.in.at - int64(m.packed.Buffered()) }

// Skip passes over bytes, at most 2 GiB.
func (m *MemberReader) Skip(n int64) error {
	_, err := m.packed.Discard(int(n))
	return err
}

// Next reads the next record to where its block begins; io.EOF if there is none. The record before must have been ended.
func (m *MemberReader) Next() (rec Member, err error) {
	rec.Offset = m.Offset()
	if _, err = m.packed.Peek(1); err != nil {
		return rec, err
	}
	if m.zip == nil {
		m.zip, err = gzip.NewReader(m.packed)
	} else {
		err = m.zip.Reset(m.packed)
	}
	if err != nil {
		return rec, noEOF(err)
	}
	m.zip.Multistream(false)
	m.text.Reset(m.zip)
	if m.Most > 0 {
		m.bounded = io.LimitedReader{R: m.zip, N: m.Most + 1}
		m.text.Reset(&m.bounded)
	}
	if rec.Captured, err = beginRecord(m.text); err == io.EOF {
		err = errors.New("the gzip member holds no record")
	}
	return rec, err
}

// End reads what is left of a record, what is behind it, and the checksum of its member.
func (m *MemberReader) End() error {
	_, err := io.Copy(io.Discard, m.text)
	if err == nil && m.Most > 0 && m.bounded.N <= 0 {
		err = fmt.Errorf("a record has more than %d bytes", m.Most)
	}
	return err
}

// noEOF says of what ends too early that it is cut off.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadMembers calls fn with the records of a segment's WARC object whose members begin at from and before to, until it returns false. An error names
// the offset of the record that cannot be read; the object is damaged then, unless the error is fn's or the file's. It is damaged, too, if from is below 0 or behind to: an index has named a place where nothing can be.
func ReadMembers(file io.ReaderAt, from, to int64, fn func(Member) (more bool, err error)) error {
	if from < 0 || from > to {
		return badMember(from, fmt.Errorf("no record lies from %d to %d", from, to))
	}
	r := newMemberReader(io.NewSectionReader(file, from, math.MaxInt64-from), from, 16<<10)
	for r.Offset() < to {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return badMember(rec.Offset, err)
		}
		if more, err := fn(rec); err != nil || !more {
			return err
		}
		if _, err = io.Copy(io.Discard, rec.Block); err == nil {
			err = r.End()
		}
		if err != nil {
			return badMember(rec.Offset, err)
		}
	}
	return nil
}

// badMember says of the record at an offset that it is damaged, unless its file cannot be read.
func badMember(offset int64, err error) error {
	err = fmt.Errorf("record at %d: %w", offset, err)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return err
	}
	return damaged(err)
}

// position knows at which offset a stream is.
type position struct {
	r  io.Reader
	at int64
}

func (p *position) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.at += int64(n)
	return n, err
}
