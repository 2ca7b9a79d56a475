package workflows

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// politenessRounds is how many rounds an execution serves before it continues as new: a worker that takes the shard over
// replays them within a workflow task.
const politenessRounds = 200

// versionTurns marks executions in which crawls take turns at an address.
const versionTurns = "turns"

// versionServers marks executions that slow servers down and bound what hosts take of the state; from 2 on, by lanes that have ended alone.
const versionServers = "servers"

// versionGone marks executions that end what a worker has which the ring has given up.
const versionGone = "gone"

// versionLine marks executions that answer asks busy when the line at their address is full.
const versionLine = "line"

// versionApart marks executions that have a host asked by one claim at a time, at whatever addresses of the shard.
const versionApart = "apart"

// versionExact marks executions that wake for an address when an ask can be granted there, forget no address that rests for longer than a minute, and refuse what a process asks for that
// the ring has given up since.
const versionExact = "exact"

// versionNotices marks executions in which notices of hosts at other shards take half of the room of hosts at most; before, those of hosts that were known took all of it.
const versionNotices = "notices"

// Politeness grants the leases of one shard of addresses, over all crawls and workers. The rules are
// in internal/politeness; this carries signals in and answers out, always in bulk.
func Politeness(ctx workflow.Context, in activities.PolitenessInput) error {
	p := &politenessShard{
		shard: in.Shard, state: in.State, rounds: workflow.GetSignalChannel(ctx, names.SignalRound),
		resets: newResets(ctx), stateChanged: workflow.NewBufferedChannel(ctx, 1), loans: map[politeness.LeaseID]politeness.Grant{}, calls: map[politeness.LeaseID]int{},
	}
	if p.state == nil {
		p.state = politeness.New(0, in.Shards)
		if !in.Lost.IsZero() {
			p.state.Lost(in.Lost)
		}
	}
	if workflow.GetVersion(ctx, versionTurns, workflow.DefaultVersion, 1) >= 1 {
		p.state.Fair = true
	}
	servers := workflow.GetVersion(ctx, versionServers, workflow.DefaultVersion, 2)
	if servers >= 1 && !p.state.Servers {
		p.state.CountServers()
	}
	p.state.Ends = servers >= 2
	p.state.Lines = workflow.GetVersion(ctx, versionLine, workflow.DefaultVersion, 1) >= 1
	p.hearsGone = workflow.GetVersion(ctx, versionGone, workflow.DefaultVersion, 1) >= 1
	p.state.KeepHostsApart(workflow.GetVersion(ctx, versionApart, workflow.DefaultVersion, 1) >= 1)
	p.state.Exact = workflow.GetVersion(ctx, versionExact, workflow.DefaultVersion, 1) >= 1
	p.state.Notices = workflow.GetVersion(ctx, versionNotices, workflow.DefaultVersion, 1) >= 1
	if err := p.registerHandlers(ctx); err != nil {
		return err
	}
	p.resets.notice(ctx, func(workflow.Context) { p.stateChanged.SendAsync(true) })
	if err := p.forgets(ctx); err != nil {
		return err
	}
	p.serve(ctx, in.Unserved)
	p.listenMove(ctx)
	for served := 0; served < politenessRounds && !p.moves && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); {
		served += p.wait(ctx)
		if err := cmp.Or(ctx.Err(), p.forgets(ctx)); err != nil {
			return err
		}
	}
	// The server drops signals that a closed execution has not sent yet, and an asker whose answer is
	// lost waits until it asks again.
	p.closing = true
	err := workflow.Await(ctx, func() bool { return p.resets.count(ctx) > 0 || p.sending == 0 && workflow.AllHandlersFinished(ctx) })
	if err = cmp.Or(err, p.forgets(ctx)); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(workflow.WithWorkflowTaskQueue(ctx, names.ClusterQueue), names.Politeness, activities.PolitenessInput{
		Shard: in.Shard, Shards: in.Shards, State: p.state, Unserved: p.received(),
	})
}

type politenessShard struct {
	hearsGone bool // of workers that the ring has given up; executions of earlier versions do not

	shard   int
	resets  *resets
	state   *politeness.State
	rounds  workflow.ReceiveChannel
	sending int // signals that are on their way
	closing bool
	moves   bool // to the queue of the cluster, from that of one worker

	timer   workflow.Future // set to fire at timerAt; nil if none is
	timerAt time.Time
	unset   workflow.CancelFunc

	stateChanged workflow.Channel                        // the state has changed beside the loop: when to wake may have, too
	servedBeside int                                     // rounds that were served by update since the loop last counted
	loans        map[politeness.LeaseID]politeness.Grant // that borrowers wait for
	calls        map[politeness.LeaseID]int              // of borrow, in progress: the newest of each lease
}

