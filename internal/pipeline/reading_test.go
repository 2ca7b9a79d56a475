package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestReading: small pages are parsed side by side, large ones one after the other, and none waits forever.
func TestReading(t *testing.T) {
	var r reading
	for _, c := range []struct{ size, pages, most int }{{1 << 10, 10, 10}, {16 << 20, 5, 1}, {100 << 20, 5, 1}, {8 << 20, 9, 3}, {0, 3, 3}} {
		var now, peak atomic.Int64
		var wg sync.WaitGroup
		began := make(chan struct{}, c.pages)
		leave := make(chan struct{})
		for range c.pages {
			wg.Go(func() {
				end, err := r.begin(t.Context(), c.size, func() int { return c.size })
				if err != nil {
					t.Error(err)
					return
				}
				peak.Store(max(peak.Load(), now.Add(1)))
				began <- struct{}{}
				<-leave
				now.Add(-1)
				end()
			})
		}
		for range c.most {
			select {
			case <-began:
			case <-time.After(2 * time.Minute):
				t.Fatalf("%d bytes: fewer than %d pages at a time", c.size, c.most)
			}
		}
		close(leave)
		wg.Wait()
		if got := int(peak.Load()); got > c.most {
			t.Errorf("%d bytes: %d pages at a time, at most %d wanted", c.size, got, c.most)
		}
	}
	end, err := r.begin(t.Context(), maxReading, func() int { return maxReading })
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.begin(ctx, 1, func() int { return 1 }); err == nil {
		t.Error("a page is parsed after the context's end")
	}
}
