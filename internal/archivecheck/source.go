package archivecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrUnreadable says that what lies under a key is no object: a pipe, a device or the like in the place of a file. It is a fault
// of the archive, unlike other errors of a source, which end the check.
var ErrUnreadable = errors.New("not a regular file")

// Source is where an archive lies.
type Source interface {
	// Keys lists all objects, '/'-separated.
	Keys(ctx context.Context) ([]string, error)
	// Open opens an object; an error that is fs.ErrNotExist if there is none, ErrUnreadable if what is there is no object.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// folder is an archive in a directory.
type folder string

func (d folder) Keys(ctx context.Context) (keys []string, err error) {
	err = filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(string(d), path)
		keys = append(keys, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(keys)
	return keys, err
}

func (d folder) Open(_ context.Context, key string) (io.ReadCloser, error) {
	name := filepath.Join(string(d), filepath.FromSlash(key))
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe or a device may never end
		return nil, fmt.Errorf("%s: %w", key, ErrUnreadable)
	}
	return os.Open(name)
}
