package activities

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/spool"
)

// batchOf is a batch of some bytes.
func batchOf(bytes int) *handed {
	p := parsedPage{Page: crawl.Page{}}
	p.Page.Blocks = []string{strings.Repeat("x", max(bytes-p.Page.Bytes()-16, 0))}
	return &handed{pages: []parsedPage{p}}
}

// A full hand-over makes room when a batch is done with, and forgets the oldest of the crawl that has most. A crawl that has
// nothing in it does not wait.
func TestHandover(t *testing.T) {
	h := handover{limit: 40_000}
	for i := range 4 {
		h.room(t.Context(), "big")
		h.put("big", fmt.Sprint(i), batchOf(5000))
	}
	if h.total != 20_000 {
		t.Fatalf("%d bytes", h.total)
	}
	h.room(t.Context(), "small")
	came := make(chan struct{})
	waits, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	defer stop()
	go func() {
		h.room(waits, "big")
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
	h.drop("3")
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

// One that waits for room in vain takes that of the oldest, whose workflow may be gone.
func TestHandoverOfGoneBatches(t *testing.T) {
	h := handover{limit: 10_000}
	h.put("c", "gone", batchOf(3000))
	h.put("c", "other", batchOf(3000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h.room(ctx, "c"); h.get("gone") != nil || h.get("other") == nil {
		t.Errorf("%v", h.order)
	}
}

// A page that the parser fails on is archived unread, and holds no other back.
func TestPanicOnAPage(t *testing.T) {
	s, err := spool.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log, _, err := s.Batch("c", "b").OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	const body = "<p>raven</p>"
	for _, url := range []string{"http://a.test/1", "http://a.test/2"} {
		x := crawl.Exchange{Kind: crawl.ExchangePage, URL: url, Status: 200, MIME: "text/html", Started: time.Now()}
		if err := log.Append(x, nil, strings.NewReader(body), int64(len(body))); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	entries, closer, err := s.Batch("c", "b").Entries()
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	defer func() { _ = closer() }()
	a := &Activities{Settings: Settings{Page: page.DefaultLimits()}} // without a helper, its call panics
	for i := range entries {
		if _, ok, err := a.understand(t.Context(), &entries[i], "", nil); ok || err == nil || !strings.Contains(err.Error(), "panic") {
			t.Errorf("page %d: %v, %v", i, ok, err)
		}
	}
}
