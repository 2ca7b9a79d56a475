package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/fxamacker/cbor/v2"
	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
)

// Phase bounds the claims of a phase of the crawl.
func (a *Activities) Phase(ctx context.Context, in PhaseInput) error {
	defer a.beat(ctx)()
	return edge(a.Frontier.Phase(in.Crawl, in.Pages, in.Reference))
}

// Learn makes the topic vector of what the reference crawl saw, puts it in force, orders the URLs
// that wait by it, and keeps it in the archive.
func (a *Activities) Learn(ctx context.Context, name string) (LearnResult, error) {
	defer a.beat(ctx)()
	var samples []score.Sample
	err := a.Frontier.Samples(name, func(raw []byte) error {
		var list []score.Sample
		if err := cbor.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("read samples: %w", err)
		}
		samples = append(samples, list...)
		return nil
	})
	if err != nil {
		return LearnResult{}, edge(err)
	}
	out := LearnResult{Learned: score.Learn(samples)}
	raw, err := cbor.Marshal(out.Learned)
	if err != nil {
		return out, edge(err)
	}
	plan, err := a.Frontier.Plan(name)
	if err != nil {
		return out, edge(err)
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return out, edge(err)
	}
	text, err := json.MarshalIndent(out.Learned, "", " ")
	if err != nil {
		return out, edge(err)
	}
	out.Key = path.Join(plan.Definition.Archive.Prefix, name, "topic", fmt.Sprintf("run-%d.json", plan.Run))
	if err := store.Put(ctx, out.Key, bytes.NewReader(text), int64(len(text))); err != nil {
		return out, edge(err)
	}
	if err := a.Frontier.Teach(name, raw); err != nil {
		return out, edge(err)
	}
	return out, edge(a.reorder(ctx, name, store, samples))
}

// reorder scores the links of the reference crawl anew by what it taught: from then on all URLs that
// wait are ordered by the same topic.
func (a *Activities) reorder(ctx context.Context, name string, store archive.Store, samples []score.Sample) error {
	plan, err := a.Frontier.Plan(name)
	if err != nil {
		return err
	}
	scorer, err := a.scorer(name, plan)
	if err != nil {
		return err
	}
	terms := make(map[string][]score.Term, len(samples))
	for _, s := range samples {
		terms[s.URL] = s.Terms
	}
	var found []crawl.Discovery
	err = archive.Manifests(ctx, store, plan.Definition.Archive.Prefix, name, func(m archive.Manifest) error {
		if m.Created.Before(plan.Started) || len(found) >= maxReorder {
			return nil
		}
		activity.RecordHeartbeat(ctx, m.Batch)
		return archive.ReadLinks(ctx, store, m.Links.Key, func(l archive.Link) error {
			scorer.Relink(&l.Outlink, terms[l.Source], l.Paragraph, l.Language)
			found = append(found, crawl.Discovery{URL: l.URL, Via: l.Source, Path: l.Path + l.HopLetter, Score: l.Score})
			return nil
		})
	})
	if err != nil {
		return err
	}
	return a.Frontier.Commit(frontier.Commit{Crawl: name, Batch: fmt.Sprintf("reorder-%d", plan.Run), Discoveries: found, Rescore: true})
}

// maxReorder bounds the links that are scored anew; the reference crawl is small.
const maxReorder = 1_000_000
