package frontier

import (
	"errors"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// groupSize is how many writes are made durable together.
const groupSize = 8

// mutation reads and writes in a transaction; apply, which may be nil, brings memory up to date once the transaction is on
// disk. A mutation may run twice, if the group that it came in fails together: what it hands to its caller, it sets again
// each time.
type mutation func(tx *transaction) (apply func(), err error)

type pendingWrite struct {
	do   mutation
	done chan error
}

// update makes a mutation durable. Mutations that come at the same time share one transaction: a
// sync costs milliseconds, whatever it covers.
func (f *Frontier) update(do mutation) error {
	w := pendingWrite{do, make(chan error, 1)}
	select {
	case f.writes <- w:
	case <-f.closed:
		return ErrClosed
	}
	select {
	case err := <-w.done:
		return err
	case <-f.stopped:
	}
	select { // the writer's last group may have held it
	case err := <-w.done:
		return err
	default:
		return ErrClosed
	}
}

// writer makes the mutations durable that come, in groups, until the frontier is closed.
func (f *Frontier) writer() {
	defer close(f.stopped)
	tidy := time.NewTicker(tidyEvery)
	defer tidy.Stop()
	for {
		select {
		case w := <-f.writes:
			group := []pendingWrite{w}
			for len(group) < groupSize {
				select {
				case w := <-f.writes:
					group = append(group, w)
					continue
				default:
				}
				break
			}
			f.commit(group)
		case <-f.tidy:
			f.tidyUp()
		case <-tidy.C:
			f.tidyUp()
		case <-f.closed:
			return
		}
	}
}

// commit writes a group; if it fails together, each is tried alone.
func (f *Frontier) commit(group []pendingWrite) {
	err := f.commitOnce(group)
	if err == nil || len(group) == 1 {
		for _, w := range group {
			w.done <- err
		}
		return
	}
	for _, w := range group {
		w.done <- f.commitOnce([]pendingWrite{w})
	}
}

// commitOnce writes a group in one transaction and, once that is on disk, brings memory up to date.
func (f *Frontier) commitOnce(group []pendingWrite) error {
	var tx *transaction
	var applies []func()
	err := f.store.Update(func(t store.Tx) error {
		tx = newTransaction(t)
		for i, w := range group {
			tx.turn = i
			apply, err := w.do(tx)
			if err = errors.Join(err, tx.unread); err != nil {
				return err
			}
			if apply != nil {
				applies = append(applies, apply)
			}
		}
		return tx.writeDrafts()
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	for s, rec := range tx.drafts {
		s.crawlRecord = *rec
	}
	for _, apply := range applies {
		apply()
	}
	for s := range tx.drafts {
		f.evict(s)
	}
	f.mu.Unlock()
	f.wake()
	return nil
}
