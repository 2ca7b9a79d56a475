package pipeline

import (
	"sync"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
)

// judges keeps the judge of each crawl. Building a judge reads the frontier's disk: only batches of that crawl wait for it.
type judges struct {
	mu sync.Mutex
	by map[string]*crawlJudge
}

// crawlJudge is the judge of a crawl, and the state of its plan that it was built for.
type crawlJudge struct {
	mu      sync.Mutex
	judge   *score.Judge
	topic   string
	weights crawl.Weights
	order   crawl.Order
	model   *topic.Model
}

func (j *judges) entry(crawl string) *crawlJudge {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.by == nil {
		j.by = map[string]*crawlJudge{}
	}
	if j.by[crawl] == nil {
		j.by[crawl] = &crawlJudge{}
	}
	return j.by[crawl]
}

// forget drops a crawl's judge: the frontier keeps what it remembers.
func (j *judges) forget(crawl string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.by, crawl)
}

// of returns the judge of a crawl's present plan.
func (js *judges) of(e *Engine, plan frontier.Plan) (*score.Judge, error) {
	d := plan.Definition
	canonical := d.Topic.Canonical()
	model, err := plan.Topic()
	if err != nil {
		return nil, err
	}
	j := js.entry(d.Name)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.judge != nil && j.topic == canonical && j.weights == d.Weights && j.order == d.Order && j.model == model {
		return j.judge, nil
	}
	before := j.judge
	if j.topic != canonical { // scores of hosts for another topic do not count
		before = nil
	}
	var remembered []byte
	if before == nil {
		if remembered, err = e.Frontier.Crawl(d.Name).Learning().Memory(); err != nil {
			return nil, err
		}
	}
	judge, err := score.NewJudge(d, model, e.dictionary, before, remembered)
	if err != nil {
		return nil, err
	}
	j.judge, j.topic, j.weights, j.order, j.model = judge, canonical, d.Weights, d.Order, model
	return judge, nil
}
