package activities

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/score"
)

// handed is what AAH hands on to SCORE and ARCHIVE. It lies in memory alone: the exchanges in the spool
// say it all, and a step that does not find it makes it anew.
type handed struct {
	pages  []parsedPage
	broken int // exchanges that the parser failed on
	scored bool
	visits []score.Visit // of the pages, once they are scored
}

// handedBatches is how many batches may be between AAH and ARCHIVE at a time. handedWait is how long a
// further one waits for room, before the oldest has to be made anew.
const (
	handedBatches = 8
	handedWait    = 10 * time.Second
)

// handover holds what batches hand from step to step.
type handover struct {
	mu      sync.Mutex
	batches map[string]*handed
	order   []string
	changed chan struct{}
}

// room waits until another batch may come in.
func (h *handover) room(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, handedWait)
	defer cancel()
	for {
		h.mu.Lock()
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		full, changed := len(h.order) >= handedBatches, h.changed
		h.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (h *handover) put(key string, b *handed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.batches == nil {
		h.batches = map[string]*handed{}
	}
	if _, known := h.batches[key]; !known {
		h.order = append(h.order, key)
	}
	h.batches[key] = b
	if len(h.order) > 2*handedBatches { // some wait for nothing: their workflows are gone
		delete(h.batches, h.order[0])
		h.order = h.order[1:]
	}
}

// get returns what a batch has handed on, nil if nothing. One step of a batch runs at a time.
func (h *handover) get(key string) *handed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.batches[key]
}

func (h *handover) drop(key string) { h.take(key) }

// take returns what a batch has handed on, and lets go of it.
func (h *handover) take(key string) *handed {
	h.mu.Lock()
	defer h.mu.Unlock()
	b, known := h.batches[key]
	if !known {
		return nil
	}
	delete(h.batches, key)
	h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == key })
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	return b
}

// workshop bounds how many batches are parsed, scored and archived at a time: more than there are
// processors gain nothing, and each holds its pages in memory. Later steps go first.
type workshop struct {
	mu      sync.Mutex
	begun   bool
	free    int
	waiting [steps][]chan struct{}
}

// The steps in the workshop.
const (
	stepAnalyse = iota
	stepScore
	stepArchive
	steps
)

// enter takes a seat; leave gives it back.
func (w *workshop) enter(ctx context.Context, step int) (leave func(), err error) {
	w.mu.Lock()
	if !w.begun {
		w.begun, w.free = true, runtime.GOMAXPROCS(0)+1
	}
	if w.free > 0 {
		w.free--
		w.mu.Unlock()
		return w.leave, nil
	}
	mine := make(chan struct{})
	w.waiting[step] = append(w.waiting[step], mine)
	w.mu.Unlock()
	select {
	case <-mine:
		return w.leave, nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	at := slices.Index(w.waiting[step], mine)
	if at >= 0 {
		w.waiting[step] = slices.Delete(w.waiting[step], at, at+1)
	}
	w.mu.Unlock()
	if at < 0 { // the seat came at the same moment
		w.leave()
	}
	return nil, ctx.Err()
}

func (w *workshop) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for step := steps - 1; step >= 0; step-- {
		if list := w.waiting[step]; len(list) > 0 {
			close(list[0])
			w.waiting[step] = list[1:]
			return
		}
	}
	w.free++
}
