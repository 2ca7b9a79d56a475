// Package replay crawls recorded webs with the frontier and the pipeline of the live crawl, without network, Temporal and clock. It
// has only the recorded web and a clock for it; internal/pipeline has what happens to the pages. One claim is made at a time, so that
// the order of the pages is that of the frontier.
package replay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Run is a crawl of a recorded web.
type Run struct {
	Visited []Visit
	Took    time.Duration // reading the web not counted
	Totals  frontier.Totals
	Lasted  time.Duration // by the simulated clock
}

// Visit is a page that was fetched.
type Visit struct {
	Page  int           // its number in the web
	Score float64       // the document score, −1 if there is none
	After time.Duration // since the crawl began, by the simulated clock
}

// crawling is a run in progress.
type crawling struct {
	web      *recorded.Web
	d        crawl.Definition
	frontier *frontier.Frontier
	pages    *pipeline.Engine
	now      time.Time
	began    time.Time
	pace     Pace
	lanes    []lane // in progress, with a pace
	run      Run
	round    int64

	listed    map[int][]recorded.Edge // the links that count, by page; nil: those that pages have
	reference bool
	links     []archive.Link // of the reference crawl
}

// Pace is the politeness of a simulated clock: a lane asks one host at a time, and a host is asked once in a while.
type Pace struct {
	Lanes int           // claims at a time
	Delay time.Duration // between two URLs of a host
}

// Crawl crawls a web by a definition, with its seeds and budget. helper may be nil.
func Crawl(ctx context.Context, web *recorded.Web, d crawl.Definition, helper *aah.Helper) (out Run, err error) {
	return CrawlAt(ctx, web, d, helper, Pace{})
}

