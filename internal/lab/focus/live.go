package focus

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/replay"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Live crawls with the code of the live crawl: its frontier, parser, helper, scores and orders.
type Live struct {
	PerQueue []int       `json:"per_queue"` // order.per_queue
	Batch    []bool      `json:"batch"`     // order.batch
	Helper   *aah.Helper `json:"-"`
	// Pace is the politeness of a simulated clock; the zero value: time does not matter.
	Pace replay.Pace `json:"pace"`
	// Definition is what is crawled for; nil: the examples of a topic alone.
	Definition *crawl.Definition `json:"definition,omitempty"`
	// Change is what changes of definitions, as crawl.Definition.Changed reads it.
	Change json.RawMessage `json:"change,omitempty"`
}

// settings are all combinations of strategies, update functions and settings.
func (l *Live) settings(names, updates []string) (list []Setting, err error) {
	if len(names) == 0 {
		names = []string{crawl.StrategyFused}
	}
	for _, name := range names {
		if !slices.Contains(crawl.Strategies, name) {
			return nil, fmt.Errorf("order %q is not known to the live crawl; known: %s", name, strings.Join(crawl.Strategies, ", "))
		}
		for _, update := range updates {
			for _, n := range l.PerQueue {
				for _, batch := range l.Batch {
					list = append(list, Setting{Strategy: name, Update: update, PerQueue: n, Batch: batch})
				}
			}
		}
	}
	return list, nil
}

// crawl crawls once.
func (l *Live) crawl(t Task, s Setting) ([]int, replay.Run, error) {
	o := crawl.Order{Strategy: s.Strategy, Update: s.Update, PerQueue: s.PerQueue, Batch: s.Batch}
	d := crawl.DefaultDefinition()
	none := int64(0)
	if l.Definition != nil {
		d = *l.Definition
		o.Thesaurus = d.Order.Thesaurus
	} else if t.keywords {
		d.Topic.Keywords = t.corpus.spelled(t.Topic)
	} else {
		d.Topic.Threshold = Threshold
		for _, e := range t.examples { // with their URLs as bases, so that their links are known as those of examples that are given by URL
			p := &t.corpus.web.Pages[e]
			d.Topic.Examples = append(d.Topic.Examples, crawl.Example{Text: fmt.Sprintf(`<base href="%s">%s`, html.EscapeString(p.URL), p.Body)})
		}
		if !strings.HasPrefix(o.Strategy, crawl.StrategyHMM) { // which needs one to be trained
			d.Reference.Pages = &none
		}
	}
	o.Seed = t.Seed
	d.Name, d.Order, d.Seeds = "lab", o, nil
	d.Scope = crawl.Scope{Within: crawl.WithinWeb, MaxRedirects: crawl.DefaultDefinition().Scope.MaxRedirects}
	for _, s := range t.seeds {
		d.Seeds = append(d.Seeds, crawl.Seed{URL: t.corpus.Pages[s].URL})
	}
	d.Budget.Pages, d.Budget.PerPLD = int64(t.budget), 0
	if len(l.Change) > 0 {
		var err error
		if d, err = d.Changed(l.Change); err != nil {
			return nil, replay.Run{}, err
		}
	}
	run, err := replay.CrawlAt(context.Background(), t.corpus.web, d, l.Helper, l.Pace)
	visited := make([]int, 0, len(run.Visited))
	for _, v := range run.Visited {
		visited = append(visited, v.Page)
	}
	return visited, run, err
}

// LabelBy labels the pages whose score reaches a definition's threshold as relevant, and makes this label the topic. If the web
// names no seeds, crawls start at the recorded seeds of the definition. It fails if no page is relevant.
func (c *Corpus) LabelBy(d crawl.Definition) error {
	scorer, err := score.New(d, nil, score.NewDictionary(), topic.Memory{})
	if err != nil {
		return err
	}
	n := 0
	for i := range c.Pages {
		p := page.Parse(page.Input{URL: c.Pages[i].URL, MIME: c.web.Pages[i].MIME, Body: c.web.Pages[i].Body}, page.DefaultLimits())
		judged := scorer.Page(&crawl.Parsed{Page: p.Page}, score.Context{})
		c.Pages[i].Label = ""
		if judged.Verdict.Score >= d.Topic.Threshold {
			c.Pages[i].Label = ByDefinition
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("%s has no page that the definition of %s finds relevant", c.Name, d.Name)
	}
	c.Topics = []string{ByDefinition}
	seeds := []int{}
	for _, s := range d.Seeds {
		if u, err := urls.Parse(s.URL); err == nil {
			if at, known := c.At(u.String()); known {
				seeds = append(seeds, at)
			}
		}
	}
	if len(c.Seeds) == 0 {
		c.Seeds = seeds
	}
	return nil
}

// ByDefinition is the label of pages that a definition finds relevant.
const ByDefinition = "relevant by the definition"
