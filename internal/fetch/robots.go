package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/coding"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/urls"
)

// maxUnread is how many batches in a row may end because a robots.txt lies where it cannot be asked for, before the URLs
// that it speaks of fail: some five hours with the default pauses.
const maxUnread = 30

// rules returns the rules of a URL's origin. A robots.txt that cannot be asked for ends the lane, which comes again after a
// pause; after maxUnread times in a row its origin is given up for this lane.
func (l *Lane) rules(ctx context.Context, u urls.URL) (rulesEntry, error) {
	if e, known := l.givenUp[u.Origin()]; known {
		return e, nil
	}
	e, err := l.robotsOf(ctx, u)
	var stop *stopError
	if !errors.As(err, &stop) || !stop.unread {
		return e, err
	}
	l.unread = true
	if l.Unread+1 < maxUnread {
		l.pace.putOff(stop.after)
		return e, err
	}
	if l.givenUp == nil {
		l.givenUp = map[string]rulesEntry{}
	}
	e = noRules(stop.reason)
	e.givenUp = true
	l.givenUp[u.Origin()] = e
	return e, nil
}

// unreadable ends a lane because robots.txt lies where it cannot be asked for now: that says nothing of the file, and nothing
// of the targets.
func (l *Lane) unreadable(at, reason string) *stopError {
	pause := min(l.client.limits.Backoff(l.Unread+1), l.client.limits.RobotsRetry.D())
	return &stopError{reason: "robots.txt lies at " + at + ": " + reason, after: l.client.now().Add(pause), unread: true}
}

// robotsOf fetches robots.txt and up to five redirects of it, to other hosts too (RFC 9309 §2.3.1.2). At another address a lease
// is borrowed for that.
func (l *Lane) robotsOf(ctx context.Context, u urls.URL) (rulesEntry, error) {
	key := l.Agent + " " + u.Origin()
	if e, ok := l.client.robots.get(key, l.client.now()); ok {
		l.pace.know(u.Origin(), e, true)
		return e, nil
	}
	at, err := urls.Parse(u.Origin() + "/robots.txt")
	if err != nil {
		return rulesEntry{}, err
	}
	lane := l
	defer func() { lane.giveLoanBack() }()
	e := rulesEntry{rules: robots.AllowAll()}
	for hop := 0; hop <= robots.MaxRedirects; hop++ {
		next, found, err := lane.robotsHop(ctx, at)
		var stop *stopError
		switch {
		case err == nil || ctx.Err() != nil || isFatal(err):
		case errors.As(err, &stop) && hop > 0: // by us: it says nothing of robots.txt, but would be met again each time
			err = l.unreadable(at.String(), stop.reason)
		case stop == nil && lane != l:
			next, found, err = nil, noRules(err.Error()), nil // of another host: it says nothing of ours
		}
		if err != nil {
			return rulesEntry{}, err
		}
		e = found
		if next == nil {
			break
		}
		at = *next
		if err := l.client.guard.CheckPort(at.Port()); err != nil {
			e = noRules(err.Error())
			break
		}
		if hop == robots.MaxRedirects || lane.reaches(ctx, at) {
			continue
		}
		lane.giveLoanBack()
		if l.reaches(ctx, at) { // and back again
			lane = l
			continue
		}
		if lane, err = l.borrow(ctx, at); err != nil {
			lane = l
			var stop *stopError
			if ctx.Err() != nil || isFatal(err) || errors.As(err, &stop) {
				return rulesEntry{}, err
			}
			e = noRules(err.Error())
			break
		}
	}
	l.pace.know(u.Origin(), e, true)
	keep := robots.MaxAge
	if e.broken != "" {
		keep = l.client.limits.RobotsRetry.D()
	}
	e.expires = l.client.now().Add(keep)
	l.client.robots.put(key, e)
	return e, nil
}

// noRules stands for a robots.txt that cannot be had: it disallows everything (RFC 9309 §2.3.1.4).
func noRules(reason string) rulesEntry {
	return rulesEntry{rules: robots.DenyAll(), broken: "robots.txt cannot be had: " + reason}
}

