package activities

import (
	"bytes"
	"context"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/topic"
)

// maxSamples bounds the samples of a worker that are read, in bytes.
const maxSamples = 1 << 30

// Samples puts what this worker has of the reference crawl into the archive, for all workers to learn from, and returns the key.
func (a *Activities) Samples(ctx context.Context, name string) (key string, err error) {
	plan, err := a.Frontier.Crawl(name).Plan()
	if err != nil {
		return "", err
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return "", err
	}
	samples, err := a.Engine.Samples(name)
	if err != nil {
		return "", err
	}
	raw, err := codec.Marshal(samples)
	if err != nil {
		return "", err
	}
	key = archive.LayoutOf(plan.Definition).Samples(plan.Run, a.Settings.Worker)
	return key, store.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)))
}

// LearnInput names the samples of all workers.
type LearnInput struct {
	Crawl   string   `json:"crawl"`
	Samples []string `json:"samples"` // keys in the archive
}

// LearnTogether is Learn for a crawl that is spread: each worker learns from the samples of all, so that all come to the same topic.
func (a *Activities) LearnTogether(ctx context.Context, in LearnInput) (LearnResult, error) {
	plan, err := a.Frontier.Crawl(in.Crawl).Plan()
	if err != nil {
		return LearnResult{}, err
	}
	store, err := a.Archives.Open(ctx, plan.Definition.Archive.Where)
	if err != nil {
		return LearnResult{}, err
	}
	var all []topic.Sample
	for _, key := range in.Samples {
		raw, err := archive.ReadAll(ctx, store, key, maxSamples)
		if err != nil {
			return LearnResult{}, err
		}
		var some []topic.Sample
		if err := codec.Unmarshal(raw, &some); err != nil {
			return LearnResult{}, err
		}
		all = append(all, some...)
	}
	return a.learn(ctx, plan, store, all)
}
