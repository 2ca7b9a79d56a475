package store

import (
	"encoding/binary"
	"iter"
	"sync"
)

// Bounds of the records in memory: longer ones are read from Badger each time.
const (
	recentRecords = 1 << 15
	recentBytes   = 1 << 10 // of a record
)

// recent has the records of URLs that were read or written last, encoded. Nearly all links of a page lead to URLs that are known, mostly
// those that the pages before it led to; and a Get of Badger looks into the tables of all levels, for any of them may have a newer version.
//
// Readers get from it what their snapshot of the store holds:
//   - a record leaves memory when a transaction writes it, and is there again, as it was written, once that is committed;
//   - each record has the number of the last commit that it may be of, and a reader that was there before that commit does not get it;
//   - only a transaction keeps what it has read. Transactions do not overlap, so that its snapshot is the last one, unless a batch is
//     being written, or has been since it opened: nothing that was read is kept then. What it writes no batch writes meanwhile.
//
// It is not an LRU of the package cache: in a crawl whose URLs do not come back, its lists and maps made an offered link dearer
// by a fifth. A record has its place in a set by the hash of its URL, and takes the room of the one there that was used least recently.
type recent struct {
	mu      sync.Mutex
	sets    [][recentWays]recentRow
	uses    uint64
	commits uint64 // transactions that were committed, and batches that have begun or ended
	batches int    // that are being written
}

const recentWays = 4

type recentRow struct {
	key   recordKey
	value []byte // empty: it is not known
	at    uint64 // commits when it was known to be the last
	used  uint64
}

// recordKey is the key of a record.
type recordKey [prefixLen + 16]byte

// written is a record that a transaction has written; of a deleted one value is nil.
type written struct {
	key   recordKey
	value []byte
}

func newRecent() *recent {
	return &recent{sets: make([][recentWays]recentRow, recentRecords/recentWays)}
}

// ofRecord is the key as that of a record; false of a key of another kind.
func ofRecord(key Key) (k recordKey, ok bool) {
	if len(key) != len(k) || Kind(key[0]) != Records {
		return k, false
	}
	return recordKey(key), true
}

// row is the place of a record, nil if it has none; r.mu is held.
func (r *recent) row(key *recordKey) *recentRow {
	set := r.set(key)
	for i := range set {
		if row := &set[i]; row.key == *key {
			return row
		}
	}
	return nil
}

func (r *recent) set(key *recordKey) *[recentWays]recentRow {
	hash := binary.BigEndian.Uint64(key[prefixLen+8:])
	return &r.sets[hash%uint64(len(r.sets))]
}

// put gives a record a place; r.mu is held.
func (r *recent) put(key *recordKey, value []byte) {
	row := r.row(key)
	if row == nil {
		if len(value) == 0 || len(value) > recentBytes {
			return
		}
		set := r.set(key)
		row = &set[0]
		for i := range set {
			if set[i].used < row.used {
				row = &set[i]
			}
		}
	}
	if len(value) > recentBytes {
		value = nil
	}
	r.uses++
	row.key, row.value, row.at, row.used = *key, append(row.value[:0], value...), r.commits, r.uses
}

// now is asked for before a snapshot is taken: what was committed by then, the snapshot has.
func (r *recent) now() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits
}

// get calls read with a record, if it is in memory, for a snapshot that was taken after so many commits.
func (r *recent) get(key recordKey, after uint64, read func(value []byte) error) (found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.row(&key)
	if row == nil || len(row.value) == 0 || row.at > after {
		return false, nil
	}
	r.uses++
	row.used = r.uses
	return true, read(row.value)
}

// keep takes what a transaction has read from its snapshot.
func (r *recent) keep(key recordKey, value []byte, after uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.batches == 0 && r.commits == after {
		r.put(&key, value)
	}
}

// drop forgets a record that a transaction writes.
func (r *recent) drop(key recordKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row := r.row(&key); row != nil {
		row.value = row.value[:0]
	}
}

// committed takes what a transaction has written, in its order.
func (r *recent) committed(wrote []written) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits++
	for i := range wrote {
		r.put(&wrote[i].key, wrote[i].value)
	}
}

// batch forgets everything while do writes a batch, if there are records among its keys.
func (r *recent) batch(keys iter.Seq[Key], do func() error) error {
	for key := range keys {
		if _, is := ofRecord(key); is {
			r.change(1)
			defer r.change(-1)
			break
		}
	}
	return do()
}

func (r *recent) change(batches int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches += batches
	r.commits++
	for i := range r.sets {
		for j := range r.sets[i] {
			r.sets[i][j].value = r.sets[i][j].value[:0]
		}
	}
}
