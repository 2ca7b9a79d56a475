package activities

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/topic"
)

// LearnResult is what the reference crawl taught.
type LearnResult struct {
	TopicModel topic.Model `json:"learned"`
	Key        string      `json:"key"` // in the archive
}

// Learn makes the topic vector of what the reference crawl saw, puts it in force, orders the URLs
// that wait by it, and keeps it in the archive.
func (a *Activities) Learn(ctx context.Context, name string) (LearnResult, error) {
	plan, err := a.Frontier.Crawl(name).Plan()
	if err != nil {
		return LearnResult{}, err
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return LearnResult{}, err
	}
	samples, err := a.Engine.Samples(name)
	if err != nil {
		return LearnResult{}, err
	}
	return a.learn(ctx, plan, store, samples)
}

func (a *Activities) learn(ctx context.Context, plan frontier.Plan, store archive.Store, samples []topic.Sample) (LearnResult, error) {
	out := LearnResult{Key: archive.LayoutOf(plan.Definition).Topic(plan.Run, a.Settings.Worker)}
	model, err := a.Engine.Learn(ctx, plan.Definition.Name, samples, a.Engine.ArchivedLinks(plan, store), func(model topic.Model) error {
		text, err := json.MarshalIndent(model, "", " ")
		if err != nil {
			return err
		}
		return store.Put(ctx, out.Key, bytes.NewReader(text), int64(len(text)))
	})
	if err != nil {
		return out, err
	}
	out.TopicModel = model.Brief()
	return out, a.Engine.KeepSnapshot(ctx, plan, store)
}
