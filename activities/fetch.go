package activities

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/internal/times"
)

// FetchResult sums up a batch's fetching.
type FetchResult struct {
	URLs    int                       `json:"urls"`
	Kinds   map[crawl.OutcomeKind]int `json:"kinds"` // outcomes by kind
	Bytes   int64                     `json:"bytes"`
	Resumed int                       `json:"resumed,omitempty"` // exchanges that an earlier attempt left
}

// exchangeLog keeps exchanges: the log of the spool.
type exchangeLog interface {
	Add(x crawl.Exchange, request []byte, response io.Reader, size int64) (spool.Entry, error)
}

// borrow gets a lease on an address for a few requests.
type borrow func(ctx context.Context, addr netip.Addr) (fetch.Loan, error)

// fetching is a batch under FETCH.
type fetching struct {
	a       *Activities
	in      BatchInput
	archive string           // which the exchanges go to, as Client.Forget takes it
	plan    crawl.Politeness // of the crawl as the batch began; what operators change meanwhile is in steering
	// planned is the crawl as the batch began, for requisites that are fetched with their pages; nil: none are.
	planned  *frontier.Plan
	run      string            // of the batch's workflow
	prints   map[string][]byte // by URL, see crawl.Target
	clock    politeness.Clock
	log      exchangeLog
	borrower func(claim string) borrow
	started  time.Time
	batchEnd time.Time                 // the batch ends
	deadline atomic.Pointer[time.Time] // after it no further request is made
	lanes    int
	ended    atomic.Int64 // lanes
	done     map[string]bool
	last     map[string]*crawl.Exchange // the last entry of a claim that an earlier attempt left
	before   map[string]*spool.Entry    // pages that an earlier attempt has fetched, by URL, if the crawl opens pages
	opened   map[string]bool            // pages that an earlier attempt has opened
	needs    []*spool.Entry             // what an earlier attempt has fetched for pages, in the order of the log
	answers  map[string]*spool.Entry    // what the batch has fetched that may answer pages that are open, by URL; guarded by mu
	total    int
	count    atomic.Int64
	resumed  atomic.Int64
	steering atomic.Pointer[frontier.Steering]
	mu       sync.Mutex
	result   FetchResult
}

// FetchTargets fetches a batch: its lanes side by side, each with its own lease. Exchanges go to the
// spool; an attempt continues after the last complete one.
func (a *Activities) FetchTargets(ctx context.Context, in BatchInput) (FetchResult, error) {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	listed, err := a.extendedLanes(in, b)
	if err != nil {
		return FetchResult{}, err
	}
	lanes := mergeLanes(listed)
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return FetchResult{}, err
	}
	f := a.fetching(in, plan.Definition.Politeness, a.clock(ctx), lanes)
	for _, l := range lanes {
		for i := range l.Targets {
			if t := &l.Targets[i]; len(t.Prints) > 0 {
				f.prints[t.URL] = t.Prints
			}
		}
	}
	f.planned, f.run = &plan, activity.GetInfo(ctx).WorkflowExecution.RunID
	a.InFlight.begin(in, func() int64 { return f.count.Load() + f.resumed.Load() })
	heartbeatWith(ctx, f.progress)
	log, entries, err := b.OpenLog() // which reads it whole
	if err != nil {
		return FetchResult{}, err
	}
	f.log = log
	f.resume(entries)
	err = errors.Join(f.fetch(ctx, lanes), log.Close(), a.extendLanes(in, b, listed))
	f.result.Resumed = int(f.resumed.Load())
	return f.result, a.waitRoom(ctx, err)
}

func (a *Activities) fetching(in BatchInput, plan crawl.Politeness, clock politeness.Clock, lanes []lane) *fetching {
	f := &fetching{
		a: a, in: in, archive: a.archiveOf(in), clock: clock, plan: plan, started: a.Now(), lanes: len(lanes),
		done: map[string]bool{}, prints: map[string][]byte{}, last: map[string]*crawl.Exchange{}, before: map[string]*spool.Entry{}, opened: map[string]bool{}, answers: map[string]*spool.Entry{}, result: FetchResult{Kinds: map[crawl.OutcomeKind]int{}},
		borrower: func(claim string) borrow { return a.borrower(in.Crawl, claim, plan, clock) },
	}
	f.batchEnd = f.started.Add(a.Settings.BatchTime)
	f.setDeadline(f.batchEnd)
	for _, l := range lanes {
		f.total += len(l.Targets)
	}
	return f
}

