package activities

import (
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/urls"
)

// steer is what operators have ordered by now. It is asked for again only when it may have changed: each request of a lane looks at it.
func (f *fetching) steer() *frontier.Steering {
	now := f.steering.Load()
	if now != nil {
		select {
		case <-now.Changed:
		default:
			return now
		}
	}
	fresh, err := f.a.Frontier.Crawl(f.in.Crawl).Steering()
	if err != nil { // the crawl is forgotten: its claims are gone, and so are the leases of its lanes
		fresh = frontier.Steering{Definition: &crawl.Definition{Politeness: f.plan}}
	}
	f.steering.Store(&fresh)
	return &fresh
}

// settingsAt are what holds now for the URLs at an address.
func (f *fetching) settingsAt(ip string) func(u urls.URL) fetch.Settings {
	return func(u urls.URL) fetch.Settings {
		now := f.steer()
		return fetch.Settings{Politeness: f.a.pausesAt(now.Definition.PolitenessFor(u.PLD(), u.Host()), u.PLD(), ip), Changed: now.Changed}
	}
}

// politeness is what holds now for a claim, with the longest pause of any host of its PLD.
func (f *fetching) politeness(c ClaimRef) crawl.Politeness {
	d := f.steer().Definition
	p := d.PolitenessFor(c.PLD, c.PLD)
	p.MaxDelay = crawl.Duration(d.MaxDelayOf(c.PLD))
	return f.a.pausesAt(p, c.PLD, c.IP)
}

// claimLease is until when a claim's lease lasts; the zero time if it has none, or its fetching is to end at once.
func (f *fetching) claimLease(claim string) time.Time {
	c, known := f.a.Frontier.Crawl(f.in.Crawl).Lane(claim).Claim()
	if now := f.steer(); now.Aborted || known && now.Definition.StateOf(c.PLD) == crawl.StateAborted {
		return time.Time{}
	}
	return f.a.Frontier.Crawl(f.in.Crawl).Lane(claim).LeaseUntil()
}

// checkBanned refuses a URL that was submitted as blacklisted since it was claimed.
func (f *fetching) checkBanned(u urls.URL) error {
	banned, err := f.a.Frontier.Crawl(f.in.Crawl).URLs().Banned(u)
	if err == nil && banned {
		err = &fetch.RefusedError{Reason: "it was submitted as blacklisted"}
	}
	return err
}
