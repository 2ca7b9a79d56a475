package activities

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/archive"
)

// deniedStore refuses puts while it is closed.
type deniedStore struct {
	archive.Store
	closed atomic.Bool
}

var errDenied = errors.New("403 Forbidden: the quota is used up")

func (s *deniedStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if s.closed.Load() {
		return errDenied
	}
	return s.Store.Put(ctx, key, r, size)
}

// A batch whose archive cannot be written keeps what it fetched and tries without a bound. Its crawl holds, and continues by
// itself.
func TestArchiveCannotBeWritten(t *testing.T) {
	r := newRig(t)
	denied := &deniedStore{}
	r.through(func(s archive.Store) archive.Store { denied.Store = s; return archive.Faults(denied) })
	hold := ArchiveHold(r.Activities)
	r.begin("one", nil)
	in := r.batch()
	fetched := 0
	r.open(in, func(url string) string { fetched++; return linking(url) })
	denied.closed.Store(true)
	for range 2 * r.Settings.Attempts {
		err := r.do(r.Process, in)
		var fault *temporal.ApplicationError
		if !errors.As(err, &fault) || fault.NonRetryable() || fault.Type() != ErrorStore {
			t.Fatalf("ARCHIVE ends with %v", err)
		}
	}
	if reason := hold(rigCrawl); !strings.Contains(reason, "the archive cannot be written: ") || !strings.Contains(reason, "quota") {
		t.Errorf("the crawl holds because of %q", reason)
	}
	if reason := hold("another") + hold(""); reason != "" {
		t.Errorf("other crawls hold because of %q", reason)
	}
	denied.closed.Store(false)
	r.must(r.do(r.Process, in))
	if reason := hold(rigCrawl); reason != "" {
		t.Errorf("the crawl still holds: %s", reason)
	}
	r.must(r.do(r.Commit, in))
	if report := r.check(r.dir); report.Pages[rigSeed] != 1 || fetched != 1 {
		t.Errorf("pages %v, %d fetched", report.Pages, fetched)
	}
}

// The fault of a batch that has ended does not hold the crawl.
func TestStoreFaultsEnd(t *testing.T) {
	var f batchFaults
	now := time.Now()
	f.end("c", "b-1", &archive.StoreError{Err: errDenied}, now)
	f.end("c", "b-2", &archive.StoreError{Err: errNoAnswer}, now.Add(time.Second))
	if err := f.newest("c", now.Add(time.Second)); !errors.Is(err, errNoAnswer) {
		t.Errorf("the newest fault is %v", err)
	}
	f.end("c", "b-2", nil, now.Add(2*time.Second))
	if err := f.newest("c", now.Add(2*time.Second)); !errors.Is(err, errDenied) {
		t.Errorf("b-1 still waits, because of %v", err)
	}
	f.end("c", "b-1", toApplicationError(context.Canceled), now.Add(2*time.Second))
	if err := f.newest("c", now.Add(2*time.Second)); !errors.Is(err, errDenied) {
		t.Errorf("an attempt of b-1 was cancelled, and the crawl holds because of %v", err)
	}
	f.begin("c", "b-1")
	f.begin("c", "b-2") // of which there is no fault
	if err := f.newest("c", now.Add(2*staleFault)); !errors.Is(err, errDenied) {
		t.Errorf("b-1 is tried at a store that does not answer, the crawl holds because of %v", err)
	}
	now = now.Add(2 * staleFault)
	f.end("c", "b-1", &archive.StoreError{Err: errNoAnswer}, now)
	if err := f.newest("c", now.Add(staleFault)); !errors.Is(err, errNoAnswer) {
		t.Errorf("b-1 still waits, because of %v", err)
	}
	if err := f.newest("c", now.Add(staleFault+time.Second)); err != nil {
		t.Errorf("nobody tries any more, but the crawl holds: %v", err)
	}
}
