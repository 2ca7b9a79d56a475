package economy

import (
	"bytes"
	"context"
	"math"
	"net/http"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	world "github.com/muninn-archive/muninn/internal/webworld/economy"
	"github.com/muninn-archive/muninn/kb"
)

// unsaid is the priority of links about which the helper says nothing: between links that it wants and links that no
// rule wants. Without the helper, all links have it.
const unsaid = 0.5

// crawler crawls one site in one mode.
type crawler struct {
	site   *world.Site
	host   string
	mode   string
	helper *aah.Helper
	limits page.Limits
	todo   *frontier
	found  map[string]bool
	goal   int // how many objects must be found
	run    *Run
}

// simulate crawls a site until nothing is left to fetch or the budget is spent.
func simulate(ctx context.Context, base *kb.Base, site *world.Site, mode string, budget int) (Run, error) {
	seed, err := urls.Parse(site.Seed)
	if err != nil {
		return Run{}, err
	}
	objects := len(site.Objects())
	c := &crawler{
		site: site, host: seed.Host(), mode: mode, helper: aah.New(base, aah.DefaultLimits()), limits: page.DefaultLimits(),
		todo: newFrontier(budget), found: map[string]bool{}, goal: int(math.Ceil(Goal * float64(objects))),
		run: &Run{Site: site.Host, Application: site.Application, Release: site.Release, Mode: mode, All: objects, Kinds: map[string]int{}, Barren: map[string]int{}},
	}
	c.todo.add(seed.String(), 1)
	for ctx.Err() == nil {
		url, ok := c.todo.next()
		if !ok {
			break
		}
		c.fetch(url)
	}
	c.run.finish(c.todo.cut, site.Objects(), c.found)
	return *c.run, ctx.Err()
}

// fetch requests a page, counts its objects, and adds its links to the frontier.
func (c *crawler) fetch(url string) {
	answer := c.site.Answer(url)
	c.run.Requests++
	c.run.Kinds[answer.Kind]++
	fresh := 0
	for _, id := range answer.Objects {
		if !c.found[id] {
			c.found[id] = true
			fresh++
			if len(c.found) == c.goal {
				c.run.Reached = c.run.Requests
			}
		}
	}
	if fresh == 0 && len(answer.Objects) > 0 {
		c.run.Barren[answer.Kind]++
	}
	if to := answer.Header.Get("Location"); to != "" {
		if r, err := urls.NewResolver(url); err == nil {
			if u, err := r.Resolve(to); err == nil {
				c.take(crawl.Outlink{URL: u.String(), Hop: crawl.HopRedirect})
			}
		}
		return
	}
	if answer.Status != http.StatusOK {
		return
	}
	d := page.Parse(page.Input{URL: url, MIME: answer.Header.Get("Content-Type"), Body: answer.Body}, c.limits)
	if c.mode != crawl.HelperOff { // it leaves all links as they are
		var head bytes.Buffer
		var found crawl.Findings
		if answer.Header.Write(&head) == nil {
			found = c.helper.Apply(d, aah.Input{Head: head.Bytes(), Mode: c.mode})
		}
		if d.Root != nil && found.Application != c.site.Application {
			c.run.Unrecognised++
		}
	}
	if d.NoFollow { // as the pipeline does
		return
	}
	for _, l := range d.Links {
		c.take(l)
	}
}

// take adds a link to the frontier if it is to be followed.
func (c *crawler) take(l crawl.Outlink) {
	switch l.Hop {
	case crawl.HopLink, crawl.HopPaging, crawl.HopRedirect:
	default:
		return
	}
	u, err := urls.Trusted(l.URL)
	if err != nil || u.Host() != c.host {
		return
	}
	priority := l.Prior
	if priority == 0 {
		priority = unsaid
	}
	if l.Hop == crawl.HopRedirect {
		priority = 1
	}
	c.todo.add(l.URL, priority)
}
