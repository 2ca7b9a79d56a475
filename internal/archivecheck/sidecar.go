package archivecheck

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/klauspost/compress/zstd"
)

// readLines checks a sidecar: zstd, each line one JSON value. Offsets in its faults are those of
// the decompressed text.
func (c *checker) readLines(key string, r io.Reader) error {
	return c.eachLine(key, r, func([]byte, int64) {})
}

// eachLine calls fn with the lines that are JSON, and where they begin.
func (c *checker) eachLine(key string, r io.Reader, fn func(line []byte, offset int64)) error {
	zr, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer zr.Close()
	data, err := io.ReadAll(zr)
	if err != nil {
		c.fault(key, int64(len(data)), "the sidecar does not decompress: %v", err)
		return nil
	}
	var offset int64
	for line := range bytes.Lines(data) {
		if !json.Valid(line) {
			c.fault(key, offset, "the line %q is not JSON", clip(line))
		} else {
			fn(line, offset)
		}
		offset += int64(len(line))
	}
	return nil
}
