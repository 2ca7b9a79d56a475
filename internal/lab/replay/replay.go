// Package replay crawls recorded webs with the frontier, the parser, the helper, the scoring and the orders of the live
// crawl: no network, no Temporal, no clock. One claim is out at a time, so that the order of pages is that of the frontier.
package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Run is a crawl of a recorded web.
type Run struct {
	Visited []Visit
	Took    time.Duration // reading the web not counted
	Totals  frontier.Totals
}

// Visit is a page that was fetched.
type Visit struct {
	Page  int     // its number in the web
	Score float64 // the document score, −1 if there is none
}

// crawling is a run under way.
type crawling struct {
	web      *recorded.Web
	d        crawl.Definition
	frontier *frontier.Frontier
	helper   *aah.Helper
	words    *text.Vocabulary
	judge    *score.Judge
	limits   page.Limits
	now      time.Time
	run      Run
	round    int64

	listed    map[int][]recorded.Edge // the links that count, by page; nil: those that pages have
	reference bool
	samples   []score.Sample
	found     []score.Found // outlinks of the reference crawl
}

// Crawl crawls a web by a definition, whose seeds and budget must be those that are meant. helper may be nil.
func Crawl(ctx context.Context, web *recorded.Web, d crawl.Definition, helper *aah.Helper) (out Run, err error) {
	c := &crawling{web: web, d: d, helper: helper, words: text.NewVocabulary(), limits: page.DefaultLimits(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	dir, err := os.MkdirTemp("", "muninn-lab-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c.frontier, err = frontier.Open(dir, frontier.Options{Now: func() time.Time { return c.now }, NoSync: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, c.frontier.Close()) }()
	if web.Edges != nil {
		c.listed = map[int][]recorded.Edge{}
		for _, e := range web.Edges {
			c.listed[e.From] = append(c.listed[e.From], e)
		}
	}
	began := time.Now()
	if err := c.begin(); err != nil {
		return out, err
	}
	if pages := d.ReferencePages(); pages > 0 {
		if err := c.phase(ctx, pages, true); err != nil {
			return out, err
		}
		if err := c.learn(); err != nil {
			return out, err
		}
	}
	if err := c.phase(ctx, 0, false); err != nil {
		return out, err
	}
	p, err := c.frontier.Progress(d.Name)
	c.run.Took, c.run.Totals = time.Since(began), p.Totals
	return c.run, err
}

func (c *crawling) begin() error {
	if err := score.CheckThesaurus(c.d.Order); err != nil {
		return err
	}
	var seeds []crawl.Discovery
	var bounding []string
	for _, s := range c.d.Seeds {
		u, err := urls.Parse(s.URL)
		if err != nil {
			return fmt.Errorf("seed %s: %w", s.URL, err)
		}
		seeds = append(seeds, crawl.Discovery{URL: u.String(), Path: crawl.HopSeed.String(), Score: 1})
		bounding = append(bounding, u.String())
	}
	for _, n := range c.d.Topic.Named() {
		if u, err := urls.Parse(n.URL); err == nil {
			seeds = append(seeds, crawl.Discovery{URL: u.String(), Path: crawl.HopSeed.String(), Score: 1})
		}
	}
	if _, err := c.frontier.Begin(c.d.Name, "lab", c.d, bounding, false); err != nil {
		return err
	}
	var err error
	if c.judge, err = score.NewJudge(c.d, nil, c.words, nil, nil); err != nil {
		return err
	}
	if examples := c.judge.Examples(nil); len(examples) > 0 {
		if err := c.frontier.Teach(c.d.Name, nil, examples); err != nil {
			return err
		}
	}
	return c.frontier.Submit(c.d.Name, "seeds", seeds)
}

// phase crawls until nothing is left or the bound of the phase is reached.
func (c *crawling) phase(ctx context.Context, pages int64, reference bool) error {
	c.reference = reference
	if err := c.frontier.Phase(c.d.Name, pages, reference); err != nil {
		return err
	}
	for {
		c.round++
		c.now = c.now.Add(time.Second)
		round, err := c.frontier.Claim(ctx, frontier.Want{
			Crawl: c.d.Name, Round: c.round, Claims: 1, Lanes: 1, Until: c.now, MaxFail: 1,
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
		if err := c.frontier.Confirm(c.d.Name, done); err != nil {
			return err
		}
		if round.Drained || round.Spent != "" {
			return ctx.Err()
		}
		for _, claim := range round.Claims {
			if err := c.batch(claim); err != nil {
				return err
			}
		}
	}
}

// batch fetches, judges and commits the URLs of a claim.
func (c *crawling) batch(claim frontier.Claim) error {
	grant := frontier.Granted{Lease: claim.ID, IP: claim.IP, Earliest: c.now, Deadline: c.now.Add(time.Hour)}
	if _, err := c.frontier.Start(c.d.Name, claim.ID, []frontier.Granted{grant}); err != nil {
		return err
	}
	lanes, err := c.frontier.Reopen(c.d.Name, claim.ID, []frontier.Claim{claim}, nil)
	if err != nil {
		return err
	}
	judging := c.judge.Batch(c.frontier.Learner(c.d.Name))
	commit := frontier.Commit{Crawl: c.d.Name, Batch: claim.ID}
	var pages []crawl.Page
	var targets []crawl.Target
	for _, lane := range lanes {
		for _, t := range lane.Targets {
			p, o := c.fetch(t)
			if p != nil {
				terms, err := judging.Page(p, c.context(t), t.Kept)
				if err != nil {
					return err
				}
				c.learnOf(p, terms)
				o.Score, o.Level, o.App, o.Worth, o.Seen = p.Score, p.Level, p.Application, p.Worth, p.Seen
				pages, targets = append(pages, *p), append(targets, t)
			}
			if at, known := c.web.At(t.URL); known {
				c.run.Visited = append(c.run.Visited, Visit{at, o.Score})
			}
			commit.Outcomes = append(commit.Outcomes, o)
		}
	}
	judging.Merge()
	if _, err := c.judge.Remember(judging.Visits); err != nil {
		return err
	}
	for i := range pages {
		c.outlinks(&commit, &pages[i], targets[i])
	}
	// A claim whose lane has not ended when it is committed owes its host the longest pause.
	if err := c.frontier.EndLease(c.d.Name, claim.ID, frontier.LaneEnd{}); err != nil {
		return err
	}
	return c.frontier.Commit(commit)
}

func (c *crawling) context(t crawl.Target) score.Context {
	return score.Context{Inherit: c.d.Inherit(t.Priority), Submitted: t.Submitted, Depth: scope.Hops(t.Path), Now: c.now, Terms: c.reference}
}

// fetch answers for the web; the page is nil if there is nothing to understand.
func (c *crawling) fetch(t crawl.Target) (*crawl.Page, crawl.Outcome) {
	o := crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeFailed, Reason: "it was not recorded", Score: -1}
	at, known := c.web.At(t.URL)
	if !known {
		return nil, o
	}
	r := &c.web.Pages[at]
	o.Kind, o.Reason, o.Status, o.Bytes = crawl.OutcomeDone, "", r.Status, int64(len(r.Head)+len(r.Body))
	switch {
	case r.Status >= 300 && r.Status < 400 && r.Location != "":
		if p, ok := page.Redirect(t.URL, r.Status, r.Location); ok {
			return &p, o
		}
		return nil, o
	case r.Status < 200 || r.Status >= 300:
		return nil, o
	}
	d := page.Parse(page.Input{URL: t.URL, MIME: r.MIME, Body: r.Body}, c.limits)
	if c.helper != nil {
		c.helper.Apply(d, aah.Input{Head: r.Head, Mode: c.d.Helper})
	}
	d.Status = r.Status
	if c.listed != nil {
		c.edges(&d.Page, at)
	}
	return &d.Page, o
}

// edges brings the links of a page into line with those that the recorders list.
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

// outlinks adds those of a page: all of them, or the ones that the recorders say it has.
func (c *crawling) outlinks(commit *frontier.Commit, p *crawl.Page, t crawl.Target) {
	if p.NoFollow {
		return
	}
	for i := range p.Links {
		l := &p.Links[i]
		if _, inside := c.web.At(l.URL); !inside {
			continue // nobody recorded it
		}
		commit.Discoveries = append(commit.Discoveries, l.Discovery(p.URL, t.Path, c.d.ByPlaces()))
		if c.reference {
			f := score.Found{Link: *l, Source: p.URL, Path: t.Path, Language: p.Language, Depth: scope.Hops(t.Path)}
			if l.Block >= 0 && l.Block < len(p.Blocks) {
				f.Paragraph = p.Blocks[l.Block]
			}
			c.found = append(c.found, f)
		}
	}
}

// learnOf keeps what a page of the reference crawl can teach.
func (c *crawling) learnOf(p *crawl.Page, terms text.Vector) {
	if c.reference && len(terms) > 0 {
		c.samples = append(c.samples, c.judge.Sample(p, terms))
	}
}

// learn learns from the reference crawl, and scores its links anew, as the live crawl does.
func (c *crawling) learn() error {
	learned := score.Learn(c.samples)
	if strings.HasPrefix(c.d.Order.Strategy, crawl.StrategyHMM) {
		links := map[string][]string{}
		for _, f := range c.found {
			links[f.Source] = append(links[f.Source], f.Link.URL)
		}
		learned.Paths = score.Paths(c.d.Topic, c.samples, links)
	}
	if err := c.frontier.Teach(c.d.Name, nil, c.judge.Examples(c.samples)); err != nil {
		return err
	}
	var err error
	if c.judge, err = score.NewJudge(c.d, &learned, c.words, c.judge, nil); err != nil {
		return err
	}
	terms := map[string][]text.Term{}
	for _, s := range c.samples {
		terms[s.URL] = s.Terms
	}
	commit := frontier.Commit{Crawl: c.d.Name, Batch: "reorder", Rescore: true}
	for _, f := range c.found {
		f.Terms = terms[f.Source]
		d, err := c.judge.Again(f, c.frontier.Learner(c.d.Name))
		if err != nil {
			return err
		}
		commit.Discoveries = append(commit.Discoveries, d)
	}
	c.found, c.samples = nil, nil
	return c.frontier.Commit(commit)
}
