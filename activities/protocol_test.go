package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// TestLeaseProtocol plays the whole lease protocol on a fake clock, with real frontiers, the real code of rounds and starts, and the
// real rules of Politeness. Messages between them come late, twice, out of order or not at all; clocks of workers are minutes apart;
// disks are lost; a shard is terminated. Each request is checked at its address: one lane at a time, and none before the pause of the
// last one is over. At the end all leases are given back.
//
// MUNINN_SEED=N plays that seed alone.
func TestLeaseProtocol(t *testing.T) {
	first, last := uint64(0), uint64(8)
	if text := os.Getenv("MUNINN_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, last = n, n+1
	}
	requests, taken, busy := 0, 0, 0
	for seed := first; seed < last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newProtocol(t, rand.New(rand.NewPCG(seed, 1)))
			p.play(400)
			p.finish()
			requests, taken, busy = requests+p.requests, taken+p.taken, busy+p.busy
		})
	}
	t.Logf("%d requests under %d leases, %d asks were answered busy", requests, taken, busy)
	if !t.Failed() && (requests < 100 || busy == 0) {
		t.Error("hardly any request was made, or no line was full: the test tests nothing")
	}
}

const (
	protocolPause = 3 * time.Second  // that a lane owes when it ends
	protocolRest  = 20 * time.Second // max_delay
	protocolURLs  = 40               // of each host
)

// protocol is the world: one shard, two workers with two crawls each, two addresses, at one of which each crawl has two hosts.
type protocol struct {
	t      *testing.T
	random *rand.Rand
	now    time.Time // Temporal's, and the truth
	state  *politeness.State
	inbox  []message // to the shard
	agents []*agent
	lanes  []*testLane
	next   map[string]time.Time // when an address may be asked again
	calm   bool                 // no faults any more

	requests, taken, busy int
}

type message struct {
	at    time.Time // when it arrives
	round politeness.Round
}

// agent is a worker.
type agent struct {
	client.Client // only its signals and updates are used
	p             *protocol
	name          string
	skew          time.Duration
	acts          *Activities
	senders       []*sender
	lives         int
	sent          []politeness.Round // by the activity in progress
}

// sender is a crawl's controller.
type sender struct {
	agent   *agent
	crawl   string
	round   int64
	first   bool
	confirm frontier.Confirmed
	waits   time.Time // for the answer, since then; zero: does not
	refused []politeness.Key
	inbox   []answerAt
}

type answerAt struct {
	at time.Time
	politeness.Answer
}

// testLane is a claim that is fetched, or waits for a lease that its batch asks for itself.
type testLane struct {
	sender *sender
	claim  frontier.Claim
	made   bool // a request
	last   time.Time
	dead   bool
}

func newProtocol(t *testing.T, random *rand.Rand) *protocol {
	p := &protocol{t: t, random: random, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), state: newShardState(), next: map[string]time.Time{}}
	for i, skew := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		a := &agent{p: p, name: fmt.Sprint("w", i), skew: skew}
		for k := range 2 {
			a.senders = append(a.senders, &sender{agent: a, crawl: fmt.Sprintf("crawl%d%d", i, k)})
		}
		p.agents = append(p.agents, a)
		a.open()
	}
	return p
}

func newShardState() *politeness.State {
	s := politeness.New(0, 1)
	s.Lines = true
	return s
}

func (p *protocol) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *protocol) soon(most time.Duration) time.Time {
	return p.now.Add(time.Duration(p.random.Int64N(int64(most))))
}

func (a *agent) now() time.Time { return a.p.now.Add(a.skew) }

// open gives a worker a new, empty frontier.
func (a *agent) open() {
	a.lives++
	f, err := frontier.Open(a.p.t.TempDir(), frontier.Options{Now: a.now, NoSync: true, Table: testTable})
	a.p.must(err)
	a.p.t.Cleanup(func() { _ = f.Close() })
	a.acts = &Activities{
		Settings: Settings{Worker: a.name, Queue: "q", Shards: 1, BundlePLDs: 1, BundleURLs: 500}, Client: a, Frontier: f, Now: a.now,
	}
	for _, s := range a.senders {
		d := crawl.DefaultDefinition()
		d.Name, d.Scope.Within, d.Order.PerQueue = s.crawl, crawl.WithinWeb, 3
		d.Politeness.MaxDelay = crawl.Duration(protocolRest)
		var found []crawl.Discovery
		for host := range 3 {
			for i := range protocolURLs {
				found = append(found, crawl.Discovery{URL: fmt.Sprintf("http://h%d-%s.example/%d", host, s.crawl, i), Path: "S", Score: 0.5})
			}
		}
		_, err := f.Begin(s.crawl, fmt.Sprint("owner", a.lives), 0, d, []string{found[0].URL}, false)
		a.p.must(err)
		a.p.must(f.Crawl(s.crawl).URLs().Offer("seeds", found))
		*s = sender{agent: a, crawl: s.crawl, first: true}
	}
}

