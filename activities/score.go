package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/pipeline"
)

// ScoreResult sums up the scores.
type ScoreResult struct {
	Pages    int     `json:"pages"`
	Relevant int     `json:"relevant"`
	Mean     float64 `json:"mean"`
}

// score is the SCORE step: it judges pages and links by the crawl's topic.
func (a *Activities) score(ctx context.Context, b *spooled) (ScoreResult, error) {
	batch, err := a.Engine.Judge(ctx, b.Source)
	if err != nil {
		return ScoreResult{}, err
	}
	plan, err := a.Frontier.Crawl(b.Crawl).Plan()
	if err != nil {
		return ScoreResult{}, err
	}
	return scored(batch, plan.Definition.Topic.Threshold), nil
}

// scored sums up the scores of a batch; pages that score the threshold are relevant.
func scored(batch *pipeline.JudgedBatch, threshold float64) ScoreResult {
	var out ScoreResult
	for i := range batch.Pages {
		score := batch.Pages[i].Verdict.Score
		if score < 0 { // nothing was said
			continue
		}
		out.Pages++
		out.Mean += score
		if score >= threshold {
			out.Relevant++
		}
	}
	out.Mean /= float64(max(out.Pages, 1))
	return out
}
