package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/times"
)

var errFault = errors.New("the store is out of order")

// faulty fails at its nth call, before or after the call does its work. 0 never fails.
type faulty struct {
	archive.Store
	fail  int
	after bool // the work is done, only the answer is lost
	calls int
}

func (f *faulty) step(do func() error) error {
	f.calls++
	if f.calls != f.fail {
		return do()
	}
	if f.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errFault
}

func (f *faulty) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return f.step(func() error { return f.Store.Put(ctx, key, r, size) })
}

func (f *faulty) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	return f.step(func() error { return f.Store.PutIfAbsent(ctx, key, data) })
}

func (f *faulty) Get(ctx context.Context, key string) (r io.ReadCloser, err error) {
	err = f.step(func() error {
		r, err = f.Store.Get(ctx, key)
		return err
	})
	return r, err
}

func (f *faulty) Delete(ctx context.Context, key string) error {
	return f.step(func() error { return f.Store.Delete(ctx, key) })
}

func newDir(t *testing.T) (string, archive.Store) {
	t.Helper()
	dir := t.TempDir()
	s, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// Whichever call fails, before or after its work, there is either no manifest or a complete segment. If the
// same segment is tried again, or by another attempt, there is exactly one in the end.
func TestCommitFailsAtEachStep(t *testing.T) {
	for _, after := range []bool{false, true} {
		for fail := 1; fail <= 4; fail++ {
			for _, sameSegment := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d after=%v same=%v", fail, after, sameSegment), func(t *testing.T) {
					failsAt(t, &faulty{fail: fail, after: after}, sameSegment)
				})
			}
		}
	}
}

func failsAt(t *testing.T, broken *faulty, sameSegment bool) {
	dir, store := newDir(t)
	broken.Store = store
	pages := func() []archive.Capture {
		return []archive.Capture{plain("http://a.example/1", "<p>one"), plain("http://a.example/2", "<p>two")}
	}
	s, _ := segment(t, "b", unknown, pages()...)
	if _, err := s.Commit(t.Context(), broken); !errors.Is(err, errFault) {
		t.Fatalf("the fault is reported as %v", err)
	}
	_, err := archive.ReadManifest(t.Context(), store, label("b"))
	lost := broken.fail == 4 && broken.after
	if lost && err != nil || !lost && !errors.Is(err, archive.ErrNotFound) {
		t.Fatalf("the manifest after the fault: %v", err)
	}
	if lost {
		check(t, dir)
	}
	if !sameSegment {
		s, _ = segment(t, "b", unknown, pages()...)
	}
	m, err := s.Commit(t.Context(), store)
	switch {
	case lost && !sameSegment:
		if !errors.Is(err, archive.ErrExists) {
			t.Errorf("another attempt after the lost answer: %v, not ErrExists", err)
		}
	case err != nil:
		t.Errorf("the second try: %v", err)
	default:
		stands, err := archive.ReadManifest(t.Context(), store, label("b"))
		if err != nil || stands.WARC != m.WARC || stands.CDXJ != m.CDXJ || stands.Links != m.Links {
			t.Errorf("returned %+v, but %+v stands, %v", m, stands, err)
		}
	}
	report, err := os.ReadDir(dir + "/c/segments")
	if err != nil || len(report) != 1 {
		t.Errorf("%v, %v", report, err)
	}
	if sameSegment || lost { // else the first attempt's objects stay behind, named by no manifest
		check(t, dir)
	}
}

func TestSecondAttempt(t *testing.T) {
	dir, store := newDir(t)
	first, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
	second, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
	m, err := first.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Commit(t.Context(), store); !errors.Is(err, archive.ErrExists) {
		t.Fatalf("%v, not ErrExists", err)
	}
	report := check(t, dir) // no orphans: the second's objects are gone
	if report.Segments != 1 || report.Pages["http://a.example/1"] != 1 {
		t.Errorf("%+v", report)
	}
	stands, err := archive.ReadManifest(t.Context(), store, label("b"))
	if err != nil || stands.WARC != m.WARC {
		t.Errorf("%+v stands, %v", stands, err)
	}
}

// A second attempt that cannot clean up returns an error and does not touch the first one's objects.
func TestSecondAttemptCannotCleanUp(t *testing.T) {
	for fail := 5; fail <= 8; fail++ {
		dir, store := newDir(t)
		first, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
		second, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
		if _, err := first.Commit(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		_, err := second.Commit(t.Context(), &faulty{Store: store, fail: fail})
		if !errors.Is(err, archive.ErrExists) || !errors.Is(err, errFault) {
			t.Errorf("at step %d: %v", fail, err)
		}
		report, err := os.ReadDir(dir + "/c/segments")
		if err != nil || len(report) != 1 {
			t.Errorf("%v, %v", report, err)
		}
	}
}

// Attempts side by side: one wins, the others clean up.
func TestAttemptsRace(t *testing.T) {
	dir, store := newDir(t)
	const attempts = 6
	errs := make(chan error, attempts)
	for range attempts {
		s, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"), plain("http://a.example/2", strings.Repeat("x", 1<<16)))
		go func() {
			_, err := s.Commit(t.Context(), store)
			errs <- err
		}()
	}
	won := 0
	for range attempts {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, archive.ErrExists):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d have won", won)
	}
	check(t, dir)
}

// deadlines is a store that notes until when it may work.
type deadlines struct {
	archive.Store
	last time.Time
	none bool
}

func (d *deadlines) note(ctx context.Context) {
	end, bounded := ctx.Deadline()
	d.last, d.none = times.Latest(d.last, end), d.none || !bounded
}

func (d *deadlines) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	d.note(ctx)
	return d.Store.Put(ctx, key, r, size)
}

func (d *deadlines) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	d.note(ctx)
	return d.Store.PutIfAbsent(ctx, key, data)
}

// A sweep may delete what no manifest names and is of MinSweepAge: no attempt to commit lasts half as long.
func TestCommitEndsBeforeASweep(t *testing.T) {
	_, store := newDir(t)
	d := &deadlines{Store: store}
	s, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
	begun := time.Now()
	if _, err := s.Commit(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if d.none || d.last.Sub(begun) > archive.MinSweepAge/2+time.Minute {
		t.Errorf("a commit may write for %v, or without a bound (%t); a sweep deletes what is %v old", d.last.Sub(begun), d.none, archive.MinSweepAge)
	}
}

// silent is a store that does not answer a write before its context ends.
type silent struct{ archive.Store }

func (s silent) Put(ctx context.Context, _ string, _ io.Reader, _ int64) error {
	<-ctx.Done()
	return ctx.Err()
}

// An attempt that runs into its limit says so, and is a fault of the store; one whose caller stops earlier does not.
func TestCommitTimeoutIsNamed(t *testing.T) {
	_, store := newDir(t)
	for name, test := range map[string]struct {
		caller time.Duration // until its context ends
		named  bool
	}{
		"the limit of an attempt":  {2 * archive.MinSweepAge, true},
		"the deadline of a caller": {time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := segment(t, "b", unknown, plain("http://a.example/1", "<p>one"))
				ctx, cancel := context.WithTimeout(t.Context(), test.caller)
				defer cancel()
				_, err := s.Commit(ctx, archive.Faults(silent{store}))
				var fault *archive.StoreError
				if !errors.As(err, &fault) || !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%v, want the deadline as a fault of the store", err)
				}
				limit := fmt.Sprintf("not written within %v, the limit of one attempt", archive.MinSweepAge/2)
				if strings.Contains(err.Error(), limit) != test.named {
					t.Errorf("%v: names %q: %t, want %t", err, limit, !test.named, test.named)
				}
			})
		})
	}
}
