package replay

import (
	"context"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// lane is a claim that is being fetched, until a time of the clock.
type lane struct {
	claim frontier.Claim
	ends  time.Time
}

// idle is how far the clock goes where nothing is in progress and nothing may be claimed yet.
const idle = time.Second

// start gives a claim its lease.
func (c *crawling) start(claim frontier.Claim) error {
	grant := politeness.Grant{Lease: claim.ID, IP: claim.IP, NotBefore: c.now, Deadline: c.now.Add(24 * time.Hour)}
	_, err := c.frontier.Crawl(c.d.Name).Batch(claim.ID).Start([]politeness.Grant{grant})
	return err
}

// enter begins to fetch a claim: its host is asked for a URL after each delay.
func (c *crawling) enter(claim frontier.Claim) error {
	c.lanes = append(c.lanes, lane{claim, c.now.Add(time.Duration(len(claim.URLs)) * c.pace.Delay)})
	return c.start(claim)
}

// pass lets time pass until the next lane has fetched its claim, and commits that: when all lanes are busy, or nothing was claimed.
func (c *crawling) pass(ctx context.Context, claimed int) error {
	switch {
	case c.pace.Lanes == 0, claimed > 0 && len(c.lanes) < c.pace.Lanes:
		return nil
	case len(c.lanes) == 0:
		c.now = c.now.Add(idle)
		return nil
	}
	first := 0
	for i := range c.lanes {
		if c.lanes[i].ends.Before(c.lanes[first].ends) {
			first = i
		}
	}
	if looks := c.now.Add(idle); looks.Before(c.lanes[first].ends) && len(c.lanes) < c.pace.Lanes { // what the free lanes may claim can change meanwhile
		c.now = looks
		return nil
	}
	l := c.lanes[first]
	c.lanes, c.now = slices.Delete(c.lanes, first, first+1), l.ends
	return c.batch(ctx, l.claim)
}
