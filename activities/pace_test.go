package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/internal/times"
)

// leases stands for the Politeness workflow: its rules, and the answers that were not taken yet.
type leases struct {
	mu     sync.Mutex
	state  *politeness.State
	got    map[politeness.LeaseID]politeness.Grant // that nobody has taken yet
	report func(format string, args ...any)
}

// take notes what is granted. The caller has locked.
func (l *leases) take(answers []politeness.Answer) (refused []politeness.Key) {
	for _, a := range answers {
		for _, g := range a.Grants {
			l.got[g.ID] = g
			l.report("  %s has %s from %s on, number %d", g.ID, g.IP, g.NotBefore.Format(storyTime), g.Number)
		}
		refused = append(refused, a.Refused...)
	}
	return refused
}

func (l *leases) serve(r politeness.Round) (refused []politeness.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, back := range r.Releases {
		l.report("  %s gives %s back, which rests for %s, number %d", back.ID(), back.IP, back.Rest, back.Number)
		if strings.Contains(back.Lease, "@") { // the answer to a call that is gone reaches nobody: the next call gets its own
			delete(l.got, back.ID())
		}
	}
	return l.take(l.state.Serve(time.Now(), []politeness.Round{r}))
}

// granted takes the grants that a crawl was given, of claims or of one loan.
func (l *leases) granted(wanted func(politeness.LeaseID) bool) (grants []politeness.Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(l.state.Tick(time.Now()))
	for id, g := range l.got {
		if wanted(id) {
			grants = append(grants, g)
			delete(l.got, id)
		}
	}
	slices.SortFunc(grants, func(a, b politeness.Grant) int { return cmp.Compare(a.Number, b.Number) })
	return grants
}

// borrow asks for a lease, and waits until it is granted.
func (l *leases) borrow(ctx context.Context, ask politeness.Ask) (politeness.Grant, error) {
	l.serve(politeness.Round{Asks: []politeness.Ask{ask}})
	for {
		if got := l.granted(func(id politeness.LeaseID) bool { return id == ask.ID() }); len(got) > 0 {
			return got[0], nil
		}
		if err := fetch.SleepUntil(ctx, time.Now().Add(tick)); err != nil {
			return politeness.Grant{}, err
		}
	}
}

// tick is how often it is looked whether a lease was granted.
const tick = 300 * time.Millisecond

// paceRig is what survives a kill: the web, the leases, the disk and Temporal's state.
type paceRig struct {
	*testing.T
	web     *paceWorld
	leases  *leases
	dir     string
	crawls  []*paceCrawl
	limits  fetch.Limits
	minimum crawl.Politeness
}

// paceCrawl is what Temporal knows of a crawl.
type paceCrawl struct {
	name     string
	addrs    map[string]netip.Addr
	seeds    []crawl.Discovery
	mu       sync.Mutex
	round    int64
	confirm  frontier.Confirmed
	answers  map[int][]politeness.Grant // whose claims are being started
	answered int
	batches  map[string][]lane // that have not ended
	finished bool
}

// life is a process of the worker.
type life struct {
	*paceRig
	front   *frontier.Frontier
	spool   *spool.Spool
	ctx     context.Context
	kill    context.CancelFunc
	conns   sync.Map // open connections
	mu      sync.Mutex
	entries int // that may still be logged
	dead    bool
	wg      sync.WaitGroup
}

var errKilled = errors.New("the worker was killed")

// die ends the process: it writes nothing any more, and its connections are closed.
func (l *life) die() {
	l.web.mu.Lock()
	l.web.note("KILL")
	l.web.mu.Unlock()
	_ = l.front.Close()
	l.kill()
	l.conns.Range(func(c, _ any) bool { _ = c.(io.Closer).Close(); return true })
}

// dying is a log that kills the process after one of its entries.
type dying struct {
	*spool.Log
	life *life
	cut  context.CancelFunc
}

