package activities

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// lane fetches what is left of a claim, and stores in the frontier until when its host and its address rest.
func (f *fetching) lane(ctx context.Context, l lane) error {
	addr, err := netip.ParseAddr(l.Claim.IP)
	if err != nil {
		return err
	}
	defer f.laneEnded()
	plan := f.politeness(l.Claim)
	at, rested, err := f.a.asked.enter(ctx, f.a.leaseAddress(l.Claim.IP), plan.PerIP)
	if err != nil {
		return err
	}
	claim, known := f.a.Frontier.Crawl(f.in.Crawl).Lane(l.Claim.ID).Claim()
	left := f.remaining(l)
	if !known || len(left) == 0 && claim.Ended { // taken back meanwhile, which the next step finds out, or done
		at.leave(time.Time{})
		return nil
	}
	last := f.last[claim.ID]
	if last != nil {
		claim.Delay = max(claim.Delay, last.Delay)
	}
	needs := &requisites{fetching: f, claim: claim.ID, of: map[string]*needed{}}
	unopened, left := needs.begin(ctx, l, left)
	run := &fetch.Lane{
		Claim: claim.ID, Addr: addr, Politeness: plan, Agent: plan.UserAgent, Robots: f.a.Allow.robotsPolicy(*f.steer().Definition), Archive: f.archive, Settings: f.settingsAt(l.Claim.IP), Check: f.checkBanned,
		NotBefore: times.Latest(rested, notBefore(f.a.Now(), claim, last, plan.MinDelay.D())),
		Delay:     claim.Delay, Failures: claim.Fails, Unread: claim.Unread, Targets: left,
		ValidUntil: needs.requestsUntil,
		BatchUntil: func() time.Time { return f.leaseUntil(claim.ID, f.batchEnd) },
		Borrow: func(ctx context.Context, at urls.URL, addr netip.Addr, until time.Time) (fetch.Loan, error) {
			return f.borrowHost(ctx, claim, at, addr, until)
		},
		LeaseUntil: func() time.Time { return f.claimLease(claim.ID) },
		Yield:      func() bool { return f.yieldLease(claim, at, f.politeness(l.Claim).MinDelay.D()) },
		LogIntent:  func(intent crawl.Exchange) error { return f.note(intent, nil) },
		Emit: func(ctx context.Context, x *fetch.Exchange) error {
			return errors.Join(f.storeRest(claim, x), needs.emit(ctx, x))
		},
		Requisites: needs.next,
	}
	if f.browses() && f.a.Browser != nil { // else its worker was started again without one
		run.Open, run.Unopened = needs.openPage, unopened
	}
	ending, err := f.a.Fetch.Run(ctx, run)
	if ending.Address.IsZero() && (last != nil || !claim.HostNotBefore.IsZero()) {
		// an attempt before this one asked, and did not live to say when the address may be asked again
		ending.Address = f.a.Now().Add(f.politeness(l.Claim).MaxDelay.D())
	}
	defer at.leave(ending.Address)
	end := frontier.LaneEnd{Address: ending.Address, Host: ending.Next, Delay: ending.Delay, Unreachable: ending.Unreachable, Unread: ending.Unread, Trouble: ending.Trouble}
	if err == nil {
		err = needs.leaveUnopened(l.Targets)
	}
	if err != nil {
		return errors.Join(err, f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).KeepRest(end))
	}
	return f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).End(end)
}

// remaining are the targets of a lane without an outcome yet. Pages of which it is not known that no browser is to open them are asked for without condition: a 304 cannot be opened.
func (f *fetching) remaining(l lane) (remaining []crawl.Target) {
	opens := uint64(0)
	if f.browses() {
		opens = f.a.Engine.OpensBy(&f.planned.Definition)
	}
	for _, t := range l.Targets {
		if f.done[t.URL] {
			continue
		}
		if opens != t.Previous.Shown && opens != 0 && crawl.ClassOf(t.Path) == crawl.ClassPage {
			t.Previous.ETag, t.Previous.LastModified = "", ""
		}
		remaining = append(remaining, t)
	}
	return remaining
}

