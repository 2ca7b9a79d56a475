package fetch

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Lane fetches the targets of one claim from one address, one after the other, over one connection.
type Lane struct {
	Claim      string
	Addr       netip.Addr
	Politeness crawl.Politeness
	Agent      string
	Robots     string        // one of crawl.RobotsPolicies; empty: obey
	Archive    string        // where the exchanges go: a robots.txt or DNS answer that only another archive has is not used
	NotBefore  time.Time     // no request before
	Delay      time.Duration // the longest Crawl-delay that is known of the host; it holds until robots.txt is read
	Failures   int           // earlier batches in a row that could not reach the host
	// Unread counts, by origin, the earlier batches in a row that could not ask for its robots.txt, because a host that it redirects to
	// was busy.
	Unread  map[string]int
	Targets []crawl.Target
	// Settings returns what holds for a URL now; nil: Politeness holds for all, as long as the lane runs.
	Settings func(u urls.URL) Settings
	// Check is called right before the request for a target. A RefusedError ends it as refused; any other error is the worker's own.
	// nil: every target may be requested.
	Check func(u urls.URL) error
	// ValidUntil returns the time until which requests may be made. It may move while the lane runs.
	ValidUntil func() time.Time
	// LeaseUntil returns the end of the lease, at which a running exchange is cut off; nil: ValidUntil. It differs from ValidUntil
	// where requests must stop earlier for another reason.
	LeaseUntil func() time.Time
	// BatchUntil returns the time until which another host may be asked for a robots.txt; nil: ValidUntil. It may be later than
	// ValidUntil: a lane that ends before would have to wait for that host once more when it is run again.
	BatchUntil func() time.Time
	// Yield gives the lease back while a response is still read that takes longer than Limits.AddressHold. The lane makes no further
	// request after that. It returns false if the lease is to be kept; nil: the lease is always kept.
	Yield func() bool
	// LogIntent stores an intent: every request is logged before it is sent. If the process ends before Emit, its Pause says how long
	// the host must rest from then on.
	LogIntent func(intent crawl.Exchange) error
	// Emit stores an exchange; it reads Response before it returns. Its Pause says how long the host must rest from then on.
	Emit func(ctx context.Context, x *Exchange) error

	// Requisites returns what is to be fetched right after a target whose outcome was emitted: what its page needs to be shown. nil: nothing.
	Requisites func(ctx context.Context, of crawl.Target) ([]crawl.Target, error)
	// Open is called when a target and its requisites have their outcomes: its page may be opened in a browser, and load what its scripts want. An error is
	// the worker's own. nil: no page is opened.
	Open func(ctx context.Context, of crawl.Target, load Load) error
	// Unopened are pages whose outcomes an earlier attempt has emitted, without opening them.
	Unopened []Unopened

	// Borrow gets the right to make a few requests to another host, for a robots.txt that redirects there, and a lease on its address
	// if that is not the lane's own. It waits until a time at most, at which the loan ends, too. After a RestsError or a BusyError
	// targets keep their attempts; any other error is the worker's own. nil: nothing can be borrowed.
	Borrow func(ctx context.Context, at urls.URL, addr netip.Addr, until time.Time) (Loan, error)

	client  *Client
	conn    *connection
	pace    pace
	yielded bool // the lease was given back
	silent  silentOrigins
	unread  map[string]int        // Unread and this batch
	givenUp map[string]rulesEntry // by origin
	trouble politeness.Trouble    // that the last request met, see Ending
	family  family
	waiting []family        // of Unopened, in the order of Targets
	busy    map[string]bool // hosts that the page that is open cannot ask
	stop    *stopError      // what the lane's own host has answered the page that is open
	loan    *Loan           // of a borrowed lane
	parent  *Lane           // whose lane it is
}

// Settings are what an operator may change while a lane runs.
type Settings struct {
	Politeness crawl.Politeness
	Changed    <-chan struct{} // closed when Settings, or ValidUntil, may return something else; nil: never
}

// Ending says how a lane ended.
type Ending struct {
	Next        time.Time          // when the host may be asked again
	Address     time.Time          // when others of the address may be asked; zero: nothing was asked of it
	Delay       time.Duration      // the longest Crawl-delay that is known of the host
	Unreachable bool               // the host could not be reached, or asked to be left alone
	Unread      map[string]int     // Lane.Unread for the next batch
	Trouble     politeness.Trouble // why the host is to be slowed down, of the last request; empty if it was answered well, or none was made
}

// Reasons for which a lane or a target goes back untried.
var (
	errLease = errors.New("the lease has ended")
	errSlow  = errors.New("an answer took longer than address-hold, so the lease was given back")
	errIP    = errors.New("the host has moved to another address")
)

