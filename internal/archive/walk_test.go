package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// slowStore has manifests, and takes a while to read each of them.
type slowStore struct {
	archive.Store
	latency   time.Duration
	manifests int
	broken    int // this one cannot be read; 0: all can
	open      atomic.Int64
	mu        sync.Mutex
	peak      int64
	gets      int
}

func (s *slowStore) List(_ context.Context, prefix string, fn func(archive.Object) error) error {
	for i := range s.manifests {
		if i%1000 == 0 { // a page of a listing
			time.Sleep(s.latency)
		}
		if err := fn(archive.Object{Key: fmt.Sprintf("%sb-%06d.json", prefix, i), Changed: time.Unix(int64(i), 0)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *slowStore) Get(_ context.Context, key string) (io.ReadCloser, error) {
	s.mu.Lock()
	s.gets++
	s.peak = max(s.peak, s.open.Add(1))
	s.mu.Unlock()
	defer s.open.Add(-1)
	time.Sleep(s.latency)
	var n int
	_, _ = fmt.Sscanf(key, "c/segments/b-%d.json", &n)
	if s.broken > 0 && n == s.broken {
		return nil, errFault
	}
	raw, err := json.Marshal(archive.Manifest{Crawl: "c", Batch: fmt.Sprintf("b-%06d", n), GivenBack: n%10 == 9})
	return io.NopCloser(strings.NewReader(string(raw))), err
}

// A walk over an archive of 20,000 segments takes seconds, though each answer takes 50 ms: one after the other would take 17 minutes.
func TestWalkThroughManySegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{latency: 50 * time.Millisecond, manifests: 20_000}
		began, seen := time.Now(), 0
		loading, most := atomic.Int64{}, atomic.Int64{}
		walk := archive.Walk[string]{Of: archive.Layout{Crawl: "c"}, Load: func(_ context.Context, m archive.Manifest) (string, error) {
			most.Store(max(most.Load(), loading.Add(1)))
			defer loading.Add(-1)
			return m.Batch, nil
		}}
		err := walk.Each(t.Context(), s, func(m archive.Manifest, loaded string) error {
			if want := fmt.Sprintf("b-%06d", seen/9*10+seen%9); m.Batch != want || loaded != want {
				t.Fatalf("%s comes in the place of %s, with %s", m.Batch, want, loaded)
			}
			seen++
			return nil
		})
		took := time.Since(began)
		if err != nil || seen != 18_000 {
			t.Errorf("%d segments, %v", seen, err)
		}
		if took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		if s.peak > 66 || most.Load() > 10 {
			t.Errorf("%d manifests and %d segments at a time", s.peak, most.Load())
		}
		t.Logf("%v, %d manifests at a time", took, s.peak)
	})
}

// Skipped segments are not read.
func TestWalkSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{latency: time.Millisecond, manifests: 1000}
		seen := 0
		walk := archive.Walk[struct{}]{Of: archive.Layout{Crawl: "c"}, Skip: func(segment string, changed time.Time) bool {
			if segment != fmt.Sprintf("b-%06d", changed.Unix()) {
				t.Fatalf("%s was put at %v", segment, changed)
			}
			return changed.Unix() < 900
		}}
		err := walk.Each(t.Context(), s, func(archive.Manifest, struct{}) error { seen++; return nil })
		if err != nil || seen != 90 || s.gets != 100 {
			t.Errorf("%d segments of %d manifests, %v", seen, s.gets, err)
		}
	})
}

// A walk ends with the first error, wherever it comes from, and leaves no goroutine behind.
func TestWalkEnds(t *testing.T) {
	for name, test := range map[string]struct {
		broken int
		load   error
		use    error
		cancel bool
		want   error
	}{
		"manifest": {broken: 50, want: errFault},
		"load":     {load: errFault, want: errFault},
		"use":      {use: errFault, want: errFault},
		"cancel":   {cancel: true, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which waits for all goroutines
				s := &slowStore{latency: time.Millisecond, manifests: 1000, broken: test.broken}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				seen := 0
				walk := archive.Walk[struct{}]{Of: archive.Layout{Crawl: "c"}, Load: func(_ context.Context, m archive.Manifest) (struct{}, error) {
					if m.Batch == "b-000100" {
						return struct{}{}, test.load
					}
					return struct{}{}, nil
				}}
				err := walk.Each(ctx, s, func(archive.Manifest, struct{}) error {
					if seen++; seen == 200 {
						if test.cancel {
							cancel()
						}
						return test.use
					}
					return nil
				})
				if !errors.Is(err, test.want) || seen > 200 {
					t.Errorf("after %d segments: %v", seen, err)
				}
			})
		})
	}
}
