package archivecheck

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// ErrMember is wrapped by errors about the gzip framing: no gzip header, broken or truncated deflate
// data, a wrong CRC or length, or a member that inflates to more than [MaxRecord].
var ErrMember = errors.New("bad gzip member")

// MaxRecord is the largest record, header and block together, that is read, in bytes.
const MaxRecord = 1 << 30

// ReadRecords reads a compressed WARC file, one record a gzip member, and calls fn with each record in
// file order. It stops at the first error: one from fn as it is, one that wraps [ErrMember] or
// [ErrRecord] with the member's offset. An empty input has no records and is no error.
//
// Any WARC version is read; [Record.Version] reports which. The record's Block is only valid until fn
// returns.
func ReadRecords(r io.Reader, fn func(Record) error) error {
	return readMembers(r, func(m member) error {
		if m.err != nil {
			return fmt.Errorf("offset %d: %w", m.offset, m.err)
		}
		rec, err := parseRecord(m.data)
		if err != nil {
			return fmt.Errorf("offset %d: %w", m.offset, err)
		}
		rec.Offset, rec.Length = m.offset, m.length
		return fn(rec)
	})
}

// member is one gzip member: its place in the file and what it inflates to, both in bytes.
type member struct {
	offset, length int64
	data           []byte // valid until the callback returns
	err            error  // the CRC or length in the trailer is wrong; the next member can still be read
}

// readMembers calls fn with each gzip member of r. An error in the framing ends the walk, because
// nothing reports where the next member begins.
func readMembers(r io.Reader, fn func(member) error) error {
	in := &counter{r: bufio.NewReaderSize(r, 1<<16)}
	var zr gzip.Reader
	var buf bytes.Buffer
	for {
		m := member{offset: in.n}
		switch err := zr.Reset(in); {
		case err == io.EOF && in.n == m.offset:
			return nil
		case err != nil:
			return fmt.Errorf("offset %d: %w: %w", m.offset, ErrMember, noEOF(err))
		}
		zr.Multistream(false)
		buf.Reset()
		switch _, err := io.Copy(&buf, io.LimitReader(&zr, MaxRecord+1)); {
		case errors.Is(err, gzip.ErrChecksum):
			m.err = fmt.Errorf("%w: %w", ErrMember, err)
		case err != nil:
			return fmt.Errorf("offset %d: %w: %w", m.offset, ErrMember, noEOF(err))
		case buf.Len() > MaxRecord:
			return fmt.Errorf("offset %d: %w: more than %d bytes", m.offset, ErrMember, MaxRecord)
		}
		m.length, m.data = in.n-m.offset, buf.Bytes()
		if err := fn(m); err != nil {
			return err
		}
	}
}

// noEOF keeps a file that ends inside a member from looking like the end of the file.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// counter counts what is consumed. Being an io.ByteReader, it keeps gzip from reading past a member.
type counter struct {
	r *bufio.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
