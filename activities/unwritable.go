package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// staleFault is how long a fault holds a crawl whose batch is not tried again: its workflow may be gone. Between two
// attempts is a minute at most; an attempt itself may take longer, at a store that does not answer.
const staleFault = 10 * time.Minute

// batchFaults are the batches that wait for the end of a fault, by crawl and batch.
type batchFaults struct {
	mu      sync.Mutex
	waiting map[string]map[string]batchFault
}

type batchFault struct {
	err    error
	at     time.Time // when the last attempt ended
	trying bool      // an attempt is in progress: the fault does not become stale
}

// begin notes that an attempt of a batch at its archive runs; end that it has ended.
func (f *batchFaults) begin(crawl, batch string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault, waits := f.waiting[crawl][batch]; waits {
		fault.trying = true
		f.waiting[crawl][batch] = fault
	}
}

// end notes how an attempt of a batch at its archive ended.
func (f *batchFaults) end(crawl, batch string, err error, at time.Time) {
	var fault *archive.StoreError
	f.mu.Lock()
	defer f.mu.Unlock()
	if !errors.As(err, &fault) {
		before, waits := f.waiting[crawl][batch]
		if waits && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) { // it says nothing about the store
			f.waiting[crawl][batch] = batchFault{err: before.err, at: at}
			return
		}
		delete(f.waiting[crawl], batch)
		return
	}
	f.set(crawl, batch, batchFault{err: fault, at: at})
}

// note notes what a batch waits for the end of; nil: nothing.
func (f *batchFaults) note(crawl, batch string, err error, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		delete(f.waiting[crawl], batch)
		return
	}
	f.set(crawl, batch, batchFault{err: err, at: at})
}

// set keeps a fault; mu is held.
func (f *batchFaults) set(crawl, batch string, fault batchFault) {
	if f.waiting == nil {
		f.waiting = map[string]map[string]batchFault{}
	}
	if f.waiting[crawl] == nil {
		f.waiting[crawl] = map[string]batchFault{}
	}
	f.waiting[crawl][batch] = fault
}

// newest is the newest fault of a crawl that a batch waits for the end of; nil if there is none.
func (f *batchFaults) newest(crawl string, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var newest batchFault
	for batch, fault := range f.waiting[crawl] {
		switch {
		case !fault.trying && now.Sub(fault.at) > staleFault:
			delete(f.waiting[crawl], batch)
		case fault.at.After(newest.at):
			newest = fault
		}
	}
	return newest.err
}

// ArchiveHold keeps a crawl from claiming while its archive cannot be written: batches that are fetched keep their exchanges
// and try again, and what would be fetched beside them could not be kept either.
func ArchiveHold(a *Activities) Hold {
	return func(crawl string) string {
		if err := a.unwritable.newest(crawl, a.Now()); err != nil {
			return fmt.Sprintf("the archive cannot be written: %v", err)
		}
		return ""
	}
}
