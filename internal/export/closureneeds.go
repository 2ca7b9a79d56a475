package export

import (
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// expand wants what a capture needs.
func (c *closure) expand(capture *Capture, g *group, of *state) {
	if u, err := urls.Trusted(capture.URL); err == nil && !capture.Robots() {
		robots := u.Origin() + "/robots.txt"
		c.wantURL(robots, capture, WhyRobots, of, func(x *Capture) bool { return x.URL == robots })
	}
	if g.meta == nil {
		return
	}
	if strings.HasSuffix(g.meta.Path, crawl.HopRedirect.String()) && g.meta.Via != "" && of.why != WhyRobots {
		c.wantURL(g.meta.Via, capture, WhyRedirect, of, nil)
	}
	c.expandNeeds(capture, g.meta, of)
}

// expandNeeds wants what a capture needs by the links of a metadata record, its own or that of its original; meta may be nil.
func (c *closure) expandNeeds(capture *Capture, meta *metadata, of *state) {
	if meta == nil {
		return
	}
	for _, n := range meta.needs {
		switch {
		case n.url == capture.URL:
		case n.hop == 'R':
			c.wantURL(n.url, capture, WhyRedirect, of, nil)
		case of.why == WhyRobots:
		case n.hop == 'E':
			c.wantURL(n.url, capture, WhyRequisite, of, nil)
		case n.hop == 'X': // it is not known whether the page needs it
			if i := c.index.nearest(n.url, capture.Date, nil); i != none && of.steps < maxSteps {
				c.want(i, WhyRequisite, capture.URL, of.steps+1)
			}
		}
	}
}

// wantURL wants the capture of a URL that is nearest in time to the one that needs it.
func (c *closure) wantURL(url string, by *Capture, why Why, of *state, test func(*Capture) bool) {
	i := c.index.nearest(url, by.Date, test)
	switch {
	case i == none:
		c.lacks(Missing{URL: url, Why: why, For: by.URL, Reason: notCaptured})
	case of.steps >= maxSteps && c.state[i] == nil:
		c.lacks(Missing{URL: url, Why: why, For: by.URL, Reason: "it is more steps away from a kept capture than are followed"})
	default:
		c.want(i, why, by.URL, of.steps+1)
	}
}

const notCaptured = "the crawls have no capture of it"
