package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/spool"
)

// pageScores are the scores of a page and its links, in the order of pages.cbor.
type pageScores struct {
	Score float64       `json:"score"`
	Links []linkScore   `json:"links"`
	Learn *score.Sample `json:"learn,omitempty"`
}

type linkScore struct {
	Score float64     `json:"score"`
	Parts crawl.Parts `json:"parts"`
}

// Score is the SCORE step: it judges pages and links by the crawl's topic.
func (a *Activities) Score(ctx context.Context, in BatchInput) (ScoreResult, error) {
	defer a.beat(ctx)()
	ctx, release := a.exclusive(ctx, in.Crawl+"/"+in.Batch)
	defer release()
	leave, err := a.work.enter(ctx)
	if err != nil {
		return ScoreResult{}, err
	}
	defer leave()
	var out ScoreResult
	b := a.Spool.Batch(in.Crawl, in.Batch)
	pages, err := a.pages(b)
	if err != nil {
		return out, edge(err)
	}
	var lanes []lane
	if err := b.Read(fileLanes, &lanes); err != nil {
		return out, edge(err)
	}
	priority := map[string]float64{}
	for _, l := range lanes {
		for _, t := range l.Targets {
			priority[t.URL] = t.Priority
		}
	}
	plan, err := a.Frontier.Plan(in.Crawl)
	if err != nil {
		return out, edge(err)
	}
	scorer, err := a.scorer(in.Crawl, plan)
	if err != nil {
		return out, edge(err)
	}
	scores := make([]pageScores, len(pages))
	merge := score.NewMerge(scorer)
	terms := plan.Definition.Order.Batch || plan.Reference
	for i := range pages {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		p := &pages[i].Page
		vector := scorer.Page(p, inherit(plan, priority[p.URL]), terms)
		if plan.Definition.Order.Batch {
			merge.Add(p, vector)
		}
		if plan.Reference && p.Score >= 0 {
			sample := scorer.Sample(p, vector)
			scores[i].Learn = &sample
		}
		if p.Score >= 0 {
			out.Pages++
			out.Mean += p.Score
			if p.Score >= plan.Definition.Topic.Threshold {
				out.Relevant++
			}
		}
	}
	merge.Apply()
	out.Mean /= float64(max(out.Pages, 1))
	for i := range pages {
		p := &pages[i].Page
		scores[i].Score = p.Score
		for _, l := range p.Links {
			scores[i].Links = append(scores[i].Links, linkScore{l.Score, l.Parts})
		}
	}
	return out, edge(spool.WriteAll(b, fileScores, scores))
}

// inherit is what a link gets of which nothing is said: without a topic a little less than its page,
// which makes the order breadth-first.
func inherit(plan frontier.Plan, priority float64) float64 {
	if plan.Definition.Topic.Empty() {
		return priority * 0.9
	}
	return priority
}

func (a *Activities) pages(b *spool.Batch) ([]parsedPage, error) {
	if pages, ok := a.parsed.get(b.Dir()); ok {
		return pages, nil
	}
	return spool.ReadAll[parsedPage](b, filePages)
}

// scored returns the batch's pages with their scores.
func (a *Activities) scored(b *spool.Batch) ([]parsedPage, []pageScores, error) {
	pages, err := a.pages(b)
	if err != nil {
		return nil, nil, err
	}
	scores, err := spool.ReadAll[pageScores](b, fileScores)
	if err != nil {
		return nil, nil, err
	}
	if len(scores) != len(pages) {
		return nil, nil, fmt.Errorf("%d pages have %d scores: %w", len(pages), len(scores), spool.ErrMissing)
	}
	for i := range pages {
		p := &pages[i].Page
		p.Score = scores[i].Score
		for j := range p.Links {
			if j < len(scores[i].Links) {
				p.Links[j].Score, p.Links[j].Parts = scores[i].Links[j].Score, scores[i].Links[j].Parts
			}
		}
	}
	return pages, scores, nil
}

// scorer returns the scorer of a crawl's present plan.
func (a *Activities) scorer(name string, plan frontier.Plan) (*score.Scorer, error) {
	raw, err := json.Marshal([]any{plan.Definition.Topic, plan.Definition.Weights, plan.Learned})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.scorers[name]; s != nil && s.of == string(raw) {
		return s.scorer, nil
	}
	var learned *score.Learned
	if len(plan.Learned) > 0 {
		learned = &score.Learned{}
		if err := cbor.Unmarshal(plan.Learned, learned); err != nil {
			return nil, fmt.Errorf("read what was learned: %w", err)
		}
	}
	scorer, err := score.New(plan.Definition, learned, a.Analyser)
	if err != nil {
		return nil, err
	}
	if a.scorers == nil {
		a.scorers = map[string]*scorerOf{}
	}
	a.scorers[name] = &scorerOf{scorer, string(raw)}
	return scorer, nil
}
