package migrate

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// A transaction of the store holds some 4.8 MB and 50,000 entries, and each takes some hundred bytes beside those that are counted here.
const (
	partEntries = 5000
	partBytes   = 2 << 20
)

// maxPages bounds the pages, and the hosts, that are remembered while records are moved: the links of a page lie far apart.
const maxPages = 100_000

// logEvery is how often a migration says how far it is.
const logEvery = 10 * time.Second

type page struct {
	crawl store.Keys
	of    record.Key
}

type host struct {
	crawl store.Keys
	name  string
}

// migration moves the entries of a store.
type migration struct {
	store       *store.Store
	log         *slog.Logger
	part        int
	began, said time.Time
	done, all   int
	pages       map[page]string
	hosts       map[host]bool
}

// moved is what a transaction moves.
type moved struct {
	store.Tx
	*migration
	entries []entry
	deleted []store.Key
	bytes   int
}

type entry struct {
	key   store.Key
	value []byte
}

func (m *moved) set(key store.Key, value []byte) {
	m.entries = append(m.entries, entry{key, bytes.Clone(value)})
	m.bytes += len(key) + len(value)
}

func (m *migration) run(ctx context.Context) error {
	m.pages, m.hosts = map[page]string{}, map[host]bool{}
	if err := m.count(); err != nil {
		return err
	}
	m.log.Info("the frontier was written by an earlier version and is brought into the present format", "entries", m.all)
	m.said = time.Now()
	for _, s := range steps {
		var from store.Key
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if from, more, err = m.move(s, from); err != nil {
				return err
			}
			if time.Since(m.said) >= logEvery {
				m.said = time.Now()
				m.log.Info("the frontier is brought into the present format", "moved", m.done, "entries", m.all, "seconds", int(time.Since(m.began).Seconds()))
			}
		}
	}
	m.log.Info("the frontier has the present format", "moved", m.done, "seconds", int(time.Since(m.began).Seconds()))
	return nil
}

// count counts what is to be moved.
func (m *migration) count() error {
	return m.store.View(func(r store.Reader) error {
		for _, s := range steps {
			err := r.Keys(store.Key{byte(s.kind)}, func(store.Key) (bool, error) {
				m.all++
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// move moves entries of a kind in one transaction, from a key on, and returns where the next one begins: the deleted ones before it
// need not be passed again.
func (m *migration) move(s step, from store.Key) (next store.Key, more bool, err error) {
	moving, deleted := 0, 0
	err = m.store.Update(func(tx store.Tx) error {
		now := &moved{Tx: tx, migration: m}
		err := tx.Scan(store.Key{byte(s.kind)}, from, func(key store.Key, value []byte) (bool, error) {
			if moving == m.part || now.bytes >= partBytes {
				next, more = bytes.Clone(key), true
				return false, nil
			}
			moving++
			now.deleted = append(now.deleted, bytes.Clone(key))
			return true, s.present(now, key, value)
		})
		if err != nil {
			return err
		}
		for _, e := range now.entries {
			if err := tx.Set(e.key, e.value); err != nil {
				return err
			}
		}
		for _, key := range now.deleted {
			if err := tx.Delete(key); err != nil {
				return err
			}
		}
		deleted = len(now.deleted)
		return nil
	})
	m.done += deleted
	return next, more, err
}
