package fetch

import (
	"context"
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Load asks for a URL that a page wants while it is open in a browser, and emits the exchange. The error says why it is not loaded; then an exchange without an answer is emitted
// that says so, or one with a faulty answer.
type Load func(ctx context.Context, t crawl.Target) error

// Reasons for which nothing is loaded.
var (
	ErrDisallowed = errors.New("robots.txt disallows it")
	ErrFaulty     = errors.New("the response's header is faulty")
	errLoadBusy   = errors.New("its host could not be asked before")
)

// Unopened is a page that is still to be opened. So many Targets are what it needs, before those that no such page needs: it is opened when they are fetched.
type Unopened struct {
	Page crawl.Target
	Left int
}

// family is a page whose requisites are fetched, and how many of them are left.
type family struct {
	page crawl.Target
	left int
}

// openComplete opens the page of a target when all that it needs is fetched. To the target so many others were added.
func (l *Lane) openComplete(ctx context.Context, t crawl.Target, added int) error {
	if l.Open == nil {
		return nil
	}
	switch {
	case l.family.left > 0:
		l.family.left += added - 1
	case len(l.waiting) > 0:
		l.family = l.waiting[0]
		l.waiting = l.waiting[1:]
		l.family.left += added - 1
	default:
		l.family = family{t, added}
	}
	if l.family.left > 0 {
		return nil
	}
	return l.open(ctx, l.family.page)
}

// open lets a page be opened. An error is the worker's own, or a stopError: the lane's own host has asked the page to wait.
func (l *Lane) open(ctx context.Context, page crawl.Target) error {
	var own error
	l.busy, l.stop = map[string]bool{}, nil
	err := l.Open(ctx, page, func(within context.Context, t crawl.Target) error {
		err := l.load(within, page, t)
		if err != nil && !errors.Is(err, ErrFaulty) && !isFatal(err) && ctx.Err() == nil {
			if within.Err() != nil {
				err = fmt.Errorf("the page was closed before it came: %w", context.Cause(within))
			}
			if e := l.emitUnloaded(ctx, t, err); e != nil {
				err = e
			}
		}
		if isFatal(err) {
			own = err
		}
		return err
	})
	switch {
	case own != nil:
		return own
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &storeError{err}
	case l.stop != nil:
		return l.stop
	}
	return nil
}

// emitUnloaded emits that a URL was not loaded, and why.
func (l *Lane) emitUnloaded(ctx context.Context, t crawl.Target, why error) error {
	o := crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeFailed, Reason: why.Error()}
	switch {
	case errors.As(why, new(*RefusedError)):
		o.Kind = crawl.OutcomeRefused
	case errors.Is(why, ErrDisallowed):
		o.Kind = crawl.OutcomeRobots
	}
	return l.emit(ctx, &Exchange{Exchange: crawl.Exchange{
		Kind: crawl.ExchangeLoaded, Claim: l.Claim, URL: t.URL, Via: t.Via, Path: t.Path, Started: l.client.now(), Outcome: o,
	}})
}

// load makes an exchange for a page that is open, at the pace of the host that it asks, and as its robots.txt allows. Another host or address than the lane's own is borrowed. A host
// that cannot be asked, or asks to wait, is not asked by this page any more.
func (l *Lane) load(ctx context.Context, page, t crawl.Target) error {
	u, err := urls.Trusted(t.URL)
	if err != nil {
		return err
	}
	if err := errors.Join(l.client.guard.CheckPort(u.Port()), l.check(u)); err != nil {
		return err
	}
	if l.pace.origin == "" { // an earlier attempt has fetched the page: nothing was asked in this one
		own, err := urls.Trusted(page.URL)
		if err == nil {
			_, err = l.rules(ctx, own)
		}
		if err != nil {
			return err
		}
	}
	host := u.Host()
	if l.busy[host] {
		return errLoadBusy
	}
	lane := l
	if !l.mayAsk(ctx, u) {
		if lane, err = l.borrow(ctx, u, l.client.now().Add(MaxChain)); err != nil { // to try it takes long, while a browser and this address wait
			l.busy[host] = ctx.Err() == nil
			return err
		}
		defer lane.giveLoanBack()
	} else if err := l.archiveDNS(ctx, host); err != nil {
		return err
	}
	rules, err := lane.rules(ctx, u)
	if err != nil {
		l.busy[host] = ctx.Err() == nil
		return err
	}
	disallowed := !rules.rules.Allowed(u.RequestURI())
	switch {
	case rules.unavailable != "" && l.Robots != crawl.RobotsIgnore:
		return errors.New(rules.unavailable)
	case disallowed && !l.exempts(t.Path):
		return ErrDisallowed
	}
	x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeLoaded, URL: t.URL, Via: t.Via, Path: t.Path, Disallowed: disallowed}}
	defer x.Close()
	if err := lane.request(ctx, u, t, x, l.client.limits.Total.D(), int64(l.client.limits.BodyBytes)); err != nil {
		l.busy[host] = hostDown(err) && ctx.Err() == nil
		return err
	}
	if asksToWait(x) {
		stop := lane.letRest(x, 1)
		if l.busy[host] = true; l.sameSite(u) {
			l.stop = stop
		}
	}
	x.Outcome = crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: x.Status, Bytes: x.Size + int64(len(x.Request))}
	if x.refused { // its bytes are kept, as those of a page are
		x.Outcome.Kind, x.Outcome.Reason = crawl.OutcomeFailed, faulty(x)
	}
	if err := lane.emit(ctx, x); err != nil || !x.refused {
		return err
	}
	return ErrFaulty
}
