package browser

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld/hostile"
)

// heap follows the live heap of this process until the function that it returns is called, which says how much it has grown at most.
func heap() func() int64 {
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	var most atomic.Int64
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				most.Store(max(most.Load(), live()-before))
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most.Load()
	}
}

// TestHostile: no page harms the program that drives the browser: its memory stays bounded, the page takes no longer than it may, and the next one is shown.
func TestHostile(t *testing.T) {
	light, costly := DefaultLimits(), DefaultLimits()
	costly.Time, costly.Memory, costly.Processes = 3*time.Second, 600<<20, 2 // they take it all
	gentle, p := pool(t, light), pool(t, costly)
	grown := heap()
	t.Run("pages", func(t *testing.T) {
		for _, c := range hostile.Pages() {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				if c.Shown {
					attack(t, gentle, c)
				} else {
					attack(t, p, c)
				}
			})
		}
	})
	if most := grown(); most > 200<<20 {
		t.Errorf("the heap grows by %d MiB", most>>20)
	}
	if shown, err := gentle.Open(t.Context(), Job{URL: "http://a.test/", Load: one("<p>well</p>")}); err != nil || !strings.Contains(string(shown.Document), "well") {
		t.Errorf("then: %q, %v", shown.Document, err)
	}
}

func attack(t *testing.T, p *Pool, c hostile.Page) {
	var begun time.Time
	shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: func(ctx context.Context, r Request) (Response, error) {
		switch r.URL {
		case "http://a.test/":
			begun = time.Now()
			return Response{Status: 200, Header: [][2]string{{"Content-Type", "text/html; charset=utf-8"}}, Body: []byte(c.Body)}, nil
		case "http://a.test" + hostile.Slow: // a pause between two requests of a host
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
		}
		return Response{}, errors.New("not there")
	}})
	t.Logf("%s: document of %d bytes, %d routes, %d left, %d blocked, cut: %t, %v", time.Since(begun).Round(time.Millisecond), len(shown.Document), len(shown.Routes), len(shown.Left), shown.Blocked, shown.Cut, err)
	if took := time.Since(begun); !begun.IsZero() && took > p.limits.Time+2*closeTime {
		t.Errorf("it takes %s", took)
	}
	if errors.As(err, new(*StartError)) || errors.Is(err, ErrDied) {
		t.Error(err)
	}
	if c.Shown && (err != nil || !strings.Contains(string(shown.Document), "said")) {
		t.Errorf("%.200q, %v", shown.Document, err)
	}
	if len(shown.Document) > 3*maxDocument || len(shown.Left) > maxLeft || len(strings.Join(shown.Routes, "")) > p.limits.Routes*maxFragment {
		t.Errorf("a document of %d bytes, %d left, %d routes", len(shown.Document), len(shown.Left), len(shown.Routes))
	}
}