// registerHandlers answers queries and updates beside the loop.
func (p *politenessShard) registerHandlers(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, names.QueryStatus, func() (*politeness.State, error) { return p.state, nil }); err != nil {
		return err
	}
	find := func(ip string, lease politeness.LeaseID) (*politeness.Waiting, error) {
		return p.state.Find(ip, lease), nil
	}
	if err := workflow.SetQueryHandler(ctx, names.QueryWaiting, find); err != nil {
		return err
	}
	host := func(host string, addresses []string) (politeness.HostReport, error) {
		return p.state.Host(workflow.Now(ctx), host, addresses), nil
	}
	if err := workflow.SetQueryHandler(ctx, names.QueryHost, host); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandler(ctx, names.UpdateRound, p.round); err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, names.UpdateBorrow, p.borrow, workflow.UpdateHandlerOptions{
		Validator: func(in activities.BorrowInput) error { return in.Check() },
	})
}

// versionMove is the change by which a shard moves when it is asked to: a worker of an earlier version may have ignored the signal.
const versionMove = "move"

// listenMove has the shard continue as new when a worker finds it on another queue than that of the cluster: earlier versions started it
// on the shared queue of the worker that came first, and when that one is retired nobody runs it.
func (p *politenessShard) listenMove(ctx workflow.Context) {
	onSignal(ctx, names.SignalMove, func(ctx workflow.Context) {
		if workflow.GetInfo(ctx).TaskQueueName != names.ClusterQueue && workflow.GetVersion(ctx, versionMove, workflow.DefaultVersion, 1) != workflow.DefaultVersion {
			p.moves = true
			p.stateChanged.SendAsync(true)
		}
	})
}

// round serves a round and answers it at once, without the two signals and the workflow task of the controller that this costs
// otherwise. What is granted beside what the round asks for is sent as a signal: a worker that asks again after a kill asks for the
// claims of this round alone.
func (p *politenessShard) round(ctx workflow.Context, r politeness.Round) (activities.RoundResult, error) {
	if err := p.forgets(ctx); err != nil {
		return activities.RoundResult{}, err
	}
	now := workflow.Now(ctx)
	out := activities.RoundResult{At: now}
	answers := p.state.Serve(now, p.heard(r))
	for i, a := range answers {
		if a.To == r.From && a.To != "" { // what goes to nobody goes to borrowers
			out.Answer, answers[i] = a.Split(r)
			out.Answer.Shard = p.shard
		}
	}
	p.send(ctx, slices.DeleteFunc(answers, func(a politeness.Answer) bool { return a.To == r.From && len(a.Grants) == 0 }))
	p.servedBeside++
	p.stateChanged.SendAsync(true)
	workflow.SetCurrentDetails(ctx, p.describe(now))
	return out, nil
}

// borrow gives a lease to an activity, which gives it back by a round signal: fetching has met another
// address than its own that it needs, as robots.txt may redirect to. If the address does not become free
// soon, the ask is withdrawn and the update fails with activities.ErrorBusyAddress. So does a call whose claim calls again,
// for its attempt is gone: the lease, and the answer to the ask, belong to the newer call.
func (p *politenessShard) borrow(ctx workflow.Context, in activities.BorrowInput) (politeness.Grant, error) {
	if err := p.forgets(ctx); err != nil {
		return politeness.Grant{}, err
	}
	ask := in.Ask
	ask.Reply, ask.Loan = "", true
	for _, a := range p.serveAt(ctx, politeness.Round{Shards: in.Shards, Asks: []politeness.Ask{ask}}) {
		if a.Fault != "" {
			return politeness.Grant{}, shardsFault(a.Fault)
		}
	}
	p.stateChanged.SendAsync(true)
	id, busy := ask.ID(), temporal.NewNonRetryableApplicationError(ask.IP+" is busy", activities.ErrorBusyAddress, nil)
	p.calls[id]++
	call := p.calls[id]
	_, err := workflow.AwaitWithTimeout(ctx, activities.BorrowWait, func() bool {
		_, had := p.loans[id]
		return had || p.closing || p.calls[id] != call
	})
	if p.calls[id] != call {
		return politeness.Grant{}, busy
	}
	grant, had := p.loans[id]
	delete(p.loans, id)
	delete(p.calls, id)
	if had {
		return grant, nil
	}
	p.serveAt(ctx, politeness.Round{Releases: []politeness.Release{ask.Withdrawal()}})
	if err != nil {
		return grant, err
	}
	return grant, busy
}

// forgets is why a shard ends that was reset: the leases that it had granted since are held, and it would grant their addresses once more.
func (p *politenessShard) forgets(ctx workflow.Context) error {
	return p.resets.forgets(ctx, "which leases it has granted since")
}

