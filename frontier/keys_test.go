package frontier

import (
	"bytes"
	"cmp"
	"math"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
)

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
		ka, kb := delayedKey(id, at, record.Key{PLD: pld, URL: url}), delayedKey(id, later, record.Key{PLD: pld, URL: url})
		if cmp.Compare(at, later) != bytes.Compare(ka, kb) {
			t.Fatalf("%d and %d stand otherwise as keys", at, later)
		}
		if got, k, ok := parseDelayedKey(ka); !ok || got != at || k != (record.Key{PLD: pld, URL: url}) {
			t.Fatalf("%d became %d", at, got)
		}
	})
}
