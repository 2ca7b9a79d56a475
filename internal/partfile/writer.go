package partfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/codec"
)

// Writer writes an object.
type Writer struct {
	zip     *zstd.Encoder
	sum     *xxhash.Digest
	crawls  map[*frontier.PartitionCrawl]uint64
	line    []byte // for short use
	entries uint64
}

// NewWriter begins an object. crawls are those of the entries that follow; the header gets them.
func NewWriter(w io.Writer, h Header, crawls []*frontier.PartitionCrawl) (*Writer, error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("write partition: %w", err)
	}
	out := &Writer{zip: zip, sum: xxhash.New(), crawls: map[*frontier.PartitionCrawl]uint64{nil: 1}}
	h.Version, h.Crawls = Version, nil
	for i, c := range crawls {
		h.Crawls = append(h.Crawls, *c)
		out.crawls[c] = uint64(i) + 2
	}
	raw, err := codec.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("write partition: %w", err)
	}
	out.line = codec.AppendText(append(out.line, magic...), raw)
	return out, out.put()
}

// Add writes an entry; they come in their order.
func (w *Writer) Add(e frontier.PartitionEntry) error {
	w.entries++
	w.line = append(binary.AppendUvarint(w.line, w.crawls[e.Crawl]), e.Kind)
	w.line = codec.AppendText(codec.AppendText(w.line, e.Key), e.Value)
	return w.put()
}

// Close ends the object. Without it, it is one that is cut off.
func (w *Writer) Close() error {
	w.line = binary.AppendUvarint(append(w.line, 0), w.entries)
	if err := w.put(); err != nil {
		return err
	}
	w.line = w.sum.Sum(w.line)
	if err := w.put(); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return fmt.Errorf("write partition: %w", err)
	}
	return nil
}

func (w *Writer) put() error {
	_, _ = w.sum.Write(w.line) // never fails
	_, err := w.zip.Write(w.line)
	if w.line = w.line[:0]; err != nil {
		return fmt.Errorf("write partition: %w", err)
	}
	return nil
}
