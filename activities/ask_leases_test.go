package activities

import (
	"context"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// signalled is a client that keeps the last signal.
type signalled struct {
	mocks.Client
	workflow string
	round    politeness.Round
}

// SignalWithStartWorkflow keeps the signal.
func (s *signalled) SignalWithStartWorkflow(_ context.Context, id, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.workflow = id
	switch r := arg.(type) {
	case politeness.Round:
		s.round = r
	case *politeness.Round:
		s.round = *r
	}
	return nil, nil
}

// TestAskLeases: asks go to the shard as they are; a withdrawal releases what was asked for.
func TestAskLeases(t *testing.T) {
	ask := politeness.Ask{Lease: "a.example-1", IP: rigIP, Crawl: rigCrawl, Worker: "w"}
	for name, withdraw := range map[string]bool{"asked for": false, "withdrawn": true} {
		r := newRig(t)
		sent := &signalled{}
		r.Client, r.Settings.Shards = sent, 3
		r.must(r.do(r.AskLeases, AskLeasesInput{Crawl: rigCrawl, Shard: 2, Reply: "batch", Asks: []politeness.Ask{ask}, Withdraw: withdraw}))
		asks, releases := 1, 0
		if withdraw {
			asks, releases = 0, 1
		}
		if sent.workflow != names.PolitenessID(2) || sent.round.From != "batch" || sent.round.Shards != 3 || len(sent.round.Asks) != asks || len(sent.round.Releases) != releases {
			t.Errorf("%s: %s gets %+v", name, sent.workflow, sent.round)
		}
		if withdraw && sent.round.Releases[0].Lease != ask.Lease {
			t.Errorf("%+v", sent.round.Releases[0])
		}
	}
}