// Run fetches the targets in order and emits an outcome for each. An error is one of our own (disk,
// context): what was emitted stands, and another run may fetch the rest.
func (c *Client) Run(ctx context.Context, l *Lane) (Ending, error) {
	l.client, l.unread = c, maps.Clone(l.Unread)
	l.pace = pace{politeness: l.Politeness, hostRest: l.NotBefore, addressRest: l.NotBefore, delay: l.Delay, longest: l.Delay}
	defer l.disconnect()
	var stop *stopError
	for _, u := range l.Unopened {
		if u.Left > 0 {
			l.waiting = append(l.waiting, family{u.Page, u.Left})
			continue
		}
		switch err := l.open(ctx, u.Page); {
		case errors.As(err, &stop):
			return l.ending(false), l.giveBack(ctx, l.Targets, stop)
		case err != nil:
			return l.ending(false), err
		}
	}
	for i := 0; i < len(l.Targets); i++ {
		err, added := l.target(ctx, l.Targets[i]), 0
		if err == nil && l.Requisites != nil {
			added, err = l.extend(ctx, i)
		}
		if err == nil {
			err = l.openComplete(ctx, l.Targets[i], added)
		}
		if err == nil && len(l.silent.held) > 0 && !l.silent.anyConnected && len(l.silent.errs) >= maxSilentOrigins {
			err = l.unreachable(ctx)
		}
		switch {
		case err == nil:
			continue
		case errors.As(err, &stop):
			return l.ending(stop.unreachable), l.giveBack(ctx, l.Targets[i+1:], stop)
		default:
			return l.ending(false), err
		}
	}
	err := l.endSilent(ctx)
	if errors.As(err, &stop) {
		return l.ending(stop.unreachable), nil
	}
	return l.ending(false), err
}

// extend puts what the page of a target needs right behind it, and returns how many that are.
func (l *Lane) extend(ctx context.Context, at int) (int, error) {
	more, err := l.Requisites(ctx, l.Targets[at])
	if err != nil {
		return 0, &storeError{err}
	}
	l.Targets = slices.Insert(l.Targets, at+1, more...)
	return len(more), nil
}

func (l *Lane) ending(unreachable bool) Ending {
	end := Ending{Next: l.pace.next(), Address: l.pace.address(), Delay: l.pace.longest, Unreachable: unreachable, Unread: l.unread, Trouble: l.trouble}
	if !end.Address.After(l.NotBefore) { // no request was made: NotBefore may be the rest of the host only
		end.Address = time.Time{}
	}
	return end
}

// stopError ends a lane early; the rest of its targets goes back, or fails with the host.
type stopError struct {
	reason      string
	after       time.Time
	unreachable bool
	failed      bool
	unread      bool // the host or address of robots.txt is busy
	expired     bool // the lane's time is over, which says nothing about any host
}

func errExpired() *stopError { return &stopError{reason: errLease.Error(), expired: true} }

func (e *stopError) Error() string { return e.reason }

// target fetches one URL; a nil error means that its outcome is emitted and the lane continues.
func (l *Lane) target(ctx context.Context, t crawl.Target) error {
	u, err := urls.Trusted(t.URL)
	if err != nil {
		return l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeFailed, Reason: err.Error()})
	}
	if !l.client.mayBeAt(ctx, u.Host(), l.Addr) {
		return l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeReturned, Reason: errIP.Error()})
	}
	if err := l.client.guard.CheckPort(u.Port()); err != nil {
		return l.emitFailure(ctx, t, err)
	}
	if l.holdBack(t, u.Origin()) {
		return nil
	}
	if err := l.archiveDNS(ctx, u.Host()); err != nil {
		return err
	}
	rules, err := l.rules(ctx, u)
	if err != nil {
		return l.emitFailure(ctx, t, err)
	}
	ignored, disallowed := l.exempts(t.Path), !rules.rules.Allowed(u.RequestURI())
	switch {
	case l.Robots == crawl.RobotsIgnore:
	case rules.givenUp:
		return l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeFailed, Reason: rules.unavailable})
	case rules.unavailable != "":
		return l.retry(ctx, t, crawl.OutcomeRobots, rules.unavailable, l.client.limits.RobotsRetry.D())
	case disallowed && !ignored:
		return l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeRobots, Reason: "robots.txt disallows it"})
	}
	x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: t.URL, Via: t.Via, Path: t.Path, Disallowed: disallowed}}
	defer x.Close()
	if err := l.request(ctx, u, t, x, l.client.limits.Total.D(), int64(l.client.limits.BodyBytes)); err != nil {
		return l.emitFailure(ctx, t, err)
	}
	return l.emitResponse(ctx, t, x)
}

// exempts reports whether robots.txt cannot forbid a URL that was found by a hop path.
func (l *Lane) exempts(path string) bool {
	return l.Robots == crawl.RobotsIgnore || l.Robots == crawl.RobotsRequisites && crawl.IsRequisite(path)
}

