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

// rules returns the rules of a URL's origin. A robots.txt that cannot be asked for ends the lane, which comes again after a
// pause. An origin that maxUnread batches have met so is given up for this lane: a crawl must end.
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

// countUnread notes how many batches have met an origin. Beyond the bound it takes the place of one that was met least.
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

// unreadable ends a lane because robots.txt lies where it cannot be asked for now: that says nothing of the file, and nothing
// of the targets.
func unreadable(at, reason string) *stopError {
	return &stopError{reason: "robots.txt lies at " + at + ": " + reason, unread: true}
}
