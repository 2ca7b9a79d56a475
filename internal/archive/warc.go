package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v2"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// warcFile writes WARC/1.1 records, each a gzip member of its own, to a local file.
type warcFile struct {
	file   *os.File
	digest string        // the algorithm of digests
	empty  string        // the digest of no bytes
	out    *bufio.Writer // to file: members are written in small pieces
	sum    hash.Hash
	size   int64
	zip    map[int]*gzip.Writer // by compression level
	count  int
	info   string // record ID of the warcinfo record
	format gowarc.Marshaler
	block  bytes.Buffer // of the record that is written, for short use
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

func newWARC(dir, digest string) (*warcFile, error) {
	f, err := os.CreateTemp(dir, "segment-*.warc.gz")
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	_ = os.Remove(f.Name()) // the open file stays until it is closed
	digest = cmp.Or(digest, crawl.DigestSHA1)
	return &warcFile{file: f, digest: digest, empty: digestText(digest, newHash(digest)), out: bufio.NewWriterSize(f, 64<<10), sum: sha256.New(), zip: map[int]*gzip.Writer{}, format: gowarc.NewMarshaler()}, nil
}

func newID() string { return "urn:uuid:" + uuid.NewString() }

// span is where a record lies in the file.
type span struct{ offset, length int64 }

// write appends a record.
func (w *warcFile) write(r record) (span, error) {
	w.block.Reset()
	if _, err := io.Copy(&w.block, r.block); err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	built := w.prepare(&r)
	start := w.size
	zip, err := w.member(r.level)
	if err != nil {
		return span{}, err
	}
	_, _, err = w.format.Marshal(zip, built, 0)
	if err = errors.Join(err, zip.Close()); err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	w.count++
	return span{start, w.size - start}, nil
}

// prepare makes the header fields (WARC/1.1 §4) of the record whose block was read.
func (w *warcFile) prepare(r *record) preparedRecord {
	digest := newHash(w.digest)
	_, _ = digest.Write(w.block.Bytes())
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
	built.add(gowarc.WarcBlockDigest, digestText(w.digest, digest))
	built.add(gowarc.ContentType, r.contentType)
	built.add(gowarc.ContentLength, strconv.Itoa(w.block.Len()))
	return built
}

// preparedRecord is a record as gowarc's marshaler takes it. gowarc's own builder parses and buffers what is
// known here already, and sets a variable of another package at each call, which other goroutines read.
type preparedRecord struct {
	gowarc.WarcRecord // the methods that the marshaler does not call
	headers           *gowarc.WarcFields
	block             block
}

// add adds a header field, unless its value is empty.
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
	z, _ := zippers(level).Get().(*gzip.Writer)
	if z == nil {
		var err error
		if z, err = gzip.NewWriterLevel(w, level); err != nil {
			return nil, err
		}
	}
	z.Reset(w)
	w.zip[level] = z
	return z, nil
}

// free closes the file and gives the gzip writers back.
func (w *warcFile) free() {
	_ = w.file.Close()
	for level, z := range w.zip {
		z.Reset(nil)
		zippers(level).Put(z)
	}
	clear(w.zip)
}

// textZippers and packedZippers are gzip writers of the two levels, whose windows are costly to make.
var textZippers, packedZippers sync.Pool

func zippers(level int) *sync.Pool {
	if level == levelPacked {
		return &packedZippers
	}
	return &textZippers
}

// newHash makes the hash of an algorithm.
func newHash(algorithm string) hash.Hash {
	if algorithm == crawl.DigestSHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// digestText is a digest as WARC files have it: in base 32, also of SHA-256, as warcio writes it.
func digestText(algorithm string, sum hash.Hash) string {
	return algorithm + ":" + base32.StdEncoding.EncodeToString(sum.Sum(nil))
}

// payloadDigest is the digest of a response's bytes after the header block, as they came over the
// wire: the form that warcio checks and others compare. n is their number.
func (w *warcFile) payloadDigest(body io.Reader) (digest string, n int64, err error) {
	h := newHash(w.digest)
	if n, err = io.Copy(h, body); err != nil {
		return "", n, err
	}
	return digestText(w.digest, h), n, nil
}
