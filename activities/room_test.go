package activities

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/muninn-archive/muninn/internal/disk"
)

// FETCH makes no request while the spool may not grow: the batch goes on to the archive, which makes room.
func TestFetchStopsOnShortDisk(t *testing.T) {
	a := claimable(t)
	var left atomic.Int64
	a.Disk = disk.New("d", 100)
	a.Disk.Free = func(string) (int64, error) { return left.Load(), nil }
	f := &fetching{a: a, in: BatchInput{Crawl: "c", Batch: "b"}}
	f.limit(a.Now().Add(time.Hour))
	if got := f.valid("claim"); !got.IsZero() {
		t.Errorf("may fetch until %s", got)
	}
	if a.Disk.Claims() == "" {
		t.Error("claims")
	}
}

// A step that met a full disk fails only once there is room: each attempt before would be one of few.
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
