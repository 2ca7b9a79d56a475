package spool

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteAll writes a list of records (CBOR, RFC 8742 sequence) whole or not at all.
func WriteAll[T any](b *Batch, name string, list []T) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	path := filepath.Join(b.dir, name)
	f, err := os.Create(path + ".new")
	if err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	out := bufio.NewWriterSize(f, 256<<10)
	enc := encoding.NewEncoder(out)
	for i := range list {
		if err = enc.Encode(&list[i]); err != nil {
			break
		}
	}
	if err = errors.Join(err, out.Flush(), f.Close()); err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	return nil
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
	var list []T
	for len(raw) > 0 {
		var v T
		if raw, err = decoding.UnmarshalFirst(raw, &v); err != nil {
			return nil, fmt.Errorf("spool %s: %w", name, errors.Join(ErrMissing, err))
		}
		list = append(list, v)
	}
	return list, nil
}
