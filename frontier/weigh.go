package frontier

import (
	"math"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// maxStale is how many entries at the head of a queue a claim moves down at most, times what it takes.
const maxStale = 4

// staleBy is how far the priority of an entry must have changed for it to be moved: a fiftieth of the scale.
const staleBy = math.MaxUint16 / 50

// Beside the head of its queue, a claim weighs others of its entries again where the order learns, and continues where the
// last has stopped: so all entries move up and down in the end. They are sweepTimes what the claim takes, and at most
// maxSweep.
const (
	sweepTimes = 20
	maxSweep   = 1000
)

// Where the order learns, a claim takes few URLs but those that are nearly as good as the first: of a queue that has
// little to give, it is better to learn of a few before the others are asked for.
const (
	fewURLs  = 3
	nearlyAs = 0.8 // of the first one's priority
)

// enough reports whether the claim need not take the entry at a position.
func (c *candidate) enough(entries []queuedURL, at queue.Position) bool {
	pages := entries[min(requisites(entries), len(entries)):]
	return c.whole != nil && len(pages) >= fewURLs && float64(at.Priority) < nearlyAs*float64(pages[0].at.Priority)
}

// requisites counts the requisites at the head of a queue.
func requisites(entries []queuedURL) int {
	n := 0
	for n < len(entries) && entries[n].class == crawl.ClassRequisite {
		n++
	}
	return n
}

// head reads the first live entries of a queue, and where the queue begins and continues behind them. Entries
// whose priority is lower than when they were queued give way to others.
func (f *Frontier) head(s *state, c *candidate) (entries []queuedURL, err error) {
	c.floor, c.after = queue.Last, queue.Last
	pages := 0
	err = f.store.View(func(txn store.Reader) error {
		bandits := openSites(txn, s.keys, c.whole)
		pld := c.queue.PLD
		if err := c.readTraps(txn, s.keys); err != nil {
			return err
		}
		err := txn.Scan(s.keys.Entries(pld), s.keys.Entry(pld, c.from), func(key store.Key, value []byte) (bool, error) {
			e, ok := entryOf(key, value)
			if !ok {
				return true, nil
			}
			if e.at.Before(c.floor) {
				c.floor = e.at
			}
			if len(entries) == c.limit || len(c.closed) == closedAtOnce || c.enough(entries, e.at) {
				c.after = e.at
				return false, nil
			}
			found, err := e.read(txn, s.keys)
			if err != nil || !found {
				return err == nil, err
			}
			e.class = crawl.ClassOf(e.rec.Path)
			if e.class != crawl.ClassRequisite && pages == c.pages && c.stopped == "" {
				if e.at.Requisite() { // of an earlier version: it gets its position among the pages
					e.now = e.at.Priority - 1
					c.stale = append(c.stale, e)
				}
				c.after = e.at
				return false, nil
			}
			if c.closes(&e) {
				c.closed = append(c.closed, e)
				return true, nil
			}
			if len(c.stale) < maxStale*c.limit {
				stale, err := e.weigh(bandits, c)
				if err != nil {
					return false, err
				}
				if stale && e.now < e.at.Priority {
					c.stale = append(c.stale, e)
					return true, nil
				}
			}
			if entries = append(entries, e); e.class == crawl.ClassPage {
				pages++
			}
			return true, nil
		})
		if err != nil || c.whole == nil {
			return err
		}
		return sweep(txn, s.keys, c, pages, bandits)
	})
	return entries, err
}

// sweep weighs entries of a queue behind its head again, from where the last sweep has stopped.
func sweep(txn store.Reader, keys store.Keys, c *candidate, claimed int, bandits *sites) error {
	from := c.sweep
	if from == (queue.Position{}) || from.Before(c.after) {
		from = c.after
	}
	left := min(sweepTimes*claimed, maxSweep)
	c.sweep = queue.Position{}
	pld := c.queue.PLD
	return txn.Scan(keys.Entries(pld), keys.Entry(pld, from), func(key store.Key, value []byte) (bool, error) {
		e, ok := entryOf(key, value)
		if !ok {
			return true, nil
		}
		if left--; left < 0 {
			c.sweep = e.at
			return false, nil
		}
		found, err := e.read(txn, keys)
		if err != nil || !found {
			return err == nil, err
		}
		stale, err := e.weigh(bandits, c)
		if stale {
			c.stale = append(c.stale, e)
		}
		return true, err
	})
}

// entryOf reads an entry of a queue; false of anything else.
func entryOf(key store.Key, value []byte) (e queuedURL, ok bool) {
	e.key, e.at, ok = store.EntryOf(key, value)
	return e, ok
}

func (e *queuedURL) read(txn store.Reader, keys store.Keys) (found bool, err error) {
	e.rec, found, err = txn.Record(keys.Record(e.key))
	return found, err
}

// weigh works out the priority of an entry by what is known now, and whether it stands in a wrong position.
func (e *queuedURL) weigh(bandits *sites, c *candidate) (stale bool, err error) {
	factor := c.suspicion(e)
	if factor == 1 && e.rec.Group == 0 && (c.whole == nil || len(e.rec.Features) == 0) {
		return false, nil
	}
	e.now, err = bandits.priority(e.key.PLD, &e.rec, c.plan)
	e.now = uint16(float64(e.now) * factor)
	return max(e.now, e.at.Priority)-min(e.now, e.at.Priority) > staleBy, err
}

// maxMoves bounds the entries that a round gives another place, and maxMoved what is written with them in bytes, for it is one
// transaction. The others are found again.
const (
	maxMoves = 4000
	maxMoved = 2 << 20
)

// moves are those that a round may still make.
type moves struct{ entries, bytes int }

// move gives the entries whose priority has changed their new position, as many as are left of a round's.
func (e *edit) move(c *candidate, left *moves) error {
	for _, entry := range c.stale {
		left.entries--
		left.bytes -= len(entry.rec.URL) + len(entry.rec.Features) + len(entry.rec.OtherFeatures) + len(entry.rec.Parts)
		if left.entries < 0 || left.bytes < 0 || e.f.isMoving(e.transaction, e.s, entry.key.PLD) {
			return nil
		}
		r, found, err := e.Record(e.s.keys.Record(entry.key))
		if err != nil {
			return err
		}
		if !found || r.State != record.Waiting || r.Position != entry.at {
			continue // it was claimed, fetched or scored again meanwhile
		}
		if err := e.enqueue(entry.key, &r, entry.now, true); err != nil {
			return err
		}
	}
	return nil
}
