// Package migrate brings a store that an earlier version of Muninn has written into the present format. A store has its format under
// store.Format; one without it, and with keys, is of format 1.
//
// Format 2 has the hash of the PLD in front of all keys that belong to one, and in a record the URL of the page that its URL was found
// on, in place of the key of that page's record.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// Present is the format that this version reads and writes; oldest is the first that it migrates.
const (
	Present = 2
	oldest  = 1
)

// ErrFormat says that a store is of a format that this version cannot read.
var ErrFormat = errors.New("the frontier is of another format")

// Options of a migration; the zero value will do.
type Options struct {
	Log  *slog.Logger // nil: nothing is logged
	Part int          // entries that are moved in a transaction; partEntries if 0
}

// Up brings a store up to the present format. Each transaction moves some entries whole: cut off, by the context or by a kill, the
// next call moves the others. ErrFormat if the store is of a format that is too old or too new.
func Up(ctx context.Context, s *store.Store, o Options) error {
	format, err := formatOf(s)
	if err != nil {
		return err
	}
	switch {
	case format == Present:
		return nil
	case format > Present:
		return fmt.Errorf("%w: it has format %d, and this version of Muninn reads formats %d to %d: start the version that wrote it, or a later one", ErrFormat, format, oldest, Present)
	case format == empty:
		return setFormat(s)
	case format < oldest:
		return fmt.Errorf("%w: it has format %d, and this version of Muninn reads formats %d to %d: start an earlier version, which migrates it; or move the folder away: "+
			"then the next runs of its crawls restore what they knew from the archive", ErrFormat, format, oldest, Present)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Part == 0 {
		o.Part = partEntries
	}
	m := migration{store: s, log: o.Log, part: o.Part, began: time.Now()}
	if err := m.run(ctx); err != nil {
		return fmt.Errorf("bring the frontier from format %d to %d (it continues with the next start): %w", format, Present, err)
	}
	return setFormat(s)
}

// empty is the format of a store without a key.
const empty = -1

func formatOf(s *store.Store) (format int, err error) {
	err = s.View(func(r store.Reader) error {
		found, err := r.Load(store.Format(), &format)
		if found || err != nil {
			return err
		}
		format = empty
		return r.Keys(nil, func(store.Key) (bool, error) {
			format = oldest
			return false, nil
		})
	})
	return format, err
}

func setFormat(s *store.Store) error {
	return s.Update(func(tx store.Tx) error { return tx.Save(store.Format(), Present) })
}
