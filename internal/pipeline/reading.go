package pipeline

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Bounds of what is parsed at a time: the tree of a page takes many times its bytes.
const (
	maxReading = 24 << 20 // decoded bytes of pages that are parsed at a time, whatever the processors could do
	largePage  = 4 << 20  // a page from which on the memory that it took is collected at once
	unweighed  = 1 << 20  // decoded bytes of a page that are read before there is room for it
)

// reading lets pages be parsed side by side as long as they are small.
type reading struct {
	once sync.Once
	room *semaphore.Weighted
}

// begin waits for room for a page of at most so many decoded bytes. Then read is called, which reads it and returns how many bytes it has; the rest of the room is given
// back. end is called when nothing of its tree is held any more. Pages that were decoded before they waited would fill the memory: each lane may have one.
func (r *reading) begin(ctx context.Context, most int, read func() int) (end func(), err error) {
	r.once.Do(func() { r.room = semaphore.NewWeighted(maxReading) })
	weight := min(int64(most), maxReading)
	if err := r.room.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	size := 0
	func() {
		rest := weight // all of it, if read panics
		defer func() { r.room.Release(rest) }()
		size = read()
		rest -= min(int64(size), weight)
		weight -= rest
	}()
	return func() {
		if size >= largePage { // with GOGC at some hundred percent, the next large page would come on top of it
			runtime.GC()
		}
		r.room.Release(weight)
	}, nil
}
