package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/muninn-archive/muninn/internal/disk"
)

// tempPrefix marks files that are still being written; listings pass them over.
const tempPrefix = ".new-"

// dirStore keeps objects as files: written under another name, synced, then linked into place.
type dirStore struct{ root string }

// OpenDir opens a directory as a store and makes it if it is not there.
func OpenDir(root string) (Store, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	probe, err := os.CreateTemp(root, tempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("open archive: the directory cannot be written: %w", err)
	}
	return &dirStore{root}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func (d *dirStore) String() string { return d.root }

func (d *dirStore) path(key string) (string, error) {
	if !fs.ValidPath(key) || strings.HasPrefix(filepath.Base(key), tempPrefix) {
		return "", fmt.Errorf("archive key %q: %w", key, ErrKey)
	}
	return filepath.Join(d.root, filepath.FromSlash(key)), nil
}

func (d *dirStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return d.put(ctx, key, r, size, os.Rename)
}

func (d *dirStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	err := d.put(ctx, key, strings.NewReader(string(data)), int64(len(data)), func(from, to string) error {
		return errors.Join(os.Link(from, to), os.Remove(from))
	})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("put %s: %w", key, ErrExists)
	}
	return err
}

func (d *dirStore) put(ctx context.Context, key string, r io.Reader, size int64, place func(from, to string) error) error {
	path, err := d.path(key)
	if err != nil {
		return err
	}
	if err := d.mkdir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	err = disk.Place(f, path, place, func(w io.Writer) error {
		n, err := io.Copy(w, &contextReader{ctx, r})
		if err == nil && n != size && size != UnknownSize {
			err = fmt.Errorf("%d bytes came, %d were announced", n, size)
		}
		return errors.Join(err, f.Chmod(0o644))
	})
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// mkdir makes a folder and makes it durable.
func (d *dirStore) mkdir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for at := filepath.Dir(dir); strings.HasPrefix(at, d.root); at = filepath.Dir(at) {
		if err := disk.SyncDir(at); err != nil {
			return err
		}
	}
	return nil
}

func (d *dirStore) Get(_ context.Context, key string) (io.ReadCloser, error) {
	f, _, err := d.open(key)
	if err != nil { // not a nil *os.File in an interface
		return nil, err
	}
	return f, nil
}

func (d *dirStore) GetRange(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	f, size, err := d.open(key)
	if err != nil {
		return nil, err
	}
	if offset < 0 || length <= 0 || offset >= size {
		return nil, errors.Join(rangeError(key, offset, length), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, offset, length), f}, nil
}

func rangeError(key string, offset, length int64) error {
	return fmt.Errorf("get %d bytes of %s from %d on: %w", length, key, offset, ErrRange)
}

// open opens the file of an object.
func (d *dirStore) open(key string) (f *os.File, size int64, err error) {
	path, err := d.path(key)
	if err != nil {
		return nil, 0, err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // a pipe or a device may never end
		return nil, 0, fmt.Errorf("get %s: %w", key, ErrNotRegular)
	}
	if err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, fmt.Errorf("get %s: %w", key, ErrNotFound)
	}
	f, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("get %s: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("get %s: %w", key, err)
	}
	return f, info.Size(), nil
}

func (d *dirStore) List(ctx context.Context, prefix string, fn func(Object) error) error {
	start := d.root
	if cut := strings.LastIndexByte(prefix, '/'); cut > 0 {
		path, err := d.path(prefix[:cut])
		if err != nil {
			return err
		}
		start = path
	}
	var objects []Object
	err := filepath.WalkDir(start, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), tempPrefix) {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(d.root, path)
		if err != nil || !strings.HasPrefix(filepath.ToSlash(rel), prefix) {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			objects = append(objects, Object{filepath.ToSlash(rel), info.Size(), info.ModTime()})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", prefix, err)
	}
	return inOrder(objects, fn)
}

func (d *dirStore) Delete(_ context.Context, key string) error {
	path, err := d.path(key)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // a folder is no object
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

func (d *dirStore) Unfinished(ctx context.Context, before time.Time, remove bool, ours func(key string) bool) (list []string, err error) {
	err = filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(d.root, path)
		if err != nil || !ours(filepath.ToSlash(rel)) {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			return nil // finished meanwhile, or being written
		}
		if err == nil && remove {
			err = os.Remove(path)
		}
		list = append(list, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return list, fmt.Errorf("look for unfinished files: %w", err)
	}
	return list, nil
}

// contextReader stops reading when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
