package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/text"
)

// Phase bounds the claims of a phase of the crawl.
func (a *Activities) Phase(ctx context.Context, in PhaseInput) error {
	return a.Frontier.Phase(in.Crawl, in.Pages, in.Reference)
}

// Learn makes the topic vector of what the reference crawl saw, puts it in force, orders the URLs
// that wait by it, and keeps it in the archive.
func (a *Activities) Learn(ctx context.Context, name string) (LearnResult, error) {
	samples, err := a.samples(name)
	if err != nil {
		return LearnResult{}, err
	}
	plan, err := a.Frontier.Plan(name)
	if err != nil {
		return LearnResult{}, err
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return LearnResult{}, err
	}
	out, err := a.teach(ctx, plan, store, samples)
	if err != nil {
		return out, err
	}
	return out, a.reorder(ctx, name, store, samples)
}

// samples are those of the run's reference crawl.
func (a *Activities) samples(name string) (samples []score.Sample, err error) {
	err = a.Frontier.Samples(name, func(raw []byte) error {
		var list []score.Sample
		if err := cbor.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("read samples: %w", err)
		}
		samples = append(samples, list...)
		return nil
	})
	return samples, err
}

// teach learns from samples, puts in force what was learned, and keeps it in the archive.
func (a *Activities) teach(ctx context.Context, plan frontier.Plan, store archive.Store, samples []score.Sample) (LearnResult, error) {
	d := plan.Definition
	learned := score.Learn(samples) // brings the samples into order
	if strings.HasPrefix(d.Order.Strategy, crawl.StrategyHMM) {
		links := map[string][]string{}
		err := a.linksOf(ctx, plan, store, func(l archive.Link) error {
			links[l.Source] = append(links[l.Source], l.URL)
			return nil
		})
		if err != nil {
			return LearnResult{}, err
		}
		learned.Paths = score.Paths(d.Topic, samples, links)
	}
	out := LearnResult{Learned: learned.Brief(), Key: layout(d).Topic(plan.Run)}
	text, err := json.MarshalIndent(learned, "", " ")
	if err != nil {
		return out, err
	}
	if err := store.Put(ctx, out.Key, bytes.NewReader(text), int64(len(text))); err != nil {
		return out, err
	}
	raw, err := cbor.Marshal(learned)
	if err != nil {
		return out, err
	}
	judge, err := a.judge(d.Name, plan)
	if err != nil {
		return out, err
	}
	return out, a.Frontier.Teach(d.Name, raw, judge.Examples(samples))
}

// clockSkew is how far the clock of a store may be behind the worker's: manifests that are older than the run by more are not
// read.
const clockSkew = 24 * time.Hour

// linksOf calls fn with the outlinks of the present run.
func (a *Activities) linksOf(ctx context.Context, plan frontier.Plan, store archive.Store, fn func(archive.Link) error) error {
	d := plan.Definition
	walk := archive.Walk[[]archive.Link]{
		Prefix: d.Archive.Prefix, Crawl: d.Name,
		Skip: func(_ string, changed time.Time) bool { return changed.Before(plan.Started.Add(-clockSkew)) },
		Load: func(ctx context.Context, m archive.Manifest) ([]archive.Link, error) {
			if m.Created.Before(plan.Started) {
				return nil, nil
			}
			return readLinks(ctx, store, m)
		},
	}
	return walk.Each(ctx, store, func(m archive.Manifest, links []archive.Link) error {
		activity.RecordHeartbeat(ctx, m.Segment())
		for _, l := range links {
			if err := fn(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// reorder scores the links of the reference crawl anew by what it taught: from then on all URLs that
// wait are ordered by the same topic.
func (a *Activities) reorder(ctx context.Context, name string, store archive.Store, samples []score.Sample) error {
	plan, err := a.Frontier.Plan(name)
	if err != nil {
		return err
	}
	judge, err := a.judge(name, plan)
	if err != nil {
		return err
	}
	terms := make(map[string][]text.Term, len(samples))
	for _, s := range samples {
		terms[s.URL] = s.Terms
	}
	whole := a.Frontier.Learner(name)
	var found []crawl.Discovery
	err = a.linksOf(ctx, plan, store, func(l archive.Link) error {
		if len(found) >= maxReorder || l.NoFollow {
			return nil
		}
		d, err := judge.Again(score.Found{
			Link: l.Outlink, Source: l.Source, Path: l.Path, Language: l.Language, Paragraph: l.Paragraph, Terms: terms[l.Source], Depth: scope.Hops(l.Path),
		}, whole)
		if err != nil {
			return &InputError{err.Error()}
		}
		found = append(found, d)
		return nil
	})
	if err != nil {
		return err
	}
	err = a.Frontier.Commit(frontier.Commit{Crawl: name, Batch: fmt.Sprintf("reorder-%d", plan.Run), Discoveries: found, Rescore: true})
	if err != nil {
		return err
	}
	return a.keepExperience(ctx, plan, store)
}

// maxReorder bounds the links that are scored anew; the reference crawl is small.
const maxReorder = 1_000_000
