package frontier

import (
	"bytes"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// rebuildWorker stands for a worker in the notes of rebuilds: no worker has such a name.
const rebuildWorker = "@rebuild"

// RebuildNotes are what SetRebuildNote has left in some partitions.
func (h Crawl) RebuildNotes(list []Partition) (map[Partition][]byte, error) {
	s, err := h.state()
	if err != nil {
		return nil, err
	}
	notes := map[Partition][]byte{}
	return notes, h.f.store.View(func(txn store.Reader) error {
		for _, p := range list {
			err := txn.Scan(s.keys.DeliveredBy(p, rebuildWorker), nil, func(_ store.Key, note []byte) (bool, error) {
				notes[p] = bytes.Clone(note)
				return false, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SetRebuildNote notes in partitions how far their rebuild is; nil takes the notes away. What is noted is on disk with all that was brought in before. A note
// goes with what its partition has: Import and Drop delete it. ErrMoving while one of the partitions is being moved.
func (h Crawl) SetRebuildNote(list []Partition, note []byte) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		for _, p := range list {
			if s.chosen(max(h.f.moves.now[p], tx.moving[p])) {
				return nil, ErrMoving
			}
			key := s.keys.Delivered(p, rebuildWorker, 0, "", 0)
			err := tx.Delete(key)
			if note != nil {
				err = tx.Set(key, note)
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}