// reaches tells whether the lane has the right to ask a URL: it lies at the lane's address, and its host is the lane's.
func (l *Lane) reaches(ctx context.Context, at urls.URL) bool {
	return l.kin(at) && l.client.lies(ctx, at.Host(), l.Addr)
}

// borrow makes a lane to another host or address, for robots.txt alone. If it is busy, this lane ends and comes again.
func (l *Lane) borrow(ctx context.Context, at urls.URL) (*Lane, error) {
	if err := l.valid(); err != nil {
		return nil, l.unreadable(at.String(), err.Error())
	}
	addr, err := l.Addr, error(nil)
	if !l.client.lies(ctx, at.Host(), l.Addr) {
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
	loan, err := l.Borrow(ctx, at, addr)
	if err != nil {
		return nil, l.notLent(ctx, at, err)
	}
	other := &Lane{
		Claim: l.Claim, Addr: addr, Politeness: l.Politeness, Agent: l.Agent, Intend: l.Intend, Emit: l.Emit,
		Valid: func() time.Time { return loan.Until }, client: l.client, loan: &loan, parent: l,
		pace: pace{politeness: l.Politeness, rest: loan.NotBefore, delay: loan.Delay, longest: loan.Delay},
	}
	if addr == l.Addr { // another host of our own address, under our own lease, after its pause
		l.disconnect()
		other.Valid = func() time.Time { return sooner(l.Valid(), loan.Until) }
		other.Lease = func() time.Time { return sooner(l.lease(), loan.Until) }
		other.pace.putOff(l.pace.address())
	}
	if l.kin(at) { // one host at two addresses is still asked by one lane, at one pace
		other.pace.putOff(l.pace.next())
	}
	if err := other.archiveDNS(ctx, at.Host()); err != nil {
		other.giveLoanBack()
		return nil, err
	}
	return other, nil
}

// notLent says what it means for the lane that it may not ask another host.
func (l *Lane) notLent(ctx context.Context, at urls.URL, err error) error {
	var rests *RestsError
	var busy *BusyError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &rests):
		stop := l.unreadable(at.String(), err.Error())
		stop.after = rests.Until
		return stop
	case errors.As(err, &busy):
		return l.unreadable(at.String(), err.Error())
	}
	return &storeError{err}
}

// kin tells whether a URL belongs to the same pay-level domain as what the lane asks.
func (l *Lane) kin(at urls.URL) bool {
	own, err := urls.Parse(l.pace.origin + "/")
	return err == nil && own.PLD() == at.PLD()
}

// giveLoanBack ends a borrowed lane; of the lane itself it does nothing.
func (l *Lane) giveLoanBack() {
	if l.loan != nil {
		if own, err := urls.Parse(l.pace.origin + "/"); err == nil && l.parent.kin(own) {
			l.parent.pace.putOff(l.pace.next())
		}
		if l.Addr == l.parent.Addr {
			l.parent.pace.share(l.pace.address())
		}
		l.disconnect()
		if l.loan.Rest != nil {
			l.loan.Rest(l.pace.next())
		}
		l.loan.Return(l.pace.address())
		l.loan = nil
	}
}

// robotsHop fetches one robots.txt. It returns where it redirects to, or what it says. What is owed to the host
// after it is known before the exchange is kept, which says so; a whole answer counts although the lane is stopped.
func (l *Lane) robotsHop(ctx context.Context, at urls.URL) (*urls.URL, rulesEntry, error) {
	known, ok := l.client.robots.get(l.Agent+" "+at.Origin(), l.client.now())
	l.pace.know(at.Origin(), known, ok)
	x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeRobots, URL: at.String(), Path: string(rune(crawl.HopPrereq))}}
	defer x.Close()
	err := l.request(ctx, at, crawl.Target{URL: at.String()}, x, l.client.limits.RobotsTimeout.D(), robots.MaxBytes+1<<10)
	if err != nil {
		var stop *stopError
		var refused *RefusedError
		if ctx.Err() != nil {
			return nil, rulesEntry{}, ctx.Err()
		}
		if hostDown(err) || isFatal(err) || errors.As(err, &stop) || errors.As(err, &refused) {
			return nil, rulesEntry{}, err // says nothing of robots.txt
		}
		return nil, noRules(err.Error()), nil
	}
	next, e := l.readRobots(at, x)
	if next == nil { // what is known of it already may be that it could not be had
		l.pace.know(at.Origin(), e, true)
	}
	l.putOffAsAsked(x)
	if l.loan != nil && l.loan.Know != nil && l.pace.longest > l.loan.Delay {
		if err := l.loan.Know(l.pace.longest); err != nil {
			return nil, rulesEntry{}, &storeError{err}
		}
	}
	if err := l.keep(ctx, x); err != nil {
		return nil, rulesEntry{}, err
	}
	return next, e, nil
}

