package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// LeaseInput gives a batch the leases that it asked for.
type LeaseInput struct {
	BatchInput
	Grants []politeness.Grant `json:"grants"`
}

// Lease gives a batch's claims the leases that it asked for itself.
func (a *Activities) Lease(ctx context.Context, in LeaseInput) error {
	clock := a.clock(ctx)
	var grants []politeness.Grant
	for _, g := range politeness.Distinct(in.Grants) {
		grants = append(grants, clock.Local(g))
	}
	return a.Frontier.Crawl(in.Crawl).Batch(in.Batch).Lease(grants)
}
