package starter

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// demoViews are the kinds of pages that repeat others, which crawls leave out: forms, histories, lists in another order.
var demoViews = []string{"posting", "history", "sorted"}

// demoSupply counts the pages of the demo's web that a crawl may archive, and those of them that are relevant by the demo's own scores. Its endless calendar and further views of pages are left
// out. The web must be built. A crawl weighs words by the pages that it has seen, so that its own count may differ by a few pages.
func demoSupply(world *webworld.World) (pages, relevant int, err error) {
	d := demoDefinition(world)
	scorer, err := score.New(d, nil, score.NewDictionary(), topic.Memory{})
	if err != nil {
		return 0, 0, fmt.Errorf("count the demo's pages: %w", err)
	}
	for _, p := range world.Pages() {
		status, header, body, found := world.Answer(p.URL)
		if !found || status != http.StatusOK || !p.Allowed || p.Embed || p.Endless || p.NoFollow || slices.Contains(demoViews, p.Kind) || p.SameAs != "" && p.Kind == "topic" {
			continue
		}
		parsed := page.Parse(page.Input{URL: p.URL, MIME: header.Get("Content-Type"), Body: body}, page.DefaultLimits())
		verdict := scorer.Page(&crawl.Parsed{Page: parsed.Page}, score.Context{}).Verdict
		if verdict.Score < 0 {
			continue
		}
		if pages++; verdict.Score >= d.Topic.Threshold {
			relevant++
		}
	}
	return pages, relevant, nil
}
