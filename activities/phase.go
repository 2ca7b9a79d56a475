package activities

import "context"

// PhaseInput bounds the claims of a phase.
type PhaseInput struct {
	Crawl     string `json:"crawl"`
	Pages     int64  `json:"pages"` // 0: the budget alone
	Reference bool   `json:"reference"`
}

// Phase bounds the claims of a phase of the crawl.
func (a *Activities) Phase(_ context.Context, in PhaseInput) error {
	return a.Frontier.Crawl(in.Crawl).Phase(in.Pages, in.Reference)
}
