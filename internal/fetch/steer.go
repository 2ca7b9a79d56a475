package fetch

import (
	"context"
	"errors"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// politenessFor is the politeness towards the host of a URL, as it is now.
func (l *Lane) politenessFor(u urls.URL) crawl.Politeness {
	if l.Settings == nil {
		return l.Politeness
	}
	return l.Settings(u).Politeness
}

// steer puts in force what holds now for a URL that is requested next. The pause that the host before it asks for is kept by
// pace.switchOrigin.
func (l *Lane) steer(u urls.URL) (changed <-chan struct{}) {
	if l.Settings == nil {
		return nil
	}
	now := l.Settings(u)
	l.pace.politeness = now.Politeness
	l.pace.delay = min(l.pace.delay, now.Politeness.MaxCrawlDelay.D())
	return now.Changed
}

// sleep waits until a time; again says that something has changed before.
func (l *Lane) sleep(ctx context.Context, until time.Time, changed <-chan struct{}) (again bool, err error) {
	if changed == nil || !until.After(l.client.now()) {
		return false, l.client.sleep(ctx, until)
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-within.Done():
		}
	}()
	err = l.client.sleep(within, until)
	if err != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// check asks whether a target may be requested.
func (l *Lane) check(u urls.URL) error {
	if l.Check == nil {
		return nil
	}
	err := l.Check(u)
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return &storeError{err}
}
