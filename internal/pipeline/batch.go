package pipeline

import (
	"context"
	"io"
	"iter"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
	"github.com/muninn-archive/muninn/internal/traps"
)

// Source is a batch whose URLs are fetched: all that its pages are made of.
type Source struct {
	Crawl, Batch string
	Run          string // of the batch's workflow: what memory has of another run is made again, for each run fetches first
	// Targets are the URLs that the batch was claimed with.
	Targets func() (map[string]crawl.Target, error)
	// Exchanges are those of the batch, in the order of their log; done is called when none of them is read any more.
	Exchanges func(targets map[string]crawl.Target) (list []Exchange, done func() error, err error)
}

func (s *Source) key() string { return s.Crawl + "/" + s.Batch }

// Exchange is a page that is fetched: its request and response, or why there is none.
type Exchange struct {
	crawl.Exchange
	Header, Body func() io.Reader // of the response, as it came; each call reads it from its start
	Agent        string           // user agent that asked; empty: not known
}

// Parsed is a page that is understood.
type Parsed struct {
	Entry int // the number of its exchange in the batch
	crawl.Parsed
	// RobotsTxt is not nil of a robots.txt that names sitemaps, which is no page of the crawl: the URL for which it was fetched, see robotsOf.
	RobotsTxt *crawl.Target
	// LoadedAs is not nil of what a page has loaded while it was open in a browser: as which URL it was asked for.
	LoadedAs *crawl.Target
}

// Judged is a page with its scores.
type Judged struct {
	Entry int // see Parsed
	crawl.Judged
	Sample    *topic.Sample // what the page teaches, in a reference crawl; else nil
	RobotsTxt *crawl.Target // see Parsed
	LoadedAs  *crawl.Target // see Parsed
}

// compare finds out whether the page is a probe, or reads like what its host answers to one: then its links are not followed.
func (j *Judged) compare(missing func(url string, print *crawl.Print) (bool, error)) error {
	if traps.IsProbe(j.URL) {
		j.Unfollowed, j.Verdict.Score, j.Verdict.PageFeatures = "it is a probe, a URL that cannot exist", -1, nil
		return nil
	}
	print := j.Print
	if print == nil || j.Status < 200 || j.Status >= 300 {
		return nil
	}
	is, err := missing(j.URL, print)
	if is {
		j.Unfollowed = "soft 404: it reads like what its host answers to a URL that cannot exist"
	}
	return err
}

// ParsedBatch is a batch whose pages are parsed.
type ParsedBatch struct {
	Pages  []Parsed
	Broken int // exchanges that the parser failed on
}

// JudgedBatch is a batch whose pages are judged.
type JudgedBatch struct {
	Pages  []Judged
	broken int
	visits []topic.Observation
}

// Pairs are the exchanges of a batch, in the order of its Source, each with its page; nil if nothing was understood of it.
func Pairs[X any](exchanges []X, b *JudgedBatch) iter.Seq2[*X, *Judged] {
	return func(yield func(*X, *Judged) bool) {
		next := 0
		for i := range exchanges {
			var p *Judged
			if next < len(b.Pages) && b.Pages[next].Entry == i {
				p = &b.Pages[next]
				next++
			}
			if !yield(&exchanges[i], p) {
				return
			}
		}
	}
}

// parsed are the pages as they were before they were judged.
func (b *JudgedBatch) parsed() *ParsedBatch {
	out := &ParsedBatch{Broken: b.broken}
	for i := range b.Pages {
		p := &b.Pages[i]
		out.Pages = append(out.Pages, Parsed{p.Entry, p.Parsed, p.RobotsTxt, p.LoadedAs})
	}
	return out
}

// Parse returns the pages of a batch: those that lie in memory, or it makes them and hands them on.
func (e *Engine) Parse(ctx context.Context, s Source) (*ParsedBatch, error) {
	switch h := e.Handover.of(s); {
	case h == nil:
		return e.parse(ctx, s)
	case h.judged != nil:
		return h.judged.parsed(), nil
	default:
		return h.parsed, nil
	}
}

