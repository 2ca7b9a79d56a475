package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/share"
)

// The least that a worker is allotted of a budget is a hundredth of it, up to a round of claims, or what such a round may bring.
const (
	leastPart  = 100
	leastURLs  = 500
	leastBytes = 64 << 20
)

// least is the smallest allotment of a budget.
func least(of crawl.Reason, total int64) int64 {
	most := int64(leastURLs)
	if of == crawl.ReasonBytes {
		most = leastBytes
	}
	return min(max(total/leastPart, 1), most)
}

// budgetsOf are the budgets of a phase, of which the members have parts. Pages bounds the phase; 0: the budget does.
func budgetsOf(b crawl.Budget, pages int64) map[crawl.Reason]int64 {
	totals := map[crawl.Reason]int64{crawl.ReasonPages: b.Pages, crawl.ReasonRequests: b.MaxRequests(), crawl.ReasonBytes: int64(b.Bytes)}
	if pages > 0 {
		totals[crawl.ReasonPages] = min(totals[crawl.ReasonPages], pages)
	}
	return totals
}

// setBudgets puts the budgets of the phase in force.
func (c *crawlRun) setBudgets(ctx workflow.Context) {
	if !c.definition.Spread {
		return
	}
	opens := c.Budgets == nil
	if opens {
		c.Budgets = map[crawl.Reason]*share.Budget{}
	}
	totals := budgetsOf(c.definition.Budget, c.bounds.Pages)
	for _, reason := range activities.SharedBudgets() {
		if c.Budgets[reason] == nil {
			c.Budgets[reason] = &share.Budget{}
			if c.recount {
				c.Budgets[reason].Recount(c.accounts()...)
			}
		}
		c.Budgets[reason].Total, c.Budgets[reason].Least = totals[reason], least(reason, totals[reason])
	}
	if opens && c.recount {
		c.findIdle(ctx)
	}
}

// accounts are the names in the budgets of the present members that can report.
func (c *crawlRun) accounts() (list []string) {
	for _, m := range c.Present() {
		if m.Account != "" && m.Fault == "" {
			list = append(list, m.Account)
		}
	}
	return list
}

// openBudgets allots a first part of the budgets to members whose controllers are about to start, so that those need not ask for it: a report
// and an answer are two signals.
func (c *crawlRun) openBudgets(ctx workflow.Context) {
	if c.Budgets == nil {
		return
	}
	lives := map[string]uint64{}
	for _, m := range c.Present() {
		if m.running == nil && m.Life > 0 && c.ready(m) {
			lives[m.Account] = m.Life
		}
	}
	for _, reason := range activities.SharedBudgets() {
		c.Budgets[reason].Open(lives)
	}
	for _, m := range c.Present() {
		if lives[m.Account] > 0 {
			c.allotCurrent(ctx, m)
		}
	}
}

// sharedOf is what the controller of a member begins with.
func (c *crawlRun) sharedOf(m *CrawlMember, was activities.Shared) activities.Shared {
	if !c.definition.Spread {
		return was
	}
	out := activities.Shared{Allotments: m.Allotments, Least: map[crawl.Reason]int64{}, Empty: was.Empty, Members: len(c.Present()), Timed: c.timed, Seldom: true}
	for _, reason := range activities.SharedBudgets() {
		out.Least[reason] = c.Budgets[reason].Least
	}
	return out
}

// takeReports takes what a member says of its parts of the budgets, and sends it what it may use; others are asked to return what they do
// not need. A budget that is used up ends the phase.
func (c *crawlRun) takeReports(ctx workflow.Context, p activities.Progress) {
	m := c.reporter(p)
	if m == nil || len(p.Quotas) == 0 || c.Budgets == nil {
		return
	}
	for _, reason := range activities.SharedBudgets() {
		if r, has := p.Quotas[reason]; has {
			c.Budgets[reason].Report(m.Account, r)
		}
	}
	for _, other := range c.Present() {
		c.allotCurrent(ctx, other)
	}
	c.finishSpent(ctx)
}

// finishSpent ends the phase if a budget is used up. What a member that is gone had of it is not used before it is counted, and a smaller budget may
// be refused.
func (c *crawlRun) finishSpent(ctx workflow.Context) {
	if c.Budgets == nil || c.undecided || c.oneRetires() {
		return
	}
	for _, reason := range activities.SharedBudgets() {
		if c.Budgets[reason].Spent() {
			c.finish(ctx, c.spentReason(reason))
			return
		}
	}
}

// spentReason is why the phase ends if a budget is used up: that of pages may be the phase's.
func (c *crawlRun) spentReason(of crawl.Reason) crawl.Reason {
	if of == crawl.ReasonPages && c.Budgets[of].Total < c.definition.Budget.Pages {
		return crawl.ReasonPhase
	}
	return of
}

// allotCurrent does so with a member that has the present definition. One that has not, because it was lost when that changed, and that is back by
// another process or another permit, has no room without an allotment: so it claims nothing by the former definition.
func (c *crawlRun) allotCurrent(ctx workflow.Context, m *CrawlMember) {
	if c.Budgets != nil && m.Version == c.Version {
		c.allot(ctx, m)
	}
}

// allotments are what a member may use of the budgets.
func (c *crawlRun) allotments(m *CrawlMember) map[crawl.Reason]share.Allotment {
	if c.Budgets == nil {
		return nil
	}
	now := map[crawl.Reason]share.Allotment{}
	for _, reason := range activities.SharedBudgets() {
		now[reason] = c.Budgets[reason].Allotment(m.Account)
	}
	return now
}

// allot sends a member what it may use of the budgets, if that has changed or it is to return some.
func (c *crawlRun) allot(ctx workflow.Context, m *CrawlMember) {
	changed, now := false, c.allotments(m)
	for _, reason := range activities.SharedBudgets() {
		a, was := now[reason], m.Allotments[reason]
		changed = changed || a.Number != was.Number || a.Life != was.Life || a.Return && !was.Return || a.All && !was.All
	}
	if m.Allotments = now; changed && m.running != nil {
		m.running.SignalChildWorkflow(ctx, names.SignalQuota, now)
	}
}
