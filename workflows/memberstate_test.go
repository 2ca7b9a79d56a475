package workflows

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestDescribeMember: each worker of a spread crawl is shown with its state and its numbers; one that does not take part with what to do.
func TestDescribeMember(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		edit       func(m *CrawlMember)
		line, todo string
	}{
		"it crawls":               {nil, "w: crawling, 7 pages, 3 in flight, 20 URLs wait in 4 queues", ""},
		"it holds":                {func(m *CrawlMember) { m.Progress.Holds = "the disk is full" }, "w: holding, 7 pages, 3 in flight, 20 URLs wait in 4 queues; holds: the disk is full", "see why"},
		"it is lost":              {func(m *CrawlMember) { m.Lost = true }, "w: lost: it is silent, 7 pages, 3 in flight, 20 URLs wait in 4 queues, as it reported at 2026-07-01 12:00:00 UTC", "start worker w again"},
		"it refuses the crawl":    {func(m *CrawlMember) { m.Fault = "no such file" }, "w: cannot take part: no such file, 7 pages", "correct that at worker w"},
		"it joins":                {func(m *CrawlMember) { m.Begun = false }, "w: joins, 7 pages", ""},
		"it leaves":               {func(m *CrawlMember) { m.Leaving = true }, "w: hands its partitions over, and leaves, 7 pages", ""},
		"its definition is older": {func(m *CrawlMember) { m.Version = 1 }, "w: has not taken change 2 of the definition, and is allotted nothing until then, 7 pages", ""},
		"it has no controller":    {func(m *CrawlMember) { m.Progress = activities.Progress{} }, "w: begins, 0 pages", ""},
		"it is given up":          {func(m *CrawlMember) { m.Gone = true }, "w: has left the ring, and what it has archived is being counted, 7 pages, as it reported at 2026-07-01 12:00:00 UTC", ""},
		"some have what it found": {func(m *CrawlMember) { m.Gone, m.Taken = true, []int{1, 2} }, "w: has left the ring; the owners of 2 of 1024 partitions have what it has found, 7 pages", ""},
		"it cannot be read":       {func(m *CrawlMember) { m.Gone, m.Fault = true, "no store" }, "w: has left the ring; what it has found is not taken in: no store, 7 pages", "correct that"},
		"it is counted":           {func(m *CrawlMember) { m.Gone, m.Counted = true, true }, "w: has left the ring, and is counted by what it has archived, 7 pages", ""},
	} {
		m := &CrawlMember{Member: activities.Member{Worker: "w"}, Begun: true, Version: 2, Progress: activities.Progress{
			Progress: frontier.Progress{Totals: frontier.Totals{Pages: 7}, Waiting: 20, Queues: 4}, State: crawl.ControllerCrawling, InFlight: 3, At: at,
		}}
		if c.edit != nil {
			c.edit(m)
		}
		s := CrawlState{Version: 2, Members: []*CrawlMember{m}, Ring: []activities.Member{m.Member}}
		line, todo := s.Describe(m)
		if !strings.HasPrefix(line, c.line) || !strings.HasPrefix(todo, c.todo) || (todo == "") != (c.todo == "") {
			t.Errorf("%s: %q, %q", name, line, todo)
		}
		if text := s.describeMembers(); !strings.Contains(text, "* "+line) || !strings.Contains(text, todo) {
			t.Errorf("%s: the UI shows %q", name, text)
		}
		s.Ring = nil
		if text := s.describeMembers(); text != "" {
			t.Errorf("of a bound crawl the UI shows %q", text)
		}
	}
}

// TestEndWaits: a crawl says which workers alone keep it from its end.
func TestEndWaits(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(s *CrawlState)
		want string // who is waited for
	}{
		"one cannot take part":              {func(s *CrawlState) { s.Members[1].Fault = "no such file" }, "b"},
		"one is silent, one lacks seeds":    {func(s *CrawlState) { s.Members[0].Lost, s.Members[1].Unqueued = true, "no such file" }, "a, b"},
		"all take part":                     {func(*CrawlState) {}, ""},
		"another one still works":           {func(s *CrawlState) { s.Members[1].Fault, s.Members[2].Progress.Empty = "no such file", false }, ""},
		"another one joins":                 {func(s *CrawlState) { s.Members[1].Fault, s.Members[2].Begun = "no such file", false }, ""},
		"it is paused":                      {func(s *CrawlState) { s.Members[1].Fault, s.Paused = "no such file", true }, ""},
		"it has left":                       {func(s *CrawlState) { s.Members[1].Fault, s.Members[1].Gone = "no such file", true }, ""},
		"a crawl that is bound to a worker": {func(s *CrawlState) { s.Members[1].Fault, s.Ring = "no such file", nil }, ""},
	} {
		s := CrawlState{Phase: crawl.PhaseBroad}
		for _, worker := range []string{"a", "b", "c"} {
			m := &CrawlMember{Member: activities.Member{Worker: worker}, Begun: true, Progress: activities.Progress{Empty: true}}
			s.Members, s.Ring = append(s.Members, m), append(s.Ring, m.Member)
		}
		c.edit(&s)
		if why := s.EndWaits(); (why == "") != (c.want == "") || !strings.Contains(why, "once "+c.want+" takes part") && c.want != "" || strings.Contains(s.describeMembers(), "**Waits**") != (c.want != "") {
			t.Errorf("%s: %q; in the UI %q", name, why, s.describeMembers())
		}
	}
}
