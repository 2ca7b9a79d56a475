package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// The bounds of a record that is looked at, in bytes.
const (
	maxRecordHeader = 64 << 10 // its header fields
	maxFields       = 16 << 20 // the block of a metadata record, as far as it is read
	maxRecord       = 1 << 30  // header and block of what is not a capture
)

// record is what is read of a WARC record: of its header, and the block of a metadata record.
type record struct {
	offset, length int64 // of its gzip member
	kind, id, url  string
	concurrent     string
	refersTo       string // WARC-Refers-To-Target-URI
	refersDate     time.Time
	date           time.Time
	block          []byte // of a metadata record; valid until the next one is read
}

// recordReader reads the records of a part of a WARC file, whose members are compressed one by one.
type recordReader struct {
	in    counter
	zip   *gzip.Reader
	text  *bufio.Reader
	block bytes.Buffer
}

// counter counts what is consumed. Because it is an io.ByteReader, gzip does not read past a member.
type counter struct {
	*bufio.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// skip passes over bytes.
func (c *counter) skip(n int64) error {
	skipped, err := io.CopyN(io.Discard, c.Reader, n)
	c.n += skipped
	return err
}

// newRecordReader reads from r, which begins at an offset of its file.
func newRecordReader(r io.Reader, offset int64) *recordReader {
	return &recordReader{in: counter{bufio.NewReaderSize(r, 64<<10), offset}, text: bufio.NewReaderSize(nil, 16<<10)}
}

// next reads a record. Any error is of the file: io.EOF, too.
func (r *recordReader) next() (rec record, err error) {
	rec.offset = r.in.n
	if r.zip == nil {
		r.zip, err = gzip.NewReader(&r.in)
	} else {
		err = r.zip.Reset(&r.in)
	}
	if err != nil {
		return rec, err
	}
	r.zip.Multistream(false)
	whole := &io.LimitedReader{R: r.zip, N: maxRecord + 1}
	r.text.Reset(whole)
	if err := rec.readHeader(r.text); err != nil {
		return rec, err
	}
	if rec.kind == "metadata" {
		r.block.Reset()
		if _, err := io.CopyN(&r.block, r.text, maxFields); err != nil && err != io.EOF {
			return rec, noEOF(err)
		}
		rec.block = bytes.TrimRight(r.block.Bytes(), "\r\n")
	}
	if _, err := io.Copy(io.Discard, r.text); err != nil { // to the end: gzip compares the sum of the member
		return rec, noEOF(err)
	}
	if whole.N <= 0 {
		return rec, fmt.Errorf("a record has more than %d bytes", maxRecord)
	}
	rec.length = r.in.n - rec.offset
	return rec, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readHeader reads the version line and the named fields (ISO 28500:2017 §4).
func (rec *record) readHeader(text *bufio.Reader) error {
	left := maxRecordHeader
	for n := 0; ; n++ {
		line, err := text.ReadSlice('\n')
		if left -= len(line); err != nil || left < 0 {
			return errors.Join(noEOF(err), fmt.Errorf("line %d of the header of a record is too long, or has no end", n+1))
		}
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case n == 0 && !strings.HasPrefix(text, "WARC/1."):
			return fmt.Errorf("a record begins with %.20q, not with a WARC version", text)
		case n == 0:
		case text == "":
			if rec.kind == "" {
				return errors.New("a record has no WARC-Type")
			}
			return nil
		default:
			name, value, _ := strings.Cut(text, ":")
			rec.set(name, strings.TrimSpace(value))
		}
	}
}

// set sets what a field says.
func (rec *record) set(name, value string) {
	switch strings.ToLower(name) {
	case "warc-type":
		rec.kind = strings.ToLower(value)
	case "warc-record-id":
		rec.id = value
	case "warc-target-uri":
		rec.url = value
	case "warc-date":
		rec.date, _ = time.Parse(time.RFC3339, value)
	case "warc-concurrent-to":
		rec.concurrent = value
	case "warc-refers-to-target-uri":
		rec.refersTo = value
	case "warc-refers-to-date":
		rec.refersDate, _ = time.Parse(time.RFC3339, value)
	}
}

// metadata is what the metadata record of a capture says that its closure needs.
type metadata struct {
	via, hops string
	title     string
	language  string
	level     string
	score     float64
	needs     []need
}

// need is a URL that a capture needs, by its hop letter: E embedded, or loaded by a browser; X probably embedded; R redirect.
type need struct {
	url string
	hop byte
}

// readMetadata reads the block of a metadata record.
func readMetadata(block []byte) *metadata {
	m := &metadata{score: -1}
	for line := range strings.Lines(string(block)) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "via":
			m.via = value
		case "hopsFromSeed":
			m.hops = value
		case "title":
			m.title = value
		case "language":
			m.language = value
		case "muninn-level":
			m.level = value
		case "muninn-score":
			if score, err := strconv.ParseFloat(value, 64); err == nil {
				m.score = score
			}
		case "muninn-loaded":
			m.needs = append(m.needs, need{value, 'E'})
		case "outlink":
			url, rest, _ := strings.Cut(value, " ")
			if rest != "" && (rest[0] == 'E' || rest[0] == 'X' || rest[0] == 'R') && (len(rest) == 1 || rest[1] == ' ') {
				m.needs = append(m.needs, need{url, rest[0]})
			}
		}
	}
	return m
}
