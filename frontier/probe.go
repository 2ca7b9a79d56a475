package frontier

import "github.com/muninn-archive/muninn/frontier/internal/store"

// Probe returns once the frontier has answered as it does to a claim: its lock was free, and its store could be read. It is for those
// who watch a worker; it may hang where the frontier does.
func (f *Frontier) Probe() error {
	f.mu.Lock()
	id := f.nextID
	f.mu.Unlock()
	return f.store.View(func(txn store.Reader) error {
		_, err := txn.Load(id.Plan(), &planRecord{})
		return err
	})
}