// CrawlAt is Crawl with several lanes and politeness on the clock. Without lanes, time does not matter.
func CrawlAt(ctx context.Context, web *recorded.Web, d crawl.Definition, helper *aah.Helper, pace Pace) (out Run, err error) {
	c := &crawling{web: web, d: d, pace: pace, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	dir, err := os.MkdirTemp("", "muninn-lab-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	now := func() time.Time { return c.now }
	c.frontier, err = frontier.Open(dir, frontier.Options{Now: now, NoSync: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, c.frontier.Close()) }()
	c.pages = pipeline.New(c.frontier, helper, score.NewDictionary(), page.DefaultLimits(), now)
	if web.Edges != nil {
		c.listed = map[int][]recorded.Edge{}
		for _, e := range web.Edges {
			c.listed[e.From] = append(c.listed[e.From], e)
		}
	}
	c.began = c.now
	began := time.Now()
	if _, _, err := c.pages.Begin(ctx, pipeline.Opening{Definition: d, Owner: "lab"}); err != nil {
		return out, err
	}
	if pages := d.ReferencePages(); pages > 0 {
		if err := c.phase(ctx, pages, true); err != nil {
			return out, err
		}
		if err := c.learn(ctx); err != nil {
			return out, err
		}
	}
	if err := c.phase(ctx, 0, false); err != nil {
		return out, err
	}
	p, err := c.frontier.Crawl(d.Name).Progress()
	c.run.Took, c.run.Totals, c.run.Lasted = time.Since(began), p.Totals, c.now.Sub(c.began)
	return c.run, err
}

// learn learns from the reference crawl, as the live crawl does.
func (c *crawling) learn(ctx context.Context) error {
	links := func(_ context.Context, fn func(archive.Link) error) error {
		for _, l := range c.links {
			if err := fn(l); err != nil {
				return err
			}
		}
		return nil
	}
	samples, err := c.pages.Samples(c.d.Name)
	if err != nil {
		return err
	}
	_, err = c.pages.Learn(ctx, c.d.Name, samples, links, func(topic.Model) error { return nil })
	c.links = nil
	return err
}

// phase crawls until nothing is left or the bound of the phase is reached.
func (c *crawling) phase(ctx context.Context, pages int64, reference bool) error {
	c.reference = reference
	if err := c.frontier.Crawl(c.d.Name).Phase(pages, reference); err != nil {
		return err
	}
	for {
		c.round++
		if c.pace.Lanes == 0 {
			c.now = c.now.Add(time.Second)
		}
		free := max(c.pace.Lanes, 1) - len(c.lanes)
		round, err := c.frontier.Crawl(c.d.Name).Claims().Claim(ctx, frontier.Want{
			Round: c.round, Claims: free, Lanes: max(c.pace.Lanes, 1), ClaimNothing: free == 0, Until: c.now, MaxFail: 1,
			Resolve: func(context.Context, string) (string, error) { return "192.0.2.1", nil },
			Refused: func(error) bool { return false }, Backoff: func(int) time.Duration { return time.Second },
		})
		if err != nil {
			return err
		}
		var done frontier.Confirmed
		for _, r := range round.Releases {
			done.Releases = append(done.Releases, r.Key())
		}
		if err := c.frontier.Crawl(c.d.Name).Claims().Confirm(done); err != nil {
			return err
		}
		if round.Drained || round.Spent != "" {
			return ctx.Err()
		}
		for _, claim := range round.Claims {
			if c.pace.Lanes == 0 {
				err = c.batch(ctx, claim)
			} else {
				err = c.enter(claim)
			}
			if err != nil {
				return err
			}
		}
		if err := c.pass(ctx, len(round.Claims)); err != nil {
			return err
		}
	}
}

// batch answers the URLs of a claim from the web, and runs their pages through the pipeline.
func (c *crawling) batch(ctx context.Context, claim frontier.Claim) error {
	if c.pace.Lanes == 0 {
		if err := c.start(claim); err != nil {
			return err
		}
	}
	lanes, err := c.frontier.Crawl(c.d.Name).Batch(claim.ID).Reopen([]frontier.Claim{claim}, nil)
	if err != nil {
		return err
	}
	targets, answers := map[string]crawl.Target{}, []pipeline.Exchange(nil)
	for _, lane := range lanes {
		for _, t := range lane.Targets {
			targets[t.URL] = t
			answers = append(answers, c.answer(t))
		}
	}
	source := pipeline.Source{
		Crawl: c.d.Name, Batch: claim.ID,
		Targets: func() (map[string]crawl.Target, error) { return targets, nil },
		Exchanges: func(map[string]crawl.Target) ([]pipeline.Exchange, func() error, error) {
			return answers, func() error { return nil }, nil
		},
	}
	parsed, err := c.pages.Parse(ctx, source)
	if err != nil {
		return err
	}
	for i := range parsed.Pages {
		p := &parsed.Pages[i]
		if at, _ := c.web.At(p.URL); c.listed != nil && p.Status < 300 {
			c.edges(&p.Page, at)
		}
	}
	judged, err := c.pages.Judge(ctx, source)
	if err != nil {
		return err
	}
	var result pipeline.Result
	for x, p := range pipeline.Pairs(answers, judged) {
		path := targets[x.URL].Path
		if p != nil {
			c.keepLinks(&p.Judged, path)
		}
		result.Add(x.Outcome, false, path, p, c.d.LinkNeeds())
		if at, known := c.web.At(x.URL); known {
			c.run.Visited = append(c.run.Visited, Visit{at, result.Outcomes[len(result.Outcomes)-1].Score, c.now.Sub(c.began)})
		}
	}
	result.Discoveries = slices.DeleteFunc(result.Discoveries, func(d crawl.Discovery) bool { return !c.inside(d.URL) })
	if err := c.pages.Remember(c.d.Name, claim.ID); err != nil {
		return err
	}
	// The lane has to end before the commit: otherwise the host rests for the longest pause.
	if err := c.frontier.Crawl(c.d.Name).Lane(claim.ID).End(frontier.LaneEnd{}); err != nil {
		return err
	}
	commit, err := result.Commit(claim.ID)
	if err != nil {
		return err
	}
	return c.frontier.Crawl(c.d.Name).Commit(commit)
}

// inside reports whether a URL was recorded.
func (c *crawling) inside(url string) bool {
	_, known := c.web.At(url)
	return known
}

// answer is the answer of the web for a URL.
func (c *crawling) answer(t crawl.Target) pipeline.Exchange {
	x := pipeline.Exchange{Exchange: crawl.Exchange{
		Kind: crawl.ExchangePage, URL: t.URL, Path: t.Path,
		Outcome: crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeFailed, Reason: "it was not recorded"},
	}}
	at, known := c.web.At(t.URL)
	if !known {
		return x
	}
	r := &c.web.Pages[at]
	x.Status, x.Location, x.MIME = r.Status, r.Location, r.MIME
	x.Outcome = crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: r.Status, Bytes: int64(len(r.Head) + len(r.Body))}
	x.Header = func() io.Reader { return bytes.NewReader(r.Head) }
	x.Body = func() io.Reader { return bytes.NewReader(r.Body) }
	return x
}

// edges replaces the links of a page by those that the recorders list.
func (c *crawling) edges(p *crawl.Page, at int) {
	listed := map[string]*recorded.Edge{}
	for i := range c.listed[at] {
		e := &c.listed[at][i]
		listed[c.web.Pages[e.To].URL] = e
	}
	p.Links = slices.DeleteFunc(p.Links, func(l crawl.Outlink) bool { return listed[l.URL] == nil })
	for i := range p.Links {
		delete(listed, p.Links[i].URL)
	}
	for _, e := range c.listed[at] { // those that the parser did not find
		if url := c.web.Pages[e.To].URL; listed[url] != nil {
			delete(listed, url)
			p.Links = append(p.Links, crawl.Outlink{URL: url, Hop: crawl.HopLink, Anchor: e.Anchor, Block: -1})
		}
	}
}

// keepLinks stores the outlinks of a page of the reference crawl, as the archive of a live crawl does.
func (c *crawling) keepLinks(p *crawl.Judged, path string) {
	if !c.reference {
		return
	}
	for i := range p.Links {
		if !c.inside(p.Links[i].URL) {
			continue
		}
		c.links = append(c.links, archive.LinkOf(p, path, i))
	}
}
