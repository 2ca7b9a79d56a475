package pipeline

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Workshop bounds how many batches are parsed, scored and archived at a time: more than there are processors gain nothing,
// and each holds its pages in memory. Crawls share the seats alike: a seat that becomes free goes to the crawl that holds
// fewest, alternately among equals, and there to the latest step, for that releases memory first. A crawl without any seat
// does not wait until a large batch of another has been parsed: there are as many further seats for such crawls.
type Workshop struct {
	mu      sync.Mutex
	seats   int // 0: one more than processors
	taken   int
	held    map[string]int     // seats, by crawl
	waiting map[string]*inLine // by crawl
	turns   []string           // crawls that wait, those first whose last seat is longest ago
}

// inLine are the batches of a crawl that wait, by step.
type inLine [steps][]chan struct{}

// Step is one in the workshop.
type Step int

// The steps in the workshop.
const (
	StepParse Step = iota
	StepJudge
	StepArchive
	steps
)

// Enter takes a seat; leave gives it back.
func (w *Workshop) Enter(ctx context.Context, crawl string, step Step) (leave func(), err error) {
	mine := make(chan struct{})
	w.mu.Lock()
	w.stand(crawl, step, mine)
	w.seat()
	w.mu.Unlock()
	select {
	case <-mine:
		return func() { w.leave(crawl) }, nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	waited := w.withdraw(crawl, step, mine)
	w.mu.Unlock()
	if !waited { // the seat came at the same moment
		w.leave(crawl)
	}
	return nil, ctx.Err()
}

func (w *Workshop) leave(crawl string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken--
	if w.held[crawl]--; w.held[crawl] == 0 {
		delete(w.held, crawl)
	}
	w.seat()
}

// stand lets a batch wait.
func (w *Workshop) stand(crawl string, step Step, mine chan struct{}) {
	if w.waiting == nil {
		w.held, w.waiting = map[string]int{}, map[string]*inLine{}
	}
	if w.seats == 0 {
		w.seats = runtime.GOMAXPROCS(0) + 1
	}
	if w.waiting[crawl] == nil {
		w.waiting[crawl] = &inLine{}
		w.turns = append(w.turns, crawl)
	}
	w.waiting[crawl][step] = append(w.waiting[crawl][step], mine)
}

// withdraw takes one out that waits no longer; false if it has a seat.
func (w *Workshop) withdraw(crawl string, step Step, mine chan struct{}) bool {
	list := w.waiting[crawl]
	if list == nil {
		return false
	}
	at := slices.Index(list[step], mine)
	if at < 0 {
		return false
	}
	list[step] = slices.Delete(list[step], at, at+1)
	w.turned(crawl)
	return true
}

// seat gives away the seats that may be.
func (w *Workshop) seat() {
	for len(w.turns) > 0 {
		crawl := slices.MinFunc(w.turns, func(a, b string) int { return w.held[a] - w.held[b] }) // the first of equals
		if w.taken >= 2*w.seats || w.taken >= w.seats && w.held[crawl] > 0 {
			return
		}
		list := w.waiting[crawl]
		step := Step(steps - 1)
		for len(list[step]) == 0 {
			step--
		}
		close(list[step][0])
		list[step] = list[step][1:]
		w.taken++
		w.held[crawl]++
		w.turned(crawl)
	}
}

// turned puts a crawl last, or out if nothing of it waits.
func (w *Workshop) turned(crawl string) {
	at := slices.Index(w.turns, crawl)
	w.turns = slices.Delete(w.turns, at, at+1)
	for _, list := range w.waiting[crawl] {
		if len(list) > 0 {
			w.turns = append(w.turns, crawl)
			return
		}
	}
	delete(w.waiting, crawl)
}
