package frontier

import (
	"errors"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// transaction is what a group of mutations makes durable together, one after the other. Memory shows nothing of it until it is
// on disk, so it carries what the later mutations of the group must know of the earlier ones.
type transaction struct {
	store.Tx
	drafts  map[*state]*crawlRecord // records of crawls as the mutations so far leave them
	added   map[string]*state       // crawls that begin in it
	touched map[queueRef]int        // queue → the mutation that rests on what memory says of it
	turn    int                     // number of the mutation that is being made
	moving  map[Partition]Choice    // partitions whose move begins in it
	unread  error                   // of reading a crawl that slept: the mutation fails
}

type queueRef struct {
	crawl *state // nil: the host of the queue, which all crawls share
	pld   uint64
}

func newTransaction(tx store.Tx) *transaction {
	return &transaction{Tx: tx, drafts: map[*state]*crawlRecord{}, touched: map[queueRef]int{}}
}

// errTogether makes commit try the mutations of a group one by one.
var errTogether = errors.New("two writes of a group concern the same queue")

// touch is called by mutations that rest on what memory says of a queue or its claim: memory does not
// show yet what an earlier mutation of the group did to it.
func (tx *transaction) touch(s *state, pld uint64) error {
	at := queueRef{s, pld}
	if by, touched := tx.touched[at]; touched && by != tx.turn {
		return errTogether
	}
	tx.touched[at] = tx.turn
	return nil
}

// touchRelease touches the queue of a lease, or of a loan, whose journal entry is written or deleted.
func (tx *transaction) touchRelease(s *state, lease string) error {
	return tx.touch(s, store.PLDOf(lease))
}

// addCrawl notes a crawl that begins in the transaction.
func (tx *transaction) addCrawl(name string, s *state) {
	if tx.added == nil { // few transactions begin one
		tx.added = map[string]*state{}
	}
	tx.added[name] = s
}

// move notes a partition whose move begins in the transaction.
func (tx *transaction) move(p Partition, of Choice) {
	if tx.moving == nil {
		tx.moving = map[Partition]Choice{}
	}
	tx.moving[p] = of
}

// draft is the crawl's record as the transaction leaves it. Only through it is the record changed: the mutations of a group
// see each other's changes.
func (f *Frontier) draft(tx *transaction, s *state) *crawlRecord {
	rec, known := tx.drafts[s]
	if !known {
		f.mu.Lock()
		tx.unread = errors.Join(tx.unread, s.forgotten(), f.awake(s))
		copied := s.crawlRecord
		f.mu.Unlock()
		copied.Top = slices.Clone(copied.Top)
		copied.DroppedURLs = slices.Clone(copied.DroppedURLs)
		copied.OwingNumbers, copied.Owing = slices.Clone(copied.OwingNumbers), slices.Clone(copied.Owing)
		copied.Traps = slices.Clone(copied.Traps)
		copied.planned = false
		rec = &copied
		tx.drafts[s] = rec
	}
	return rec
}

// writeDrafts writes the records of crawls that have changed.
func (tx *transaction) writeDrafts() error {
	for s, rec := range tx.drafts {
		if err := tx.Save(store.Crawl(s.Name), rec); err != nil {
			return err
		}
		if !rec.planned {
			continue
		}
		if err := tx.Save(s.keys.Plan(), rec.planRecord); err != nil {
			return err
		}
	}
	return nil
}