// request waits for the host's next time and makes the exchange, opening a connection if there is
// none to the origin. A kept-alive connection that the host has closed is tried again, once.
func (l *Lane) request(ctx context.Context, u urls.URL, t crawl.Target, x *Exchange, total time.Duration, body int64) error {
	for try := 0; ; try++ {
		if err := l.wait(ctx, u); err != nil {
			return err
		}
		if x.Kind == crawl.ExchangePage || x.Kind == crawl.ExchangeLoaded {
			if err := l.check(u); err != nil {
				return err
			}
		}
		err := l.connect(ctx, u)
		if err == nil {
			err = l.checkValid() // to connect takes long, too
		}
		if err != nil {
			l.pace.requestEnded(l.client.now(), 0)
			return err
		}
		l.silent.noteConnection(l.conn.origin)
		x.Claim, x.IP = l.Claim, l.Addr.String()
		x.Request = request(u, l.Politeness.Agent(), t)
		if err := l.logIntent(x.URL); err != nil {
			return &storeError{err}
		}
		end := l.watch().start(ctx, l.conn)
		keep, err := l.client.send(l.conn, x, total, body)
		ended := end()
		l.yielded = l.yielded || ended.yielded
		if ended.cut != nil || err != nil || !keep {
			l.disconnect()
		}
		l.pace.requestEnded(l.client.now(), x.Elapsed)
		l.trouble = troubleOf(x.Status, err)
		if ended.cut != nil { // cut off by the worker: what came is no outcome
			l.trouble = ""
			return ended.cut
		}
		if errors.Is(err, errStale) && try == 0 {
			x.Close()
			continue
		}
		return err
	}
}

func (l *Lane) watch() watch {
	return watch{
		now: l.client.now, grace: l.client.grace, lease: l.leaseUntil, hold: l.client.limits.AddressHold.D(), yield: l.Yield,
	}
}

func (l *Lane) leaseUntil() time.Time {
	if l.LeaseUntil == nil {
		return l.ValidUntil()
	}
	return l.LeaseUntil()
}

// wait waits until a URL may be requested. Whatever changes meanwhile counts for the pause that runs.
func (l *Lane) wait(ctx context.Context, u urls.URL) error {
	if l.yielded {
		return &stopError{reason: errSlow.Error(), expired: true}
	}
	for {
		changed := l.steer(u)
		next := l.pace.next()
		if l.ValidUntil().Before(next) {
			return errExpired()
		}
		if err := l.checkValid(); err != nil {
			return err
		}
		again, err := l.sleep(ctx, next, changed)
		if err != nil {
			return err
		}
		if !again {
			return l.checkValid() // the lease may be lost meanwhile, and the address another lane's
		}
	}
}

// checkValid returns nil if a request may be made now.
func (l *Lane) checkValid() error {
	if !l.ValidUntil().After(l.client.now()) {
		return errExpired()
	}
	return nil
}

// owedPause is how long the host must rest if the lane is cut off now: its own host, or the one that it has borrowed.
func (l *Lane) owedPause() time.Duration {
	owed := l.pace.owed(l.client.now())
	if l.parent != nil {
		owed = max(owed, l.parent.owedPause())
	}
	return owed
}

// knownDelay is the longest Crawl-delay that is known of the claim's own host.
func (l *Lane) knownDelay() time.Duration {
	if l.parent != nil {
		return l.parent.knownDelay()
	}
	return l.pace.longest
}

func (l *Lane) logIntent(url string) error {
	return l.LogIntent(crawl.Exchange{Kind: crawl.ExchangeIntent, URL: url, Claim: l.Claim, Started: l.client.now(), Pause: l.owedPause(), Delay: l.knownDelay()})
}

func (l *Lane) emit(ctx context.Context, x *Exchange) error {
	x.Pause, x.Delay = l.owedPause(), l.knownDelay()
	if err := l.Emit(ctx, x); err != nil {
		return &storeError{err}
	}
	return nil
}

func (l *Lane) connect(ctx context.Context, u urls.URL) error {
	if l.conn != nil && l.conn.origin == u.Origin() && l.client.now().Sub(l.conn.last) < l.client.limits.ConnectionIdle.D() && l.conn.isIdle() {
		return nil
	}
	l.disconnect()
	within, cancel := context.WithTimeout(ctx, l.leaseUntil().Sub(l.client.now()))
	defer cancel()
	conn, err := l.client.dial(within, u, l.Addr)
	if err != nil && ctx.Err() == nil && !l.leaseUntil().After(l.client.now()) {
		err = errExpired()
	}
	l.conn = conn
	return err
}

func (l *Lane) disconnect() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}