func (d dying) Add(x crawl.Exchange, request []byte, response io.Reader, n int64) (e spool.Entry, err error) {
	d.life.mu.Lock()
	defer d.life.mu.Unlock()
	if d.life.dead {
		return e, errKilled
	}
	if e, err = d.Log.Add(x, request, response, n); err != nil {
		return e, err
	}
	d.life.web.mu.Lock()
	d.life.web.note("  %s %s %d owes %s, knows of %s (%s)", x.Kind, x.URL, x.Status, x.Pause, x.Delay, x.Claim)
	d.life.web.mu.Unlock()
	if x.Kind == crawl.ExchangeRobots && x.Status == 200 {
		d.life.web.logged(strings.TrimSuffix(strings.TrimPrefix(x.URL, "http://"), "/robots.txt"))
	}
	if d.life.entries--; d.life.entries == 0 {
		d.life.dead = true
		d.life.die()
		return e, errKilled
	}
	if x.Kind == crawl.ExchangeIntent && d.life.web.number(12) == 0 { // Temporal gives the attempt up
		after := time.Duration(d.life.web.number(2500)) * time.Millisecond
		d.life.wg.Go(func() {
			if fetch.SleepUntil(d.life.ctx, time.Now().Add(after)) == nil {
				d.cut()
			}
		})
	}
	return e, nil
}

// TestLeasesForgetAGoneCall: a lease that was granted to a call whose attempt was cut off, and given back, is not the next call's.
func TestLeasesForgetAGoneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{state: politeness.New(0, 1), got: map[politeness.LeaseID]politeness.Grant{}, report: func(string, ...any) {}}
		mine := politeness.Ask{Lease: "a@192.0.2.1", IP: "192.0.2.1", PerIP: 1, Crawl: "x", Worker: "w", Loan: true}
		other := politeness.Ask{Lease: "b", IP: "192.0.2.1", PerIP: 1, Crawl: "y", Worker: "w"}
		l.serve(politeness.Round{Asks: []politeness.Ask{mine}})
		l.serve(politeness.Round{Releases: []politeness.Release{mine.Withdrawal()}, Asks: []politeness.Ask{other}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if g, err := l.borrow(ctx, mine); err == nil {
			t.Errorf("granted %+v, which another has", g)
		}
	})
}

// TestPace: whatever happens to the worker, the web sees at most one request per host and one lane per address at a time, and no gap
// shorter than the pause, the Crawl-delay or the Retry-After that the crawler knows.
func TestPace(t *testing.T) {
	for seed := range uint64(4) {
		playPace(t, seed)
	}
}

// TestLongPace runs more seeds, from SEED on.
func TestLongPace(t *testing.T) {
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), "100"), 10, 64)
	if err != nil {
		t.Fatalf("SEED: %v", err)
	}
	for seed := range uint64(40) {
		playPace(t, first+seed)
	}
}

// playPace plays two crawls with a seed. The order of goroutines at one moment of the fake clock is random, so that a seed does not
// repeat a run exactly.
func playPace(t *testing.T, seed uint64) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r := newPaceRig(t, dir, seed)
			end := time.Now().Add(24 * time.Hour)
			kills := 2 + r.web.number(4)
			for n := 0; !r.live(n < kills) && !t.Failed(); n++ {
				if time.Now().After(end) {
					t.Fatal("the crawls do not end")
				}
			}
			if r.web.requests < 40 {
				t.Errorf("only %d requests", r.web.requests)
			}
			t.Logf("%d requests in %s, %d kills", r.web.requests, time.Since(end.Add(-24*time.Hour)), kills)
		})
	})
}

