package activities

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// testShard is a Temporal that runs one politeness shard.
type testShard struct {
	client.Client
	state   *politeness.State
	waits   chan politeness.Ask // takes the asks for loans that are not granted at once; nil: they are refused
	refuses bool                // what is signalled
	updates int
}

func (s *testShard) serve(r politeness.Round) []politeness.Answer {
	return s.state.Serve(time.Now(), []politeness.Round{r})
}

// UpdateWorkflow serves what is asked. As with Temporal, an ask stays when who asked is gone.
func (s *testShard) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	s.updates++
	if o.UpdateName == names.UpdateRound {
		r := o.Args[0].(politeness.Round)
		out := RoundResult{At: time.Now()}
		for _, a := range s.serve(r) {
			if a.To == r.From {
				out.Answer, _ = a.Split(r)
			}
		}
		return answeredAtOnce{out: out}, nil
	}
	ask := o.Args[0].(BorrowInput).Ask
	ask.Loan = true
	for _, a := range s.serve(politeness.Round{Asks: []politeness.Ask{ask}}) {
		for _, g := range a.Grants {
			return grantedLoan{grant: g}, nil
		}
	}
	if s.waits == nil {
		s.serve(politeness.Round{Releases: []politeness.Release{ask.Withdrawal()}})
		return nil, temporal.NewNonRetryableApplicationError("busy", ErrorBusyAddress, nil)
	}
	s.waits <- ask
	<-ctx.Done()
	return nil, ctx.Err()
}

type grantedLoan struct {
	client.WorkflowUpdateHandle
	grant politeness.Grant
}

func (h grantedLoan) Get(_ context.Context, into any) error {
	*into.(*politeness.Grant) = h.grant
	return nil
}

// SignalWithStartWorkflow serves a round.
func (s *testShard) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	if s.refuses {
		return nil, errors.New("Temporal is away")
	}
	s.serve(arg.(politeness.Round))
	return nil, nil
}

// loans lists the leases that are held or asked for at an address and are borrowed.
func (s *testShard) loans(t *testing.T, worker string) (list string) {
	t.Helper()
	raw, err := s.state.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(raw), `"lease":"`)[1:] {
		if id, _, _ := strings.Cut(part, `"`); strings.Contains(id, "@") && strings.Contains(part, `"worker":"`+worker+`"`) {
			list += id + " "
		}
	}
	return list
}

// A loan that nobody makes use of goes back with the next round once its claim has ended, not after politeness.LoanTTL: the host of
// that address would stand still as long, and near the end of a budget the whole crawl, for the URLs of the claim that waits count.
func TestLoanThatNobodyReturns(t *testing.T) {
	other := politeness.Ask{Lease: "b.example-1", IP: there.String(), PerIP: 1, Crawl: "other", Worker: "other", Reply: "other"}
	for name, test := range map[string]struct {
		borrow func(t *testing.T, s *testShard, borrow func(context.Context) (fetch.Loan, error))
		ends   bool // the claim
	}{
		// The worker is killed while it waits. Temporal keeps the ask, and the shard grants it to nobody.
		"granted after a kill": {func(t *testing.T, s *testShard, borrow func(context.Context) (fetch.Loan, error)) {
			s.serve(politeness.Round{Asks: []politeness.Ask{other}})
			s.waits = make(chan politeness.Ask, 1)
			ctx, kill := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = borrow(ctx)
			}()
			<-s.waits
			s.refuses = true // a process that is killed sends nothing more
			kill()
			<-ended
			s.serve(politeness.Round{Releases: []politeness.Release{other.Withdrawal()}})
		}, true},
		// The worker is killed with the loan.
		"granted before a kill": {func(t *testing.T, s *testShard, borrow func(context.Context) (fetch.Loan, error)) {
			if _, err := borrow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, true},
		// Temporal does not answer when the loan is returned.
		"returned during an outage": {func(t *testing.T, s *testShard, borrow func(context.Context) (fetch.Loan, error)) {
			loan, err := borrow(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.refuses = true
			loan.Return(time.Now())
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			shard := &testShard{state: politeness.New(0, 1)}
			r.Client = shard
			r.Settings.Shards = 1
			r.begin("one", nil)
			in := r.batch()
			claim := in.Claims[0].ID
			plan := r.definition(nil).Politeness
			test.borrow(t, shard, func(ctx context.Context) (fetch.Loan, error) {
				return r.borrower(in.Crawl, claim, plan, politeness.Clock{})(ctx, there)
			})
			if shard.loans(t, "w") == "" {
				t.Fatal("nothing is borrowed: the test tests nothing")
			}
			if test.ends {
				r.must(r.Frontier.Crawl(in.Crawl).Lane(claim).End(frontier.LaneEnd{Host: time.Now()}))
			}
			round, err := r.Frontier.Crawl(in.Crawl).Claims().Claim(t.Context(), frontier.Want{Round: 2, Until: time.Now(), ClaimNothing: true})
			r.must(err)
			_, _, _, err = r.sendRound(t.Context(), ClaimInput{Crawl: in.Crawl, Round: 2, Reply: "r"}, round, plan, time.Now())
			r.must(err)
			if left := shard.loans(t, "w"); left != "" {
				t.Errorf("the address is left to nobody: %sis held", left)
			}
		})
	}
}

// A loan that is refused leaves nothing to be given back, and an error of the disk is the worker's own.
func TestLoanRefused(t *testing.T) {
	r := newRig(t)
	shard := &testShard{state: politeness.New(0, 1)}
	r.Client, r.Settings.Shards = shard, 1
	r.begin("one", nil)
	in := r.batch()
	shard.serve(politeness.Round{Asks: []politeness.Ask{{Lease: "b.example-1", IP: there.String(), PerIP: 1, Crawl: "other", Worker: "other", Reply: "other"}}})
	borrow := r.borrower(in.Crawl, in.Claims[0].ID, r.definition(nil).Politeness, politeness.Clock{})
	var busy *fetch.BusyError
	if _, err := borrow(t.Context(), there); !errors.As(err, &busy) {
		t.Errorf("a busy address: %v", err)
	}
	if c, _ := r.Frontier.Crawl(in.Crawl).Lane(in.Claims[0].ID).Claim(); len(c.Addresses) > 0 {
		t.Errorf("the claim gives %v back", c.Addresses)
	}
	r.refuse.Store(0)
	asked := shard.updates
	if _, err := borrow(t.Context(), netip.MustParseAddr("192.0.2.77")); err == nil || errors.As(err, &busy) || shard.updates > asked {
		t.Errorf("with a full disk: %v, asked %d times more", err, shard.updates-asked)
	}
}
