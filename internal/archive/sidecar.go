package archive

import (
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
	r, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	return readLines(r, key, fn)
}

// readLines calls fn with each line of frames of a sidecar, which it closes.
func readLines[T any](frames io.ReadCloser, key string, fn func(*T) error) error {
	defer func() { _ = frames.Close() }()
	z, err := zstd.NewReader(frames, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	defer z.Close()
	for dec := json.NewDecoder(z); ; {
		var line T
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		if err := fn(&line); err != nil {
			return err
		}
	}
}
