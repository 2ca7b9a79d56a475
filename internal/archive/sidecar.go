package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// sidecar gathers lines of JSON, compressed by zstd, until its segment is committed.
type sidecar struct {
	out   bytes.Buffer
	zip   *zstd.Encoder
	line  []byte // for short use
	lines int
}

// The compression of sidecars. A line is much like those around it: a window of many pages is enough, and a larger one costs
// each segment its memory.
const (
	sidecarLevel  = zstd.SpeedDefault
	sidecarWindow = 1 << 20 // bytes
)

// encoders are encoders, whose windows are costly to make.
var encoders sync.Pool

func (s *sidecar) open() (err error) {
	if z, ok := encoders.Get().(*zstd.Encoder); ok {
		z.Reset(&s.out)
		s.zip = z
		return nil
	}
	s.zip, err = zstd.NewWriter(&s.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(sidecarLevel), zstd.WithWindowSize(sidecarWindow))
	return err
}

// free gives the encoder back, whether it was closed or not.
func (s *sidecar) free() {
	if s.zip != nil {
		s.zip.Reset(nil)
		encoders.Put(s.zip)
		s.zip = nil
	}
}

// put writes what stands in line.
func (s *sidecar) put() error {
	s.lines++
	_, err := s.zip.Write(s.line)
	return err
}

// readSidecar calls fn with each line of a sidecar.
func readSidecar[T any](ctx context.Context, store Store, key string, fn func(*T) error) error {
	return readTexts(ctx, store, key, func(text []byte) error {
		var line T
		if err := json.Unmarshal(text, &line); err != nil {
			return damaged(fmt.Errorf("read %s: %w", key, err))
		}
		return fn(&line)
	})
}

// readTexts is readSidecar for the text of each line, which is valid until fn returns.
func readTexts(ctx context.Context, store Store, key string, fn func(text []byte) error) error {
	r, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	return readLines(r, key, fn)
}

// ReadLines calls fn with the text of each line of an object that is compressed by zstd. The text is valid until fn returns.
func ReadLines(ctx context.Context, store Store, key string, fn func(text []byte) error) error {
	return readTexts(ctx, store, key, fn)
}

// readLines calls fn with the text of each line of frames of a sidecar, which it closes. The text is valid until fn returns.
func readLines(frames io.ReadCloser, key string, fn func(text []byte) error) (err error) {
	defer func() { _ = frames.Close() }()
	r, ok := lineReaders.Get().(*lineReader)
	if !ok {
		r, err = newLineReader()
	}
	if err == nil {
		err = r.zip.Reset(frames)
	}
	if err != nil {
		return damaged(fmt.Errorf("read %s: %w", key, err))
	}
	defer r.free()
	r.lines.Reset(r.zip)
	for {
		part, err := r.lines.ReadSlice('\n')
		r.text = append(r.text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged(fmt.Errorf("read %s: %w", key, err))
		}
		if len(r.text) > 0 {
			if err := fn(r.text); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		r.text = r.text[:0]
	}
}

// lineReaders are readers of lines, whose windows and buffers are costly to make.
var lineReaders sync.Pool

// maxKeptText is the longest line whose buffer is kept, in bytes.
const maxKeptText = 1 << 20

type lineReader struct {
	zip   *zstd.Decoder
	lines *bufio.Reader
	text  []byte
}

func newLineReader() (*lineReader, error) {
	zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return &lineReader{zip: zip, lines: bufio.NewReaderSize(nil, 64<<10)}, err
}

// free gives the reader back.
func (r *lineReader) free() {
	if r.zip.Reset(nil) != nil {
		return
	}
	r.lines.Reset(nil)
	if r.text = r.text[:0]; cap(r.text) > maxKeptText {
		r.text = nil
	}
	lineReaders.Put(r)
}
