package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/spool"
)

// Seats go to the latest step that waits for one; who gives up gets none, and loses none.
func TestWorkshop(t *testing.T) {
	var w workshop
	var leave []func()
	for range runtime.GOMAXPROCS(0) + 1 {
		l, err := w.enter(t.Context(), stepAnalyse)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	entered := make(chan int)
	wait := func(step int) {
		go func() {
			if _, err := w.enter(t.Context(), step); err == nil {
				entered <- step
			}
		}()
		for { // until it stands in the queue
			w.mu.Lock()
			n := len(w.waiting[step])
			w.mu.Unlock()
			if n > 0 {
				return
			}
			runtime.Gosched()
		}
	}
	wait(stepAnalyse)
	wait(stepArchive)
	wait(stepScore)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.enter(impatient, stepArchive); !errors.Is(err, context.Canceled) {
		t.Fatalf("a seat for one who does not wait: %v", err)
	}
	for _, want := range []int{stepArchive, stepScore, stepAnalyse} {
		leave[0]()
		if got := <-entered; got != want {
			t.Errorf("step %d got the seat, want %d", got, want)
		}
	}
}

// A full hand-over makes room when a batch is done with, and forgets the oldest of those that never are.
func TestHandover(t *testing.T) {
	var h handover
	for i := range handedBatches {
		h.room(t.Context())
		h.put(fmt.Sprint(i), &handed{broken: i})
	}
	came := make(chan struct{})
	go func() {
		h.room(context.WithoutCancel(t.Context()))
		close(came)
	}()
	select {
	case <-came:
		t.Fatal("there is room where there is none")
	case <-time.After(20 * time.Millisecond):
	}
	h.drop("3")
	<-came
	if h.get("3") != nil || h.get("4").broken != 4 {
		t.Error("the wrong batch was dropped")
	}
	for i := range 3 * handedBatches {
		h.put(fmt.Sprint("more", i), &handed{})
	}
	if h.get("0") != nil || len(h.batches) != 2*handedBatches || len(h.order) != 2*handedBatches {
		t.Errorf("%d batches are held", len(h.batches))
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
		if _, ok, err := a.understand(&entries[i], "", nil); ok || err == nil || !strings.Contains(err.Error(), "panic") {
			t.Errorf("page %d: %v, %v", i, ok, err)
		}
	}
}