func newPaceRig(t *testing.T, dir string, seed uint64) *paceRig {
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	limits := fetch.DefaultLimits()
	limits.RetryBase, limits.RobotsRetry, limits.AddressHold = crawl.Duration(20*time.Second), crawl.Duration(time.Minute), crawl.Duration(20*time.Second)
	plan := crawl.DefaultDefinition().Politeness
	plan.MinDelay, plan.MaxDelay, plan.Factor = crawl.Duration(time.Second), crawl.Duration(30*time.Second), 1
	w := &paceWorld{
		t: t, least: plan.MinDelay.D(), hold: limits.AddressHold.D(), longer: plan.MaxDelay.D(), random: random,
		hosts: map[string]*paceHost{}, last: map[string]*asked{}, under: map[netip.Addr][]*asked{}, rested: map[netip.Addr]time.Time{},
		known: map[string]bool{}, seen: map[string]int{},
	}
	r := &paceRig{T: t, web: w, dir: dir, limits: limits, minimum: plan, leases: &leases{state: politeness.New(0, 1), got: map[politeness.LeaseID]politeness.Grant{}, report: w.noteStory}}
	addr := func() netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + random.IntN(3))}) }
	for _, name := range []string{"x", "y"} {
		r.crawls = append(r.crawls, &paceCrawl{name: name, addrs: map[string]netip.Addr{}, answers: map[int][]politeness.Grant{}, batches: map[string][]lane{}})
	}
	delays := []time.Duration{0, 3 * time.Second, 10 * time.Second, 25 * time.Second, 50 * time.Second}
	for _, pld := range []string{"one.org", "two.org", "three.org"} {
		for _, sub := range []string{"www.", "m."} {
			h := &paceHost{name: sub + pld, pld: pld, delay: delays[random.IntN(len(delays))], robots: pick("file", "file", "file", "none", "elsewhere", "busy", "broken")}
			h.to = "http://" + pick("www.", "m.") + pick("one.org", "two.org", "three.org") + "/robots.txt"
			w.hosts[h.name] = h
			for _, c := range r.crawls {
				if c.addrs[h.name] = addr(); random.IntN(2) == 0 {
					c.addrs[h.name] = r.crawls[0].addrs[h.name]
				}
				for n := range 2 + random.IntN(5) {
					url := fmt.Sprintf("http://%s%s/%s/%d", h.name, pick("", "", ":8080"), pick("private", "private", "p", "p", "p", "slow", "busy"), n)
					c.seeds = append(c.seeds, crawl.Discovery{URL: url, Path: "S", Score: random.Float64()})
				}
			}
		}
	}
	return r
}

// live runs a process until it is killed, or until all crawls have ended; it reports which.
func (r *paceRig) live(killed bool) bool {
	l := &life{paceRig: r, entries: -1}
	if killed {
		l.entries = 1 + r.web.number(40)
	}
	var err error
	if l.front, err = frontier.Open(filepath.Join(r.dir, "frontier"), frontier.Options{NoSync: true, Table: testTable, ClaimTTL: 100 * time.Hour}); err != nil {
		r.Fatal(err)
	}
	if l.spool, err = spool.Open(filepath.Join(r.dir, "spool")); err != nil {
		r.Fatal(err)
	}
	l.ctx, l.kill = context.WithCancel(r.Context())
	defer l.kill()
	for _, c := range r.crawls {
		if c.round == 0 {
			l.begin(c)
		}
		l.wg.Go(func() { l.crawl(c) })
	}
	l.wg.Wait()
	_ = l.front.Close()
	r.web.mu.Lock()
	defer r.web.mu.Unlock()
	return r.crawls[0].finished && r.crawls[1].finished
}

func (l *life) begin(c *paceCrawl) {
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Scope.Within, d.Politeness, d.Order.PerQueue = c.name, []crawl.Seed{{URL: c.seeds[0].URL}}, crawl.WithinWeb, l.minimum, 1+l.web.number(4)
	d.Order.Strategy = crawl.StrategyBreadth
	if _, err := l.front.Begin(c.name, "o", 0, d, []string{c.seeds[0].URL}, false); err != nil {
		l.Fatal(err)
	}
	if err := l.front.Crawl(c.name).URLs().Offer("seeds", c.seeds); err != nil {
		l.Fatal(err)
	}
	c.round = 1
}

