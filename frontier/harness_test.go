package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// clock is a clock that tests move by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// eventually waits until a condition holds, two minutes at most.
func (r *rig) eventually(condition string, holds func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			r.t.Fatalf("after two minutes it does not hold that %s", condition)
		}
	}
}

var errNoHost, errRefused = errors.New("no such host"), errors.New("a private address")

// rig is a frontier with one crawl, its clock and its name service.
type rig struct {
	*Frontier
	Crawl
	Claims
	t      testing.TB
	dir    string
	clock  *clock
	idle   int    // Options.Idle
	rights Rights // Options.Rights
	table  int64  // Options.Table
	round  int64
	batch  int
	number atomic.Int64 // of the last grant
	hosts  sync.Map     // host → address, or the error of looking it up; others lie at 192.0.2.1
}

const testCrawl = "c"

func definition(edit func(*crawl.Definition)) crawl.Definition {
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Scope.Within = testCrawl, []crawl.Seed{{URL: "http://a.example/"}}, crawl.WithinWeb
	d.Politeness.MinDelay, d.Politeness.MaxDelay = 0, 0 // the host of a dropped claim does not rest
	if edit != nil {
		edit(&d)
	}
	return d
}

func newRig(t testing.TB, edit func(*crawl.Definition)) *rig {
	t.Helper()
	return newRigOf(t, nil, edit)
}

// newRigOf is a rig whose frontier has rights.
func newRigOf(t testing.TB, rights Rights, edit func(*crawl.Definition)) *rig {
	t.Helper()
	r := &rig{t: t, rights: rights, table: testTable, dir: t.TempDir(), clock: &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC)}}
	r.open()
	t.Cleanup(func() { _ = r.Close() })
	r.must(r.begin("owner", edit))
	return r
}

func (r *rig) begin(owner string, edit func(*crawl.Definition)) error {
	_, err := r.Begin(testCrawl, owner, 0, definition(edit), seedsOf(definition(edit)), false)
	return err
}

func seedsOf(d crawl.Definition) (list []string) {
	for _, s := range d.Seeds {
		list = append(list, s.URL)
	}
	return list
}

// testTable is the table in memory of a test's frontier, in bytes. Opening one with tables of the default clears 74 MB.
const testTable = 8 << 20

// testSnapshot is after how many pages a snapshot is due in tests.
const testSnapshot = 1000

func (r *rig) open() {
	r.t.Helper()
	f, err := Open(r.dir, Options{Now: r.clock.Now, Idle: r.idle, Snapshot: testSnapshot, Rights: r.rights, Table: r.table})
	r.must(err)
	r.Frontier, r.Crawl, r.Claims = f, f.Crawl(testCrawl), f.Crawl(testCrawl).Claims()
}

// roomy has the tables of a worker, for tests that write as much at once as a worker may.
func (r *rig) roomy() {
	r.table = 0
	r.reopen()
}

func (r *rig) reopen() {
	r.t.Helper()
	r.must(r.Close())
	r.open()
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) want() Want {
	r.round++
	return Want{
		Round: r.round, Claims: 100, Lanes: 1000, Until: r.clock.Now(), MaxFail: 3,
		Resolve: r.resolve,
		Refused: func(err error) bool { return errors.Is(err, errRefused) },
		Backoff: func(n int) time.Duration { return time.Duration(n) * time.Minute },
	}
}

func (r *rig) resolve(_ context.Context, host string) (string, error) {
	switch v, _ := r.hosts.Load(host); v := v.(type) {
	case string:
		return v, nil
	case error:
		return "", v
	}
	return "192.0.2.1", nil
}

// next makes one round of claiming that does not wait.
func (r *rig) next() Round {
	r.t.Helper()
	got, err := r.Claim(r.t.Context(), r.want())
	r.must(err)
	return got
}

