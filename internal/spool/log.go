package spool

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// The log of exchanges is a file of frames: magic, lengths of head, request and response (big
// endian), the three parts, and the CRC-32C of lengths and parts.
const (
	logName   = "exchanges.log"
	magic     = 0x4d4e4e31 // "MNN1"
	prefixLen = 4 + 4 + 4 + 8
	crcLen    = 4
	maxHead   = 1 << 20
	maxPart   = 1 << 40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maxHeld is the size of the longest log that is read into memory whole, in bytes: one read in place of
// some for each exchange.
const maxHeld = 64 << 20

// logInMemory is a log that was read whole.
type logInMemory []byte

func (h logInMemory) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(h).ReadAt(p, at) }

// partReader reads a part of a log.
func partReader(f io.ReaderAt, at, n int64) io.Reader {
	if h, ok := f.(logInMemory); ok {
		return bytes.NewReader(h[at : at+n])
	}
	return io.NewSectionReader(f, at, n)
}

// readPart returns a part of a log, which must not be changed.
func readPart(f io.ReaderAt, at, n int64) ([]byte, error) {
	if h, ok := f.(logInMemory); ok {
		return h[at : at+n], nil
	}
	b := make([]byte, n)
	if n == 0 {
		return b, nil
	}
	_, err := f.ReadAt(b, at)
	return b, err
}

// Entry is one exchange in the log; its request and response are read from the file when wanted.
type Entry struct {
	crawl.Exchange
	file          io.ReaderAt
	reqAt, respAt int64
	RequestN      int64 // bytes of the request
	ResponseN     int64 // bytes of the response
}

// Request returns the request's bytes.
func (e *Entry) Request() io.Reader { return partReader(e.file, e.reqAt, e.RequestN) }

// Response returns the response's bytes, header block included.
func (e *Entry) Response() io.Reader { return partReader(e.file, e.respAt, e.ResponseN) }

// Header returns the response's header block.
func (e *Entry) Header() io.Reader {
	return partReader(e.file, e.respAt, min(e.HeaderBytes, e.ResponseN))
}

// Body returns the response's bytes after the header block.
func (e *Entry) Body() io.Reader {
	head := min(e.HeaderBytes, e.ResponseN)
	return partReader(e.file, e.respAt+head, e.ResponseN-head)
}

// Log appends exchanges. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	file *os.File
	end  int64
	// For short use, made with the first append.
	out    *bufio.Writer
	sum    hash.Hash32
	buffer []byte
}

// OpenLog opens the batch's log for appending: it cuts off what was not written whole and returns
// the entries that are.
func (b *Batch) OpenLog() (*Log, []Entry, error) {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("open exchange log: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(b.dir, logName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("open exchange log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open exchange log: %w", err), f.Close())
	}
	entries, end, err := scanFrames(f, info.Size())
	if err == nil {
		err = f.Truncate(end)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("open exchange log: %w", err)
	}
	return &Log{file: f, end: end}, entries, nil
}

