package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/score"
)

// scoreOnce is the SCORE step: it judges pages and links by the crawl's topic.
func (a *Activities) scoreOnce(ctx context.Context, in BatchInput) (ScoreResult, error) {
	if batch := a.handed.of(a.Spool.Batch(in.Crawl, in.Batch).Dir(), runOf(ctx)); batch != nil && batch.scored {
		return batch.judged, nil
	}
	_, out, err := a.score(ctx, in)
	return out, err
}

// score scores the pages that AAH has handed on, or that it makes anew.
func (a *Activities) score(ctx context.Context, in BatchInput) (batch *handed, out ScoreResult, err error) {
	b := a.Spool.Batch(in.Crawl, in.Batch)
	if batch = a.handed.get(b.Dir()); batch == nil {
		if batch, err = a.parse(ctx, in); err != nil {
			return nil, out, err
		}
	}
	claimed, err := targets(b)
	if err != nil {
		return nil, out, err
	}
	plan, err := a.Frontier.Plan(in.Crawl)
	if err != nil {
		return nil, out, err
	}
	judge, err := a.judge(in.Crawl, plan)
	if err != nil {
		return nil, out, err
	}
	judging := judge.Batch(a.Frontier.Learner(in.Crawl))
	for i := range batch.pages {
		if ctx.Err() != nil {
			return nil, out, ctx.Err()
		}
		p := &batch.pages[i].Page
		t := claimed[p.URL]
		vector, err := judging.Page(p, score.Context{
			Inherit: plan.Definition.Inherit(t.Priority), Submitted: t.Submitted, Depth: scope.Hops(t.Path), Now: plan.Started, Terms: plan.Reference,
		}, t.Kept)
		if err != nil {
			return nil, out, &InputError{err.Error()}
		}
		if plan.Reference && len(vector) > 0 {
			sample := judge.Sample(p, vector)
			batch.pages[i].Learn = &sample
		}
		if p.Score >= 0 {
			out.Pages++
			out.Mean += p.Score
			if p.Score >= plan.Definition.Topic.Threshold {
				out.Relevant++
			}
		}
	}
	judging.Merge()
	batch.visits = judging.Visits
	out.Mean /= float64(max(out.Pages, 1))
	batch.scored, batch.judged = true, out
	a.handed.put(in.Crawl, b.Dir(), batch) // what the order keeps has come
	return batch, out, nil
}

// scored returns the batch's pages with their scores.
func (a *Activities) scored(ctx context.Context, in BatchInput) ([]parsedPage, error) {
	dir := a.Spool.Batch(in.Crawl, in.Batch).Dir()
	if batch := a.handed.get(dir); batch != nil && batch.scored {
		return batch.pages, nil
	}
	batch, _, err := a.score(ctx, in)
	if err != nil {
		return nil, err
	}
	return batch.pages, nil
}
