package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/disk"
)

// FETCH makes no request while the spool may not grow: the batch continues with ARCHIVE, which frees space.
func TestFetchStopsOnShortDisk(t *testing.T) {
	a := claimable(t)
	var left atomic.Int64
	a.Disk = disk.New("d", 100)
	a.Disk.Free = func(string) (int64, error) { return left.Load(), nil }
	f := &fetching{a: a, in: BatchInput{Crawl: "c", Batch: "b"}}
	f.setDeadline(a.Now().Add(time.Hour))
	if got := f.validUntil("claim"); !got.IsZero() {
		t.Errorf("may fetch until %s", got)
	}
	if a.Disk.Claims() == "" {
		t.Error("claims")
	}
}

// A step that met a full disk fails only when there is room again: earlier attempts would use up the bound on attempts.
func TestWaitRoom(t *testing.T) {
	a := claimable(t)
	var asked atomic.Int64
	a.Disk = disk.New("d", 100)
	a.Disk.Free = func(string) (int64, error) {
		if asked.Add(1) < 3 {
			return 0, nil
		}
		return 1000, nil
	}
	step := func(ctx context.Context, met string) error {
		if met == "full" {
			return a.waitRoom(ctx, fmt.Errorf("append exchange: %w", syscall.ENOSPC))
		}
		return a.waitRoom(ctx, errors.New(met))
	}
	var suite testsuite.WorkflowTestSuite
	for met, looks := range map[string]int64{"other": 0, "full": 3} {
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(step)
		if _, err := env.ExecuteActivity(step, met); err == nil || asked.Swap(0) != looks {
			t.Errorf("%s: %v, want %d looks at the disk", met, err, looks)
		}
	}
}

// The end of a run writes nothing to a folder archive while the frontier has no room to record it.
func TestEndWaitsForRoom(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	var left atomic.Int64
	r.Disk = disk.New("d", 100)
	r.Disk.Free = func(string) (int64, error) { return left.Add(20), nil }
	puts := func() (n int) {
		store, err := r.Archives.Open(t.Context(), "")
		r.must(err)
		r.must(store.List(t.Context(), rigCrawl+"/", func(archive.Object) error { n++; return nil }))
		return n
	}
	before := puts()
	if err := r.do(r.End, EndInput{Crawl: rigCrawl, Owner: "o"}); err == nil || !strings.Contains(err.Error(), "make room") || puts() != before {
		t.Fatalf("%v; %d objects were put", err, puts()-before)
	}
	if n := left.Load(); n < 75 {
		t.Fatalf("the step does not wait for room: %d are free", n)
	}
	if err := r.do(r.End, EndInput{Crawl: rigCrawl, Owner: "o"}); err != nil || puts() == before {
		t.Fatalf("with room again: %v; %d objects were put", err, puts()-before)
	}
}
