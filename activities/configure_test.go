package activities

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestConfigure: a changed definition is in force at once, if the worker's settings allow it.
func TestConfigure(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*crawl.Definition)
		fault string
	}{
		"a budget":                       {edit: func(d *crawl.Definition) { d.Budget.Pages = 7 }},
		"an order that learns":           {edit: func(d *crawl.Definition) { d.Order.Strategy = crawl.StrategyFused }},
		"a thesaurus that is not there":  {edit: func(d *crawl.Definition) { d.Order.Strategy, d.Order.Thesaurus = crawl.StrategySynonyms, "/nowhere" }, fault: "thesaur"},
		"an archive that is not allowed": {edit: func(d *crawl.Definition) { d.Archive.Where = "s3://elsewhere/x" }, fault: "archive-allow"},
		"a crawl that is not known":      {edit: func(d *crawl.Definition) { d.Name = "other" }, fault: "not"},
	} {
		r := newRig(t)
		r.begin("o", func(d *crawl.Definition) {
			d.Topic.Keywords, d.Order.Strategy = []string{"raven"}, crawl.StrategyWeighted
		})
		before, err := r.Frontier.Crawl(rigCrawl).Plan()
		r.must(err)
		changed := before.Definition
		c.edit(&changed)
		err = r.do(r.Configure, changed)
		now, errPlan := r.Frontier.Crawl(rigCrawl).Plan()
		r.must(errPlan)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) || now.Definition.Budget != before.Definition.Budget {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || now.Definition.Budget != changed.Budget || now.Definition.Order != changed.Order {
			t.Errorf("%s: %v, %+v", name, err, now.Definition)
		}
	}
}
