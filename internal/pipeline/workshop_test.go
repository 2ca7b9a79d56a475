package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// bench is a workshop with some seats for batches that have names.
type bench struct {
	t *testing.T
	w Workshop
	// in has the batches that have got a seat since the last look; waits those without a seat.
	waits map[string]chan struct{}
}

func newBench(t *testing.T, seats int) *bench {
	return &bench{t, Workshop{seats: seats}, map[string]chan struct{}{}}
}

// come lets a batch reach a step; its name begins with that of its crawl.
func (b *bench) come(name string, step Step) {
	mine := make(chan struct{})
	b.waits[name] = mine
	b.w.stand(name[:1], step, mine)
	b.w.seat()
}

// seated lists the batches that have got a seat since the last call.
func (b *bench) seated() string {
	var list []string
	for name, seat := range b.waits {
		select {
		case <-seat:
			list = append(list, name)
			delete(b.waits, name)
		default:
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (b *bench) expect(want string) {
	b.t.Helper()
	if got := b.seated(); got != want {
		b.t.Errorf("seats for %q, want %q", got, want)
	}
}

// Within a crawl, seats go to the latest step, and there to the batch that came first.
func TestWorkshopSteps(t *testing.T) {
	b := newBench(t, 2)
	b.come("a1", StepParse)
	b.come("a2", StepParse)
	b.expect("a1 a2")
	b.come("a3", StepParse)
	b.come("a4", StepArchive)
	b.come("a5", StepJudge)
	b.come("a6", StepJudge)
	b.expect("")
	for _, want := range []string{"a4", "a5", "a6", "a3"} {
		b.w.leave("a")
		b.expect(want)
	}
}

// Crawls share the seats equally, however many waiting batches each has.
func TestWorkshopIsFair(t *testing.T) {
	b := newBench(t, 3)
	for i := range 10 {
		b.come(fmt.Sprint("a", i), StepArchive)
	}
	b.expect("a0 a1 a2")
	b.come("b1", StepParse) // at once: its crawl has no seat
	b.expect("b1")
	b.come("b2", StepParse)
	b.come("c1", StepParse)
	b.come("d1", StepParse)
	b.expect("c1 d1") // six seats are taken
	b.come("e1", StepParse)
	b.expect("")
	b.w.leave("c")
	b.expect("e1")
	b.w.leave("d")
	b.w.leave("e")
	b.expect("") // four are taken, of three
	b.w.leave("a")
	b.expect("")
	b.w.leave("a")
	b.expect("a3") // one each, and the last seat of a was given before that of b
	b.w.leave("a")
	b.expect("b2")
	b.w.leave("b")
	b.w.leave("b")
	b.expect("a4 a5")
}

// A batch that stops waiting gets no seat, and no seat is lost.
func TestWorkshopLeave(t *testing.T) {
	w := Workshop{seats: 1}
	leave, err := w.Enter(t.Context(), "a", StepParse)
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Enter(impatient, "a", StepArchive); !errors.Is(err, context.Canceled) {
		t.Fatalf("a seat for a batch that does not wait: %v", err)
	}
	if len(w.turns)+len(w.waiting) != 0 {
		t.Errorf("%v still wait", w.turns)
	}
	leave()
	if leave, err = w.Enter(t.Context(), "a", StepArchive); err != nil || w.taken != 1 {
		t.Fatal(err)
	}
	if leave(); w.taken != 0 || len(w.held) != 0 {
		t.Errorf("%d seats are taken: %v", w.taken, w.held)
	}
}