// crawl is the controller of a crawl: rounds of claims, releases and renewals, and a batch for each claim.
func (l *life) crawl(c *paceCrawl) {
	acts := l.activities(c)
	c.mu.Lock()
	for batch, lanes := range c.batches {
		l.wg.Go(func() { l.fetch(acts, c, batch, lanes) })
	}
	for n := range c.answers { // a start that was cut off is tried again
		l.wg.Go(func() { l.start(acts, c, n) })
	}
	c.mu.Unlock()
	over, end := context.WithCancel(l.ctx)
	defer end()
	l.wg.Go(func() { l.receive(over, acts, c) })
	begun := time.Now()
	for l.ctx.Err() == nil && !l.Failed() {
		if time.Since(begun) > 3*time.Hour {
			l.Errorf("the crawl %s does not end", c.name)
			return
		}
		if err := errors.Join(l.front.Crawl(c.name).Claims().Confirm(c.confirm), l.front.Crawl(c.name).Claims().Withdraw()); err != nil {
			return
		}
		c.confirm = frontier.Confirmed{}
		round, err := l.front.Crawl(c.name).Claims().Claim(l.ctx, frontier.Want{
			Round: c.round, Claims: 5, Lanes: 20, Linger: 100 * time.Millisecond, Until: time.Now().Add(30 * time.Second), MaxFail: 3,
			Resolve: func(_ context.Context, host string) (string, error) { return c.addrs[host].String(), nil },
			Refused: func(error) bool { return false }, Backoff: l.limits.Backoff, Server: func(_, ip string) (string, int) { return ip, 4 },
		})
		if err != nil {
			return
		}
		rounds := acts.splitRound(ClaimInput{Crawl: c.name, Reply: c.name}, round, l.minimum)
		var refused []politeness.Key
		for _, r := range rounds.asked {
			refused = l.leases.serve(*r)
		}
		c.confirm = rounds.confirm[0].Answered(refused, false)
		if round.Drained {
			l.web.mu.Lock()
			c.finished = true
			l.web.mu.Unlock()
			return
		}
		if l.web.number(4) > 0 { // else the round is asked for again
			c.round++
		}
	}
}

func (l *life) activities(c *paceCrawl) *Activities {
	resolver, err := fetch.NewResolver(c.addrs, "127.0.0.1:1")
	if err != nil {
		l.Fatal(err)
	}
	guard, err := fetch.NewGuard([]string{"192.0.2.0/24"}, nil)
	if err != nil {
		l.Fatal(err)
	}
	return &Activities{
		Settings: Settings{Worker: "w", BatchTime: 10 * time.Minute, BundlePLDs: 3, BundleURLs: 500}, Frontier: l.front, Spool: l.spool, Meter: noMeter{}, Now: time.Now,
		Fetch: fetch.New(fetch.Options{Limits: l.limits, Guard: guard, Resolver: resolver, TempDir: l.spool.TempDir(), Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := l.web.dial(ctx, network, address)
			if err == nil {
				l.conns.Store(conn, nil)
			}
			return conn, err
		}}),
	}
}

// receive starts what is granted, sometimes twice.
func (l *life) receive(ctx context.Context, acts *Activities, c *paceCrawl) {
	for ctx.Err() == nil {
		grants := l.leases.granted(func(id politeness.LeaseID) bool { return id.Crawl == c.name && !strings.Contains(id.Claim, "@") })
		if len(grants) > 0 {
			c.mu.Lock()
			c.answered++
			n := c.answered
			c.answers[n] = grants
			c.mu.Unlock()
			for range 1 + l.web.number(4)/3 {
				l.wg.Go(func() { l.start(acts, c, n) })
			}
		}
		_ = fetch.SleepUntil(ctx, time.Now().Add(tick))
	}
}

// start makes batches of the claims of an answer.
func (l *life) start(acts *Activities, c *paceCrawl, n int) {
	c.mu.Lock()
	grants := c.answers[n]
	c.mu.Unlock()
	var made sync.WaitGroup
	var failed atomic.Bool
	claimOf := func(lease string) (frontier.Claim, bool) { return l.front.Crawl(c.name).Lane(lease).Claim() }
	for batch, bundle := range acts.bind(0, grants, politeness.Clock{}, claimOf) {
		started, err := l.front.Crawl(c.name).Batch(batch).Start(slices.Concat(bundle, bundle))
		if err != nil {
			return
		}
		if len(started) > 0 {
			made.Add(1)
			l.wg.Go(func() {
				lanes, running, err := l.open(c, batch, started)
				failed.CompareAndSwap(false, err != nil)
				if made.Done(); err == nil && !running { // Temporal starts a batch once
					l.fetch(acts, c, batch, lanes)
				}
			})
		}
	}
	if made.Wait(); !failed.Load() {
		c.mu.Lock()
		delete(c.answers, n)
		c.mu.Unlock()
	}
}

