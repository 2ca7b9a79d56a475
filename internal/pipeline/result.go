package pipeline

import (
	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Result is a batch that is archived: what the frontier is to know of it.
type Result struct {
	Outcomes    []crawl.Outcome        `json:"outcomes"`
	Discoveries []crawl.Discovery      `json:"discoveries"`
	Originals   map[string]crawl.Visit `json:"originals"`
	Samples     []topic.Sample         `json:"samples"`
}

// Add adds the outcome of a URL. path are the hop letters of it; p is its page, nil if nothing was understood. places: what was learned of groups of
// links changes their priority.
func (r *Result) Add(o crawl.Outcome, path string, p *Judged, places bool) {
	o.Score = -1
	if p != nil {
		o.Level, o.App, o.Prints = p.Level, p.Application, p.Prints
		o.Score, o.Worth, o.PageFeatures = p.Verdict.Score, p.Verdict.Worth, p.Verdict.PageFeatures
		if p.Sample != nil {
			r.Samples = append(r.Samples, *p.Sample)
		}
		if !p.NoFollow {
			for i := range p.Links {
				r.Discoveries = append(r.Discoveries, p.Links[i].Discovery(&p.Verdict.Links[i], p.URL, path, places))
			}
		}
	}
	r.Outcomes = append(r.Outcomes, o)
}

// Commit is what the frontier gets of it.
func (r *Result) Commit(batch string) (c frontier.Commit, err error) {
	c = frontier.Commit{Batch: batch, Outcomes: r.Outcomes, Discoveries: r.Discoveries, Originals: r.Originals}
	if len(r.Samples) > 0 {
		c.Sample, err = cbor.Marshal(r.Samples)
	}
	return c, err
}
