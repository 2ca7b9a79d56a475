package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Links calls fn with the outlinks of the pages of a run.
type Links func(ctx context.Context, fn func(archive.Link) error) error

// clockSkew is how far the clock of a store may be behind the worker's: manifests that are older than the run by more are not
// read.
const clockSkew = 24 * time.Hour

// ArchivedLinks are the outlinks of the present run, by the archive.
func (e *Engine) ArchivedLinks(plan frontier.Plan, store archive.Store) Links {
	d := plan.Definition
	walk := archive.Walk[[]archive.Link]{
		Of:   archive.LayoutOf(d),
		Skip: func(_ string, changed time.Time) bool { return changed.Before(plan.Started.Add(-clockSkew)) },
		Load: func(ctx context.Context, m archive.Manifest) ([]archive.Link, error) {
			if m.Created.Before(plan.Started) {
				return nil, nil
			}
			return readLinks(ctx, store, m)
		},
	}
	return func(ctx context.Context, fn func(archive.Link) error) error {
		return walk.Each(ctx, store, func(m archive.Manifest, links []archive.Link) error {
			e.reached(ctx, m.Segment())
			for _, l := range links {
				if err := fn(l); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Learn makes the topic of samples, those that the reference crawl saw, puts it in force, and scores the URLs that wait again. keep keeps it first:
// what is in force is never unknown.
func (e *Engine) Learn(ctx context.Context, name string, samples []topic.Sample, links Links, keep func(topic.Model) error) (topic.Model, error) {
	plan, err := e.Frontier.Crawl(name).Plan()
	if err != nil {
		return topic.Model{}, err
	}
	model := topic.Learn(samples) // brings the samples into order
	if strings.HasPrefix(plan.Definition.Order.Strategy, crawl.StrategyHMM) {
		if model.Paths, err = paths(ctx, plan, samples, links); err != nil {
			return model, err
		}
	}
	if err := keep(model); err != nil {
		return model, err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return model, err
	}
	if err := e.Frontier.Crawl(name).Learning().Teach(&model, judge.Examples(samples)); err != nil {
		return model, err
	}
	return model, e.rescore(ctx, name, links, samples)
}

// paths are the pages that an order is trained with that goes by the way to pages of the topic.
func paths(ctx context.Context, plan frontier.Plan, samples []topic.Sample, links Links) ([]topic.Path, error) {
	targets := map[string][]string{}
	err := links(ctx, func(l archive.Link) error {
		targets[l.Source] = append(targets[l.Source], l.URL)
		return nil
	})
	return topic.Paths(plan.Definition.Topic, samples, targets), err
}

// maxRescored bounds the links that are scored again; the reference crawl is small.
const maxRescored = 1_000_000

// rescore scores the links of the reference crawl again by what it taught: from then on all URLs that wait are ordered by the
// same topic.
func (e *Engine) rescore(ctx context.Context, name string, links Links, samples []topic.Sample) error {
	plan, err := e.Frontier.Crawl(name).Plan()
	if err != nil {
		return err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return err
	}
	terms := make(map[string][]text.Term, len(samples))
	for _, s := range samples {
		terms[s.URL] = s.Terms
	}
	order := e.Frontier.Crawl(name).Learning().Order()
	var found []crawl.Discovery
	err = links(ctx, func(l archive.Link) error {
		if len(found) >= maxRescored || l.NoFollow {
			return nil
		}
		f := foundAt(l)
		f.Terms = terms[l.Source]
		d, err := judge.RescoreLink(f, order)
		if err != nil {
			return &crawl.InputError{Message: err.Error()}
		}
		found = append(found, d)
		return nil
	})
	if err != nil {
		return err
	}
	return e.Frontier.Crawl(name).Commit(frontier.Commit{Batch: fmt.Sprintf("reorder-%d", plan.Run), Discoveries: found, Rescore: true})
}

// foundAt is an archived link for a judge.
func foundAt(l archive.Link) score.ArchivedLink {
	return score.ArchivedLink{Link: l.Outlink, Verdict: l.LinkVerdict, Source: l.Source, Path: l.Path, Language: l.Language, Paragraph: l.Paragraph, Depth: scope.Hops(l.Path)}
}

// Samples are those of the run's reference crawl.
func (e *Engine) Samples(name string) (samples []topic.Sample, err error) {
	err = e.Frontier.Crawl(name).Learning().Samples(func(raw []byte) error {
		var list []topic.Sample
		if err := codec.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("read samples: %w", err)
		}
		samples = append(samples, list...)
		return nil
	})
	return samples, err
}

// ShowExamples shows an order that learns what the definition gives as examples; reference: and the pages of the topic that the
// reference crawl has found.
func (e *Engine) ShowExamples(name string, reference bool) error {
	if e.Frontier.Crawl(name).Learning().Order() == nil {
		return nil
	}
	plan, err := e.Frontier.Crawl(name).Plan()
	if err != nil {
		return err
	}
	judge, err := e.judges.of(e, plan)
	if err != nil {
		return err
	}
	var samples []topic.Sample
	if reference {
		if samples, err = e.Samples(name); err != nil {
			return err
		}
		topic.BestFirst(samples)
	}
	if examples := judge.Examples(samples); len(examples) > 0 {
		return e.Frontier.Crawl(name).Learning().Teach(nil, examples)
	}
	return nil
}