// one makes a round of claiming that must yield one claim.
func (r *rig) one() Claim {
	r.t.Helper()
	got := r.next()
	if len(got.Claims) != 1 {
		r.t.Fatalf("%d claims: %+v", len(got.Claims), got)
	}
	return got.Claims[0]
}

// endLane ends a lane whose host and address rest alike.
func (r *rig) endLane(claim string, next time.Time, unreachable bool) error {
	return r.Lane(claim).End(LaneEnd{Address: next, Host: next, Unreachable: unreachable})
}

// owe ends a lane in the middle of a request, after which the host must not be asked before next.
func (r *rig) owe(claim string, next time.Time) error {
	return r.Lane(claim).KeepRest(LaneEnd{Host: next})
}

func (r *rig) grant(claims ...Claim) (grants []politeness.Grant) {
	for _, c := range claims {
		grants = append(grants, politeness.Grant{Lease: c.ID, IP: c.IP, Number: r.number.Add(1), Deadline: r.clock.Now().Add(DefaultLeaseTTL)})
	}
	return grants
}

// start binds claims to a new batch.
func (r *rig) start(claims ...Claim) (batch string) {
	r.t.Helper()
	r.batch++
	batch = fmt.Sprintf("batch-%d", r.batch)
	started, err := r.Batch(batch).Start(r.grant(claims...))
	r.must(err)
	if len(started) != len(claims) {
		r.t.Fatalf("%d of %d claims were started", len(started), len(claims))
	}
	return batch
}

// take claims and starts whatever is ready, and opens it.
func (r *rig) take() (batch string, lanes []OpenClaim) {
	r.t.Helper()
	claims := r.next().Claims
	if len(claims) == 0 {
		return "", nil
	}
	batch = r.start(claims...)
	lanes, err := r.Batch(batch).Reopen(claims, nil)
	r.must(err)
	return batch, lanes
}

func targets(lanes ...OpenClaim) (list []string) {
	for _, l := range lanes {
		for _, t := range l.Targets {
			list = append(list, t.URL)
		}
	}
	return list
}

func done(url string) crawl.PageOutcome {
	return crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200, Bytes: 1000}, Score: 0.5}
}

func found(score float64, list ...string) (discoveries []crawl.Discovery) {
	for _, u := range list {
		discoveries = append(discoveries, crawl.Discovery{URL: u, Path: "SL", Via: "http://a.example/", Score: score})
	}
	return discoveries
}

// finish ends a batch: every URL of its lanes is done.
func (r *rig) finish(batch string, lanes []OpenClaim, links ...crawl.Discovery) {
	r.t.Helper()
	var outcomes []crawl.PageOutcome
	for _, u := range targets(lanes...) {
		outcomes = append(outcomes, done(u))
	}
	for _, l := range lanes {
		r.must(r.endLane(l.ID, r.clock.Now(), false))
	}
	r.must(r.Commit(Commit{Batch: batch, Outcomes: outcomes, Discoveries: links}))
}

func (r *rig) submit(id string, list ...crawl.Discovery) {
	r.t.Helper()
	r.must(r.URLs().Offer(id, list))
}

func (r *rig) status() Status {
	r.t.Helper()
	s, err := r.Status()
	r.must(err)
	// ends of the same time come in any order, because queues are processed side by side
	slices.SortFunc(s.Ends, func(a, b DroppedURL) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.URL, b.URL)) })
	return s
}

// confirm takes all releases out of the journal.
func (r *rig) confirm(round Round) {
	r.t.Helper()
	var done Confirmed
	for _, l := range round.Releases {
		done.Releases = append(done.Releases, l.Key())
	}
	r.must(r.Confirm(done))
}

// states returns the state of every known URL.
func (r *rig) states() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	r.must(r.URLs().Known(func(url, state string) error {
		if _, twice := all[url]; twice {
			r.t.Errorf("%s is known twice", url)
		}
		all[url] = state
		return nil
	}))
	return all
}
