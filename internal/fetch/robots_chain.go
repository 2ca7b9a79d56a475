package fetch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// MaxChain is how long one lane spends on the other hosts that a robots.txt redirects to, all of them together: it holds its
// own address meanwhile. It is as long as a borrowed lease can be used (politeness.LoanTTL).
const MaxChain = 2 * time.Minute

// chain is how far the redirects of an origin's robots.txt have been followed. It is kept if a lane ends on the way: the
// next lane continues there. Otherwise a chain through a host whose Crawl-delay is longer than a lane would never end.
// It is kept in memory only. A worker that was killed starts again at the origin, which costs a request for each redirect that it had
// followed; the pauses owed to the hosts on the way are in the log and in the frontier.
type chain struct {
	next    urls.URL  // to be asked next
	hop     int       // redirects that led to it
	origins []string  // origins that have answered
	expires time.Time // what they said
}

// robotsOf fetches robots.txt and up to five redirects of it, to other hosts too (RFC 9309 §2.3.1.2). Another host is
// borrowed for that, and a lease at another address.
func (l *Lane) robotsOf(ctx context.Context, u urls.URL) (rulesEntry, error) {
	key := l.robotsKey(u)
	if e, ok := l.client.robots.get(key, l.client.now()); ok {
		l.takeRobots(u, e, true)
		return e, nil
	}
	c, unfinished := l.client.robots.unfinishedChain(key, l.client.now())
	if unfinished {
		l.takeRobots(u, rulesEntry{}, false)
	} else {
		at, err := urls.Parse(u.Origin() + "/robots.txt")
		if err != nil {
			return rulesEntry{}, err
		}
		c = chain{next: at, expires: l.client.now().Add(robots.MaxAge)}
	}
	e, err := l.follow(ctx, &c)
	if err != nil {
		var stop *stopError
		if c.hop > 0 && (errors.As(err, &stop) || ctx.Err() != nil) {
			l.client.robots.put(key, rulesEntry{chain: &c, origins: c.origins, expires: c.expires})
		} else if unfinished { // it leads to where nothing answers: the origin may say something else by now
			l.client.robots.forget(l.Archive, map[string]bool{u.Origin(): true})
		}
		return rulesEntry{}, err
	}
	l.takeRobots(u, e, true)
	keep := robots.MaxAge
	if e.unavailable != "" {
		keep = l.client.limits.RobotsRetry.D()
	}
	e.expires, e.origins = times.Earliest(l.client.now().Add(keep), c.expires), c.origins
	l.client.robots.put(key, e)
	return e, nil
}

// follow follows a chain to its end, and gives back what it has borrowed for that: a lane that is borrowed itself keeps its loan. On an error the chain stands where it is to be
// continued.
func (l *Lane) follow(ctx context.Context, c *chain) (rulesEntry, error) {
	lane := l
	giveBack := func() {
		if lane != l {
			lane.giveLoanBack()
		}
		lane = l
	}
	defer giveBack()
	var until time.Time
	for {
		if c.hop > 0 && !lane.mayAsk(ctx, c.next) {
			giveBack()
		}
		if c.hop > 0 && !lane.mayAsk(ctx, c.next) { // nor does the lane itself
			if l.loan != nil { // one loan at a time: a lane of that host itself follows the chain
				return rulesEntry{}, &stopError{reason: "robots.txt lies at " + c.next.String() + ", which may not be asked with a borrowed lease"}
			}
			if until.IsZero() {
				until = l.client.now().Add(MaxChain)
			}
			other, err := l.borrow(ctx, c.next, until)
			var stop *stopError
			switch {
			case err == nil:
				lane = other
			case ctx.Err() != nil || isFatal(err) || errors.As(err, &stop):
				return rulesEntry{}, err
			default:
				return noRules(err.Error()), nil
			}
		}
		next, e, err := lane.robotsHop(ctx, c.next)
		var stop *stopError
		switch {
		case err == nil:
		case ctx.Err() != nil || isFatal(err):
			return rulesEntry{}, err
		case errors.As(err, &stop) && c.hop > 0 && !lane.ownTimeOver(stop): // by us: this does not make robots.txt unreachable
			return rulesEntry{}, unreadable(c.next.String(), stop.reason)
		case stop == nil && lane != l: // of another host: this does not count against ours
			return noRules(err.Error()), nil
		default:
			return rulesEntry{}, err
		}
		c.origins = append(slices.Clip(c.origins), c.next.Origin())
		if next == nil {
			return e, nil
		}
		if err := l.client.guard.CheckPort(next.Port()); err != nil {
			return noRules(err.Error()), nil
		}
		if c.hop == robots.MaxRedirects {
			return e, nil
		}
		c.next, c.hop = *next, c.hop+1
	}
}

// ownTimeOver reports whether the lane was stopped because the time of its claim or batch is over, and not that of a loan.
func (l *Lane) ownTimeOver(stop *stopError) bool {
	return stop.expired && (l.parent == nil || !l.parent.batchUntil().After(l.loan.Until))
}

// batchUntil is the time until which the lane may ask other hosts for a robots.txt.
func (l *Lane) batchUntil() time.Time {
	if l.BatchUntil == nil {
		return l.ValidUntil()
	}
	return l.BatchUntil()
}

// mayBorrow returns an error if no other host may be asked any more.
func (l *Lane) mayBorrow() error {
	if !l.batchUntil().After(l.client.now()) {
		return errExpired()
	}
	return nil
}
