package activities

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// The claim activity itself starts what a shard grants at once, in one batch.
func TestClaimStartsWhatIsGrantedAtOnce(t *testing.T) {
	a := claimable(t)
	a.Archives = &Archives{Default: t.TempDir()}
	temporal, started := &mocks.Client{}, 0
	handle := &mocks.WorkflowUpdateHandle{}
	var round politeness.Round
	temporal.On("UpdateWorkflow", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		o := args.Get(1).(client.UpdateWorkflowOptions)
		if o.WorkflowID != names.PolitenessID(0) || o.UpdateName != names.UpdateRound || o.WaitForStage != client.WorkflowUpdateStageCompleted {
			t.Errorf("updates %+v", o)
		}
		round = o.Args[0].(politeness.Round)
	}).Return(handle, nil)
	handle.On("Get", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		out := args.Get(1).(*RoundResult)
		out.At = a.Now()
		out.Answer.Round = round.Round
		for _, ask := range round.Asks {
			out.Answer.Grants = append(out.Answer.Grants, politeness.Grant{Lease: ask.Lease, IP: ask.IP, Number: 1, Deadline: a.Now().Add(politeness.DefaultTTL)})
		}
	}).Return(nil)
	temporal.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		if in := args.Get(3).(BatchInput); len(in.Claims) == 1 {
			started++
		}
	}).Return(nil, nil)
	a.Client = temporal
	out := a.claimRound(t, ClaimInput{Crawl: "c", Round: 1, Reply: "r"})
	if started != 1 || out.Sent != 0 || len(out.Answers) != 1 || out.Answers[0].Round != 1 || len(out.Answers[0].Grants) != 0 {
		t.Errorf("%d batches are started, %+v", started, out)
	}
	if until := a.Frontier.Crawl("c").Lane(round.Asks[0].Lease).LeaseUntil(); !until.After(a.Now()) {
		t.Errorf("the lease lasts until %v", until)
	}

	// A batch that cannot be started is left to the controller.
	failing := claimable(t)
	failing.Client, failing.Archives = temporal, &Archives{Default: "/dev/null/no-folder"}
	out = failing.claimRound(t, ClaimInput{Crawl: "c", Round: 1, Reply: "r"})
	if len(out.Answers) != 1 || len(out.Answers[0].Grants) != 1 || started != 1 {
		t.Errorf("%d batches are started, %+v", started, out)
	}
}

// A claim whose ask a shard answers busy at once is given back by the activity itself; the controller learns nothing of it.
func TestClaimGivesBusyClaimsBack(t *testing.T) {
	a := claimable(t)
	temporal, handle := &mocks.Client{}, &mocks.WorkflowUpdateHandle{}
	var round politeness.Round
	temporal.On("UpdateWorkflow", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		round = args.Get(1).(client.UpdateWorkflowOptions).Args[0].(politeness.Round)
	}).Return(handle, nil)
	handle.On("Get", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
		out := args.Get(1).(*RoundResult)
		out.At, out.Answer.Round = a.Now(), round.Round
		for _, ask := range round.Asks {
			out.Answer.Busy = append(out.Answer.Busy, ask.Lease)
		}
	}).Return(nil)
	a.Client = temporal
	out := a.claimRound(t, ClaimInput{Crawl: "c", Round: 1, Reply: "r"})
	if len(round.Asks) != 1 || len(out.Answers) != 1 || len(out.Answers[0].Busy) > 0 || out.Progress.Waiting != 1 {
		t.Fatalf("asks %+v, %+v", round.Asks, out)
	}
	if c, there := a.Frontier.Crawl("c").Lane(round.Asks[0].Lease).Claim(); there {
		t.Errorf("%+v is still there", c)
	}
}

// While many claims of a crawl wait, its asks say that lines are to be short.
func TestAsksSayHowLongLinesAre(t *testing.T) {
	a := claimable(t)
	for _, line := range []int{0, 2} {
		rounds := a.splitRound(ClaimInput{Crawl: "c"}, frontier.Round{Line: line, Claims: []frontier.Claim{{ID: "x", IP: rigIP}}, Renewals: []frontier.Claim{{ID: "y", IP: rigIP}}}, crawl.Politeness{})
		if r := rounds.asked[0]; r.Asks[0].Line != line || r.Renewals[0].Line != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// A round waits longer for more claims while enough pages are in progress, at all workers of the crawl together.
func TestLinger(t *testing.T) {
	for _, c := range []struct {
		pages   int64
		workers int
		want    time.Duration
	}{{0, 0, 5}, {0, 4, 5}, {2, 0, 5}, {3, 0, 5 * lingerBusy}, {3, 1, 5 * lingerBusy}, {1, 2, 5}, {1, 3, 5 * lingerBusy}} {
		a := &Activities{Settings: Settings{Linger: 5, BundleURLs: 3}}
		a.InFlight.begin(BatchInput{Crawl: "c", Batch: "b"}, func() int64 { return c.pages })
		if got := a.linger("c", c.workers); got != c.want {
			t.Errorf("%d pages at one of %d workers: %d, want %d", c.pages, c.workers, got, c.want)
		}
	}
}
