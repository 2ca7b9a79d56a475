package activities

import (
	"context"
	"fmt"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Answerer is the task queue of the worker that answers questions about a URL: of a crawl that is spread, the one that has the partition
// of its PLD, also while it is handed over; of a bound crawl the one that knows it. It runs on the shared queue; a worker that does not know
// the crawl leaves the question to the next one.
func (a *Activities) Answerer(_ context.Context, in AskInput) (queue string, err error) {
	u, err := parseAsked(in.URL)
	if err != nil {
		return "", err
	}
	if !a.Frontier.Spread(in.Crawl) {
		if !a.Frontier.Knows(in.Crawl) {
			return "", fmt.Errorf("worker %q does not know the crawl %s", a.Settings.Worker, in.Crawl)
		}
		return a.queue(), nil
	}
	view := a.Membership.present(a.Now())
	if view == nil {
		return "", errAway
	}
	w, has := view.Answerer(ring.PartitionOf(u.PLD()))
	switch {
	case !has:
		return "", &crawl.InputError{Message: fmt.Sprintf("no worker has %s at present: its partition is made again from the archive (`muninn workers` shows how far that is); ask again in a few minutes", u.PLD())}
	case w.Lost:
		return "", &crawl.InputError{Message: fmt.Sprintf("worker %s, which has %s, is silent: start it, or ask again when the ring has given its partitions to others (`muninn workers`)", w.Name, u.PLD())}
	}
	return w.Queue, nil
}

// answers returns frontier.ErrElsewhere if another worker is to be asked about a URL by now.
func (a *Activities) answers(name string, u urls.URL) error {
	if !a.Frontier.Spread(name) || a.Membership == nil {
		return nil
	}
	may := false
	a.Membership.With(func(m *ring.Membership) { may = m.May(a.Now(), ring.Explain, ring.PartitionOf(u.PLD())) })
	if !may {
		return fmt.Errorf("explain %s: %w", u, frontier.ErrElsewhere)
	}
	return nil
}

// parseAsked reads the URL of a question.
func parseAsked(text string) (urls.URL, error) {
	u, err := urls.Parse(text)
	if err != nil {
		err = &crawl.InputError{Message: fmt.Sprintf("%q is not a URL: %v", text, pipeline.Reason(err))}
	}
	return u, err
}
