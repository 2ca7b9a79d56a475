package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Member is a record of a segment's WARC object, in which each record is a gzip member.
type Member struct {
	Captured
	Offset int64 // where the gzip member begins in the object, in bytes
}

// ReadMembers calls fn with the records of a segment's WARC object whose members begin at from and before to, until it returns false. An error names
// the offset of the record that cannot be read; the object is damaged then, unless the error is fn's or the file's. It is damaged, too, if from is below 0 or behind to: an index has named a place where nothing can be.
func ReadMembers(file io.ReaderAt, from, to int64, fn func(Member) (more bool, err error)) error {
	if from < 0 || from > to {
		return badMember(from, fmt.Errorf("no record lies from %d to %d", from, to))
	}
	at := &position{r: io.NewSectionReader(file, from, math.MaxInt64-from)}
	packed := bufio.NewReaderSize(at, 16<<10)
	var zip *gzip.Reader
	text := bufio.NewReaderSize(nil, 4<<10)
	for {
		offset := from + at.read - int64(packed.Buffered())
		if offset >= to {
			return nil
		}
		if _, err := packed.Peek(1); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		var err error
		if zip == nil {
			zip, err = gzip.NewReader(packed)
		} else {
			err = zip.Reset(packed)
		}
		if err != nil {
			return badMember(offset, err)
		}
		zip.Multistream(false)
		text.Reset(zip)
		var used error
		more, err := readRecord(text, func(rec Captured) (bool, error) {
			more, err := fn(Member{rec, offset})
			used = err
			return more, err
		})
		switch {
		case used != nil:
			return used
		case err == io.EOF:
			err = errors.New("the gzip member holds no record")
		case err == nil && !more:
			return nil
		}
		if err == nil { // what is behind the record, and the checksum of the member
			_, err = io.Copy(io.Discard, text)
		}
		if err != nil {
			return badMember(offset, err)
		}
	}
}

// badMember says of the record at an offset that it is damaged, unless its file cannot be read.
func badMember(offset int64, err error) error {
	err = fmt.Errorf("record at %d: %w", offset, err)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return err
	}
	return damaged(err)
}

// position counts what is read.
type position struct {
	r    io.Reader
	read int64
}

func (p *position) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.read += int64(n)
	return n, err
}

// MetadataOf is what a metadata record says of a capture, as far as it is of use without its page.
type MetadataOf struct {
	Via         string
	Path        string // hop letters from the seed on, without its own
	Title       string
	Language    string
	Application string
	Level       string
	Undecoded   string
	Robots      string // what the page asks of robots
}

// maxMetadata is how much of a metadata record is read, in bytes: what is wanted stands before its objects and outlinks.
const maxMetadata = 64 << 10

// ReadMetadata reads the block of a metadata record up to its lists. Fields that it does not know are passed over, and so is a line that is no field.
func ReadMetadata(block io.Reader) (m MetadataOf, err error) {
	lines := bufio.NewReaderSize(io.LimitReader(block, maxMetadata), 4<<10)
	fields := map[string]*string{
		"via": &m.Via, "hopsFromSeed": &m.Path, "title": &m.Title, "language": &m.Language, "muninn-application": &m.Application,
		"muninn-level": &m.Level, "muninn-undecoded": &m.Undecoded, "muninn-robots": &m.Robots,
	}
	for {
		line, err := lines.ReadBytes('\n')
		name, value, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(": "))
		switch {
		case ok && (string(name) == "outlink" || string(name) == "muninn-object"):
			return m, nil
		case ok && fields[string(name)] != nil:
			*fields[string(name)] = strings.ToValidUTF8(string(value), "\uFFFD")
		}
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return m, err
		}
	}
}
