package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
)

// A controller's state and details are kept current without an event; a query has the state of the last
// round. What costs events, a signal to its crawl and search attributes, comes when the crawl holds or continues, and from
// time to time: after progressFirst, and each time after twice as long, up to progressLast. The first report of each of several workers comes later,
// by the square of their number: all of them together are a fraction of what one sends.
const (
	progressFirst = 10 * time.Second
	progressLast  = 5 * time.Minute
)

// reportDue reports whether the crawl is to get a message now, and after how long the next one.
func reportDue(since, wait time.Duration, workers int, changed bool) (now bool, next time.Duration) {
	if wait == 0 {
		wait = min(progressFirst*time.Duration(max(workers, 1)), progressLast)
	}
	if !changed && since < wait {
		return false, wait
	}
	return true, min(2*wait, progressLast)
}

// publish shows the progress in the UI and, if it is due, sends it to the crawl. The state of a controller that ends is in its result.
func (c *controller) publish(ctx workflow.Context, r activities.ClaimResult) {
	changed := c.Unsent || (r.Holds == "") != (c.Progress.Holds == "")
	c.Unsent = false
	c.Progress = r.Progress
	c.Progress.Holds, c.Progress.Leases = r.Holds, c.leases()
	c.Progress.Worker, c.Progress.State, c.Progress.At = c.Worker, c.state(), workflow.Now(ctx)
	workflow.SetCurrentDetails(ctx, describe(string(c.state()), c.Progress))
	if c.ReportedAt.IsZero() {
		c.ReportedAt = c.Progress.At
	}
	shared, workers := c.noteShared(ctx, r.Progress), c.Shared.Members
	if c.Shared.Seldom {
		changed, workers = changed || shared, workers*workers
	}
	now, wait := reportDue(c.Progress.At.Sub(c.ReportedAt), c.ReportAfter, workers, changed)
	if c.ReportAfter = wait; !now {
		if shared { // of an earlier version: such a message does not count as a report
			c.sendProgress(ctx)
		}
		return
	}
	c.ReportedAt = c.Progress.At
	c.sendProgress(ctx)
}

// sendProgress sends the crawl the progress as of the last round; nil if there is no crawl.
func (c *controller) sendProgress(ctx workflow.Context) workflow.Future {
	_ = workflow.UpsertTypedSearchAttributes(ctx, attributes(string(c.state()), c.Progress.Totals)...)
	if parent := workflow.GetInfo(ctx).ParentWorkflowExecution; parent != nil {
		c.sentIn = c.Round
		return workflow.SignalExternalWorkflow(ctx, parent.ID, "", names.SignalProgress, c.Progress)
	}
	return nil
}

func attributes(state string, t frontier.Totals) []temporal.SearchAttributeUpdate {
	return []temporal.SearchAttributeUpdate{
		names.AttrState.ValueSet(state), names.AttrPages.ValueSet(t.Pages), names.AttrErrors.ValueSet(t.Errors),
	}
}

// holds is the paragraph that says why a crawl claims nothing for now; empty if it does.
func holds(reason string) string {
	if reason == "" {
		return ""
	}
	return "**holds**: " + reason + "\n\n"
}

// describe sums a crawl up: all that counts in the first line, which is what the UI shows of it.
func describe(state string, p activities.Progress) string {
	t := p.Totals
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s", state, count(t.Pages, "page"))
	if t.Scored > 0 {
		fmt.Fprintf(&b, ", harvest ratio %.2f", t.HarvestRatio())
	}
	fmt.Fprintf(&b, ", %s wait, %s, %.1f MB\n\n%s", count(int64(p.Waiting), "URL"), count(t.Errors, "error"), float64(t.Bytes)/1e6, holds(p.Holds))
	if p.Leases != nil {
		fmt.Fprintf(&b, "leases: %s.\n\n", p.Leases)
	}
	if p.InFlight > 0 {
		fmt.Fprintf(&b, "%d more URLs are fetched and not committed yet. ", p.InFlight)
	}
	if p.Owing > 0 {
		fmt.Fprintf(&b, "%s wait until other workers take their links. ", count(int64(p.Owing), "committed batch"))
	}
	if t.Scored > 0 {
		fmt.Fprintf(&b, "%d of %d scored pages are relevant%s. ", t.Relevant, t.Scored, tenths(p.Harvests))
	}
	if text := t.RequisitesText(); text != "" {
		fmt.Fprintf(&b, "%s. ", text)
	}
	if since := t.Since(); since != "" {
		fmt.Fprintf(&b, "Since the runs before: %s. ", since)
	}
	fmt.Fprintf(&b, "%s have URLs; %d URLs were refused by robots.txt; %s, %s.",
		count(int64(p.Queues), "queue"), t.Robots, count(t.Retries, "retry"), count(t.Failed, "failed batch"))
	if text := MostWaiting(p); text != "" {
		fmt.Fprintf(&b, "\n\n%s.", text)
	}
	if p.Reserve != nil {
		fmt.Fprintf(&b, "\n\n%s.", p.Reserve)
	}
	for _, trap := range p.Traps {
		fmt.Fprintf(&b, "\n\n**Trap**: %s.", trap)
	}
	for _, text := range p.Damaged {
		fmt.Fprintf(&b, "\n\n**Damaged in the archive**: %s.", text)
	}
	if p.DamagedMore > 0 {
		fmt.Fprintf(&b, "\n\n**Damaged in the archive**: and %d more, which the logs of the workers name.", p.DamagedMore)
	}
	if !p.At.IsZero() {
		fmt.Fprintf(&b, "\n\nAs of %s UTC.", p.At.UTC().Format(time.DateTime))
	}
	return b.String()
}

// A site with fewer waiting URLs than trapURLs, or than a share of them all, is no trap that takes others their turn.
const (
	trapURLs  = 100
	trapShare = 0.5
)

// MostWaiting names the site in which most URLs wait, and what bounds it if that is much: a calendar without end shows so. It is
// empty if there is but one site, or most of the URLs wait elsewhere.
func MostWaiting(p activities.Progress) string {
	l := p.Longest
	if l == nil || p.Queues < 2 || l.Waiting < trapURLs || float64(l.Waiting) < trapShare*float64(l.Of) {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the URLs that wait, %d, are of %s, which gave %d of %s so far: if it is a calendar or another site without end, `budget.per_pld` bounds its pages, and `scope.exclude` leaves URLs out",
		100*float64(l.Waiting)/float64(l.Of), l.Waiting, l.PLD, l.Pages, count(p.Totals.Pages, "page"))
}

// count writes a number with its noun.
func count(n int64, noun string) string {
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case n == 1:
		return "1 " + noun
	case y:
		return fmt.Sprintf("%d %sies", n, stem)
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// tenths writes the harvest ratio of each tenth of a run.
func tenths(harvests []float64) string {
	if len(harvests) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(", by tenths of the run")
	for _, h := range harvests {
		fmt.Fprintf(&b, " %.2f", h)
	}
	return b.String()
}
