package starter

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/workflows"
)

// printer prints a line of a status.
type printer func(format string, args ...any)

// write prints the status for people.
func (s crawlStatus) write(w io.Writer) {
	p := s.Crawl.Progress
	line := printer(func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) })
	s.writeHead(line)
	if s.Crawl.Begun.Run == 0 {
		return
	}
	if s.Result == nil && !s.running() {
		s.writeCutOff(line)
	}
	for _, id := range s.Held {
		line("  paused    an activity of %s, by hand (temporal activity unpause --workflow-id '%s' --activity-type …)", id, id)
	}
	if p.Holds != "" && s.Result == nil {
		line("  holds     %s", p.Holds)
	}
	if p.Leases != nil && s.Result == nil {
		line("  leases    %s", p.Leases)
	}
	if s.Result != nil || !p.At.IsZero() || s.running() {
		s.writeNumbers(line)
	}
	s.writeMembers(line)
	if s.Crawl.Begun.Scope != "" {
		line("  scope     %s", s.Crawl.Begun.Scope)
	}
	line("  archive   %s", s.Crawl.Begun.Archive)
	if former := s.Crawl.Begun.Former; former != "" {
		line("            it was %s before: the new archive gets complete pages, not revisits", former)
	}
	if l := s.Crawl.TopicModel; l != nil {
		line("  learned   from %d of %d pages: %s", l.Relevant, l.Pages, strings.Join(l.TopWords(topicWordsShown), " "))
	}
	for _, trap := range p.Traps {
		line("  trap      %s", trap.Text(s.Crawl.Name))
	}
	for _, text := range p.Damaged {
		line("  damaged   in the archive: %s", text)
	}
	if p.DamagedMore > 0 {
		line("  damaged   in the archive: and %d more, which the logs of the workers name", p.DamagedMore)
	}
	ends := p.Ends
	if s.Result != nil {
		s.writeResult(line)
		ends = s.Result.Ends
	}
	writeEnds(line, ends)
	s.writeWhereToLook(line)
}

func (s crawlStatus) running() bool {
	return s.State == enums.WORKFLOW_EXECUTION_STATUS_RUNNING.String()
}

// writeMembers prints a line for each worker of a crawl that is spread, and what to do about one that does not take part.
func (s crawlStatus) writeMembers(line printer) {
	if !s.Crawl.Spread() || s.Result != nil {
		return
	}
	if why := s.Crawl.EndWaits(); why != "" && s.running() {
		line("  waits     %s", why)
	}
	for _, m := range s.Crawl.Members {
		text, todo := s.Crawl.Describe(m)
		at := slices.IndexFunc(s.Unanswered, func(w silentWorker) bool { return !m.Gone && w.Worker == m.Worker })
		if at >= 0 && !m.Lost {
			text += "; it does not answer"
		}
		line("  worker    %s", text)
		if at >= 0 && !s.Unanswered[at].Seen.IsZero() {
			line("            its last sign of life was at %s", s.Unanswered[at].Seen.Local().Format(time.DateTime))
		}
		if todo != "" {
			line("            %s", todo)
		}
	}
}

// phase is what the run is at, with what operators and faults make of it.
func (s crawlStatus) phase() string {
	phase := string(s.Crawl.Phase)
	switch {
	case s.Result != nil:
	case s.Crawl.Cancelled && s.running():
		phase += ", cancelled: it ends when its batches have ended"
	case s.Crawl.Aborting:
		phase += ", aborting: running batches end with what they have"
	case s.Crawl.Paused:
		phase += ", paused"
	case s.Crawl.Stopping:
		phase += ", stopping: running batches finish"
	case !s.running():
		phase = "cut off in the phase " + phase
	case s.Crawl.Progress.Holds != "":
		phase += ", holding"
	}
	return phase
}

// writeHead prints the crawl with its phase, and why it does not advance.
func (s crawlStatus) writeHead(line printer) {
	p, phase := s.Crawl.Progress, s.phase()
	switch {
	case s.Crawl.Begun.Run == 0 && s.Silent != nil && phase != "":
		line("%s: %s, %s, %d pages, %d errors when it was last reported", s.Crawl.Name, s.State, phase, p.Totals.Pages, p.Totals.Errors)
	case s.Crawl.Begun.Run == 0:
		line("%s: %s", s.Crawl.Name, s.State)
	default:
		line("%s: %s, %s (run %d, worker %s)", s.Crawl.Name, s.State, phase, s.Crawl.Begun.Run, strings.Join(s.Crawl.Workers(), ", "))
	}
	if s.Reason != "" {
		line("  reason    %s", s.Reason)
	}
	if s.Silent != nil {
		since, then := s.Silent.describe(s, time.Now())
		line("  worker    %s;", since)
		line("            %s", then)
	}
	for _, r := range s.Retries {
		line("  retrying  %s", r)
	}
}

