package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func TestSummary(t *testing.T) {
	d := crawl.DefaultDefinition()
	d.Seeds = []crawl.Seed{{File: "/srv/seeds/ravens.txt"}, {URL: "http://a.example/"}, {URL: "http://b.example/"}}
	d.Topic.Keywords, d.Budget.Pages = []string{"raven", "Huginn"}, 500
	if got, want := summaryOf(d), "from /srv/seeds/ravens.txt, http://a.example/ and 1 more seeds; topic: raven, Huginn; 500 pages at most"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// URLs with the same reason take one line, so that there is room for others.
func TestEndsAreGrouped(t *testing.T) {
	var ends []frontier.DroppedURL
	for range 15 {
		ends = append(ends, frontier.DroppedURL{URL: "http://a.example/x", Kind: crawl.OutcomeRobots, Reason: "robots.txt disallows it"})
	}
	ends = append([]frontier.DroppedURL{{URL: "http://b.example/", Kind: crawl.OutcomeFailed, Reason: "no such host"}}, ends...)
	var text []string
	s := crawlStatus{State: "Running"}
	s.Crawl.Name, s.Crawl.Begun.Run, s.Crawl.Progress.Ends = "c", 1, ends
	var b strings.Builder
	s.write(&b)
	for line := range strings.SplitSeq(b.String(), "\n") {
		if strings.Contains(line, "example/") {
			text = append(text, strings.TrimSpace(line))
		}
	}
	want := []string{"failed    http://b.example/: no such host", "robots    http://a.example/x: robots.txt disallows it (and 14 more of the last ones)"}
	if strings.Join(text, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", text, want)
	}
}

// The status of a crawl that was cut off says that it has no end yet, and which batches still run.
func TestStatusOfACutOffCrawl(t *testing.T) {
	for _, state := range []string{"Canceled", "Terminated"} {
		s := crawlStatus{Workflow: "crawl/c", State: state, Finish: 2}
		s.Crawl.Name, s.Crawl.Phase, s.Crawl.Begun.Run, s.Crawl.Begun.Archive = "c", "broad", 3, "store"
		g := globals{ui: "http://127.0.0.1:8233/"}
		g.temporal.Namespace = "default"
		s.Links = g.links(s)
		var b strings.Builder
		s.write(&b)
		for _, want := range []string{
			"c: " + state + ", cut off in the phase broad (run 3", "batches still running: 2", "`muninn start` with the definition continues run 3",
			`temporal workflow list --query "WorkflowType='Batch' AND MuninnCrawl='c' AND ExecutionStatus='Running'"`,
			"http://127.0.0.1:8233/namespaces/default/workflows/crawl%2Fc",
			"http://127.0.0.1:8233/namespaces/default/workflows?query=WorkflowType%3D%27Batch%27+AND+MuninnCrawl%3D%27c%27",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
		for _, unknown := range []string{"0001-01-01", "pages     0", "frontier  0"} { // nobody has reported any
			if strings.Contains(b.String(), unknown) {
				t.Errorf("%q is in\n%s", unknown, b.String())
			}
		}
	}
}

// The status of a cancelled crawl says what it waits for, and in the end that none of its batches is running.
func TestStatusOfACancelledCrawl(t *testing.T) {
	for state, want := range map[string]string{
		"Running":  "c: Running, broad, cancelled: it ends when its batches have ended (run 3",
		"Canceled": "cut off   none of its batches is running; the numbers are the last ones that its worker reported, 2026-",
	} {
		s := crawlStatus{Workflow: "crawl/c", State: state}
		s.Crawl.Progress.At = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		s.Crawl.Name, s.Crawl.Phase, s.Crawl.Begun.Run, s.Crawl.Cancelled, s.Crawl.Stopping = "c", "broad", 3, true, true
		var b strings.Builder
		if s.write(&b); !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
