// Package coding takes the content codings off a body (RFC 9110 §8.4.1): gzip, deflate, br, zstd, one over the other
// if need be. It reads what browsers read: deflate with and without the zlib frame, bytes behind the end of a gzip
// stream, and plain text whose header names a coding that it does not have.
package coding

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	// MaxLayers is how many codings are taken off one body. More are an attack.
	MaxLayers = 5
	// maxWindow bounds what zstd holds in memory, in bytes (RFC 9659).
	maxWindow = 8 << 20
)

// Error says which coding could not be taken off. It wraps io.ErrUnexpectedEOF if the body ends too early.
type Error struct {
	Coding string
	Err    error
}

func (e *Error) Error() string {
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		return "the " + e.Coding + " stream is cut off"
	}
	return fmt.Sprintf("content coding %s: %v", e.Coding, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

var (
	errUnknown = errors.New("not known")
	errOther   = errors.New("the body is in another format")
	errLayers  = fmt.Errorf("more than %d codings", MaxLayers)
)

// NewReader takes the codings of a Content-Encoding field off, the last one first; several fields are joined by
// commas. The error, here or of a Read, is an Error, also where a decoder panics on hostile bytes. The caller bounds what
// is read: a small body may decode to a very long one.
func NewReader(r io.Reader, field string) (io.ReadCloser, error) {
	var layers []string
	for name := range strings.SplitSeq(strings.ToLower(field), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "identity" {
			layers = append(layers, name)
		}
	}
	out := &reader{Reader: r}
	if len(layers) > MaxLayers {
		return nil, &Error{field, errLayers}
	}
	for i := len(layers) - 1; i >= 0; i-- {
		if err := guarded(func() error { return out.take(layers[i]) }); err != nil {
			_ = out.Close()
			return nil, named(layers[i], err)
		}
	}
	return out, nil
}

// reader is the innermost reader, with what is to be closed of those around it.
type reader struct {
	io.Reader
	closers []func()
}

func (r *reader) Close() error {
	return guarded(func() error {
		for _, done := range r.closers {
			done()
		}
		return nil
	})
}

// sniffed is how many bytes of a body show whether it has a coding at all.
const sniffed = 512

// take lays the decoder of one coding around the reader, or none if the body is plain text.
func (r *reader) take(name string) error {
	in := bufio.NewReaderSize(r.Reader, 4096)
	head, err := in.Peek(sniffed)
	if len(head) == 0 && (err == nil || errors.Is(err, io.EOF)) {
		return nil
	}
	if len(head) == 0 {
		return err
	}
	r.Reader = in
	if isText(head) {
		return nil
	}
	var decoder io.Reader
	switch name {
	case "gzip", "x-gzip":
		if !isGzip(head) {
			return errOther
		}
		m := &members{in: in}
		r.closers = append(r.closers, m.close)
		decoder = m
	case "deflate":
		if !isZlib(head) {
			decoder = flate.NewReader(in)
			break
		}
		z, err := zlib.NewReader(in)
		if err != nil {
			return err
		}
		decoder = z
	case "br":
		decoder = brotli.NewReader(in)
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		r.closers = append(r.closers, z.Close)
		decoder = z
	default:
		return errUnknown
	}
	r.Reader = &layer{Reader: decoder, name: name}
	return nil
}

// layer names the coding in the errors of its decoder.
type layer struct {
	io.Reader
	name   string
	failed error // a decoder that has panicked is not read again
}

func (l *layer) Read(p []byte) (n int, err error) {
	if l.failed != nil {
		return 0, l.failed
	}
	err = guarded(func() (err error) {
		n, err = l.Reader.Read(p)
		return err
	})
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if err = named(l.name, err); errors.Is(err, errPanic) {
		l.failed = err
	}
	return n, err
}

// errPanic is why a body cannot be decoded on which a decoder has panicked.
var errPanic = errors.New("the decoder panicked")

// guarded makes an error of a panic: what is decoded is hostile, and callers run in goroutines that serve other hosts, too.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return do()
}

// named gives an error the coding that it comes from; of several layers, the outer one.
func named(coding string, err error) error {
	var inner *Error
	if errors.As(err, &inner) {
		return inner
	}
	return &Error{coding, err}
}

// unzippers are gzip readers, which are costly to make.
var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

// members reads the members of a gzip stream. What stands behind the last one is passed over, as browsers do.
type members struct {
	in   *bufio.Reader
	open *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		if m.open == nil {
			z := unzippers.Get().(*gzip.Reader)
			if err := z.Reset(m.in); err != nil {
				unzippers.Put(z)
				return 0, unexpected(err)
			}
			m.open = z
			m.open.Multistream(false)
		}
		z := m.open
		m.open = nil // a reader that panics is not used again
		n, err := z.Read(p)
		m.open = z
		if n > 0 || err == nil || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil // the next call looks for another member
			}
			return n, err
		}
		if head, _ := m.in.Peek(3); !isGzip(head) {
			return 0, io.EOF
		}
		m.open = nil
		err = z.Reset(m.in)
		if m.open = z; err != nil {
			return 0, unexpected(err)
		}
		z.Multistream(false)
	}
}

// close gives the gzip reader back. Nothing is read any more.
func (m *members) close() {
	if m.open != nil {
		unzippers.Put(m.open)
		m.open = nil
	}
}

// unexpected is the error of a gzip header that is not there, or not whole.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
