package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// sidecar gathers lines of JSON, compressed by zstd, until its segment is committed.
type sidecar struct {
	out   bytes.Buffer
	zip   *zstd.Encoder
	line  []byte // for short use
	lines int
}

func (s *sidecar) open() (err error) {
	s.zip, err = zstd.NewWriter(&s.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	return err
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
	defer func() { _ = r.Close() }()
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
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