func (e *Engine) parse(ctx context.Context, s Source) (*ParsedBatch, error) {
	targets, err := s.Targets()
	if err != nil {
		return nil, err
	}
	exchanges, done, err := s.Exchanges(targets)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done() }()
	plan, err := e.Frontier.Crawl(s.Crawl).Plan()
	if err != nil {
		return nil, err
	}
	if e.Helper != nil {
		if err := e.Helper.Refresh(false); err != nil {
			e.log(ctx).Error("the knowledge base was changed and has faults; the former one stays in force", "error", err)
		}
	}
	out, known := &ParsedBatch{}, e.early.take(s.key(), s.Run)
	keep := func(entry int, p crawl.Parsed, loadedAs *crawl.Target) {
		t := targets[p.URL]
		if loadedAs != nil {
			t = *loadedAs
		}
		cutSitemaps(&p, t.Path)
		if p.Status >= 200 && p.Status < 300 {
			p.NoFollow = p.NoFollow && plan.Definition.Robots.NoFollow != crawl.RobotsIgnore
			p.Unfollowed, _ = plan.Scope.Fetched(p.URL, t.Path, p.MIME, p.Language)
		}
		out.Pages = append(out.Pages, Parsed{Entry: entry, Parsed: p, LoadedAs: loadedAs})
	}
	shown := openedIn(exchanges)
	for i := range exchanges {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x, prints := &exchanges[i], targets[exchanges[i].URL].Prints
		x.Agent = plan.Definition.Politeness.UserAgent
		var p crawl.Parsed
		var ok bool
		var err error
		if document := shown.documents[x.URL]; document != nil && x.Kind == crawl.ExchangePage {
			p, ok, err = e.understandOpened(ctx, x, document, shown.loaded[x.URL], plan.Definition.Helper, prints)
		} else if early := known[x.URL]; early != nil && x.Kind == crawl.ExchangePage && x.Status > 0 {
			keep(i, *early, nil)
			continue
		} else if x.Kind == crawl.ExchangeLoaded {
			p, ok, err = e.understandLoaded(ctx, x, shown.loaded[x.Via], plan.Definition.Helper)
		} else {
			p, ok, err = e.Understand(ctx, x, plan.Definition.Helper, prints)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // a page that breaks the parser must not hold back the others of its batch
			out.Broken++
			e.log(ctx).Error("a page is archived unread", "url", x.URL, "error", err)
		}
		if ok {
			p.CutRequisites(plan.Definition.Budget.MaxRequisites())
			var loadedAs *crawl.Target
			if x.Kind == crawl.ExchangeLoaded {
				loadedAs = &crawl.Target{URL: x.URL, Via: x.Via, Path: x.Path, Priority: targets[x.Via].Priority}
			}
			keep(i, p, loadedAs)
		} else if plan.Definition.Sitemaps {
			if p, of, ok := sitemapsIn(x, targets); ok {
				out.Pages = append(out.Pages, Parsed{Entry: i, Parsed: p, RobotsTxt: of})
			}
		}
	}
	e.Handover.put(s.Crawl, s.key(), &handed{run: s.Run, parsed: out})
	return out, nil
}

// Judge returns the pages of a batch with their scores: those that lie in memory, or it makes them and hands them on.
func (e *Engine) Judge(ctx context.Context, s Source) (*JudgedBatch, error) {
	if h := e.Handover.of(s); h != nil && h.judged != nil {
		return h.judged, nil
	}
	batch, err := e.Parse(ctx, s)
	if err != nil {
		return nil, err
	}
	targets, err := s.Targets()
	if err != nil {
		return nil, err
	}
	plan, err := e.Frontier.Crawl(s.Crawl).Plan()
	if err != nil {
		return nil, err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return nil, err
	}
	judging := judge.Batch(e.Frontier.Crawl(s.Crawl).Learning().Order())
	missing := e.Frontier.Crawl(s.Crawl).URLs().Missing()
	out := &JudgedBatch{Pages: make([]Judged, len(batch.Pages)), broken: batch.Broken}
	for i := range batch.Pages {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		j := &out.Pages[i]
		j.Entry, j.Parsed = batch.Pages[i].Entry, batch.Pages[i].Parsed
		if of := batch.Pages[i].RobotsTxt; of != nil {
			j.RobotsTxt, j.Verdict = of, judgeSitemaps(&j.Parsed, plan.Definition.Inherit(of.Priority))
			continue
		}
		t := targets[j.URL]
		if j.LoadedAs = batch.Pages[i].LoadedAs; j.LoadedAs != nil {
			t = *j.LoadedAs
		}
		verdict, terms, err := judging.Page(&j.Parsed, score.Context{
			Inherit: plan.Definition.Inherit(t.Priority), Submitted: t.Submitted, Depth: scope.Hops(t.Path), Now: plan.Started, Terms: plan.Reference,
		}, t.LinkFeatures)
		if err != nil {
			return nil, &crawl.InputError{Message: err.Error()}
		}
		j.Verdict = verdict
		if plan.Definition.ProbeMissing {
			if err := j.compare(missing); err != nil {
				return nil, err
			}
		}
		if plan.Reference && len(terms) > 0 && j.Verdict.Score >= 0 {
			sample := judge.Sample(&j.Page, &j.Verdict, terms)
			j.Sample = &sample
		}
	}
	judging.Merge()
	out.visits = judging.Observations
	e.Handover.put(s.Crawl, s.key(), &handed{run: s.Run, judged: out}) // counted again: what the order keeps has come
	return out, nil
}

// Remember adds the pages of a batch that is archived to what its crawl remembers of pages, and drops them: each counts once.
func (e *Engine) Remember(crawl, batch string) error {
	h := e.Handover.take(crawl + "/" + batch)
	if h == nil || h.judged == nil {
		return nil
	}
	plan, err := e.Frontier.Crawl(crawl).Plan()
	if err != nil {
		return err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return err
	}
	raw, err := judge.Remember(h.judged.visits)
	if err != nil || raw == nil {
		return err
	}
	return e.Frontier.Crawl(crawl).Learning().Remember(raw)
}

// Drop drops what memory holds of a batch.
func (e *Engine) Drop(crawl, batch string) {
	e.Handover.take(crawl + "/" + batch)
	e.early.take(crawl+"/"+batch, "")
}
