package export

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// maxRecord bounds header and block of a record that is no capture, in bytes without compression.
const maxRecord = 1 << 30

// record is what is read of a WARC record.
type record struct {
	offset, length int64 // of its gzip member
	kind, id, url  string
	concurrent     string
	refersTo       string // WARC-Refers-To-Target-URI
	refersDate     time.Time
	date           time.Time
	meta           *metadata // of a metadata record
}

// recordReader reads the records of a part of a WARC file, whose members are compressed one by one.
type recordReader struct{ *archive.MemberReader }

// newRecordReader reads from r, which begins at an offset of its file.
func newRecordReader(r io.Reader, offset int64) recordReader {
	in := archive.NewMemberReader(r, offset)
	in.Most = maxRecord
	return recordReader{in}
}

// next reads a record to its end, where gzip compares the sum of the member. Any error is of the file: io.EOF, too.
func (r recordReader) next() (rec record, err error) {
	m, err := r.Next()
	rec = record{
		offset: m.Offset, kind: m.Kind, id: m.ID, url: m.URL, concurrent: m.Of, refersTo: m.RefersTo, refersDate: m.RefersToDate, date: m.Date,
	}
	if err == nil && rec.kind == "" {
		err = errors.New("a record has no WARC-Type")
	}
	if err == nil && rec.kind == "metadata" {
		rec.meta, err = readMetadata(m.Block)
	}
	if err == nil {
		err = r.End()
	}
	rec.length = r.Offset() - rec.offset
	return rec, err
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// metadata is what the metadata record of a capture says that its closure needs.
type metadata struct {
	archive.MetadataOf
	needs []need
}

// need is a URL that a capture needs, by its hop letter: E embedded, or loaded by a browser; X probably embedded; R redirect.
type need struct {
	url string
	hop byte
}

// readMetadata reads the block of a metadata record.
func readMetadata(block io.Reader) (*metadata, error) {
	m := &metadata{}
	var err error
	m.MetadataOf, err = archive.ReadMetadata(block, func(url []byte, hop string) {
		if hop == "E" || hop == "X" || hop == "R" {
			m.needs = append(m.needs, need{string(url), hop[0]})
		}
	})
	for _, field := range []*string{&m.Via, &m.Path, &m.Title, &m.Language, &m.Level} {
		*field = strings.TrimSpace(*field)
	}
	return m, err
}
