package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/fxamacker/cbor/v2"

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
	return out, edge(a.Frontier.Teach(name, raw))
}