// open makes lanes of the claims of a batch; running reports that there is such a batch.
func (l *life) open(c *paceCrawl, batch string, started []frontier.Claim) (lanes []lane, running bool, err error) {
	opened, err := l.front.Crawl(c.name).Batch(batch).Reopen(started, nil)
	if err != nil {
		return nil, false, err
	}
	for _, o := range opened {
		lanes = append(lanes, lane{ClaimRef{ID: o.ID, PLD: o.PLD, IP: o.IP}, o.Targets})
	}
	if l.web.number(3) == 0 { // an earlier form of lanes.json, without claims
		lanes = append(lanes, lanes...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, running = c.batches[batch]; !running {
		c.batches[batch] = lanes
	}
	return lanes, running, nil
}

// fetch tries a batch until it is done, and commits it, or gives it back.
func (l *life) fetch(acts *Activities, c *paceCrawl, batch string, lanes []lane) {
	givenUp := false
	for !givenUp && l.attempt(acts, c, batch, lanes) != nil {
		if fetch.SleepUntil(l.ctx, time.Now().Add(time.Second)) != nil {
			return
		}
		givenUp = l.web.number(5) == 0
	}
	entries, closer, err := l.spool.Batch(c.name, batch).Entries()
	if err != nil {
		return
	}
	defer func() { _ = closer() }()
	commit := frontier.Commit{Batch: batch}
	for _, e := range entries {
		if e.Kind == crawl.ExchangePage {
			commit.Outcomes = append(commit.Outcomes, crawl.PageOutcome{Outcome: e.Outcome})
		}
	}
	if givenUp {
		err = l.front.Crawl(c.name).Batch(batch).GiveBack(time.Now())
	} else {
		err = l.front.Crawl(c.name).Commit(commit)
	}
	if err == nil {
		c.mu.Lock()
		delete(c.batches, batch)
		c.mu.Unlock()
	}
}

// attempt is an attempt of FETCH.
func (l *life) attempt(acts *Activities, c *paceCrawl, batch string, lanes []lane) error {
	ctx, cut := context.WithCancel(l.ctx)
	defer cut()
	lanes = mergeLanes(lanes)
	f := acts.fetching(BatchInput{Crawl: c.name, Batch: batch}, l.minimum, politeness.Clock{}, lanes)
	log, entries, err := l.spool.Batch(c.name, batch).OpenLog()
	if err != nil {
		return err
	}
	f.resume(entries)
	f.log = &dying{log, l, cut}
	f.borrower = func(claim string) borrow {
		return func(ctx context.Context, addr netip.Addr) (fetch.Loan, error) {
			ask := acts.askOf(c.name, frontier.Claim{ID: politeness.LoanOf(claim, addr.String()), IP: addr.String()}, l.minimum, "")
			return l.grantLoan(ctx, l.front.Crawl(c.name).Lane(claim), ask)
		}
	}
	return errors.Join(f.sideBySide(ctx, lanes), log.Close())
}

// grantLoan does what the activity does with Politeness; an address that is busy for long cannot be borrowed. What is asked for when
// the process is killed, or when nobody answers, stays asked for until the claim ends.
func (l *life) grantLoan(ctx context.Context, lane frontier.Lane, ask politeness.Ask) (fetch.Loan, error) {
	if err := lane.BorrowAddress(ask.IP); err != nil {
		return fetch.Loan{}, borrowError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ask.Loan = true
	g, err := l.leases.borrow(ctx, ask)
	if err != nil {
		return fetch.Loan{}, &fetch.BusyError{Reason: "the address is busy"}
	}
	back := ask.Withdrawal()
	back.Number = g.Number
	clock := politeness.Clock{}
	return fetch.Loan{
		NotBefore: times.Latest(clock.NotBefore(g), time.Now().Add(l.minimum.MinDelay.D())), Until: clock.Deadline(g),
		Return: func(next time.Time) {
			if l.ctx.Err() != nil {
				return
			}
			_ = lane.ReturnAddress(ask.IP, g.Number, next)
			if l.web.number(2) == 0 { // else Temporal does not answer
				back.Rest = politeness.RestOf(next, time.Now())
				l.leases.serve(politeness.Round{Releases: []politeness.Release{back}})
			}
		},
	}, nil
}