// yieldLease gives a claim's lease back while a response is still read. The last request was long ago, so the address rests for the
// shortest pause only.
func (f *fetching) yieldLease(claim frontier.Claim, at *addressSlot, pause time.Duration) bool {
	now := f.a.Now()
	next := now.Add(pause)
	return at.yield(next, func() bool {
		err := f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).Yield(next, now.Add(f.a.Fetch.Limits().Total.D()))
		return err == nil || f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).LeaseUntil().IsZero()
	})
}

// borrowHost gets a lease on another address, and the right to ask a host there until a time: no claim of any crawl asks it
// meanwhile. At the claim's own address it borrows the host only.
func (f *fetching) borrowHost(ctx context.Context, claim frontier.Claim, at urls.URL, addr netip.Addr, until time.Time) (fetch.Loan, error) {
	loan := fetch.Loan{Until: until, Return: func(time.Time) {}}
	var err error
	if addr.String() != claim.IP {
		within, cancel := context.WithTimeout(ctx, until.Sub(f.a.Now()))
		defer cancel()
		if loan, err = f.borrower(claim.ID)(within, addr); err != nil {
			return loan, err
		}
		if err = f.occupyAddress(within, addr, &loan); err != nil {
			return loan, err
		}
		loan.Until = times.Earliest(loan.Until, until)
	}
	host, err := f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).Borrow(at, loan.Until)
	if err != nil {
		loan.Return(time.Time{})
		return loan, borrowError(err)
	}
	loan.NotBefore, loan.Delay = times.Latest(loan.NotBefore, host.Next), host.Delay
	loan.KeepDelay = func(delay time.Duration) error { return f.a.Frontier.Crawl(f.in.Crawl).URLs().KnowDelay(at, delay) }
	loan.KeepRest = func(next time.Time) {
		_ = f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).Return(at, next) // else it is held until the lease has run out
	}
	return loan, nil
}

// occupyAddress takes a slot at an address whose lease was borrowed, as lanes of claims do. Two lanes that wait for each other's
// slot, which leases should prevent, give up after enterTime.
func (f *fetching) occupyAddress(ctx context.Context, addr netip.Addr, loan *fetch.Loan) error {
	within, cancel := context.WithTimeout(ctx, enterTime)
	defer cancel()
	at, rested, err := f.a.asked.enter(within, f.a.leaseAddress(addr.String()), f.a.pausesAt(f.plan, "", addr.String()).PerIP)
	release := loan.Return
	if err != nil {
		release(time.Time{})
		return &fetch.BusyError{Reason: "another lane of this worker asks its address"}
	}
	loan.NotBefore = times.Latest(loan.NotBefore, rested)
	loan.Return = func(next time.Time) {
		at.leave(next)
		release(next)
	}
	return nil
}

// enterTime is how long a lane that has borrowed the lease of an address waits for its place there.
const enterTime = 5 * time.Second

// storeRest stores in the frontier at once that a host rests for longer than the longest pause: the claim's own, or one that it has
// borrowed. A claim that is dropped would lose it.
func (f *fetching) storeRest(claim frontier.Claim, x *fetch.Exchange) error {
	if x.Pause <= max(f.steer().Definition.MaxDelayOf(claim.PLD), claim.Delay) {
		return nil
	}
	until := f.a.Now().Add(x.Pause)
	if at, err := urls.Parse(x.URL); err == nil && at.PLD() != claim.PLD {
		return f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).Rest(at, until)
	}
	return f.a.Frontier.Crawl(f.in.Crawl).Lane(claim.ID).KeepRest(frontier.LaneEnd{Host: until, Delay: x.Delay})
}

// notBefore is the time of the first request to a claim's host: not before the lease's own time; not before the rest that an attempt
// that was cut off in this process has stored; and after the pause that the last log entry of a killed attempt states. How long its
// last request took is not known, so that pause counts from now.
func notBefore(now time.Time, claim frontier.Claim, last *crawl.Exchange, least time.Duration) time.Time {
	t := times.Latest(claim.NotBefore, claim.HostNotBefore)
	if last == nil {
		return t
	}
	return times.Latest(t, now.Add(max(last.Pause, least)))
}
