package archivecheck

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Source is where an archive lies.
type Source interface {
	// Keys lists all objects, '/'-separated.
	Keys(ctx context.Context) ([]string, error)
	// Open opens an object; an error that is fs.ErrNotExist if there is none.
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
	return os.Open(filepath.Join(string(d), filepath.FromSlash(key)))
}
