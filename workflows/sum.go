package workflows

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// sumProgress is the progress of all members together. That of one member is its own. A crawl holds if all of its members do that are not gone.
func sumProgress(members []*CrawlMember) (sum activities.Progress) {
	if len(members) == 1 {
		return members[0].Progress
	}
	var workers, holds []string
	present := 0
	for _, m := range members {
		p := m.Progress
		workers = append(workers, m.Worker)
		sum.Totals = addTotals(sum.Totals, p.Totals)
		sum.Waiting += p.Waiting
		sum.Queues += p.Queues
		sum.InFlight += p.InFlight
		sum.Owing += p.Owing
		sum.Ends = append(sum.Ends, p.Ends...)
		sum.Damage = sum.Damage.Add(p.Damage)
		sum.Traps = frontier.AddTraps(sum.Traps, p.Traps)
		sum.Leases = addWaiting(sum.Leases, p.Leases)
		if p.Longest != nil && (sum.Longest == nil || p.Longest.Waiting > sum.Longest.Waiting) {
			longest := *p.Longest
			sum.Longest = &longest
		}
		if p.At.After(sum.At) {
			sum.At = p.At
		}
		if m.Gone {
			continue
		}
		present++
		sum.Reserve = sum.Reserve.Add(p.Reserve)
		if p.Holds != "" {
			holds = append(holds, m.Worker+": "+p.Holds)
		}
		if sum.State == "" {
			sum.State = p.State
		}
	}
	if sum.Longest != nil {
		sum.Longest.Of = sum.Waiting
	}
	sum.Worker = strings.Join(workers, ", ")
	switch {
	case len(holds) == present:
		sum.Holds = strings.Join(holds, "; ")
	case sum.State == crawl.ControllerHolding:
		sum.State = crawl.ControllerCrawling
	}
	return sum
}

func addTotals(a, b frontier.Totals) frontier.Totals {
	a.Add(b)
	return a
}

// addStatus adds what another worker has done of a run, as its end says.
func addStatus(a, b frontier.Status) frontier.Status {
	b.Totals = addTotals(a.Totals, b.Totals)
	b.Queues, b.Waiting, b.Delayed, b.Claimed = a.Queues+b.Queues, a.Waiting+b.Waiting, a.Delayed+b.Delayed, a.Claimed+b.Claimed
	b.Top = slices.SortedStableFunc(slices.Values(append(a.Top, b.Top...)), func(x, y frontier.Top) int { return cmp.Compare(y.Score, x.Score) })
	b.Top = b.Top[:min(len(b.Top), topPages)]
	b.Ends, b.History, b.Damage = append(a.Ends, b.Ends...), nil, a.Damage.Add(b.Damage)
	b.Traps = frontier.AddTraps(a.Traps, b.Traps)
	return b
}

// topPages is how many of the most relevant pages a result names.
const topPages = 20

// addWaiting adds what other claims wait for; the example is the first one.
func addWaiting(a, b *politeness.Waiting) *politeness.Waiting {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a
	sum.Asks += b.Asks
	return &sum
}
