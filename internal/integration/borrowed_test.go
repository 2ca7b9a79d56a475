package integration

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/manners"
)

// shard asks the first politeness shard, of which there is one, for its state.
func (s *Server) shard(t *testing.T) politeness.State {
	t.Helper()
	var value converter.EncodedValue
	Until(t, soon, "the politeness shard answers", func() string { // a busy server gives a query up after some seconds
		var err error
		if value, err = s.Client.QueryWorkflow(t.Context(), names.PolitenessID(0), "", names.QueryStatus); err != nil {
			return err.Error()
		}
		return ""
	})
	var state politeness.State
	if err := value.Get(&state); err != nil {
		t.Fatal(err)
	}
	return state
}

// borrowed counts the leases that were borrowed from the first politeness shard.
func (s *Server) borrowed(t *testing.T) (n int) {
	t.Helper()
	events := s.Client.GetWorkflowHistory(t.Context(), names.PolitenessID(0), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		done := e.GetWorkflowExecutionUpdateCompletedEventAttributes()
		if done.GetMeta().GetUpdateId() != "" && done.GetOutcome().GetFailure() == nil {
			n++
		}
	}
	return n
}

// loanDelay is longer than it takes to borrow a lease and to give it back, so that only a crawler that waits keeps it.
const loanDelay = 500 * time.Millisecond

// A robots.txt at another address is fetched with a borrowed lease. The address, whose own host is crawled at the
// same time, sees one connection at a time and the pauses of its host.
func TestRobotsAtAnotherAddress(t *testing.T) {
	t.Parallel()
	world := Serve(t, manners.NewBorrowed(webworld.Options{FirstIP: netip.MustParseAddr("127.96.0.1")}, 8, 0))
	d := Definition("borrowed", world)
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(loanDelay), crawl.Duration(2*loanDelay)
	crawlBorrowed(t, world, d)
}

// The request for a robots.txt at another address counts for the Crawl-delay of that address's host.
func TestCrawlDelayAtAnotherAddress(t *testing.T) {
	t.Parallel()
	world := Serve(t, manners.NewBorrowed(webworld.Options{FirstIP: netip.MustParseAddr("127.96.1.1")}, 6, 2*loanDelay))
	d := Definition("borrowed-delay", world)
	d.Order.PerQueue = 2 // so that the borrower comes between two batches of the lender
	crawlBorrowed(t, world, d)
}

// crawlBorrowed crawls the world of borrowed rules. All allowed pages must be archived and nothing else requested, with pauses of at
// least loanDelay or the world's Crawl-delay.
func crawlBorrowed(t *testing.T, world *webworld.World, d crawl.Definition) {
	t.Helper()
	server := StartServer(t)
	dir := t.TempDir()
	worker := StartWorker(t, Config(server, world, dir))
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "drained" || result.Totals.Failed > 0 {
		t.Errorf("the crawl ended with %q and %d failed batches", result.Reason, result.Totals.Failed)
	}

	stats := world.Stats()
	polite(t, stats, max(loanDelay, world.Sites()[0].CrawlDelay))
	if len(stats.PerIP) != 2 || stats.MinGap == nil {
		t.Fatalf("%d addresses saw the crawl, the shortest gap is %+v", len(stats.PerIP), stats.MinGap)
	}
	report := Check(t, filepath.Join(dir, "archive"))
	Once(t, report, world)
	forbidden := 0
	for _, p := range world.Pages() {
		if !p.Allowed {
			forbidden++
			if report.Pages[p.URL] > 0 {
				t.Errorf("archive: %s is there, which robots.txt disallows", p.URL)
			}
		}
	}
	if int(result.Totals.Robots) != forbidden || forbidden == 0 {
		t.Errorf("%d URLs were refused by robots.txt, want %d", result.Totals.Robots, forbidden)
	}
	for url, hosts := range map[string]int{world.Seeds()[0] + "robots.txt": 2, world.Seeds()[1] + "robots.txt": 1} {
		if n := report.Robots[url]; n != hosts {
			t.Errorf("archive: %s is there %d times, want once for each of %d hosts", url, n, hosts)
		}
	}
	if n := server.borrowed(t); n == 0 {
		t.Error("no lease was borrowed")
	}
	checkOutcomes(t, worker.Activities().Frontier.Crawl(d.Name))
	Until(t, soon, "all leases are given back", func() string { return held(server.shard(t)) })
}

// held counts leases that are held or asked for.
func held(s politeness.State) string {
	if held, waiting, _ := s.Counts(); held+waiting > 0 {
		return fmt.Sprintf("%d leases are held, %d are asked for", held, waiting)
	}
	return ""
}
