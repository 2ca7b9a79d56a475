package activities

import (
	"context"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
)

// Hold reports why a crawl claims nothing for now; the empty string lets it claim. It is asked before each
// round of claims, and by health and metrics, so it answers at once; several may ask at a time. Without a
// crawl it is asked for what concerns every crawl of the worker.
type Hold func(crawl string) (reason string)

// holdLook is how often a round that has nothing else to wait for looks whether its crawl may continue.
const holdLook = time.Second

// Holds are the checks of a worker.
type Holds []Hold

// Reason reports why a crawl claims nothing for now, every reason there is; empty if it may.
func (h Holds) Reason(crawl string) string {
	var reasons []string
	for _, hold := range h {
		if reason := hold(crawl); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// holdReason is the reason of a round of claims; it logs when a hold begins and when it ends.
func (a *Activities) holdReason(ctx context.Context, in ClaimInput) string {
	reason := a.Holds.Reason(in.Crawl)
	switch log := activity.GetLogger(ctx); {
	case reason != "" && !in.Held:
		log.Warn("the crawl holds", "crawl", in.Crawl, "reason", reason)
	case reason == "" && in.Held:
		log.Info("the crawl continues", "crawl", in.Crawl)
	}
	return reason
}

// waitHeld waits until the crawl may continue, or until a round's time is over.
func (a *Activities) waitHeld(ctx context.Context, crawl string, until time.Time) {
	tick := time.NewTicker(holdLook)
	defer tick.Stop()
	for a.Now().Before(until) && a.Holds.Reason(crawl) != "" {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