// SignalWithStartWorkflow takes what an activity signals to the shard.
func (a *agent) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	a.sent = append(a.sent, arg.(politeness.Round))
	return nil, nil
}

// UpdateWorkflow serves a round at once. Sometimes no worker runs the shard, or the answer is lost on its way.
func (a *agent) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	p := a.p
	fate := p.random.IntN(6)
	if fate < 2 {
		return nil, errNoShard
	}
	r := o.Args[0].(politeness.Round)
	out := RoundResult{At: p.now}
	answers := p.state.Serve(p.now, []politeness.Round{r})
	for i, a := range answers {
		if a.To == r.From {
			out.Answer, answers[i] = a.Split(r)
		}
	}
	p.deliver(answers)
	if fate == 2 && !p.calm {
		return nil, errNoShard
	}
	return answeredAtOnce{out: out}, nil
}

type answeredAtOnce struct {
	client.WorkflowUpdateHandle
	out RoundResult
}

func (h answeredAtOnce) Get(_ context.Context, into any) error {
	*into.(*RoundResult) = h.out
	return nil
}

// post sends what was signalled, sometimes twice.
func (a *agent) post() {
	p := a.p
	for _, r := range a.sent {
		slow := 50 * time.Millisecond
		if !p.calm && p.random.IntN(8) == 0 {
			slow = 3 * time.Minute
		}
		p.inbox = append(p.inbox, message{p.soon(slow), r})
		if !p.calm && p.random.IntN(8) == 0 {
			p.inbox = append(p.inbox, message{p.soon(2 * time.Minute), r})
		}
	}
	a.sent = nil
}

// clock is the worker's clock as an activity measures it: the task took some time to reach the worker.
func (a *agent) clock() politeness.Clock {
	return politeness.ClockOf(a.now(), a.p.now.Add(-time.Duration(a.p.random.IntN(200))*time.Millisecond))
}

func (p *protocol) play(steps int) {
	for range steps {
		p.now = p.soon([]time.Duration{100 * time.Millisecond, 4 * time.Second}[p.random.IntN(2)]).Add(time.Millisecond)
		if p.random.IntN(60) == 0 {
			p.now = p.soon(10 * time.Minute)
		}
		switch p.random.IntN(120) {
		case 0: // the shard is terminated; messages on their way to it are lost
			p.inbox, p.state = nil, newShardState()
			p.state.Lost(p.now)
		case 1:
			p.loseDisk(p.agents[p.random.IntN(2)])
		case 2, 3, 4:
			p.runAgain()
		}
		p.step()
	}
}

func (p *protocol) step() {
	p.serve()
	for _, a := range p.agents {
		for _, s := range a.senders {
			s.step()
		}
	}
	for _, l := range slices.Clone(p.lanes) {
		l.step()
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(l *testLane) bool { return l.dead })
}

// serve is the shard.
func (p *protocol) serve() {
	var rounds []politeness.Round
	p.inbox = slices.DeleteFunc(p.inbox, func(m message) bool {
		if m.at.After(p.now) {
			return false
		}
		rounds = append(rounds, m.round)
		return true
	})
	raw, err := p.state.MarshalJSON() // as when it continues as new
	p.must(err)
	p.must(p.state.UnmarshalJSON(raw))
	answers := p.state.Tick(p.now)
	if len(rounds) > 0 {
		answers = append(answers, p.state.Serve(p.now, rounds)...)
	}
	p.deliver(answers)
}

func (p *protocol) deliver(answers []politeness.Answer) {
	for len(answers) > 0 {
		a := answers[0]
		answers = answers[1:]
		if s := p.sender(a.To); s != nil {
			slow := 50 * time.Millisecond
			if !p.calm && p.random.IntN(8) == 0 {
				slow = 2 * time.Minute
			}
			s.inbox = append(s.inbox, answerAt{p.soon(slow), a})
		} else {
			answers = append(answers, p.state.Undelivered(p.now, a.Grants)...)
		}
	}
}

func (p *protocol) sender(id string) *sender {
	for _, a := range p.agents {
		for _, s := range a.senders {
			if s.id() == id {
				return s
			}
		}
	}
	return nil
}

func (s *sender) id() string { return s.crawl + "/fetchers" }

