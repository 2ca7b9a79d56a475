package workflows

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
)

// Spread reports whether the crawl is one of the workers of the ring together.
func (s *CrawlState) Spread() bool { return len(s.Ring) > 0 }

// Describe says how a member of a crawl that is spread stands, in one line, and what an operator can do if it does not take part; empty if
// nothing is to be done.
func (s *CrawlState) Describe(m *CrawlMember) (line, todo string) {
	p := m.Progress
	state, todo := s.standing(m)
	parts := []string{state, count(p.Totals.Pages, "page")}
	if !m.Gone {
		parts = append(parts, fmt.Sprintf("%d in flight", p.InFlight), fmt.Sprintf("%s wait in %s", count(int64(p.Waiting), "URL"), count(int64(p.Queues), "queue")))
	}
	if p.Totals.Errors > 0 {
		parts = append(parts, count(p.Totals.Errors, "error"))
	}
	line = m.Worker + ": " + strings.Join(parts, ", ")
	if (m.Lost || m.Gone && !m.Counted) && !p.At.IsZero() {
		line += fmt.Sprintf(", as it reported at %s UTC", p.At.UTC().Format(time.DateTime))
	}
	if p.Holds != "" && !m.Lost {
		line += "; holds: " + p.Holds
	}
	return line, todo
}

// standing is the state of a member, and what to do about it.
func (s *CrawlState) standing(m *CrawlMember) (state, todo string) {
	switch {
	case m.Gone && m.Counted:
		return "has left the ring, and is counted by what it has archived", ""
	case m.Gone && m.Fault != "":
		return "has left the ring; what it has found is not taken in: " + m.Fault, "correct that; it is tried again"
	case m.Gone && len(m.Taken) > 0:
		return fmt.Sprintf("has left the ring; the owners of %d of %d partitions have what it has found", len(m.Taken), ring.Partitions), ""
	case m.Gone:
		return "has left the ring, and what it has archived is being counted", ""
	case m.Lost:
		return "lost: it is silent", "start worker " + m.Worker + " again; if it does not come back, the ring gives its partitions to others (`muninn workers`)"
	case m.Fault != "":
		return "cannot take part: " + m.Fault, "correct that at worker " + m.Worker + " and start it again, or stop it: the others take its partitions. Without either it is asked again within an hour"
	case !m.Begun:
		return "joins", ""
	case m.Version != s.Version:
		return fmt.Sprintf("has not taken change %d of the definition, and is allotted nothing until then", s.Version), ""
	case m.Leaving:
		return "hands its partitions over, and leaves", ""
	case m.Unqueued != "":
		return cmp.Or(string(m.Progress.State), "begins") + ", but cannot queue the seeds of some partitions: " + m.Unqueued, "correct that at worker " + m.Worker + "; it is tried again within half an hour, and the crawl does not end before"
	case m.Progress.Holds != "":
		return string(crawl.ControllerHolding), "see why it holds; the others continue"
	case m.Progress.State == "":
		return "begins", ""
	}
	return string(m.Progress.State), ""
}

// EndWaits says which workers alone keep a crawl that is spread from its end, because they cannot take part or are silent: the others have nothing left to do. Empty if none does.
func (s *CrawlState) EndWaits() string {
	var kept []string
	others := 0
	for _, m := range s.Present() {
		switch {
		case m.Lost || m.Fault != "" || m.Unqueued != "":
			kept = append(kept, m.Worker)
		case !m.Begun || !m.Progress.Empty:
			return ""
		default:
			others++
		}
	}
	if !s.Spread() || len(kept) == 0 || others == 0 || s.Paused || s.Stopping || s.Phase == crawl.PhaseReference || s.Phase == crawl.PhaseEnded {
		return ""
	}
	return "nothing is left to do at the other workers: the crawl ends once " + strings.Join(kept, ", ") + " takes part, or has left the ring, or the crawl is stopped"
}

// describeMembers is the list of members in the UI; empty for a crawl that is bound to its worker.
func (s *CrawlState) describeMembers() string {
	if !s.Spread() {
		return ""
	}
	var b strings.Builder
	for _, m := range s.Members {
		line, todo := s.Describe(m)
		b.WriteString("\n* " + line)
		if todo != "" {
			b.WriteString(". **To do**: " + todo)
		}
	}
	if s.Former != nil {
		fmt.Fprintf(&b, "\n* %s that left before: %s", count(int64(s.Former.Members), "worker"), count(s.Former.Totals.Pages, "page"))
	}
	if b.Len() == 0 {
		return ""
	}
	if why := s.EndWaits(); why != "" {
		b.WriteString("\n\n**Waits**: " + why + ".")
	}
	return "\n\nWorkers:\n" + b.String()
}
