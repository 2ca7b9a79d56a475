package fetch

import (
	"context"
	"errors"

	"github.com/muninn-archive/muninn/internal/times"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of the count of batches that met a robots.txt which lies where it could not be asked for.
const (
	// maxUnread is how many batches meet an origin's so before the URLs of the origin fail: some five hours with the default
	// pauses.
	maxUnread = 30
	// maxUnreadOrigins is of how many origins of a host that is counted.
	maxUnreadOrigins = 16
)

// rules returns the rules of a URL's origin. A robots.txt whose host or address is busy ends the lane, which is run again after a
// pause. After maxUnread such batches in a row the origin is given up for this lane: a crawl must end.
func (l *Lane) rules(ctx context.Context, u urls.URL) (rulesEntry, error) {
	origin := u.Origin()
	if e, known := l.givenUp[origin]; known {
		return e, nil
	}
	e, err := l.robotsOf(ctx, u)
	var stop *stopError
	switch {
	case err == nil:
		delete(l.unread, origin)
		return e, nil
	case !errors.As(err, &stop) || !stop.unread:
		return e, err
	}
	batches := min(l.unread[origin]+1, maxUnread)
	l.unread = countUnread(l.unread, origin, batches)
	if batches < maxUnread {
		pause := min(l.client.limits.Backoff(batches), l.client.limits.RobotsRetry.D())
		stop.after = times.Latest(stop.after, l.client.now().Add(pause))
		l.pace.putOff(stop.after)
		return e, err
	}
	if l.givenUp == nil {
		l.givenUp = map[string]rulesEntry{}
	}
	e = noRules(stop.reason)
	e.givenUp = true
	l.givenUp[origin] = e
	return e, nil
}

// countUnread stores how many batches an origin's robots.txt was busy for. Beyond maxUnreadOrigins it replaces the origin with the
// fewest.
func countUnread(unread map[string]int, origin string, batches int) map[string]int {
	if unread == nil {
		unread = map[string]int{}
	}
	if _, known := unread[origin]; !known && len(unread) >= maxUnreadOrigins {
		least := ""
		for o, n := range unread {
			if least == "" || n < unread[least] || n == unread[least] && o < least {
				least = o
			}
		}
		delete(unread, least)
	}
	unread[origin] = batches
	return unread
}

// unreadable ends a lane because the host or address of its robots.txt is busy now. That does not count against the file or the targets.
func unreadable(at, reason string) *stopError {
	return &stopError{reason: "robots.txt lies at " + at + ": " + reason, unread: true}
}
