package fetch

import (
	"context"
	"errors"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Loan is the right to ask another host or address than the lane's own.
type Loan struct {
	NotBefore time.Time
	Until     time.Time
	Delay     time.Duration // the longest Crawl-delay that is known of the host
	// KeepDelay keeps a longer Crawl-delay that the host asks for, before the exchange is kept that says so; nil: nobody does.
	KeepDelay func(delay time.Duration) error
	KeepRest  func(next time.Time) // keeps when the host may be asked again; called before Return; nil: nobody does
	Return    func(next time.Time) // ends it; next is when the address may be asked again
}

// RestsError of Borrow says that the other host is not to be asked before a time that is too far off to wait for.
type RestsError struct{ Until time.Time }

func (e *RestsError) Error() string {
	return "its host rests until " + e.Until.UTC().Format(time.RFC3339)
}

// BusyError of Borrow says that the other host or its address is asked by others now.
type BusyError struct{ Reason string }

func (e *BusyError) Error() string { return e.Reason }

// mayAsk reports whether the lane has the right to ask a URL: it lies at the lane's address, and its host is the lane's.
func (l *Lane) mayAsk(ctx context.Context, at urls.URL) bool {
	return l.sameSite(at) && l.client.isAt(ctx, at.Host(), l.Addr)
}

// borrow makes a lane to another host or address, for a robots.txt only and until a time at the latest. If that host or address is
// busy, this lane ends and is run again later.
func (l *Lane) borrow(ctx context.Context, at urls.URL, until time.Time) (*Lane, error) {
	if err := l.mayBorrow(); err != nil {
		return nil, err
	}
	addr, err := l.Addr, error(nil)
	if !l.client.isAt(ctx, at.Host(), l.Addr) {
		addr, err = l.client.Address(ctx, at.Host())
	}
	if errors.Is(err, ErrSilent) {
		err = &stopError{reason: err.Error(), after: l.client.now().Add(offlineWait)}
	}
	if err != nil {
		return nil, err
	}
	if l.Borrow == nil {
		return nil, errIP
	}
	until = times.Earliest(until, l.batchUntil())
	loan, err := l.Borrow(ctx, at, addr, until)
	if err != nil {
		return nil, l.loanError(ctx, at, err)
	}
	loan.Until = times.Earliest(loan.Until, until)
	other := &Lane{
		Claim: l.Claim, Addr: addr, Politeness: l.Politeness, Settings: l.Settings, Agent: l.Agent, Archive: l.Archive, LogIntent: l.LogIntent, Emit: l.Emit, Check: l.Check,
		ValidUntil: func() time.Time { return times.Earliest(l.batchUntil(), loan.Until) }, LeaseUntil: func() time.Time { return loan.Until },
		client: l.client, loan: &loan, parent: l,
		pace: pace{politeness: l.politenessFor(at), hostRest: loan.NotBefore, delay: loan.Delay, longest: loan.Delay},
	}
	if addr == l.Addr { // another host of our own address, under our own lease, after its pause
		l.disconnect()
		other.LeaseUntil = func() time.Time { return times.Earliest(l.leaseUntil(), loan.Until) }
		other.pace.restAddress(l.pace.address())
	}
	if l.sameSite(at) { // one host at two addresses is still asked by one lane, at one pace
		other.pace.putOff(l.pace.next())
	}
	if err := other.archiveDNS(ctx, at.Host()); err != nil {
		other.giveLoanBack()
		return nil, err
	}
	return other, nil
}

// loanError returns what it means for the lane that it may not ask another host.
func (l *Lane) loanError(ctx context.Context, at urls.URL, err error) error {
	var rests *RestsError
	var busy *BusyError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &rests):
		stop := unreadable(at.String(), err.Error())
		stop.after = rests.Until
		return stop
	case errors.As(err, &busy):
		return unreadable(at.String(), err.Error())
	}
	return &storeError{err}
}

// sameSite reports whether a URL belongs to the same pay-level domain as what the lane asks.
func (l *Lane) sameSite(at urls.URL) bool {
	own, err := urls.Parse(l.pace.origin + "/")
	return err == nil && own.PLD() == at.PLD()
}

// giveLoanBack ends a borrowed lane; it does nothing for a lane that is not borrowed.
func (l *Lane) giveLoanBack() {
	if l.loan != nil {
		if own, err := urls.Parse(l.pace.origin + "/"); err == nil && l.parent.sameSite(own) {
			l.parent.pace.putOff(l.pace.next())
			l.parent.trouble = l.trouble
		}
		if l.Addr == l.parent.Addr {
			l.parent.pace.restAddress(l.pace.address())
		}
		l.disconnect()
		if l.loan.KeepRest != nil {
			l.loan.KeepRest(l.pace.next())
		}
		l.loan.Return(l.pace.address())
		l.loan = nil
	}
}