// step is what the FetcherController and its activities do.
func (s *sender) step() {
	p, f := s.agent.p, s.agent.acts.Frontier
	var grants []politeness.Grant
	s.inbox = slices.DeleteFunc(s.inbox, func(a answerAt) bool {
		if a.at.After(p.now) {
			return false
		}
		grants = append(grants, a.Grants...)
		p.busy += len(a.Busy)
		p.must(f.Crawl(s.crawl).Claims().Confirm(frontier.Confirmed{Busy: a.Busy})) // with the next round, but that may be this very step
		if a.Round == s.round && !s.waits.IsZero() {
			s.waits, s.refused = time.Time{}, a.Refused
			s.confirm = s.confirm.Answered(s.refused, false)
		}
		return true
	})
	s.start(grants)
	if !s.waits.IsZero() {
		if p.now.Sub(s.waits) < time.Minute {
			return
		}
		s.confirm, s.waits = s.confirm.Answered(nil, true), time.Time{}
	}
	if !p.calm && p.random.IntN(3) > 0 {
		return
	}
	p.must(f.Crawl(s.crawl).Claims().Confirm(s.confirm))
	p.must(f.Crawl(s.crawl).Claims().Withdraw())
	s.round++
	for attempt := 0; ; attempt++ {
		round, err := f.Crawl(s.crawl).Claims().Claim(p.t.Context(), frontier.Want{
			Round: s.round, Claims: 10, Lanes: 10, Until: s.agent.now(), MaxFail: 3, ClaimNothing: p.calm,
			Resolve: func(_ context.Context, host string) (string, error) { return fmt.Sprint("10.0.0.", host[1]%2), nil },
			Refused: func(error) bool { return false }, Backoff: func(int) time.Duration { return time.Minute },
		})
		p.must(err)
		plan, err := f.Crawl(s.crawl).Plan()
		p.must(err)
		in := ClaimInput{Crawl: s.crawl, Round: s.round, Reply: s.id(), First: s.first}
		round.Line = 1
		answered, sent, confirm, err := s.agent.acts.sendRound(p.t.Context(), in, round, plan.Definition.Politeness, p.now)
		p.must(err)
		s.agent.post()
		if s.confirm = confirm; sent > 0 {
			s.waits = p.now
		}
		if p.calm || attempt > 0 || p.random.IntN(6) > 0 { // else the activity was cut off, and is tried again
			for _, r := range answered {
				p.busy += len(r.Answer.Busy)
			}
			p.must(s.agent.acts.confirmAnswered(s.crawl, answered))
			for _, r := range answered {
				s.confirm = s.confirm.Answered(r.Answer.Refused, false)
				s.start(r.Answer.Grants)
			}
			break
		}
	}
	s.first = false
}

// start is the activity of that name: each claim is a batch of its own.
func (s *sender) start(grants []politeness.Grant) {
	f := s.agent.acts.Frontier
	bound := s.agent.acts.bind(0, grants, s.agent.clock(), func(lease string) (frontier.Claim, bool) { return f.Crawl(s.crawl).Lane(lease).Claim() })
	for _, batch := range slices.Sorted(maps.Keys(bound)) {
		granted := bound[batch]
		start := f.Crawl(s.crawl).Batch(batch).Start
		if slices.ContainsFunc(s.agent.p.lanes, func(l *testLane) bool { return l.sender == s && l.claim.Batch == batch && l.claim.Ended }) {
			start = func(grants []politeness.Grant) ([]frontier.Claim, error) { // the batch has asked
				return f.Crawl(s.crawl).Batch(batch).Claims(), f.Crawl(s.crawl).Batch(batch).Lease(grants)
			}
		}
		claims, err := start(granted)
		s.agent.p.must(err)
		for _, c := range claims {
			s.lane(c)
		}
	}
}

// lane starts the lane of a claim, unless it runs already.
func (s *sender) lane(c frontier.Claim) {
	c, known := s.agent.acts.Frontier.Crawl(s.crawl).Lane(c.ID).Claim()
	if !known || c.Ended {
		return
	}
	p := s.agent.p
	for _, l := range p.lanes {
		if l.sender == s && l.claim.ID == c.ID && !l.dead {
			l.claim = c
			return
		}
	}
	p.lanes = append(p.lanes, &testLane{sender: s, claim: c})
	p.taken++
}

func (l *testLane) lasts() bool {
	a := l.sender.agent
	return !l.dead && a.acts.Frontier.Crawl(l.sender.crawl).Lane(l.claim.ID).LeaseUntil().After(a.now())
}

// step makes a request, or ends the lane.
func (l *testLane) step() {
	p, a := l.sender.agent.p, l.sender.agent
	f := a.acts.Frontier
	if l.dead || l.claim.Ended {
		return
	}
	p.must(ignore(f.Crawl(l.sender.crawl).Batch(l.claim.Batch).Renew(), frontier.ErrNoBatch))
	over := !l.lasts()
	switch {
	case !over && a.now().Before(l.claim.NotBefore):
	case !over && (p.calm || p.random.IntN(8) > 0) && !(p.calm && l.made):
		l.request()
	case over || p.calm || p.random.IntN(3) == 0:
		l.end()
	}
}

