package activities

import "context"

// Left reports whether any URL of a crawl waits: some may have been submitted, or allowed, since its controller found that nothing did.
func (a *Activities) Left(_ context.Context, name string) (bool, error) {
	return a.Frontier.Crawl(name).Left()
}
