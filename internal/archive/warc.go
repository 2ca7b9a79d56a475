package archive

import (
	"bufio"
	"bytes"
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
)

// warcFile writes WARC/1.1 records, each a gzip member of its own, to a local file.
type warcFile struct {
	file  *os.File
	out   *bufio.Writer // to file: members are written in small pieces
	sum   hash.Hash
	size  int64
	zip   map[int]*gzip.Writer // by compression level
	count int
	info  string       // record ID of the warcinfo record
	head  []byte       // of the record that is written, for short use
	block bytes.Buffer // of the record that is written, for short use
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
	return &warcFile{file: f, out: bufio.NewWriterSize(f, 64<<10), sum: sha256.New(), zip: map[int]*gzip.Writer{}}, nil
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
	w.head = r.appendHead(w.head[:0], w.info, w.block.Bytes())
	start := w.size
	zip, err := w.member(r.level)
	if err != nil {
		return span{}, err
	}
	for _, part := range [][]byte{w.head, w.block.Bytes(), []byte("\r\n\r\n")} {
		if _, err = zip.Write(part); err != nil {
			break
		}
	}
	if err = errors.Join(err, zip.Close()); err != nil {
		return span{}, fmt.Errorf("write %s record of %s: %w", r.kind, r.target, err)
	}
	w.count++
	return span{start, w.size - start}, nil
}

// appendHead appends the version line and the header fields of the record (WARC/1.1 §4), with the empty line behind them. info is the
// record ID of the warcinfo record, if there is one. gowarc's own builder parses and buffers what is known here already, and its
// marshaler takes four allocations a field.
func (r *record) appendHead(b []byte, info string, block []byte) []byte {
	digest := sha1.Sum(block)
	if info != "" {
		info = "<" + info + ">"
	}
	b = append(b, "WARC/1.1\r\n"...)
	b = appendField(b, gowarc.WarcType, r.kind.String())
	b = appendField(b, gowarc.WarcRecordID, "<"+r.id+">")
	b = appendField(b, gowarc.WarcDate, r.date.UTC().Format(time.RFC3339))
	b = appendField(b, gowarc.WarcTargetURI, r.target)
	b = appendField(b, gowarc.WarcWarcinfoID, info)
	for _, h := range r.headers {
		b = appendField(b, h[0], h[1])
	}
	b = appendField(b, gowarc.WarcBlockDigest, sha1Text(digest[:]))
	b = appendField(b, gowarc.ContentType, r.contentType)
	b = appendField(b, gowarc.ContentLength, strconv.Itoa(len(block)))
	return append(b, "\r\n"...)
}

// appendField appends a header field, unless its value is empty.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
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

func sha1Text(sum []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum) }

// payloadDigest is the digest of a response's bytes after the header block, as they came over the
// wire: the form that warcio checks and others compare. n is their number.
func payloadDigest(body io.Reader) (digest string, n int64, err error) {
	h := sha1.New()
	if n, err = io.Copy(h, body); err != nil {
		return "", n, err
	}
	return sha1Text(h.Sum(nil)), n, nil
}
