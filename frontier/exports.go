package frontier

import (
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Original finds the capture in an archive that holds a payload digest already, among the pages of a URL's PLD.
func (h URLs) Original(archive int, url, digest string) (v crawl.Visit, found bool) {
	s, err := h.state()
	if err != nil {
		return v, false
	}
	u, err := urls.Trusted(url)
	if err != nil {
		return v, false
	}
	err = h.f.store.View(func(txn store.Reader) (err error) {
		found, err = txn.Load(s.keys.Digest(record.KeyOf(u).PLD, archive, digest), &v)
		return err
	})
	return v, found && err == nil
}

// Samples calls fn with the samples that the batches of the run left.
func (h Learning) Samples(fn func(raw []byte) error) error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	run := uint32(0)
	if err == nil {
		run = s.Run
	}
	h.f.mu.Unlock()
	if err != nil {
		return err
	}
	return h.f.store.View(func(txn store.Reader) error {
		return txn.Scan(s.keys.Sample(run, ""), nil, func(_ store.Key, value []byte) (bool, error) {
			return true, fn(slices.Clone(value))
		})
	})
}

// Known calls fn with every URL that the frontier knows of the crawl, for tests and exports.
func (h URLs) Known(fn func(url, state string) error) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	return h.f.store.View(func(txn store.Reader) error {
		return txn.Scan(s.keys.All(store.Records), nil, func(_ store.Key, value []byte) (bool, error) {
			r, err := record.Decode(value)
			if err != nil {
				return false, err
			}
			if r.State == record.Same {
				return true, nil
			}
			return true, fn(r.URL, r.State.String())
		})
	})
}
