package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/muninn-archive/muninn/internal/codec"
)

// WriteAll writes a list of records whole or not at all: a CBOR sequence (RFC 8742) that ends with their
// number.
func WriteAll[T any](b *Batch, name string, list []T) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	return b.put(name, func(w io.Writer) error {
		enc := codec.NewEncoder(w)
		for i := range list {
			if err := enc.Encode(&list[i]); err != nil {
				return err
			}
		}
		return enc.Encode(len(list))
	})
}

// ReadAll reads what WriteAll wrote; ErrMissing if it did not.
func ReadAll[T any](b *Batch, name string) ([]T, error) {
	raw, err := os.ReadFile(filepath.Join(b.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("spool %s: %w", name, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("spool %s: %w", name, err)
	}
	torn := func(err error) error { return fmt.Errorf("spool %s: %w", name, errors.Join(ErrMissing, err)) }
	var list []T
	for {
		if len(raw) > 0 && raw[0]>>5 == 0 { // a number, where records are maps
			var n int
			if rest, err := codec.UnmarshalFirst(raw, &n); err != nil || n != len(list) || len(rest) > 0 {
				return nil, torn(errors.New("records are missing"))
			}
			return list, nil
		}
		var v T
		if raw, err = codec.UnmarshalFirst(raw, &v); err != nil {
			return nil, torn(err)
		}
		list = append(list, v)
	}
}
