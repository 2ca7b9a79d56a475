package frontier

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// SpreadCrawls lists the crawls that are spread over the workers.
func (f *Frontier) SpreadCrawls() (names []string, err error) {
	err = f.Export(func(e *Export) (err error) {
		names, err = e.Of(SpreadCrawls).Names()
		return err
	})
	return names, err
}

// freeCheck is how often Free looks again when nothing has changed.
const freeCheck = time.Minute

// Free returns those of some partitions in which no claim of some crawls is in progress, as soon as there is one.
func (f *Frontier) Free(ctx context.Context, of Choice, list []Partition) ([]Partition, error) {
	for {
		f.mu.Lock()
		changed := f.changed
		taken := map[Partition]bool{}
		for _, s := range f.crawls {
			if !s.chosen(of) {
				continue
			}
			for c := range s.claims.All() {
				taken[store.PartitionOf(c.Queue)] = true
			}
		}
		f.mu.Unlock()
		free := slices.DeleteFunc(slices.Clone(list), func(p Partition) bool { return taken[p] })
		if len(free) > 0 {
			return free, nil
		}
		if err := f.wait(ctx, changed, f.opts.Now().Add(freeCheck)); err != nil {
			return nil, err
		}
	}
}

// CheckFree returns ErrBusy if a claim of some crawls is in progress in a partition, once all mutations that began before it are on disk, or
// have failed.
func (f *Frontier) CheckFree(of Choice, p Partition) error {
	if err := f.update(func(*transaction) (func(), error) { return nil, nil }); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var crawls []*state
	for _, s := range f.crawls {
		if s.chosen(of) {
			crawls = append(crawls, s)
		}
	}
	return claimedIn(crawls, p)
}

// Unbind gives back the claims of some crawls in some partitions that wait for their lease, and lists the batches by crawl that the others are
// bound to.
func (f *Frontier) Unbind(of Choice, list []Partition) (map[string][]string, error) {
	in := map[Partition]bool{}
	for _, p := range list {
		in[p] = true
	}
	f.mu.Lock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.crawls)) {
		if s := f.crawls[name]; s.chosen(of) && s.claims.Len() > 0 {
			names = append(names, name)
		}
	}
	f.mu.Unlock()
	batches := map[string][]string{}
	for _, name := range names {
		err := f.Crawl(name).updateClaims(func(s *state) (claims.Change, error) {
			all := s.claims.Where(func(c *Claim) bool { return in[store.PartitionOf(c.Queue)] })
			bound := map[string]bool{}
			for _, c := range all {
				if c.Batch != "" {
					bound[c.Batch] = true
				}
			}
			batches[name] = slices.Sorted(maps.Keys(bound))
			all = slices.DeleteFunc(all, func(c *Claim) bool { return c.Batch != "" })
			return s.claims.Drop(all, s.terms()), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return batches, nil
}