// writeCutOff prints what is left of a run that was terminated or has failed, and what to do.
func (s crawlStatus) writeCutOff(line printer) {
	finish := "none of its batches is running"
	if s.Finish > 0 {
		finish = fmt.Sprintf("batches still running: %d", s.Finish)
	}
	numbers := "its worker has reported no numbers yet"
	if at := s.Crawl.Progress.At; !at.IsZero() {
		numbers = "the numbers are the last ones that its worker reported, " + at.Local().Format(time.DateTime)
	}
	line("  cut off   %s; %s", finish, numbers)
	line("            `muninn start` with the definition continues run %d, which has no end and no report yet;", s.Crawl.Begun.Run)
	line("            `muninn forget %s` deletes it from the frontier", s.Crawl.Name)
}

// writeResult prints how the run ended.
func (s crawlStatus) writeResult(line printer) {
	line("  ended     %s", s.Result.Reason)
	if s.Result.Report != "" {
		line("  report    %s", s.Result.Report)
	}
	for _, top := range s.Result.Top[:min(len(s.Result.Top), 5)] {
		line("  relevant  %.3f %s", top.Score, top.URL)
	}
}

// writeWhereToLook prints failed batches, and the commands and links that show more.
func (s crawlStatus) writeWhereToLook(line printer) {
	for _, id := range s.Failed {
		line("  failed    %s (temporal workflow reset --type FirstWorkflowTask --workflow-id '%s' --reason retry)", id, id)
		if why := s.Why[id]; why != "" {
			line("            %s", why)
		}
	}
	line("  look      temporal workflow list --query \"%s\"", runningBatches(s.Crawl.Name))
	if s.Crawl.Progress.Totals.Failed > 0 || len(s.Failed) > 0 {
		line("            temporal workflow list --query \"%s\"", failedBatches(s.Crawl.Name))
	}
	for _, what := range []string{"crawl", "batches", "failed"} {
		if link := s.Links[what]; link != "" {
			line("            %s: %s", what, link)
		}
	}
}

// writeNumbers prints the progress of a crawl.
func (s crawlStatus) writeNumbers(line printer) {
	t, p := s.Crawl.Progress.Totals, s.Crawl.Progress
	if p.InFlight > 0 {
		line("  fetched   %d URLs more, by running batches", p.InFlight)
	}
	if p.Owing > 0 {
		line("  owing     %d committed batches wait until other workers take their links: `muninn workers` shows who is silent", p.Owing)
	}
	line("  requests  %d answered: pages, redirects, errors, and repeated attempts, without requisites of pages", t.Requests)
	line("  pages     %d, %.1f MB, harvest ratio %.2f (%d of %d scored)", t.Pages, float64(t.Bytes)/1e6, t.HarvestRatio(), t.Relevant, t.Scored)
	if text := t.RequisitesText(); text != "" {
		line("            %s", text)
	}
	if harvests := p.Harvests; len(harvests) > 0 {
		line("  harvest   %s by tenths of the run, %.2f to %.2f", bars(harvests), harvests[0], harvests[len(harvests)-1])
	}
	line("  frontier  %d URLs wait in %d queues, %d known", p.Waiting, p.Queues, t.Known)
	if most := workflows.MostWaiting(p); most != "" && s.Result == nil {
		line("            %s", most)
	}
	if r := p.Reserve; r != nil && s.Result == nil {
		line("            %s", r)
	}
	if since := t.Since(); since != "" {
		line("  since     the runs before: %s", since)
	}
	line("  refused   %d by robots.txt, %d by the address guard", t.Robots, t.Refused)
	line("  errors    %d, %d retries, %d batches failed", t.Errors, t.Retries, t.Failed)
}

// bars draws shares in [0,1], each as one character.
func bars(shares []float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	out := make([]rune, len(shares))
	for i, x := range shares {
		out[i] = levels[min(int(x*float64(len(levels))), len(levels)-1)]
	}
	return string(out)
}

// endsShown bounds the groups of URLs without a page that are shown.
const endsShown = 10

// endGroup is a group of URLs that ended without a page for the same reason.
type endGroup struct {
	kind         crawl.OutcomeKind
	reason, last string
	n            int
}

// grouped groups URLs that ended without a page by kind and reason. The group of the last URL comes last.
func grouped(ends []frontier.DroppedURL) (groups []endGroup) {
	for _, e := range ends {
		g := endGroup{kind: e.Kind, reason: e.Reason}
		if at := slices.IndexFunc(groups, func(g endGroup) bool { return g.kind == e.Kind && g.reason == e.Reason }); at >= 0 {
			g = groups[at]
			groups = slices.Delete(groups, at, at+1)
		}
		g.n++
		g.last = e.URL
		groups = append(groups, g)
	}
	return groups
}

// writeEnds prints the URLs that ended without a page, with the reasons.
func writeEnds(line printer, ends []frontier.DroppedURL) {
	groups := grouped(ends)
	for _, g := range groups[max(len(groups)-endsShown, 0):] {
		if g.n == 1 {
			line("  %-9s %s: %s", g.kind, g.last, g.reason)
		} else {
			line("  %-9s %s: %s (and %d more of the last ones)", g.kind, g.last, g.reason, g.n-1)
		}
	}
}
