package frontier

import (
	"bytes"
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func same(a, b record) bool { // floats by their bits: NaN is not itself
	return bytes.Equal(a.encode(), b.encode())
}

func FuzzRecord(f *testing.F) {
	for _, r := range []record{
		{},
		{state: stateWaiting, run: 3, place: queue.Position{Priority: 7, Counter: math.MaxUint64}, url: "http://a.example/", path: "SLE"},
		{state: stateDelayed, due: -5, attempts: 255, via: urlKey{1, math.MaxUint64}, scores: aggregate{2, 1.5, 1, .5, 1}},
		{state: stateDone, run: math.MaxUint32, url: strings.Repeat("u", 2083), visit: crawl.Visit{ETag: "e", LastModified: "l", Digest: "d", URL: "u", Date: time.Unix(1e9, 0)}},
		{state: stateFailed, visit: crawl.Visit{Digest: "d"}}, {state: stateRefused},
		{state: stateDone, archive: 12, visit: crawl.Visit{Digest: "sha1:A"}}, {state: stateDone, visit: crawl.Visit{Digest: "7 sha1:A"}},
	} {
		f.Add(r.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		again, err := decodeRecord(r.encode())
		if err != nil || !same(r, again) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}

func FuzzRecordFields(f *testing.F) {
	f.Add(byte(1), uint32(2), byte(3), uint16(4), uint64(5), int64(-6), uint32(7), float32(0.5), uint64(9), "SL", "http://a.example/", "etag", int64(1e9))
	f.Fuzz(func(t *testing.T, state byte, run uint32, attempts byte, priority uint16, counter uint64, due int64, count uint32, score float32, via uint64, path, url, etag string, date int64) {
		archive := int(count % 5)
		r := record{
			state: state&3 + 1, run: run, attempts: attempts, scores: aggregate{count, score, score, -score, score / 3},
			via: urlKey{via, ^via}, archive: archive, path: path, url: url, visit: crawl.Visit{ETag: etag, Digest: url, Date: time.Unix(date, 0).UTC()},
		}
		switch r.state {
		case stateWaiting:
			r.place = queue.Position{Priority: priority, Counter: counter}
		case stateDelayed:
			r.due = due
		}
		b := r.encode()
		got, err := decodeRecord(b)
		if err != nil || !same(r, got) || got.url != url || got.path != path || got.via != r.via || got.visit != r.visit || got.archive != archive || got.place != r.place || got.due != r.due || got.visit.Date.Unix() != date {
			t.Fatalf("%+v became %+v, %v", r, got, err)
		}
		for n := range b { // what is cut off is told, never guessed
			if _, err := decodeRecord(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes were taken for a record", n, len(b))
			}
		}
	})
}

func FuzzQueueKeys(f *testing.F) {
	f.Add(uint16(1), uint64(2), uint16(3), uint64(4), uint16(3), uint64(5))
	f.Add(uint16(1), uint64(2), uint16(0), uint64(0), uint16(65535), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, id uint16, pld uint64, p1 uint16, c1 uint64, p2 uint16, c2 uint64) {
		a, b := queue.Position{Priority: p1, Counter: c1}, queue.Position{Priority: p2, Counter: c2}
		ka, kb := queueKey(id, pld, a), queueKey(id, pld, b)
		order := 0
		if a.Before(b) {
			order = -1
		} else if b.Before(a) {
			order = 1
		}
		if cmp.Compare(bytes.Compare(ka, kb), 0) != order {
			t.Fatalf("%v and %v stand otherwise as keys", a, b)
		}
		if gotPLD, got, ok := parseQueueKey(ka); !ok || gotPLD != pld || got != a || pldOf(ka) != pld {
			t.Fatalf("%v became %v of %d", a, got, gotPLD)
		}
		if queue.Last.Before(a) {
			t.Fatalf("%v stands behind the last place", a)
		}
	})
}

func FuzzDelayedKeys(f *testing.F) {
	f.Add(uint16(1), int64(2), int64(3), uint64(4), uint64(5))
	f.Fuzz(func(t *testing.T, id uint16, at, later int64, pld, url uint64) {
		at, later = max(at, 0), max(later, 0) // delays are after 1970
		ka, kb := delayedKey(id, at, urlKey{pld, url}), delayedKey(id, later, urlKey{pld, url})
		if cmp.Compare(at, later) != bytes.Compare(ka, kb) {
			t.Fatalf("%d and %d stand otherwise as keys", at, later)
		}
		if got, k, ok := parseDelayedKey(ka); !ok || got != at || k != (urlKey{pld, url}) {
			t.Fatalf("%d became %d", at, got)
		}
	})
}

func TestUpdateFunctions(t *testing.T) {
	var nothing aggregate
	var a aggregate
	for _, s := range []float64{0.5, 0.25, 0.75, 0.5} {
		a.add(s)
	}
	for update, want := range map[string]float64{
		crawl.UpdateFirst: 0.5, crawl.UpdateLast: 0.5, crawl.UpdateAvg: 0.5, crawl.UpdateMax: 0.75, crawl.UpdateSum: 2,
	} {
		if got := a.value(update); got != want {
			t.Errorf("%s gives %v, not %v", update, got, want)
		}
		if got := nothing.value(update); got != 0 {
			t.Errorf("%s of nothing gives %v", update, got)
		}
	}
	a.add(-1)
	if a.max != 0.75 || a.last != -1 || a.first != 0.5 || a.count != 5 {
		t.Errorf("%+v", a)
	}
}

func TestPriorityKeepsOrder(t *testing.T) {
	for _, unbounded := range []bool{false, true} {
		before := uint16(0)
		for s := 0.0; s <= 1; s += 1.0 / 4096 {
			p := priority16(s, unbounded)
			if p < before || s > 0 && p == before {
				t.Fatalf("%v stands as high as a lower score (unbounded %v)", s, unbounded)
			}
			before = p
		}
	}
	for score, want := range map[float64]uint16{-1: 0, math.NaN(): 0, math.Inf(1): 65535, 2: 65535} {
		if got := priority16(score, false); got != want {
			t.Errorf("%v becomes %d", score, got)
		}
	}
	if priority16(3, true) <= priority16(2, true) {
		t.Error("sums above 1 lose their order")
	}
}
