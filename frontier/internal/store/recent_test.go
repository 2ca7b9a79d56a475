package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/frontier/internal/record"
)

// TestRecent has readers, transactions and batches open within each other, at random: each reader gets from memory what its own snapshot
// in Badger has.
func TestRecent(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &recentWorld{t: t, s: open(t, t.TempDir(), Options{NoSync: true}), rand: rand.New(rand.NewPCG(seed, 1)), batched: map[int]bool{}}
			for range 40 {
				w.step(nil, 3)
			}
			if w.hits == 0 || w.failed == 0 {
				t.Errorf("%d reads from memory, %d failed transactions", w.hits, w.failed)
			}
		})
	}
}

type recentWorld struct {
	t            *testing.T
	s            *Store
	rand         *rand.Rand
	inTx         bool
	batched      map[int]bool // keys of batches that are being written
	hits, failed int
	version      int
}

const recentURLs = 6

func (w *recentWorld) key(u int) Key { return Keys(1).Record(record.Key{PLD: 2, URL: uint64(u)}) }

func (w *recentWorld) value() []byte {
	w.version++
	r := record.Record{State: record.Waiting, URL: fmt.Sprintf("http://a.example/%d", w.version), Features: make([]byte, w.rand.IntN(2)*recentBytes)}
	return r.Encode()
}

// step does one thing, and others within it; readers are the readers that are open.
func (w *recentWorld) step(readers []Reader, depth int) {
	within := func(more ...Reader) {
		all := slices.Concat(readers, more)
		for range w.rand.IntN(4) {
			w.read(all)
			if depth > 0 {
				w.step(all, depth-1)
			}
		}
		w.read(all)
	}
	switch n := w.rand.IntN(4); {
	case n == 0:
		must(w.t, w.s.View(func(r Reader) error {
			within(r)
			return nil
		}))
	case n == 1:
		w.batch(func() { within() })
	case !w.inTx: // transactions do not overlap
		w.transaction(within)
	}
	w.read(readers)
}

func (w *recentWorld) transaction(within func(...Reader)) {
	w.inTx = true
	defer func() { w.inTx = false }()
	broken := errors.New("broken")
	err := w.s.Update(func(tx Tx) error {
		for range 1 + w.rand.IntN(3) {
			within(tx.Reader)
			u := w.rand.IntN(recentURLs / 2)
			if w.batched[u] {
				continue
			}
			if w.rand.IntN(4) == 0 {
				must(w.t, tx.Delete(w.key(u)))
			} else {
				must(w.t, tx.Set(w.key(u), w.value()))
			}
		}
		within(tx.Reader)
		if w.rand.IntN(4) == 0 {
			w.failed++
			return broken
		}
		return nil
	})
	if err != nil && !errors.Is(err, broken) {
		w.t.Fatal(err)
	}
}

// batch writes or deletes a key that neither the open transaction nor another batch writes.
func (w *recentWorld) batch(within func()) {
	u := w.rand.IntN(recentURLs)
	if w.batched[u] || w.inTx && u < recentURLs/2 {
		return
	}
	w.batched[u] = true
	defer delete(w.batched, u)
	must(w.t, w.s.recent.batch(slices.Values([]Key{w.key(u)}), func() error {
		within()
		err := w.s.db.Update(func(txn *badger.Txn) error {
			if w.rand.IntN(2) == 0 {
				return txn.Delete(w.key(u))
			}
			return txn.Set(w.key(u), w.value())
		})
		within()
		return err
	}))
}

// read compares what memory and Badger say to each reader.
func (w *recentWorld) read(readers []Reader) {
	for _, r := range readers {
		u := w.rand.IntN(recentURLs)
		var want record.Record
		there, err := r.Get(w.key(u), func(value []byte) (err error) {
			want, err = record.Decode(value)
			return err
		})
		must(w.t, err)
		k, _ := ofRecord(w.key(u))
		if hit, _ := r.recent.get(k, r.after, func([]byte) error { return nil }); hit {
			w.hits++
		}
		got, found, err := r.Record(w.key(u))
		must(w.t, err)
		if found != there || got.URL != want.URL {
			w.t.Fatalf("%v %q, in Badger %v %q", found, got.URL, there, want.URL)
		}
	}
}

// TestRecentBounds: memory has the records that were used last, and none that is too long.
func TestRecentBounds(t *testing.T) {
	r := newRecent()
	knows := func(n int) (found bool) {
		found, _ = r.get(recordKey(Keys(1).Record(record.Key{URL: uint64(n)})), r.now(), func(value []byte) error {
			if value[0] != byte(n) {
				t.Errorf("record %d has value %d", n, value[0])
			}
			return nil
		})
		return found
	}
	put := func(n, size int) {
		r.committed([]written{{recordKey(Keys(1).Record(record.Key{URL: uint64(n)})), append([]byte{byte(n)}, make([]byte, size-1)...)}})
	}
	const sets = recentRecords / recentWays
	for i := range recentWays + 1 { // of one set
		put(i*sets, 1+i)
		knows(0)
	}
	put(1, recentBytes)
	put(2, recentBytes+1)
	put(3, 1)
	put(3, recentBytes+1)
	for n, want := range map[int]bool{0: true, sets: false, 2 * sets: true, recentWays * sets: true, 1: true, 2: false, 3: false} {
		if knows(n) != want {
			t.Errorf("record %d: %v", n, !want)
		}
	}
}
