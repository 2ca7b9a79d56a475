package economy

import (
	"bytes"
	"context"
	"io"
	"math"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/urls"
	world "github.com/muninn-archive/muninn/internal/webworld/economy"
	"github.com/muninn-archive/muninn/kb"
)

// unsaid is the priority of links about which the helper says nothing: between links that it wants and links that no
// rule wants. Without the helper, all links have it.
const unsaid = 0.5

// crawler crawls one site in one mode.
type crawler struct {
	site  *world.Site
	host  string
	mode  string
	pages *pipeline.Engine // without the helper in the mode "off", which leaves all links as they are
	todo  *frontier
	found map[string]bool
	goal  int // how many objects must be found
	run   *Run
}

// simulate crawls a site until nothing is left to fetch or the budget is spent.
func simulate(ctx context.Context, base *kb.Base, site *world.Site, mode string, budget int) (Run, error) {
	seed, err := urls.Parse(site.Seed)
	if err != nil {
		return Run{}, err
	}
	objects := len(site.Objects())
	var helper *aah.Helper
	if mode != crawl.HelperOff {
		helper = aah.New(base, aah.DefaultLimits())
	}
	c := &crawler{
		site: site, host: seed.Host(), mode: mode, pages: pipeline.New(nil, helper, nil, page.DefaultLimits(), time.Now),
		todo: newFrontier(budget), found: map[string]bool{}, goal: int(math.Ceil(Goal * float64(objects))),
		run: &Run{Site: site.Host, Application: site.Application, Release: site.Release, Mode: mode, All: objects, Kinds: map[string]int{}, Barren: map[string]int{}},
	}
	c.todo.add(seed.String(), 1)
	for ctx.Err() == nil {
		url, ok := c.todo.next()
		if !ok {
			break
		}
		if err := c.fetch(ctx, url); err != nil {
			return Run{}, err
		}
	}
	c.run.finish(c.todo.cut, site.Objects(), c.found)
	return *c.run, ctx.Err()
}

// fetch requests a page, counts its objects, and adds its links to the frontier.
func (c *crawler) fetch(ctx context.Context, url string) error {
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
	var head bytes.Buffer
	if err := answer.Header.Write(&head); err != nil {
		return err
	}
	x := pipeline.Exchange{Exchange: crawl.Exchange{
		Kind: crawl.ExchangePage, URL: url, Status: answer.Status, MIME: answer.Header.Get("Content-Type"), Location: answer.Header.Get("Location"),
	}}
	x.Header = func() io.Reader { return bytes.NewReader(head.Bytes()) }
	x.Body = func() io.Reader { return bytes.NewReader(answer.Body) }
	p, ok, err := c.pages.Understand(ctx, &x, c.mode, nil)
	if !ok || err != nil {
		return err
	}
	if p.Base != "" && p.Application != c.site.Application { // the helper has seen it
		c.run.Unrecognised++
	}
	for _, l := range p.Links {
		if p.Follows(l.Hop) { // as pipeline.Result.Add does
			c.take(l)
		}
	}
	return nil
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
