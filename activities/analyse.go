package activities

import (
	"context"

	"github.com/muninn-archive/muninn/internal/pipeline"
)

// AnalyseResult sums up what the helper found.
type AnalyseResult struct {
	Pages        int            `json:"pages"`
	Links        int            `json:"links"`
	Objects      int            `json:"objects"`
	Applications map[string]int `json:"applications,omitempty"`
	Broken       int            `json:"broken,omitempty"` // pages that the parser failed on; they are archived
}

// analyse is the AAH step: it parses what was fetched, once, and lets the helper recognise the
// application, extract web objects and judge links.
func (a *Activities) analyse(ctx context.Context, b *spooled) (AnalyseResult, error) {
	batch, err := a.Engine.Parse(ctx, b.Source)
	if err != nil {
		return AnalyseResult{}, err
	}
	return analysed(batch), nil
}

// analysed sums up the pages of a batch.
func analysed(batch *pipeline.ParsedBatch) AnalyseResult {
	out := AnalyseResult{Pages: len(batch.Pages), Broken: batch.Broken, Applications: map[string]int{}}
	for i := range batch.Pages {
		p := &batch.Pages[i]
		out.Links += len(p.Links)
		out.Objects += len(p.Objects)
		if p.Application != "" {
			out.Applications[p.Application]++
		}
	}
	return out
}
