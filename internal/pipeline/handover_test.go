package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// batchOf is a batch of some bytes.
func batchOf(bytes int) *handed {
	var p Parsed
	p.Page.Blocks = []string{strings.Repeat("x", max(bytes-p.Bytes()-16, 0))}
	return &handed{parsed: &ParsedBatch{Pages: []Parsed{p}}}
}

// A full hand-over has room again when a batch ends, or drops the oldest batch of the crawl with the most bytes. A crawl with
// nothing in it does not wait.
func TestHandover(t *testing.T) {
	h := Handover{limit: 40_000}
	for i := range 4 {
		h.Room(t.Context(), "big")
		h.put("big", fmt.Sprint(i), batchOf(5000))
	}
	if h.total != 20_000 {
		t.Fatalf("%d bytes", h.total)
	}
	h.Room(t.Context(), "small")
	came := make(chan struct{})
	waits, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	defer stop()
	go func() {
		h.Room(waits, "big")
		close(came)
	}()
	for { // until it waits
		h.mu.Lock()
		waiting := h.changed != nil
		h.mu.Unlock()
		if waiting {
			break
		}
		runtime.Gosched()
	}
	h.take("3")
	<-came
	if h.get("3") != nil || h.get("2") == nil {
		t.Error("the wrong batch was dropped")
	}
	h.put("small", "s", batchOf(5000))
	for i := range 10 {
		h.put("big", fmt.Sprint("more", i), batchOf(5000))
	}
	if h.get("0") != nil || h.get("s") == nil || h.get("more9") == nil || h.total > h.limit || h.total != int64(5000*len(h.order)) {
		t.Errorf("%d batches are held, of %d bytes", len(h.batches), h.total)
	}
	h.put("small", "huge", batchOf(1_000_000))
	if h.get("huge") == nil || len(h.order) != 1 || h.total != 1_000_000 {
		t.Errorf("%d batches are held, of %d bytes", len(h.batches), h.total)
	}
	h.put("small", "last", batchOf(100))
	if h.get("huge") != nil || h.crawls["big"] != 0 || h.crawls["small"] != h.total {
		t.Errorf("%d batches are held: %v", len(h.batches), h.crawls)
	}
}

// A batch that waits too long for room takes the room of the oldest batch, whose workflow may be gone.
func TestHandoverOfGoneBatches(t *testing.T) {
	h := Handover{limit: 10_000}
	h.put("c", "gone", batchOf(3000))
	h.put("c", "other", batchOf(3000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h.Room(ctx, "c"); h.get("gone") != nil || h.get("other") == nil {
		t.Errorf("%v", h.order)
	}
}
