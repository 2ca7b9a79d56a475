package fetch

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// errTooMuch says that a limit of bytes was reached.
var errTooMuch = errors.New("limit of bytes reached")

// wire is the reading side of a connection: it keeps every byte that comes in, in memory up to a
// bound and in a temporary file beyond it, and enforces limits of bytes and time.
type wire struct {
	conn     net.Conn
	idle     time.Duration
	deadline time.Time // of the whole exchange

	memory int64 // bound of head
	limit  int64 // bytes that may come in; more is errTooMuch
	tmp    string
	head   *bytes.Buffer
	file   *os.File
	size   int64
	err    error     // of the last read from the connection
	first  time.Time // when the first byte came
	now    func() time.Time
}

func (w *wire) Read(p []byte) (int, error) {
	if w.size >= w.limit {
		w.err = errTooMuch
		return 0, errTooMuch
	}
	if room := w.limit - w.size; int64(len(p)) > room {
		p = p[:room]
	}
	if err := w.conn.SetReadDeadline(socketTime(min(w.idle, w.deadline.Sub(w.now())))); err != nil {
		return 0, err
	}
	n, err := w.conn.Read(p)
	w.err = err
	if n > 0 {
		if w.first.IsZero() {
			w.first = w.now()
		}
		if errKeep := w.keep(p[:n]); errKeep != nil {
			return 0, errKeep
		}
	}
	return n, err
}

// socketTime is a time from now on the real clock, which deadlines of connections need.
func socketTime(wait time.Duration) time.Time { return time.Now().Add(wait) }

func (w *wire) keep(p []byte) error {
	w.size += int64(len(p))
	if w.file == nil && int64(w.head.Len()+len(p)) <= w.memory {
		w.head.Write(p)
		return nil
	}
	if w.file == nil {
		f, err := os.CreateTemp(w.tmp, "body-*")
		if err != nil {
			return &storeError{err}
		}
		w.file = f
		_ = os.Remove(f.Name()) // the open file stays
	}
	if _, err := w.file.Write(p); err != nil {
		return &storeError{err}
	}
	return nil
}

// reader returns bytes [from, to) of what came in.
func (w *wire) reader(from, to int64) io.Reader {
	held := int64(w.head.Len())
	b := w.head.Bytes()
	if to <= held {
		return bytes.NewReader(b[from:to])
	}
	file := io.NewSectionReader(w.file, 0, w.size-held)
	if from >= held {
		return io.NewSectionReader(file, from-held, to-from)
	}
	return io.MultiReader(bytes.NewReader(b[from:]), io.NewSectionReader(file, 0, to-held))
}

// headBuffers are buffers for responses; larger ones than maxPooled bytes are not kept.
var headBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooled = 256 << 10

// close frees what was read. No reader of it may be used after that.
func (w *wire) close() {
	if w.head != nil && w.head.Cap() <= maxPooled {
		w.head.Reset()
		headBuffers.Put(w.head)
	}
	w.head = nil
	if w.file != nil {
		_ = w.file.Close()
	}
}

// storeError is a failure of our own disk: no fault of the host, and the lane must not continue.
type storeError struct{ err error }

func (e *storeError) Error() string { return "keep the response on disk: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }
