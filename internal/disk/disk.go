// Package disk reports how much room file systems have left, and writes files whole. The frontier writes through memory maps, and a
// write to a map that has no room on the disk behind it ends the process by a signal: so the room is looked
// at before, with a margin.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Parts of the floor, in percent, below which fetching and writes end after claims: running batches must still be
// archived and committed, which gives room back.
const (
	fetchPercent = 75 // below it, running batches fetch no more
	writePercent = 50 // below it, the frontier writes nothing, and a worker does not start
)

// LeastFloor is the least floor that a setting may name. Half of it, 128 MiB, is what Badger has for itself once the frontier
// writes nothing more: a memory table of 64 MiB that goes to a table of the same size, and tables of 16 MiB that two compactors
// merge meanwhile. They are written through memory maps: with less room a full disk ends the process by SIGBUS.
const LeastFloor crawl.Bytes = 256 << 20

// Free reports how many bytes may still be written to a file system, without what is kept for root.
type Free func(path string) (int64, error)

// What is fetched is asked about before each request. With so much more room than fetching needs, the answer holds for a while: no
// spool grows by that much meanwhile.
const (
	amplyFree = 256 << 20 // bytes
	amplyFor  = 100 * time.Millisecond
)

// Watch looks at the room of the file systems under folders.
type Watch struct {
	Floor int64 // bytes
	Free  Free
	Data  string // folder of frontier and spool

	ample atomic.Pointer[time.Time] // until when the spool may grow without another look
}

// New watches a data folder. floor is the room, in bytes, below which nothing is claimed, LeastFloor or more; 0 does not
// look. A nil Watch does not look either.
func New(data string, floor crawl.Bytes) *Watch {
	return &Watch{Floor: int64(floor), Free: free, Data: data}
}

// Claims reports why nothing may be claimed that writes to the data folder and to the other folders; empty if it may.
func (w *Watch) Claims(folders ...string) string {
	if w == nil {
		return ""
	}
	for _, folder := range append([]string{w.Data}, folders...) {
		if left, short := w.short(folder, 100); short {
			return fmt.Sprintf("the disk of %s has %s left; no claims until %s are free", folder, left, crawl.Bytes(w.Floor))
		}
	}
	return ""
}

// MayFetch reports whether the spool may grow.
func (w *Watch) MayFetch() bool {
	if w == nil {
		return true
	}
	now := time.Now()
	if until := w.ample.Load(); until != nil && now.Before(*until) {
		return true
	}
	left, short := w.short(w.Data, fetchPercent)
	if int64(left) >= w.Floor+amplyFree {
		until := now.Add(amplyFor)
		w.ample.Store(&until)
	}
	return !short
}

// shortError says that a disk is short of room. It is a syscall.ENOSPC: the caller that meets it waits as for a full disk.
type shortError struct{ text string }

func (e *shortError) Error() string { return e.text }

// Is makes it one.
func (e *shortError) Is(target error) bool { return target == syscall.ENOSPC }

// Writes is an error if the frontier may not be written to.
func (w *Watch) Writes() error {
	if w == nil {
		return nil
	}
	if left, short := w.short(w.Data, writePercent); short {
		return &shortError{fmt.Sprintf("the disk of %s has %s left, at least %s must be free (half of disk-floor)", w.Data, left, crawl.Bytes(w.Floor*writePercent/100))}
	}
	return nil
}

// short reports whether less than a part of the floor is free. What cannot be looked at counts as room enough:
// the writer gets the error itself.
func (w *Watch) short(folder string, percent int64) (left crawl.Bytes, short bool) {
	if w.Floor <= 0 {
		return 0, false
	}
	n, err := w.Free(folder)
	return crawl.Bytes(n), err == nil && n < w.Floor*percent/100
}

// Full reports whether an error comes of a disk or a quota without room.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// existing is the path, or the nearest folder above it that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
		up := filepath.Dir(path)
		if up == path {
			return path
		}
		path = up
	}
}
