package archive

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
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
	block  bytes.Buffer
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
	w.block.Reset()
	digest := sha1.New()
	n, err := io.Copy(io.MultiWriter(&w.block, digest), r.block)
	if err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	built := preparedRecord{headers: &gowarc.WarcFields{}, block: block{w.block.Bytes()}}
	built.add(gowarc.WarcType, r.kind.String())
	built.add(gowarc.WarcRecordID, "<"+r.id+">")
	built.add(gowarc.WarcDate, r.date.UTC().Format(time.RFC3339))
	built.add(gowarc.WarcTargetURI, r.target)
	if w.info != "" {
		built.add(gowarc.WarcWarcinfoID, "<"+w.info+">")
	}
	for _, h := range r.headers {
		built.add(h[0], h[1])
	}
	built.add(gowarc.WarcBlockDigest, sha1Text(digest))
	built.add(gowarc.ContentType, r.contentType)
	built.add(gowarc.ContentLength, strconv.FormatInt(n, 10))
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

// preparedRecord is a record as gowarc's marshaler takes it. gowarc's own builder parses and buffers what is
// known here already, and sets a variable of another package at each call, which other goroutines read.
type preparedRecord struct {
	gowarc.WarcRecord // the methods that the marshaler does not call
	headers           *gowarc.WarcFields
	block             block
}

func (b preparedRecord) add(name, value string) {
	if value != "" {
		b.headers.Add(name, value)
	}
}

func (b preparedRecord) Version() *gowarc.WarcVersion   { return gowarc.V1_1 }
func (b preparedRecord) WarcHeader() *gowarc.WarcFields { return b.headers }
func (b preparedRecord) Block() gowarc.Block            { return b.block }

type block struct{ bytes []byte }

func (b block) RawBytes() (io.Reader, error) { return bytes.NewReader(b.bytes), nil }
func (b block) BlockDigest() string          { return "" }
func (b block) Size() int64                  { return int64(len(b.bytes)) }
func (b block) IsCached() bool               { return true }
func (b block) Cache() error                 { return nil }
func (b block) Close() error                 { return nil }

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
