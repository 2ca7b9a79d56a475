package learner

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// update is the update of one page.
func update(i int) Update {
	views := order.ViewsOf(&order.Page{URL: fmt.Sprint("http://a.example/", i), Title: text.NewHashedVector(map[string]float64{fmt.Sprint("word", i): 1})})
	link := order.Link{URL: fmt.Sprint("http://a.example/", i)}
	judged := order.NewFused(nil, order.DefaultSettings()).Judge(&order.Page{URL: "http://a.example/", Score: -1, Links: []order.Link{link}}, nil)
	kept := [][]byte{judged.Links[0].LinkFeatures}
	return Update{Visits: []order.Visit{{PageFeatures: views.Encode(), Worth: float64(i%2) / 2, LinkFeatures: kept}}}
}

func snapshot(t *testing.T, l *Learner) []byte {
	t.Helper()
	_, raw, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Updates are learned in the order in which they were queued, however many goroutines train: a frontier that reads them back from
// disk then learns the same.
func TestTrainedInOrder(t *testing.T) {
	want, got := New(order.DefaultSettings(), 0), New(order.DefaultSettings(), 0)
	var running sync.WaitGroup
	for i := range 200 {
		want.Add(uint64(i+1), update(i))
		want.Train()
		got.Add(uint64(i+1), update(i))
		running.Go(got.Train)
	}
	running.Wait()
	page := &order.Page{URL: "http://a.example/", Score: -1, Links: []order.Link{{URL: "http://a.example/next"}}}
	if a, b := want.Order.Judge(page, nil), got.Order.Judge(page, nil); !reflect.DeepEqual(a, b) {
		t.Errorf("a page is judged %+v, and %+v where many trained at a time", a, b)
	}
	again := New(order.DefaultSettings(), 0)
	if !again.Restore(200, snapshot(t, want)) {
		t.Fatal("a snapshot cannot be read")
	}
	for _, l := range []*Learner{got, again} {
		l.Frozen(func(number uint64) {
			if number != 200 {
				t.Errorf("the last update is %d", number)
			}
		})
	}
}

// Examples of which none can be read, as a later version may write them, leave the former ones in place; of others, what can be read takes their place.
func TestUnreadableExamples(t *testing.T) {
	example := func(i int) []byte { return update(i).Visits[0].PageFeatures }
	later := append(example(9), 1, 2, 3)
	l := New(order.DefaultSettings(), 0)
	for i, c := range []struct {
		examples [][]byte
		want     int
	}{{[][]byte{example(1), example(2)}, 2}, {[][]byte{later, later}, 2}, {nil, 2}, {[][]byte{later, example(3)}, 1}} {
		l.Add(uint64(i+1), Update{Examples: c.examples})
		l.Train()
		if got := l.Order.Examples(); got != c.want {
			t.Errorf("update %d: %d examples, want %d", i+1, got, c.want)
		}
	}
}

// Updates can be queued while a snapshot is encoded, and while others are trained.
func TestQueuedWhileFrozen(t *testing.T) {
	l := New(order.DefaultSettings(), 7)
	l.Frozen(func(number uint64) {
		l.Add(8, update(1))
		if number != 7 {
			t.Errorf("the last update is %d", number)
		}
	})
	l.Train()
	l.Frozen(func(number uint64) {
		if number != 8 {
			t.Errorf("the last update is %d", number)
		}
	})
}

// One snapshot is due at a time, and the next one SnapshotEvery pages later.
func TestDue(t *testing.T) {
	l := New(order.DefaultSettings(), 0)
	add := func(pages int) {
		for range pages {
			l.Add(1, update(1))
		}
		l.Train()
	}
	add(SnapshotEvery - 1)
	if l.Due() {
		t.Error("due too early")
	}
	add(1)
	if !l.Due() || l.Due() || !l.Saving() {
		t.Error("not due, or due twice")
	}
	add(SnapshotEvery)
	if l.Due() {
		t.Error("due while one is written")
	}
	if l.Saved(); l.Saving() || !l.Due() {
		t.Error("the next one is not due")
	}
}

// Pages of other workers count for a quarter.
func TestDueByTaken(t *testing.T) {
	l := New(order.DefaultSettings(), 0)
	l.Every = 8
	for n := range 24 {
		if l.Due() {
			t.Fatalf("due after %d pages of others", n)
		}
		u := update(n)
		u.From = "another"
		l.Add(uint64(n+1), u)
		l.Train()
	}
	for n := range 2 {
		if l.Due() {
			t.Fatalf("due after 24 pages of others and %d of its own", n)
		}
		l.Add(uint64(n+25), update(n))
		l.Train()
	}
	if !l.Due() {
		t.Error("not due after 24 pages of others and 2 of its own")
	}
}

// A snapshot that cannot be read leaves everything as it was.
func TestBrokenSnapshot(t *testing.T) {
	l := New(order.DefaultSettings(), 0)
	l.Add(1, update(1))
	l.Train()
	before := len(snapshot(t, l))
	if l.Restore(9, []byte("no snapshot")) {
		t.Error("read")
	}
	l.AddSnapshot(2, bytes.Repeat([]byte{1}, 9))
	l.Train()
	if after := len(snapshot(t, l)); after != before {
		t.Errorf("%d bytes, %d before", after, before)
	}
}