// Entries reads the batch's log; close frees it. ErrMissing if there is none.
func (b *Batch) Entries() (entries []Entry, closer func() error, err error) {
	f, err := os.Open(filepath.Join(b.dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read exchange log: %w", ErrMissing)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read exchange log: %w", err)
	}
	failed := func(err error) ([]Entry, func() error, error) {
		return nil, nil, errors.Join(fmt.Errorf("read exchange log: %w", err), f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return failed(err)
	}
	if info.Size() > maxHeld {
		if entries, _, err = scanFrames(f, info.Size()); err != nil {
			return failed(err)
		}
		return entries, f.Close, nil
	}
	whole := make(logInMemory, info.Size())
	if _, err := io.ReadFull(f, whole); err != nil {
		return failed(err)
	}
	if entries, _, err = scanFrames(whole, info.Size()); err != nil {
		return failed(err)
	}
	return entries, func() error { return nil }, f.Close()
}

// Append writes one exchange. response may be nil; else it must yield n bytes.
func (l *Log) Append(x crawl.Exchange, request []byte, response io.Reader, n int64) error {
	_, err := l.Add(x, request, response, n)
	return err
}

// Add is Append; the entry that it returns may be read until Close.
func (l *Log) Add(x crawl.Exchange, request []byte, response io.Reader, n int64) (Entry, error) {
	head, err := codec.Marshal(x)
	if err == nil && len(head) > maxHead {
		err = fmt.Errorf("its description has %d bytes, at most %d can be read again", len(head), maxHead)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("append exchange: %w", err)
	}
	if response == nil {
		n = 0
	}
	prefix := make([]byte, prefixLen)
	binary.BigEndian.PutUint32(prefix[0:], magic)
	binary.BigEndian.PutUint32(prefix[4:], uint32(len(head)))
	binary.BigEndian.PutUint32(prefix[8:], uint32(len(request)))
	binary.BigEndian.PutUint64(prefix[12:], uint64(n))

	l.mu.Lock()
	defer l.mu.Unlock()
	end, err := l.write(response, n, prefix, head, request)
	if err != nil {
		_ = l.file.Truncate(l.end) // what was begun must never be read as a frame
		return Entry{}, fmt.Errorf("append exchange: %w", err)
	}
	at := l.end + prefixLen + int64(len(head))
	l.end = end
	return Entry{Exchange: x, file: l.file, reqAt: at, respAt: at + int64(len(request)), RequestN: int64(len(request)), ResponseN: n}, nil
}

// write puts a frame behind the last one and returns where it ends.
func (l *Log) write(response io.Reader, n int64, parts ...[]byte) (int64, error) {
	at := &offsetWriter{file: l.file, at: l.end}
	if l.out == nil {
		l.out, l.sum, l.buffer = bufio.NewWriterSize(at, 64<<10), crc32.New(castagnoli), make([]byte, 32<<10)
	}
	out, sum := l.out, l.sum
	out.Reset(at)
	sum.Reset()
	w := io.MultiWriter(out, sum)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return 0, err
		}
	}
	if n > 0 {
		m, err := io.CopyBuffer(w, io.LimitReader(response, n), l.buffer)
		if err == nil && m < n {
			err = io.EOF
		}
		if err != nil {
			return 0, fmt.Errorf("%d of %d bytes: %w", m, n, err)
		}
	}
	err := writeSum(out, sum)
	return at.at, err
}

func writeSum(out *bufio.Writer, sum hash.Hash32) error {
	if _, err := out.Write(sum.Sum(nil)); err != nil {
		return err
	}
	return out.Flush()
}

// Size is the number of bytes that the log holds.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Close makes the log durable and closes it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Sync(), l.file.Close())
}

// offsetWriter writes from an offset on, so that a failed append is overwritten by the next.
type offsetWriter struct {
	file *os.File
	at   int64
}

func (w *offsetWriter) Write(p []byte) (int, error) {
	n, err := w.file.WriteAt(p, w.at)
	w.at += int64(n)
	return n, err
}

// scanFrames reads the frames of a log up to the first that is not whole, and reports where that begins.
func scanFrames(f io.ReaderAt, size int64) ([]Entry, int64, error) {
	var entries []Entry
	end := int64(0)
	buffer := make([]byte, 64<<10)
	for {
		e, next, ok, err := frame(f, end, size, buffer)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			return entries, end, nil
		}
		entries = append(entries, e)
		end = next
	}
}

func frame(f io.ReaderAt, at, size int64, buffer []byte) (e Entry, next int64, ok bool, err error) {
	if at+prefixLen > size {
		return e, 0, false, nil
	}
	prefix, err := readPart(f, at, prefixLen)
	if err != nil {
		return e, 0, false, err
	}
	headN := int64(binary.BigEndian.Uint32(prefix[4:]))
	reqN := int64(binary.BigEndian.Uint32(prefix[8:]))
	respN := int64(binary.BigEndian.Uint64(prefix[12:]))
	if binary.BigEndian.Uint32(prefix) != magic || headN > maxHead || respN < 0 || respN > maxPart {
		return e, 0, false, nil
	}
	body := at + prefixLen
	next = body + headN + reqN + respN + crcLen
	if next > size {
		return e, 0, false, nil
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(sum, partReader(f, at, next-crcLen-at), buffer); err != nil {
		return e, 0, false, err
	}
	want, err := readPart(f, next-crcLen, crcLen)
	if err != nil {
		return e, 0, false, err
	}
	head, err := readPart(f, body, headN)
	if err != nil {
		return e, 0, false, err
	}
	if sum.Sum32() != binary.BigEndian.Uint32(want) || codec.Unmarshal(head, &e.Exchange) != nil {
		return e, 0, false, nil
	}
	e.file, e.reqAt, e.respAt = f, body+headN, body+headN+reqN
	e.RequestN, e.ResponseN = reqN, respN
	return e, next, true, nil
}
