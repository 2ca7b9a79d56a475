package build

import (
	"context"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

const (
	// Interval is the default pause between two looks at the archive: a segment is seen within a minute of its commit.
	Interval = 15 * time.Second
	// crawlsEvery is at how many looks the archive is listed whole, for crawls that are new.
	crawlsEvery = 2
)

// Follow keeps a catalogue up to date until its context ends.
type Follow struct {
	*Builder
	// Crawls lists the crawls; nil: archive.Crawls.
	Crawls func(context.Context) ([]archive.CrawlAt, error)
	// Interval is the pause between two looks; 0: the default.
	Interval time.Duration
	// Wait waits so long, or until the context ends, whose error it returns then; nil: by the machine's clock.
	Wait func(context.Context, time.Duration) error
	// Report, if it is not nil, is given what a look has added to a crawl, and an error that the next look may not have.
	Report func(archive.CrawlAt, Filled, error)
}

// Run looks at the archive again and again. It returns the error of its context.
func (f Follow) Run(ctx context.Context) error {
	if f.Crawls == nil {
		f.Crawls = func(ctx context.Context) ([]archive.CrawlAt, error) { return archive.Crawls(ctx, f.Store) }
	}
	if f.Wait == nil {
		f.Wait = wait
	}
	if f.Interval == 0 {
		f.Interval = Interval
	}
	if f.Report == nil {
		f.Report = func(archive.CrawlAt, Filled, error) {}
	}
	var crawls []archive.CrawlAt
	for look := 0; ; look++ {
		if look%crawlsEvery == 0 {
			list, err := f.Crawls(ctx)
			if err == nil {
				crawls = list
			} else if ctx.Err() == nil {
				f.Report(archive.CrawlAt{}, Filled{}, err)
			}
		}
		for _, crawl := range crawls {
			done, err := f.Fill(ctx, crawl)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || done != (Filled{}) {
				f.Report(crawl, done, err)
			}
		}
		if err := f.Wait(ctx, f.Interval); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
