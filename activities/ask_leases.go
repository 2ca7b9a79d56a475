package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// AskLeasesInput asks a politeness shard for leases, or withdraws what was asked for.
type AskLeasesInput struct {
	Crawl    string           `json:"crawl"`
	Shard    int              `json:"shard"`
	Reply    string           `json:"reply"` // the workflow that gets the grants
	Asks     []politeness.Ask `json:"asks"`
	Withdraw bool             `json:"withdraw,omitempty"`
}

// AskLeases asks for leases outside of the rounds of a controller, or withdraws what was asked for. The shard is started if
// it is gone.
func (a *Activities) AskLeases(ctx context.Context, in AskLeasesInput) error {
	r := politeness.Round{From: in.Reply, Asks: in.Asks, Epoch: a.Membership.Epoch()}
	if in.Withdraw {
		r.Asks = nil
		for _, ask := range in.Asks {
			r.Releases = append(r.Releases, ask.Withdrawal())
		}
	}
	return a.signalPoliteness(ctx, in.Shard, r)
}
