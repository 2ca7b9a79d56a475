package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// emitResponse judges a response and emits it.
func (l *Lane) emitResponse(ctx context.Context, t crawl.Target, x *Exchange) error {
	limits := l.client.limits
	o := crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: x.Status, Bytes: x.Size + int64(len(x.Request))}
	last := t.Attempts+1 >= limits.MaxAttempts
	var stop *stopError
	if x.Fault != "" {
		o.Reason = faulty(x)
	}
	switch {
	case x.refused && (last || x.Truncated != "disconnect"):
		o.Kind = crawl.OutcomeFailed
	case asksToWait(x):
		stop = l.letRest(x, t.Attempts+1)
		if !last {
			o.Kind, o.Reason, o.After = crawl.OutcomeRetry, stop.reason, stop.after
		}
	case x.Status >= 500 && !last:
		o.Kind, o.Reason = crawl.OutcomeRetry, fmt.Sprintf("the host answers %d", x.Status)
		o.After = l.client.now().Add(limits.Backoff(t.Attempts + 1))
	case x.Truncated == "disconnect" && !last:
		if o.Kind = crawl.OutcomeRetry; !x.refused {
			o.Reason = "the connection broke within the body"
		}
		o.After = l.client.now().Add(limits.Backoff(t.Attempts + 1))
	case x.Status == 304 && t.Previous.Digest != "":
		o.Kind = crawl.OutcomeUnmodified
	}
	o.Visit = crawl.Visit{ETag: x.Header.Get("ETag"), LastModified: x.Header.Get("Last-Modified")}
	x.Outcome = o
	if err := l.emit(ctx, x); err != nil {
		return err
	}
	if stop != nil {
		return stop
	}
	return nil
}

// faulty says what is wrong with the header of a response.
func faulty(x *Exchange) string { return "the response's header is faulty: " + x.Fault }

// asksToWait reports whether an answer says that the host is not to be asked for a while.
func asksToWait(x *Exchange) bool {
	return x.Status == http.StatusTooManyRequests || x.Status == http.StatusServiceUnavailable
}

// letRest lets the host rest that asks to wait, as long as it says, or for a back-off, and returns what ends its lane.
func (l *Lane) letRest(x *Exchange, failures int) *stopError {
	limits, now := l.client.limits, l.client.now()
	pause := x.retryAfter(now)
	if pause <= 0 {
		pause = limits.Backoff(failures)
	}
	pause = min(pause, limits.RetryAfter.D())
	after := now.Add(pause)
	l.pace.putOff(after)
	return &stopError{reason: fmt.Sprintf("the host answers %d and asks to wait %s", x.Status, pause.Round(time.Second)), after: after}
}

// emitFailure turns an error of an exchange into the target's outcome.
func (l *Lane) emitFailure(ctx context.Context, t crawl.Target, err error) error {
	var refused *RefusedError
	var stop *stopError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isFatal(err):
		return err
	case errors.As(err, &stop):
		if e := l.giveBack(ctx, []crawl.Target{t}, stop); e != nil {
			return e
		}
		return stop
	case errors.As(err, &refused):
		return l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeRefused, Reason: err.Error()})
	case isLocalFailure(err, l.Addr):
		return l.offline(ctx, t, err)
	case hostDown(err):
		l.silent.add(t, err)
		return nil
	case errors.Is(err, errProtocol):
		return l.emitOutcome(ctx, t, crawl.Outcome{Kind: crawl.OutcomeFailed, Reason: err.Error()})
	}
	return l.retry(ctx, t, crawl.OutcomeFailed, err.Error(), l.client.limits.Backoff(t.Attempts+1))
}

func (l *Lane) giveBack(ctx context.Context, rest []crawl.Target, stop *stopError) error {
	kind := crawl.OutcomeReturned
	if stop.failed {
		kind = crawl.OutcomeFailed
	}
	for _, t := range rest {
		if err := l.emitOutcome(ctx, t, crawl.Outcome{Kind: kind, Reason: stop.reason, After: stop.after}); err != nil {
			return err
		}
	}
	return nil
}

// retry gives the URL back with back-off, or ends it with the given kind at its last attempt.
func (l *Lane) retry(ctx context.Context, t crawl.Target, final crawl.OutcomeKind, reason string, wait time.Duration) error {
	o := crawl.Outcome{Kind: final, Reason: reason}
	if t.Attempts+1 < l.client.limits.MaxAttempts {
		o.Kind, o.After = crawl.OutcomeRetry, l.client.now().Add(wait)
	}
	return l.emitOutcome(ctx, t, o)
}

// emitOutcome emits an outcome that has no response.
func (l *Lane) emitOutcome(ctx context.Context, t crawl.Target, o crawl.Outcome) error {
	o.URL = t.URL
	x := &Exchange{Exchange: crawl.Exchange{
		Kind: crawl.ExchangePage, Claim: l.Claim, URL: t.URL, Via: t.Via, Path: t.Path,
		Started: l.client.now(), Outcome: o,
	}}
	return l.emit(ctx, x)
}

func (l *Lane) archiveDNS(ctx context.Context, host string) error {
	a, ok := l.client.resolver.Unsaved(l.Archive, host)
	if !ok {
		return nil
	}
	x := &Exchange{Exchange: crawl.Exchange{
		Kind: crawl.ExchangeDNS, Claim: l.Claim, URL: "dns:" + host, IP: a.Server, Started: a.Asked,
		MIME: "text/dns", Path: crawl.HopPrereq.String(),
	}}
	x.Response, x.Size = textReader(a.Text), int64(len(a.Text))
	return l.emit(ctx, x)
}
