package activities

import "context"

// Phase bounds the claims of a phase of the crawl.
func (a *Activities) Phase(_ context.Context, in PhaseInput) error {
	return a.Frontier.Phase(in.Crawl, in.Pages, in.Reference)
}
