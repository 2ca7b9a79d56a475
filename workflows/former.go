package workflows

import (
	"slices"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
)

const (
	// keptGone is how many members that are gone and counted a crawl keeps one by one: as many as a ring can have workers, which may all come
	// back with their folders. What others have done is one sum.
	keptGone = ring.MaxWorkers
	// keptNames is of how many names of workers it knows what folders in that sum have done. A worker that comes again and again under one name, each time with an
	// empty disk, is counted by what its name has archived, without that.
	keptNames = 2 * ring.MaxWorkers
)

// Former is what members have done that are gone and counted, and not kept one by one.
type Former struct {
	Members int                        `json:"members"` // folders
	Totals  frontier.Totals            `json:"totals"`
	Names   map[string]frontier.Totals `json:"names,omitempty"` // by worker, at most keptNames
}

// sum is the progress of all members together, those that are gone included.
func (s *CrawlState) sum() activities.Progress {
	sum := sumProgress(s.Members)
	if s.Former != nil {
		sum.Totals = addTotals(sum.Totals, s.Former.Totals)
	}
	return sum
}

// fold keeps of a member that is gone and counted its totals alone, and of the oldest of many such only the sum.
func (s *CrawlState) fold(counted *CrawlMember) {
	p := counted.Progress
	counted.Controller, counted.Allotments = ControllerInput{}, nil
	counted.Progress = activities.Progress{Worker: p.Worker, At: p.At}
	counted.Progress.Totals, counted.Progress.Damage = p.Totals, p.Damage
	gone := slices.DeleteFunc(slices.Clone(s.Members), func(m *CrawlMember) bool {
		return !m.Gone || !m.Counted || m.Retiring || m.running != nil
	})
	for _, m := range gone[:max(0, len(gone)-keptGone)] {
		s.Members = slices.DeleteFunc(s.Members, func(o *CrawlMember) bool { return o == m })
		if s.Former == nil {
			s.Former = &Former{Names: map[string]frontier.Totals{}}
		}
		f, t := s.Former, m.Progress.Totals
		f.Members, f.Totals = f.Members+1, addTotals(f.Totals, t)
		if of, known := f.Names[m.Worker]; known || len(f.Names) < keptNames {
			f.Names[m.Worker] = addTotals(of, t)
		}
		for _, reason := range activities.SharedBudgets() {
			if b := s.Budgets[reason]; b != nil {
				b.Fold(m.Account)
			}
		}
	}
}