func (l *testLane) request() {
	p := l.sender.agent.p
	for _, other := range p.lanes {
		if other != l && other.claim.IP == l.claim.IP && other.made && !other.claim.Ended && other.lasts() {
			p.t.Fatalf("%s: %s of %s asks %s while %s of %s is at work", p.now, l.claim.ID, l.sender.crawl, l.claim.IP, other.claim.ID, other.sender.crawl)
		}
	}
	if next := p.next[l.claim.IP]; !l.made && p.now.Before(next) {
		p.t.Fatalf("%s: %s of %s asks %s, which rests until %s", p.now, l.claim.ID, l.sender.crawl, l.claim.IP, next)
	}
	l.made, l.last = true, p.now
	p.requests++
}

// rests notes that an address must not be asked for a pause after a time.
func (p *protocol) rests(ip string, from time.Time, pause time.Duration) {
	if next := from.Add(pause); next.After(p.next[ip]) {
		p.next[ip] = next
	}
}

// end ends a lane as FETCH and Commit do.
func (l *testLane) end() {
	p, a := l.sender.agent.p, l.sender.agent
	f, crawlName := a.acts.Frontier, l.sender.crawl
	end := frontier.LaneEnd{}
	if l.made {
		next := l.last.Add(a.skew + protocolPause) // its lease may have run out some time ago
		end.Address, end.Host = next, next
		p.rests(l.claim.IP, l.last, protocolPause)
	}
	p.must(f.Crawl(crawlName).Lane(l.claim.ID).End(end))
	if !p.calm && p.random.IntN(5) == 0 { // its batch stays, to be run again or given back
		l.claim.Ended, l.made = true, false
		return
	}
	lanes, err := f.Crawl(crawlName).Batch(l.claim.Batch).Reopen([]frontier.Claim{l.claim}, nil)
	p.must(err)
	var outcomes []crawl.PageOutcome
	for _, lane := range lanes {
		for _, t := range lane.Targets {
			outcomes = append(outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: 200, Bytes: 1}, Score: 0.5})
		}
	}
	p.must(f.Crawl(crawlName).Commit(frontier.Commit{Batch: l.claim.Batch, Outcomes: outcomes}))
	l.dead = true
}

// runAgain makes batches whose lane has ended ask for their leases again, as after a reset, or gives their URLs back.
func (p *protocol) runAgain() {
	for _, l := range p.lanes {
		if l.dead || !l.claim.Ended {
			continue
		}
		s := l.sender
		if p.random.IntN(3) == 0 {
			l.giveBack()
			continue
		}
		plan, err := s.agent.acts.Frontier.Crawl(s.crawl).Plan()
		p.must(err)
		ask := s.agent.acts.askOf(s.crawl, l.claim, plan.Definition.Politeness, s.id())
		p.must(s.agent.acts.signalPoliteness(p.t.Context(), 0, politeness.Round{From: s.id(), Asks: []politeness.Ask{ask}}))
		s.agent.post()
	}
}

func (l *testLane) giveBack() {
	f := l.sender.agent.acts.Frontier
	l.sender.agent.p.must(f.Crawl(l.sender.crawl).Batch(l.claim.Batch).GiveBack(l.sender.agent.now()))
	l.dead = true
}

// loseDisk kills a worker and deletes its disk; another worker takes its name, with an empty frontier.
func (p *protocol) loseDisk(a *agent) {
	for _, l := range p.lanes {
		if l.sender.agent != a {
			continue
		}
		if l.made && !l.claim.Ended {
			p.rests(l.claim.IP, l.last, protocolRest)
		}
		l.dead = true
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(l *testLane) bool { return l.dead })
	a.open()
}

// finish continues without faults until no claim and no lease is left: no ask waits forever.
func (p *protocol) finish() {
	p.calm = true
	end := p.now.Add(3 * politeness.DefaultTTL)
	for p.now.Before(end) {
		p.now = p.now.Add(time.Second)
		for _, l := range p.lanes {
			if l.claim.Ended && !l.dead {
				l.giveBack()
			}
		}
		p.step()
		held, waiting, _ := p.state.Counts()
		if held+waiting+len(p.inbox)+len(p.lanes) == 0 && p.now.After(p.state.Floor) {
			return
		}
	}
	held, waiting, _ := p.state.Counts()
	p.t.Errorf("%d leases are held, %d asks wait, %d lanes are at work in the end", held, waiting, len(p.lanes))
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}
