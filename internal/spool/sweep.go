package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Retention bounds what is left of batches that are over: of those that failed and were never run again.
type Retention struct {
	Age   time.Duration                  // nothing wrote to them for that long
	Bytes int64                          // of all their folders together; those that rest longest go first
	InUse func(crawl, batch string) bool // reports whether a batch is not over: it is kept, whatever it takes
}

// Usage is what the spool holds.
type Usage struct {
	Batches int
	Bytes   int64
}

// folder is what lies in a batch's folder.
type folder struct {
	dir          string
	crawl, batch string
	bytes        int64
	touched      time.Time // when the folder or a file in it was last written
}

// Usage adds up what batches hold.
func (s *Spool) Usage() (u Usage, err error) {
	folders, err := s.folders()
	for _, f := range folders {
		u.Batches++
		u.Bytes += f.bytes
	}
	return u, err
}

// Sweep removes the folders of batches that are over and were left too long, or take too much. It returns what it
// removed.
func (s *Spool) Sweep(now time.Time, keep Retention) (swept Usage, err error) {
	folders, err := s.folders()
	if err != nil {
		return swept, fmt.Errorf("sweep spool: %w", err)
	}
	folders = slices.DeleteFunc(folders, func(f folder) bool { return keep.InUse(f.crawl, f.batch) })
	slices.SortFunc(folders, func(a, b folder) int { return a.touched.Compare(b.touched) })
	var held int64
	for _, f := range folders {
		held += f.bytes
	}
	for _, f := range folders { // the oldest first
		if now.Sub(f.touched) <= keep.Age && held <= keep.Bytes {
			break
		}
		held -= f.bytes
		gone, err := s.remove(f, keep)
		if err != nil {
			return swept, fmt.Errorf("sweep spool: %w", err)
		}
		if gone {
			swept.Batches++
			swept.Bytes += f.bytes
		}
	}
	return swept, nil
}

// remove takes a folder away at once: a batch that is opened again right then finds all of it, or nothing.
func (s *Spool) remove(f folder, keep Retention) (gone bool, err error) {
	if keep.InUse(f.crawl, f.batch) { // run again meanwhile
		return false, nil
	}
	trash, err := os.MkdirTemp(s.TempDir(), "swept-*")
	if err != nil {
		return false, err
	}
	err = os.Rename(f.dir, filepath.Join(trash, "batch"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return true, errors.Join(err, os.RemoveAll(trash))
}

func (s *Spool) folders() (list []folder, err error) {
	top := filepath.Join(s.dir, "batches")
	crawls, err := subfolders(top)
	if err != nil {
		return nil, err
	}
	for _, c := range crawls {
		batches, err := subfolders(filepath.Join(top, c))
		if err != nil {
			return nil, err
		}
		for _, b := range batches {
			crawl, errCrawl := url.PathUnescape(c)
			batch, errBatch := url.PathUnescape(b)
			if errCrawl != nil || errBatch != nil {
				continue // no folder of a batch
			}
			f := folder{dir: filepath.Join(top, c, b), crawl: crawl, batch: batch}
			f.measure()
			list = append(list, f)
		}
	}
	return list, nil
}

// subfolders names the folders in a folder; one that is not there, or goes meanwhile, has none.
func subfolders(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// measure reads size and time; appending to a file leaves the folder's own time as it was.
func (f *folder) measure() {
	if info, err := os.Stat(f.dir); err == nil {
		f.touched = info.ModTime()
	}
	entries, _ := os.ReadDir(f.dir) // one that goes meanwhile counts as empty
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			f.bytes += info.Size()
			if info.ModTime().After(f.touched) {
				f.touched = info.ModTime()
			}
		}
	}
}
