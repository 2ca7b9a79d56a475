package workflows

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// A controller whose worker holds says so in its details and its state, and reports the reason to its crawl. Each
// change is reported at once and passed to the next round.
func TestControllerHolds(t *testing.T) {
	const full = "the disk has 12 MB left"
	var e *env
	holding := func(reason string, state crawl.ControllerState) {
		t.Helper()
		value, err := e.QueryWorkflow(names.QueryStatus)
		if err != nil {
			t.Fatal(err)
		}
		var p activities.Progress
		if err := value.Get(&p); err != nil {
			t.Fatal(err)
		}
		if p.Holds != reason || p.State != state {
			t.Errorf("holds %q, state %q, want %q and %q", p.Holds, p.State, reason, state)
		}
	}
	e = newController(t, func(e *env, in activities.ClaimInput) (activities.ClaimResult, error) {
		held := in.Round == 2 || in.Round == 3
		if in.Held != held {
			t.Errorf("round %d: held is %t", in.Round, in.Held)
		}
		switch in.Round {
		case 1, 2:
			return activities.ClaimResult{Holds: full, Idle: true}, nil
		case 3:
			e.at(0, func() { holding(full, "holding") })
			return activities.ClaimResult{}, nil
		}
		e.at(0, func() { holding("", "crawling") })
		return activities.ClaimResult{Drained: true}, nil
	})
	if err := e.run(FetcherController, controllerInput); err != nil {
		t.Fatal(err)
	}
	e.expectCalls("claim 1", "claim 2", "claim 3", "claim 4")
}

// The crawl shows why its worker claims nothing, until the worker continues.
func TestCrawlShowsHold(t *testing.T) {
	c := &crawlRun{CrawlState: CrawlState{Phase: "broad"}}
	c.Progress.Holds = "the disk is full"
	if got := c.stateName(); got != "broad, holding" {
		t.Errorf("state %q", got)
	}
	if got := holds(c.Progress.Holds); !strings.Contains(got, "the disk is full") || holds("") != "" {
		t.Errorf("details %q", got)
	}
}
