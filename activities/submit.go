package activities

import (
	"context"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/checkpoint"
)

// SubmitInput offers scored URLs.
type SubmitInput struct {
	Crawl string                `json:"crawl"`
	ID    string                `json:"id"`
	URLs  []frontier.Submission `json:"urls"`
}

// What one submit may hold: it lies in the crawl's history with its answers, where a payload has 2 MB at most.
const (
	MaxSubmitURLs  = 1000
	MaxSubmitBytes = 256 << 10 // of the URLs with what goes with them
)

// Submit offers scored URLs that came from elsewhere (paper §4.4, the scored-URL service), and returns the answer for each. The archive of the workers has them first: the loss of
// a disk loses none, and what is blacklisted stays so.
func (a *Activities) Submit(ctx context.Context, in SubmitInput) ([]frontier.SubmitAnswer, error) {
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return nil, err
	}
	store, err := a.Archives.Open(ctx, "")
	if err == nil && len(in.URLs) > 0 {
		err = checkpoint.KeepSubmitted(ctx, store, a.Now(), a.Settings.Worker, in.Crawl, plan.Run, in.ID, in.URLs)
	}
	if err != nil {
		return nil, err
	}
	return a.Frontier.Crawl(in.Crawl).URLs().Submit(in.ID, in.URLs)
}
