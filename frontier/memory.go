package frontier

import "github.com/dgraph-io/badger/v4"

// Remember keeps what a crawl remembers of its pages beside what its order has learned, in place of what it remembered before.
func (f *Frontier) Remember(name string, raw []byte) error {
	f.remembering.Lock()
	defer f.remembering.Unlock()
	id, err := f.idOf(name)
	if err != nil {
		return err
	}
	var former parted
	err = f.view(func(txn *badger.Txn) error {
		_, err := getCBOR(txn, partsKey(kindMemory, id), &former)
		return err
	})
	if err != nil {
		return err
	}
	return f.keepParts(kindMemory, id, former.Seq+1, raw, func(tx *transaction) (func(), error) { return nil, nil })
}

// Memory is what Remember has kept; nil if it was nothing.
func (f *Frontier) Memory(name string) (raw []byte, err error) {
	id, err := f.idOf(name)
	if err != nil {
		return nil, err
	}
	err = f.view(func(txn *badger.Txn) (err error) {
		_, raw, err = readParts(txn, kindMemory, id)
		return err
	})
	return raw, err
}

func (f *Frontier) idOf(name string) (uint16, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(name)
	if err != nil {
		return 0, err
	}
	return s.id, nil
}
