package learner

import (
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// On disk a crawl has a log of updates, one a batch, and from time to time a snapshot, which takes the place of the updates that it holds.

// Load brings up what was learned of a crawl: its snapshot, and the updates behind it.
func (l *Learner) Load(r store.Reader, keys store.Keys) error {
	snapshot, raw, err := r.ReadParts(keys.All(store.Snapshots))
	if err != nil {
		return err
	}
	known := l.TopicSince
	if snapshot.Number > known && l.Restore(snapshot.Number, raw) { // else it is learned again from what comes
		known = snapshot.Number
	}
	err = r.Scan(keys.All(store.Updates), keys.Update(known+1), func(key store.Key, value []byte) (bool, error) {
		var u Update
		if codec.Unmarshal(value, &u) != nil { // it is left out, and its number counts all the same
			u = Update{}
		}
		l.Add(key.Number(), u)
		return true, nil
	})
	l.Train()
	return err
}

// Log writes an update to the log of a crawl.
func (u *Update) Log(tx store.Tx, keys store.Keys, number uint64) error {
	return tx.Save(keys.Update(number), u)
}

// DropLogged deletes the updates that a snapshot holds, which is up to a number.
func DropLogged(tx store.Tx, keys store.Keys, number uint64) error {
	return tx.DeleteBelow(keys.All(store.Updates), keys.Update(number+1))
}
