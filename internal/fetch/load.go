package fetch

import (
	"context"
	"errors"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Load asks for a URL that a page wants while it is open in a browser, and emits the exchange. The error says why it is not loaded.
type Load func(ctx context.Context, t crawl.Target) error

// Reasons for which nothing is loaded.
var (
	errLoadRobots = errors.New("robots.txt disallows it")
	errLoadFaulty = errors.New("the response's header is faulty")
	errLoadBusy   = errors.New("its host could not be asked before")
)

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
	if l.family.left == 0 {
		l.family = family{t, added}
	} else {
		l.family.left += added - 1
	}
	if l.family.left > 0 {
		return nil
	}
	return l.open(ctx, l.family.page)
}

// open lets a page be opened. An error is the worker's own.
func (l *Lane) open(ctx context.Context, page crawl.Target) error {
	var own error
	l.busy = map[string]bool{}
	err := l.Open(ctx, page, func(ctx context.Context, t crawl.Target) error {
		err := l.load(ctx, page, t)
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
	}
	return nil
}

// load makes an exchange for a page that is open, at the pace of the host that it asks, and as its robots.txt allows. Another host or address than the lane's own is borrowed.
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
	lane := l
	if !l.mayAsk(ctx, u) {
		if l.busy[u.Host()] { // to borrow it takes long, while a browser and this address wait
			return errLoadBusy
		}
		if lane, err = l.borrow(ctx, u, l.client.now().Add(MaxChain)); err != nil {
			l.busy[u.Host()] = ctx.Err() == nil
			return err
		}
		defer lane.giveLoanBack()
	} else if err := l.archiveDNS(ctx, u.Host()); err != nil {
		return err
	}
	rules, err := lane.rules(ctx, u)
	if err != nil {
		l.busy[u.Host()] = lane != l && ctx.Err() == nil
		return err
	}
	disallowed := !rules.rules.Allowed(u.RequestURI())
	if disallowed && !l.exempts(t.Path) || rules.unavailable != "" && l.Robots != crawl.RobotsIgnore {
		return errLoadRobots
	}
	x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeLoaded, URL: t.URL, Via: t.Via, Path: t.Path, Disallowed: disallowed}}
	defer x.Close()
	if err := lane.request(ctx, u, t, x, l.client.limits.Total.D(), int64(l.client.limits.BodyBytes)); err != nil {
		return err
	}
	lane.applyRetryAfter(x)
	if x.refused {
		return errLoadFaulty
	}
	x.Outcome = crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: x.Status, Bytes: x.Size + int64(len(x.Request))}
	return lane.emit(ctx, x)
}
