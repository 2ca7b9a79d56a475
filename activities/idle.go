package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/share"
)

// IdleInput asks a worker whether it has anything left to do of a crawl that is spread.
type IdleInput struct {
	Crawl string `json:"crawl"`
	Round uint64 `json:"round"` // of share.Ending
}

// IdleAnswer is what a worker says, and the ring as it sees it.
type IdleAnswer struct {
	share.IdleReport
	Workers []string `json:"workers"` // of the ring, also those that are lost
	Owned   bool     `json:"owned"`   // each partition has an owner, and none is handed over
}

// Idle reports whether this worker has anything left to do.
func (a *Activities) Idle(_ context.Context, in IdleInput) (out IdleAnswer, err error) {
	view := a.Membership.present(a.Now())
	if view == nil {
		return out, errAway
	}
	if out.IdleReport, err = a.Frontier.Crawl(in.Crawl).Idle(); err != nil {
		return out, err
	}
	if out.Epoch != view.Epoch { // it has changed meanwhile
		out.Idle = false
	}
	out.Worker, out.Round, out.Owned = a.Settings.Worker, in.Round, view.Owned()
	for _, w := range view.Workers {
		out.Workers = append(out.Workers, w.Name)
	}
	return out, nil
}