// readRobots tells where an answer redirects to, or what it says.
func (l *Lane) readRobots(at urls.URL, x *Exchange) (*urls.URL, rulesEntry) {
	if x.refused {
		return nil, noRules(x.Fault)
	}
	rules, decided := robots.FromStatus(x.Status)
	var unread error
	if !decided {
		var body []byte
		body, unread = x.robotsText()
		rules = robots.Parse(body, l.Agent)
	}
	if x.Status >= 300 && x.Status < 400 && x.Location != "" {
		if next, ok := follow(at, x.Location); ok {
			return &next, rulesEntry{rules: robots.AllowAll()}
		}
	}
	e := rulesEntry{rules: rules}
	switch {
	case x.Status >= 500 || x.Status == http.StatusTooManyRequests: // 429 speaks of us, not of the file
		e.rules, e.broken = robots.DenyAll(), "robots.txt answers "+strconv.Itoa(x.Status)+", which disallows everything"
	case !decided && (x.Truncated == "time" || x.Truncated == "disconnect"): // rules may be missing (§2.3.1.4)
		e.rules, e.broken = robots.DenyAll(), "robots.txt was cut off: "+x.Truncated
	case unread != nil: // its rules are not known
		e.rules, e.broken = robots.DenyAll(), "robots.txt cannot be decoded: "+unread.Error()
	}
	return nil, e
}

// know takes over what is known of an origin's Crawl-delay: nothing of one that is not there, or whose robots.txt
// could not be had.
func (p *pace) know(origin string, e rulesEntry, found bool) {
	if !found || e.broken != "" {
		p.unmet(origin)
		return
	}
	p.met(origin, e.rules.Delay())
}

// putOffAsAsked puts the host's next time off if it asks for that instead of giving its robots.txt.
func (l *Lane) putOffAsAsked(x *Exchange) {
	if x.Status == http.StatusTooManyRequests || x.Status == http.StatusServiceUnavailable {
		now := l.client.now()
		l.pace.putOff(now.Add(min(x.retryAfter(now), l.client.limits.RetryAfter.D())))
	}
}

func follow(at urls.URL, location string) (urls.URL, bool) {
	base, err := urls.NewResolver(at.String())
	if err != nil {
		return urls.URL{}, false
	}
	next, err := base.Resolve(location)
	return next, err == nil
}

// decoded reads the body without its transfer and content encodings. Response stays unread.
func (x *Exchange) decoded() (io.ReadCloser, error) {
	var r io.Reader = x.body
	if x.Chunked {
		r = httputil.NewChunkedReader(r)
	}
	field := x.Encoding
	if field == "" {
		buffered := bufio.NewReader(r)
		head, _ := buffered.Peek(sniffed)
		r, field = buffered, coding.Field(head)
	}
	return coding.NewReader(r, field)
}

// sniffed is how many bytes tell that a body is packed although its header does not say so.
const sniffed = 16

// robotsText is the text of a robots.txt as far as it counts. An error says that its codings cannot be taken off.
func (x *Exchange) robotsText() ([]byte, error) {
	r, err := x.decoded()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, robots.MaxBytes+1))
	var broken *coding.Error
	switch {
	case x.Truncated == "length" && errors.Is(err, io.ErrUnexpectedEOF): // by us, as RFC 9309 §2.5 permits
		return text, nil
	case errors.As(err, &broken):
		return nil, err
	}
	return text, nil // a broken chunk is told by Truncated
}
