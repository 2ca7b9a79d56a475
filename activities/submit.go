package activities

import (
	"context"

	"github.com/muninn-archive/muninn/frontier"
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

// Submit offers scored URLs that came from elsewhere (paper §4.4, the scored-URL service), and returns the answer for each.
func (a *Activities) Submit(ctx context.Context, in SubmitInput) ([]frontier.SubmitAnswer, error) {
	return a.Frontier.Crawl(in.Crawl).URLs().Submit(in.ID, in.URLs)
}
