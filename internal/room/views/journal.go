package views

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/search"
)

// Journal is the list of the segments that are in the views of a folder, a line each. By it views of an archive are known that is not there any
// more, as after a demo that was run again.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	known map[search.SegmentName]bool
}

const journalName = "segments"

// OpenJournal opens the journal of a folder, which it makes. If it names a segment that the archives do not have, all that is in the folder is
// deleted first, and stale is true.
func OpenJournal(ctx context.Context, dir string, archives []archive.Store) (j *Journal, stale bool, err error) {
	j = &Journal{known: map[search.SegmentName]bool{}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, false, fmt.Errorf("open views: %w", err)
	}
	name := filepath.Join(dir, journalName)
	if err := j.read(name); err != nil {
		return nil, false, fmt.Errorf("open views: %w", err)
	}
	if len(j.known) > 0 {
		if stale, err = j.lost(ctx, archives); err != nil {
			return nil, false, err
		}
	}
	if stale {
		err := DeleteFolder(dir)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err != nil {
			return nil, true, fmt.Errorf("delete views of another archive: %w", err)
		}
		j.known = map[search.SegmentName]bool{}
	}
	j.file, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return j, stale, err
}

// DeleteFolder deletes the views of a folder, and the folder. They go at once: what is left when the process is killed in between would be taken for views.
func DeleteFolder(dir string) error {
	deleted := dir + ".deleted"
	err := os.RemoveAll(deleted) // of an attempt that was killed
	if err == nil {
		err = os.Rename(dir, deleted)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.RemoveAll(deleted)
	}
	return err
}

func (j *Journal) read(name string) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if crawl, segment, ok := strings.Cut(lines.Text(), "\t"); ok { // one that is cut off names no segment: the views are built again
			j.known[search.SegmentName{Crawl: crawl, Name: segment}] = true
		}
	}
	return lines.Err()
}

// lost reports whether the archives lack a segment of the journal.
func (j *Journal) lost(ctx context.Context, archives []archive.Store) (bool, error) {
	there := map[search.SegmentName]bool{}
	for _, store := range archives {
		crawls, err := archive.Crawls(ctx, store)
		if err != nil {
			return false, fmt.Errorf("list the crawls of %s: %w", store, err)
		}
		for _, at := range crawls {
			err := store.List(ctx, archive.Layout{Prefix: at.Prefix, Crawl: at.Name}.Manifests(), func(o archive.Object) error {
				if name, is := archive.SegmentOf(o.Key); is {
					there[search.SegmentName{Crawl: at.Name, Name: name}] = true
				}
				return nil
			})
			if err != nil {
				return false, fmt.Errorf("list the segments of %s: %w", at.Name, err)
			}
		}
	}
	for name := range j.known {
		if !there[name] {
			return true, nil
		}
	}
	return false, nil
}

// Add writes a segment down, before it is added to a view.
func (j *Journal) Add(name search.SegmentName) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.known[name] {
		return nil
	}
	if _, err := j.file.WriteString(name.Crawl + "\t" + name.Name + "\n"); err != nil {
		return fmt.Errorf("write the journal of views: %w", err)
	}
	j.known[name] = true
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
