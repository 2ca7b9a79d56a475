package activities

import (
	"context"

	"go.temporal.io/sdk/activity"
)

// Abort ends the run of a crawl at once: its batches end with what they have fetched, which is archived, and nothing more is claimed.
func (a *Activities) Abort(ctx context.Context, crawl string) error {
	activity.GetLogger(ctx).Info("the crawl is aborted", "crawl", crawl)
	return a.Frontier.Crawl(crawl).Abort()
}
