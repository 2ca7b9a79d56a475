package activities

import (
	"context"
	"errors"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// Explain reports where a URL stands in a crawl, and why.
func (a *Activities) Explain(ctx context.Context, in AskInput) (frontier.Explanation, error) {
	u, err := parseAsked(in.URL)
	if err != nil {
		return frontier.Explanation{}, err
	}
	if err := errors.Join(a.checkKnown(in.Crawl), a.answers(in.Crawl, u)); err != nil {
		return frontier.Explanation{}, err
	}
	out, err := a.Frontier.Crawl(in.Crawl).URLs().Explain(u)
	if out.Asking != nil {
		out.Waits = a.askWaiting(ctx, out.Asking.IP, politeness.LeaseID{Crawl: in.Crawl, Worker: a.Settings.Worker, Claim: out.Asking.ID})
	}
	return out, err
}

// waitsTime is how long a politeness shard may take to answer what a claim waits for; after it, the explanation leaves that out.
const waitsTime = 5 * time.Second

// askWaiting asks politeness what the ask for a lease waits for; nil if it does not, or nobody says.
func (a *Activities) askWaiting(ctx context.Context, ip string, lease politeness.LeaseID) (w *politeness.Waiting) {
	ctx, cancel := context.WithTimeout(ctx, waitsTime)
	defer cancel()
	value, err := a.Client.QueryWorkflow(ctx, names.PolitenessID(a.shardOf(ip)), "", names.QueryWaiting, a.leaseAddress(ip), lease)
	if err != nil || value.Get(&w) != nil {
		return nil
	}
	return w
}
