package workflows

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// politenessRounds is how many rounds an execution serves before it continues as new: well below
// the server's 10,000 signals a run.
const politenessRounds = 2000

// Politeness grants the leases of one shard of addresses, over all crawls and workers. The rules are
// in internal/politeness; this carries signals in and grants out, always in bulk.
//
// State and unserved are nil but when the workflow continues as new; unserved holds the rounds that
// came while the last answers of the execution before were on their way.
func Politeness(ctx workflow.Context, shard int, state *politeness.State, unserved []activities.RoundSignal) error {
	p := &shardOf{
		shard: shard, state: state, rounds: workflow.GetSignalChannel(ctx, names.SignalRound),
		asked: workflow.NewBufferedChannel(ctx, 1), lent: map[string]politeness.Grant{},
	}
	if p.state == nil {
		p.state = politeness.New(0)
	}
	if err := workflow.SetQueryHandler(ctx, names.QueryStatus, func() (*politeness.State, error) { return p.state, nil }); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandler(ctx, names.UpdateBorrow, p.borrow); err != nil {
		return err
	}
	p.serve(ctx, unserved)
	for served := 0; served < politenessRounds && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); {
		served += p.wait(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	// The server drops signals that a closed execution has not sent yet, and an asker whose answer is
	// lost waits for ever.
	p.closing = true
	if err := workflow.Await(ctx, func() bool { return p.sending == 0 && workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, names.Politeness, shard, p.state, p.received())
}

type shardOf struct {
	shard   int
	state   *politeness.State
	rounds  workflow.ReceiveChannel
	sending int // signals that are on their way
	closing bool

	asked workflow.Channel            // a borrower has asked: when to wake may have changed
	lent  map[string]politeness.Grant // grants that borrowers wait for
}

// borrowWait is how long a borrower waits for its lease.
const borrowWait = 20 * time.Second

// borrow gives a lease to an activity, which gives it back by a round signal: fetching has met another
// address than its own that it needs, as robots.txt may redirect to. If the address does not become free
// soon, the ask is withdrawn and the update fails with activities.ErrorBusy.
func (p *shardOf) borrow(ctx workflow.Context, ask politeness.Ask) (politeness.Grant, error) {
	ask.Reply = ""
	p.send(ctx, nil, p.state.Ask(workflow.Now(ctx), []politeness.Ask{ask}))
	p.asked.SendAsync(true)
	_, err := workflow.AwaitWithTimeout(ctx, borrowWait, func() bool {
		_, had := p.lent[ask.Lease]
		return had || p.closing
	})
	grant, had := p.lent[ask.Lease]
	delete(p.lent, ask.Lease)
	if had {
		return grant, nil
	}
	p.send(ctx, nil, p.state.Release(workflow.Now(ctx), []politeness.Release{{Lease: ask.Lease, IP: ask.IP}}))
	if err != nil {
		return grant, err
	}
	return grant, temporal.NewNonRetryableApplicationError(ask.IP+" is busy", activities.ErrorBusyAddress, nil)
}

// wait serves what comes next: rounds, or the moment at which a lease ends or an address is free.
func (p *shardOf) wait(ctx workflow.Context) (served int) {
	timerCtx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	s := workflow.NewSelector(ctx)
	s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	s.AddReceive(p.rounds, func(workflow.ReceiveChannel, bool) {})
	s.AddReceive(p.asked, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil) })
	if wake, ok := p.state.Wake(); ok {
		timer := workflow.NewTimer(timerCtx, max(wake.Sub(workflow.Now(ctx)), 10*time.Millisecond))
		s.AddFuture(timer, func(workflow.Future) { p.send(ctx, nil, p.state.Tick(workflow.Now(ctx))) })
	}
	s.Select(ctx)
	return p.serve(ctx, p.received())
}

// received takes all rounds that are there.
func (p *shardOf) received() []activities.RoundSignal {
	var rounds []activities.RoundSignal
	for {
		var r activities.RoundSignal
		if !p.rounds.ReceiveAsync(&r) {
			return rounds
		}
		rounds = append(rounds, r)
	}
}

// serve serves rounds, and answers them with one signal a sender.
func (p *shardOf) serve(ctx workflow.Context, rounds []activities.RoundSignal) int {
	var grants []politeness.Grant
	answers := map[string]int64{}
	now := workflow.Now(ctx)
	for _, r := range rounds {
		grants = append(grants, p.state.Release(now, r.Releases)...)
		p.state.Renew(now, r.Renewals)
		grants = append(grants, p.state.Ask(now, r.Asks)...)
		if r.Round > 0 {
			answers[r.From] = max(answers[r.From], r.Round)
		}
	}
	if len(rounds) > 0 {
		p.send(ctx, answers, grants)
		held, waiting := p.state.Counts()
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d leases are out, %d asks wait, %d addresses known", held, waiting, len(p.state.Addresses)))
	}
	return len(rounds)
}

// send tells each asker of its grants, and each controller that its round was served.
func (p *shardOf) send(ctx workflow.Context, answers map[string]int64, grants []politeness.Grant) {
	signals := map[string]*activities.GrantsSignal{}
	to := func(id string) *activities.GrantsSignal {
		if signals[id] == nil {
			signals[id] = &activities.GrantsSignal{Shard: p.shard}
		}
		return signals[id]
	}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		to(id).Round = answers[id]
	}
	for _, g := range politeness.Distinct(grants) { // rounds that are served together may ask for a lease twice
		if g.Reply == "" {
			p.lent[g.Lease] = g
			continue
		}
		s := to(g.Reply)
		s.Grants = append(s.Grants, g)
	}
	for _, id := range slices.Sorted(maps.Keys(signals)) {
		p.deliver(ctx, id, *signals[id])
	}
}

// deliver signals one asker. If it is gone, its leases are free again.
func (p *shardOf) deliver(ctx workflow.Context, id string, s activities.GrantsSignal) {
	sent := workflow.SignalExternalWorkflow(ctx, id, "", names.SignalGrants, s)
	p.sending++
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer func() { p.sending-- }()
		if sent.Get(ctx, nil) == nil || len(s.Grants) == 0 {
			return
		}
		var unused []politeness.Release
		for _, g := range s.Grants {
			unused = append(unused, politeness.Release{Lease: g.Lease, IP: g.IP})
		}
		p.send(ctx, nil, p.state.Release(workflow.Now(ctx), unused))
	})
}
