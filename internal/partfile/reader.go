package partfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/codec"
)

// Reader reads an object.
type Reader struct {
	Header
	zip    *zstd.Decoder
	in     *bufio.Reader
	sum    *xxhash.Digest
	crawls []*frontier.PartitionCrawl
	key    []byte // of the entry, and of the one before it
	former []byte
	value  []byte
	n      uint64
	at     [2]uint64 // crawl and kind of the entry before
}

// NewReader reads the header of an object.
func NewReader(r io.Reader) (*Reader, error) {
	zip, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8*window))
	if err != nil {
		return nil, fmt.Errorf("read partition: %w", err)
	}
	in := &Reader{zip: zip, in: bufio.NewReaderSize(zip, 64<<10), sum: xxhash.New()}
	if err := in.header(); err != nil {
		zip.Close()
		return nil, fmt.Errorf("read partition: %w", err)
	}
	return in, nil
}

// Close frees what the reader holds. It does not close what it reads from.
func (r *Reader) Close() { r.zip.Close() }

// Is reports an object that is of another partition.
func (r *Reader) Is(p frontier.Partition) error {
	if r.Partition != p {
		return fmt.Errorf("%w: %d, not %d", ErrPartition, r.Partition, p)
	}
	return nil
}

func (r *Reader) header() error {
	head := make([]byte, len(magic))
	if err := r.full(head); err != nil {
		return err
	}
	if string(head) != magic {
		return fmt.Errorf("%w: it is no partition of a frontier", ErrDamaged)
	}
	var raw []byte
	if err := r.text(&raw, maxHeader); err != nil {
		return err
	}
	var version struct {
		Version int `cbor:"1,keyasint"`
	}
	if err := codec.Unmarshal(raw, &version); err != nil {
		return fmt.Errorf("%w: its header: %w", ErrDamaged, err)
	}
	if version.Version != Version {
		return fmt.Errorf("%w: it has version %d, this one reads version %d: load it by the version that wrote it", ErrVersion, version.Version, Version)
	}
	if err := codec.Unmarshal(raw, &r.Header); err != nil {
		return fmt.Errorf("%w: its header: %w", ErrDamaged, err)
	}
	for i := range r.Crawls {
		r.crawls = append(r.crawls, &r.Crawls[i])
	}
	return nil
}

// Entries are all that follow the header. What is yielded is valid until the next one. Unless the last is an error, they are all
// that were written, as they were written.
func (r *Reader) Entries() iter.Seq2[frontier.PartitionEntry, error] {
	return func(yield func(frontier.PartitionEntry, error) bool) {
		for {
			e, more, err := r.next()
			if err != nil {
				yield(e, fmt.Errorf("read partition %d: %w", r.Partition, err))
				return
			}
			if !more || !yield(e, nil) {
				return
			}
		}
	}
}

func (r *Reader) next() (e frontier.PartitionEntry, more bool, err error) {
	crawl, err := r.number()
	if err != nil || crawl == 0 {
		return e, false, errors.Join(err, r.trailer(err))
	}
	if crawl > uint64(len(r.crawls))+1 {
		return e, false, fmt.Errorf("%w: entry %d is of crawl %d of %d", ErrDamaged, r.n, crawl-1, len(r.crawls))
	}
	var kind [1]byte
	r.former, r.key = r.key, r.former
	if err := errors.Join(r.full(kind[:]), r.text(&r.key, maxKey), r.text(&r.value, maxValue)); err != nil {
		return e, false, err
	}
	at := [2]uint64{crawl, uint64(kind[0])}
	if r.n > 0 && cmp.Or(cmp.Compare(r.at[0], at[0]), cmp.Compare(r.at[1], at[1]), bytes.Compare(r.former, r.key)) >= 0 {
		return e, false, fmt.Errorf("%w: entry %d does not stand behind the one before it", ErrDamaged, r.n)
	}
	r.at = at
	r.n++
	e.Kind, e.Key, e.Value = kind[0], r.key, r.value
	if crawl > 1 {
		e.Crawl = r.crawls[crawl-2]
	}
	return e, true, nil
}

// trailer reads what follows the entries.
func (r *Reader) trailer(before error) error {
	if before != nil {
		return nil
	}
	n, err := r.number()
	if err != nil {
		return err
	}
	if n != r.n {
		return fmt.Errorf("%w: it has %d entries, written were %d", ErrDamaged, r.n, n)
	}
	want := r.sum.Sum64()
	sum := make([]byte, 8)
	if err := r.full(sum); err != nil {
		return err
	}
	if binary.BigEndian.Uint64(sum) != want {
		return fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	switch _, err := r.in.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: something follows its end", ErrDamaged)
	case !errors.Is(err, io.EOF): // the store has failed: what came before may be right
		return fault(err)
	}
	return nil
}

// fault is what is wrong with an object of which no more can be read.
func fault(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case isZip(err):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// isZip reports whether an error says that compressed data are damaged, not that they cannot be read.
func isZip(err error) bool {
	for _, damage := range []error{
		zstd.ErrMagicMismatch, zstd.ErrReservedBlockType, zstd.ErrCompressedSizeTooBig, zstd.ErrBlockTooSmall, zstd.ErrUnexpectedBlockSize, zstd.ErrWindowSizeExceeded,
		zstd.ErrWindowSizeTooSmall, zstd.ErrDecoderSizeExceeded, zstd.ErrUnknownDictionary, zstd.ErrFrameSizeExceeded, zstd.ErrFrameSizeMismatch, zstd.ErrCRCMismatch,
	} {
		if errors.Is(err, damage) {
			return true
		}
	}
	return false
}

func (r *Reader) full(into []byte) error {
	if _, err := io.ReadFull(r.in, into); err != nil {
		return fault(err)
	}
	_, _ = r.sum.Write(into) // never fails
	return nil
}

func (r *Reader) number() (uint64, error) {
	var raw [binary.MaxVarintLen64]byte
	for i := range raw {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, fault(err)
		}
		if raw[i] = b; b >= 0x80 {
			continue
		}
		n, size := binary.Uvarint(raw[:i+1])
		if size <= 0 {
			break
		}
		_, _ = r.sum.Write(raw[:i+1]) // never fails
		return n, nil
	}
	return 0, fmt.Errorf("%w: a number is too large", ErrDamaged)
}

func (r *Reader) text(into *[]byte, most uint64) error {
	n, err := r.number()
	if err != nil {
		return err
	}
	if n > most {
		return fmt.Errorf("%w: a text of %d bytes, at most %d are allowed", ErrDamaged, n, most)
	}
	out := (*into)[:0]
	for left := int(n); left > 0; { // as much is allocated as is there
		part := min(left, 64<<10)
		at := len(out)
		out = append(out, make([]byte, part)...)
		if err := r.full(out[at:]); err != nil {
			return err
		}
		left -= part
	}
	*into = out
	return nil
}