// resume takes over what an earlier attempt left.
func (f *fetching) resume(entries []spool.Entry) {
	for _, e := range entries {
		switch e.Kind {
		case crawl.ExchangePage:
			f.done[e.URL] = true
			f.resumed.Add(1)
			if f.browses() {
				f.before[e.URL] = &e
			}
		case crawl.ExchangeOpened:
			f.opened[e.URL] = true
			continue
		case crawl.ExchangeView:
			continue
		}
		f.last[e.Claim] = &e.Exchange // of those that say what pause is owed
		if e.Kind == crawl.ExchangeLoaded || e.Kind == crawl.ExchangePage && crawl.IsRequisite(e.Path) {
			f.needs = append(f.needs, &e)
			if f.browses() && lasts(&e.Exchange, e.ResponseN) {
				f.answers[e.URL] = &e
			}
		}
	}
}

// progress returns what the heartbeat carries, and renews the claims.
func (f *fetching) progress() any {
	_ = f.a.Frontier.Crawl(f.in.Crawl).Batch(f.in.Batch).Renew() // a claim that is lost shows at the next step
	return map[string]int64{"fetched": f.count.Load(), "of": int64(f.total), "resumed": f.resumed.Load()}
}

func (f *fetching) fetch(ctx context.Context, lanes []lane) error {
	ctx, release := untilStopped(ctx) // a worker that drains stops its lanes between two requests
	defer release()
	return f.sideBySide(ctx, lanes)
}

func (f *fetching) sideBySide(ctx context.Context, lanes []lane) error {
	group, groupCtx := errgroup.WithContext(ctx)
	for _, l := range lanes {
		group.Go(func() error { return f.lane(groupCtx, l) })
	}
	return group.Wait()
}

// validUntil is the time until which a claim's lane may make requests: its lease lasts, and the batch has time left.
func (f *fetching) validUntil(claim string) time.Time { return f.leaseUntil(claim, *f.deadline.Load()) }

// leaseUntil is a time, or the end of the claim's lease if that is earlier, or zero if the disk is too full to fetch.
func (f *fetching) leaseUntil(claim string, t time.Time) time.Time {
	if !f.a.Disk.MayFetch() { // what was fetched goes to the archive, which makes room; the rest is given back
		return time.Time{}
	}
	return times.Earliest(t, f.claimLease(claim))
}

func (f *fetching) setDeadline(t time.Time) { f.deadline.Store(&t) }

// leastGrace is the least time that slow lanes get once the others have ended.
const leastGrace = 2 * time.Second

// laneEnded keeps slow hosts from holding back the fast ones of their bundle, whose queues are busy until
// the batch is committed: once half of the lanes have ended, the others get as long again, and give
// the rest of their URLs back. Only for a robots.txt at another host a lane may continue to the batch's end: to wait for that
// host can take longer than any batch of fast hosts does.
func (f *fetching) laneEnded() {
	if 2*f.ended.Add(1) < int64(f.lanes) {
		return
	}
	now := f.a.Now()
	if until := now.Add(max(now.Sub(f.started), leastGrace)); until.Before(*f.deadline.Load()) {
		f.setDeadline(until)
	}
}

func (f *fetching) emit(x *fetch.Exchange, response io.Reader) (spool.Entry, error) {
	e, err := f.log.Add(x.Exchange, x.Request, response, x.Size)
	if err != nil || x.Kind != crawl.ExchangePage {
		return e, err
	}
	f.count.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.result.URLs++
	f.result.Bytes += x.Outcome.Bytes
	f.result.Kinds[x.Outcome.Kind]++
	f.a.Meter.Outcome(x.Outcome.Kind)
	if x.Status > 0 {
		f.a.Meter.Fetched(x.Status, x.Outcome.Bytes, x.Elapsed)
	}
	return e, nil
}

// note keeps an entry that is no exchange.
func (f *fetching) note(x crawl.Exchange, body []byte) error {
	_, err := f.log.Add(x, nil, bytes.NewReader(body), int64(len(body)))
	return err
}
