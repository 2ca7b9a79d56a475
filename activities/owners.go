package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// OwnersInput asks whose URLs are.
type OwnersInput struct {
	Crawl string   `json:"crawl"`
	URLs  []string `json:"urls"`
}

// Owners names the worker that takes each URL; empty if its partition has no owner at present. A text that is no URL is anybody's: the
// first worker's, which says what is wrong with it. It runs on the shared queue.
func (a *Activities) Owners(_ context.Context, in OwnersInput) ([]string, error) {
	view := a.Membership.present(a.Now())
	if view == nil {
		return nil, errAway
	}
	owners := make([]string, len(in.URLs))
	for i, text := range in.URLs {
		u, err := urls.ParseSeed(text)
		if err != nil {
			owners[i] = view.Workers[0].Name
			continue
		}
		owner, _ := view.Owner(ring.PartitionOf(u.PLD()))
		owners[i] = owner.Name
	}
	return owners, nil
}

// owner says by the newest view which worker, by its index in the ring, owns a partition; −1: nobody at present. Without a view all are one's.
func (m *Membership) owner() func(partition int) int {
	var view *ring.View
	if m != nil {
		m.With(func(rules *ring.Membership) { view = rules.View() })
	}
	return func(partition int) int {
		if view == nil {
			return -1
		}
		if w, owned := view.Owner(partition); owned {
			return int(w.Index)
		}
		return -1
	}
}