// wait serves what comes next: rounds, or the moment at which a lease ends or an address is free. A shard that was reset serves nothing.
func (p *politenessShard) wait(ctx workflow.Context) (served int) {
	s := workflow.NewSelector(ctx)
	s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	s.AddReceive(p.rounds, func(workflow.ReceiveChannel, bool) {})
	s.AddReceive(p.stateChanged, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil) })
	p.wake(ctx)
	if p.timer != nil {
		s.AddFuture(p.timer, func(workflow.Future) {
			if p.timer = nil; p.resets.count(ctx) == 0 {
				p.send(ctx, p.state.Tick(workflow.Now(ctx)))
			}
		})
	}
	s.Select(ctx)
	if p.resets.count(ctx) > 0 {
		return 0
	}
	served = p.serve(ctx, p.received()) + p.servedBeside
	p.servedBeside = 0
	return served
}

// wake sets the timer for the moment at which a lease ends or an address is free. One that fires earlier stays: it costs two
// events to set another, and nothing to wake once too early.
func (p *politenessShard) wake(ctx workflow.Context) {
	wake, ok := p.state.Wake()
	if !ok || p.timer != nil && !wake.Before(p.timerAt) {
		return
	}
	if p.timer != nil {
		p.unset()
	}
	now := workflow.Now(ctx)
	wait := max(wake.Sub(now), 10*time.Millisecond)
	timerCtx, cancel := workflow.WithCancel(ctx)
	p.timer, p.timerAt, p.unset = workflow.NewTimer(timerCtx, wait), now.Add(wait), cancel
}

// received takes all rounds that are there.
func (p *politenessShard) received() []politeness.Round {
	var rounds []politeness.Round
	for {
		var r politeness.Round
		if !p.rounds.ReceiveAsync(&r) {
			return rounds
		}
		rounds = append(rounds, r)
	}
}

// heard is what the execution takes notice of in rounds.
func (p *politenessShard) heard(rounds ...politeness.Round) []politeness.Round {
	if !p.hearsGone {
		for i := range rounds {
			rounds[i].Gone = nil
		}
	}
	return rounds
}

// serve serves rounds, and answers them with one signal a sender.
func (p *politenessShard) serve(ctx workflow.Context, rounds []politeness.Round) int {
	if len(rounds) > 0 {
		p.serveAt(ctx, rounds...)
		workflow.SetCurrentDetails(ctx, p.describe(workflow.Now(ctx)))
	}
	return len(rounds)
}

// serveAt serves rounds now and sends the answers.
func (p *politenessShard) serveAt(ctx workflow.Context, rounds ...politeness.Round) []politeness.Answer {
	answers := p.state.Serve(workflow.Now(ctx), p.heard(rounds...))
	p.send(ctx, answers)
	return answers
}

// slowShown is how many hosts that are slowed down a shard names in the UI: those that rest longest.
const slowShown = 10

func (p *politenessShard) describe(now time.Time) string {
	held, waiting, addresses := p.state.Counts()
	out := fmt.Sprintf("%d leases are held, %d asks wait, %d addresses known", held, waiting, addresses)
	if p.state.Floor.After(now) {
		out += fmt.Sprintf("\n\nUnknown addresses are granted from %s on: the shard lost its state, or has no room for all addresses that rest.", p.state.Floor.Format(time.RFC3339))
	}
	if differing := p.state.Differing(now); len(differing) > 0 {
		out += "\n\nWorkers have different host groups (setting host-groups), so that an address may be asked twice at a time:"
		for _, hash := range slices.Sorted(maps.Keys(differing)) {
			out += fmt.Sprintf("\n\n* %s: %s", cmp.Or(hash, "none"), strings.Join(differing[hash], ", "))
		}
	}
	if slow, all := p.state.Slowest(now, slowShown); all > 0 {
		out += fmt.Sprintf("\n\n%s that are slowed down rest now (muninn host NAME says more of each):\n", count(int64(all), "host"))
		for _, h := range slow {
			out += fmt.Sprintf("\n* %s until %s: %s at %s, step %d", h.Host, h.Until.UTC().Format(time.DateTime), h.Why, h.Reported().Format(time.DateTime), h.Steps)
		}
	}
	if p.state.Turned > 0 {
		out += fmt.Sprintf("\n\n%d asks were refused, because the shard is full: more politeness-shards are needed.", p.state.Turned)
	}
	return out
}

// send delivers answers; those to none are for borrowers.
func (p *politenessShard) send(ctx workflow.Context, answers []politeness.Answer) {
	for _, a := range answers {
		if a.To == "" {
			for _, g := range a.Grants {
				p.loans[g.ID] = g
			}
			continue
		}
		a.Shard = p.shard
		p.deliver(ctx, a)
	}
}

// deliver signals one asker. If it is gone, what was granted to it is free again.
func (p *politenessShard) deliver(ctx workflow.Context, a politeness.Answer) {
	sent := workflow.SignalExternalWorkflow(ctx, a.To, "", names.SignalGrants, a)
	p.sending++
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer func() { p.sending-- }()
		if sent.Get(ctx, nil) != nil && len(a.Grants) > 0 {
			p.send(ctx, p.state.Undelivered(workflow.Now(ctx), a.Grants))
			p.stateChanged.SendAsync(true)
		}
	})
}
