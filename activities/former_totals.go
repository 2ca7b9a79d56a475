package activities

import (
	"cmp"
	"context"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

// FormerTotalsInput asks what data folders have done in a run that is continued, other than some.
type FormerTotalsInput struct {
	Crawl   string    `json:"crawl"`
	Started time.Time `json:"started"` // when the run began, by the clock of Temporal
	Run     uint32    `json:"run"`
	Not     []Holder  `json:"not"`
}

// FormerTotals is what a data folder has done.
type FormerTotals struct {
	Holder
	Totals frontier.Totals `json:"totals"`
}

// FormerTotals counts what data folders have archived in a run, each by its segments, as LostTotals does with one. An earlier execution of the crawl may have
// given them up, ended what it had there, and counted it. It reads the list of segments once.
func (a *Activities) FormerTotals(ctx context.Context, in FormerTotalsInput) (list []FormerTotals, err error) {
	of := func(m *archive.Manifest) bool {
		for _, h := range in.Not {
			if h.wrote(m) {
				return false
			}
		}
		return true
	}
	at := map[string]int{} // the place of a folder in the list
	take := func(m archive.Manifest, t *frontier.Totals) {
		folder := cmp.Or(m.Instance, m.Worker)
		i, known := at[folder]
		if !known {
			i = len(list)
			at[folder], list = i, append(list, FormerTotals{Holder: Holder{m.Worker, m.Instance}})
		}
		list[i].Totals.Add(*t)
	}
	err = a.eachTotals(ctx, archivedRun{in.Crawl, in.Started, in.Run}, of, take)
	return list, err
}
