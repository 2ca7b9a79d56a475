package archive

import (
	"bufio"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v2"
)

// warcFile writes WARC/1.1 records, each a gzip member of its own, to a local file.
type warcFile struct {
	file   *os.File
	out    *bufio.Writer // to file: members are written in small pieces
	sum    hash.Hash
	size   int64
	zip    map[int]*gzip.Writer // by compression level
	format gowarc.Marshaler
	count  int
	info   string // record ID of the warcinfo record
}

// record is one record to write. Digests are filled in by write.
type record struct {
	kind        gowarc.RecordType
	id          string
	date        time.Time
	target      string
	contentType string
	headers     [][2]string
	block       io.Reader
	level       int // of compression
}

func newWARC(dir string) (*warcFile, error) {
	f, err := os.CreateTemp(dir, "segment-*.warc.gz")
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	_ = os.Remove(f.Name()) // the open file stays until it is closed
	return &warcFile{file: f, out: bufio.NewWriterSize(f, 64<<10), sum: sha256.New(), zip: map[int]*gzip.Writer{}, format: gowarc.NewMarshaler()}, nil
}

func newID() string { return "urn:uuid:" + uuid.NewString() }

// span is where a record lies in the file.
type span struct{ offset, length int64 }

// write appends a record.
func (w *warcFile) write(r record) (span, error) {
	b := gowarc.NewRecordBuilder(r.kind, gowarc.WithNoValidation(), gowarc.WithAddMissingDigest(false))
	defer func() { _ = b.Close() }()
	digest := sha1.New()
	n, err := b.ReadFrom(io.TeeReader(r.block, digest))
	if err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	b.AddWarcHeader(gowarc.WarcRecordID, "<"+r.id+">")
	b.AddWarcHeader(gowarc.WarcDate, r.date.UTC().Format(time.RFC3339))
	if r.target != "" {
		b.AddWarcHeader(gowarc.WarcTargetURI, r.target)
	}
	if w.info != "" {
		b.AddWarcHeader(gowarc.WarcWarcinfoID, "<"+w.info+">")
	}
	for _, h := range r.headers {
		if h[1] != "" {
			b.AddWarcHeader(h[0], h[1])
		}
	}
	b.AddWarcHeader(gowarc.WarcBlockDigest, sha1Text(digest))
	b.AddWarcHeader(gowarc.ContentType, r.contentType)
	b.AddWarcHeaderInt64(gowarc.ContentLength, n)
	built, _, err := b.Build()
	if err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	start := w.size
	zip, err := w.member(r.level)
	if err != nil {
		return span{}, err
	}
	if _, _, err = w.format.Marshal(zip, built, 0); err == nil {
		err = zip.Close()
	}
	if err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	w.count++
	return span{start, w.size - start}, nil
}

// Write takes compressed bytes.
func (w *warcFile) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.size += int64(n)
	_, _ = w.sum.Write(p[:n])
	return n, err
}

func (w *warcFile) member(level int) (*gzip.Writer, error) {
	if z := w.zip[level]; z != nil {
		z.Reset(w)
		return z, nil
	}
	z, err := gzip.NewWriterLevel(w, level)
	w.zip[level] = z
	return z, err
}

func sha1Text(h hash.Hash) string { return "sha1:" + base32.StdEncoding.EncodeToString(h.Sum(nil)) }

// payloadDigest is the digest of a response's bytes after the header block, as they came over the
// wire: the form that warcio checks and others compare. n is their number.
func payloadDigest(body io.Reader) (digest string, n int64, err error) {
	h := sha1.New()
	if n, err = io.Copy(h, body); err != nil {
		return "", n, err
	}
	return sha1Text(h), n, nil
}
