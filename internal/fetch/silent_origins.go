package fetch

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/urls"
)

// silentOrigins are the origins of a lane that accept no connection. A closed port says nothing about the other ports of the
// address, so their targets are held back until it is known whether any origin answers.
type silentOrigins struct {
	errs           map[string]error
	answeredBefore map[string]bool // answered before, in this lane
	connected      map[string]bool
	held           []crawl.Target
	anyConnected   bool // some origin took a connection
}

// maxSilentOrigins is how many origins of an address are tried before it counts as down, if none of them answers.
const maxSilentOrigins = 3

// noteConnection notes that an origin took a connection.
func (m *silentOrigins) noteConnection(origin string) {
	if m.connected == nil {
		m.connected = map[string]bool{}
	}
	m.connected[origin], m.anyConnected = true, true
}

// add holds a target whose origin took no connection, and so all that follow of that origin.
func (m *silentOrigins) add(t crawl.Target, err error) {
	if m.errs == nil {
		m.errs, m.answeredBefore = map[string]error{}, map[string]bool{}
	}
	origin := originOf(t)
	m.errs[origin], m.answeredBefore[origin] = err, m.connected[origin]
	m.held = append(m.held, t)
}

func originOf(t crawl.Target) string {
	u, err := urls.Trusted(t.URL)
	if err != nil {
		return ""
	}
	return u.Origin()
}

// holdBack reports whether the target's origin is silent; if so, it holds the target back.
func (l *Lane) holdBack(t crawl.Target, origin string) bool {
	if _, is := l.silent.errs[origin]; !is {
		return false
	}
	l.silent.held = append(l.silent.held, t)
	return true
}

// endSilent gives the held targets their outcomes at the end of the lane. If nothing at the address
// answered, the host is down. Else an origin that never answered costs its targets an attempt each, and
// one that fell silent only the target that met it.
func (l *Lane) endSilent(ctx context.Context) error {
	if len(l.silent.held) == 0 {
		return nil
	}
	if !l.silent.anyConnected {
		return l.unreachable(ctx)
	}
	met := map[string]bool{}
	for _, t := range l.silent.held {
		origin := originOf(t)
		err := l.silent.errs[origin]
		wait := l.client.limits.Backoff(t.Attempts + 1)
		if l.silent.answeredBefore[origin] && met[origin] {
			l.pace.putOff(l.client.now().Add(l.client.limits.Backoff(1)))
			l.trouble = politeness.TroubleTimeOut
			err = l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeReturned, Reason: err.Error()})
		} else {
			err = l.retry(ctx, t, crawl.OutcomeFailed, err.Error(), wait)
		}
		if err != nil {
			return err
		}
		met[origin] = true
	}
	l.silent.held = nil
	return nil
}

// unreachable ends the lane: nothing at the address answers. After HostFailures batches in a row all of
// the claim's URLs fail with it.
func (l *Lane) unreachable(ctx context.Context) error {
	limits := l.client.limits
	stop := &stopError{
		reason:      "the host cannot be reached: " + l.silent.errs[originOf(l.silent.held[0])].Error(),
		after:       l.client.now().Add(limits.Backoff(l.Failures + 1)),
		unreachable: true,
		failed:      l.Failures+1 >= limits.HostFailures,
	}
	l.pace.putOff(stop.after)
	l.trouble = politeness.TroubleConnection
	held := l.silent.held
	l.silent.held = nil
	if err := l.giveBack(ctx, held, stop); err != nil {
		return err
	}
	return stop
}

// offline ends the lane because the worker itself has no network: nothing of that is the host's fault.
func (l *Lane) offline(ctx context.Context, t crawl.Target, err error) error {
	stop := &stopError{reason: "the worker's network is down: " + err.Error(), after: l.client.now().Add(offlineWait)}
	l.pace.putOff(stop.after)
	held := append(l.silent.held, t)
	l.silent.held = nil
	if err := l.giveBack(ctx, held, stop); err != nil {
		return err
	}
	return stop
}

// offlineWait is how long a host rests that could not be asked because there is no network.
const offlineWait = time.Minute

// isLocalFailure reports whether a connection failed on this side. A worker without IPv6 has no way to an
// IPv6 address, ever; that counts as the host's failure.
func isLocalFailure(err error, addr netip.Addr) bool {
	return errors.Is(err, syscall.ENETDOWN) || errors.Is(err, syscall.EADDRNOTAVAIL) ||
		errors.Is(err, syscall.ENETUNREACH) && addr.Is4() || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
