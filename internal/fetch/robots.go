package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"

	"github.com/muninn-archive/muninn/internal/coding"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/urls"
)

// noRules is the entry of a robots.txt that cannot be fetched: it disallows everything (RFC 9309 §2.3.1.4).
func noRules(reason string) rulesEntry {
	return rulesEntry{rules: robots.DenyAll(), unavailable: "robots.txt cannot be fetched: " + reason}
}

// robotsHop fetches one robots.txt. It returns where it redirects to, or its rules. The host's pause is set before the exchange is
// stored, for the exchange holds it. A complete response counts even if the lane is stopped meanwhile.
func (l *Lane) robotsHop(ctx context.Context, at urls.URL) (*urls.URL, rulesEntry, error) {
	known, ok := l.client.robots.get(l.robotsKey(at), l.client.now())
	l.takeRobots(at, known, ok)
	x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangeRobots, URL: at.String(), Path: crawl.HopPrereq.String()}}
	defer x.Close()
	err := l.request(ctx, at, crawl.Target{URL: at.String()}, x, l.client.limits.RobotsTimeout.D(), robots.MaxBytes+1<<10)
	if err != nil {
		var stop *stopError
		var refused *RefusedError
		if ctx.Err() != nil {
			return nil, rulesEntry{}, ctx.Err()
		}
		if hostDown(err) || isFatal(err) || errors.As(err, &stop) || errors.As(err, &refused) {
			return nil, rulesEntry{}, err // does not make robots.txt unreachable
		}
		return nil, noRules(err.Error()), nil
	}
	next, e := l.readRobots(at, x)
	if next == nil { // it may be known already that it cannot be fetched
		l.takeRobots(at, e, true)
	}
	l.applyRetryAfter(x)
	if l.loan != nil && l.loan.KeepDelay != nil && l.pace.longest > l.loan.Delay {
		if err := l.loan.KeepDelay(l.pace.longest); err != nil {
			return nil, rulesEntry{}, &storeError{err}
		}
	}
	if err := l.emit(ctx, x); err != nil {
		return nil, rulesEntry{}, err
	}
	return next, e, nil
}

// readRobots returns where an answer redirects to, or the rules that it holds.
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
	case x.Status >= 500 || x.Status == http.StatusTooManyRequests: // 429 is about the crawler, not about the file
		e.rules, e.unavailable = robots.DenyAll(), "robots.txt answers "+strconv.Itoa(x.Status)+", which disallows everything"
	case !decided && (x.Truncated == "time" || x.Truncated == "disconnect"): // rules may be missing (§2.3.1.4)
		e.rules, e.unavailable = robots.DenyAll(), "robots.txt was cut off: "+x.Truncated
	case unread != nil: // its rules are not known
		e.rules, e.unavailable = robots.DenyAll(), "robots.txt cannot be decoded: "+unread.Error()
	}
	return nil, e
}

// takeRobots sets the Crawl-delay of an origin, or notes that it is unknown: there is no entry, or robots.txt could not be fetched.
func (l *Lane) takeRobots(of urls.URL, e rulesEntry, found bool) {
	if !found || e.unavailable != "" {
		l.pace.originUnknown(of.Origin())
		return
	}
	l.pace.originKnown(of.Origin(), e.rules.Delay(), l.politenessFor(of).MaxCrawlDelay.D())
}

// applyRetryAfter postpones the host's next request if it answers 429 or 503 instead of its robots.txt.
func (l *Lane) applyRetryAfter(x *Exchange) {
	if asksToWait(x) {
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
	r := x.Body()
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

// sniffed is how many bytes show that a body is compressed although its header does not say so.
const sniffed = 16

// robotsText is the text of a robots.txt, up to robots.MaxBytes. The error says that it cannot be decoded.
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
	return text, nil // Truncated says that a chunk was broken
}
