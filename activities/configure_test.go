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
		err = r.do(r.Configure, ConfigureInput{Definition: changed})
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

// TestConfigureVersion: a claim has the version of the definition by which it was made, also once a later one is in force.
func TestConfigureVersion(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	r.configureAs(3)
	batch := r.batch()
	r.configureAs(4)
	of := r.Frontier.Crawl(rigCrawl)
	if claims := of.Batch(batch.Batch).Claims(); len(claims) != 1 || claims[0].Version != 3 || of.Claims().Before(4) != 1 || of.Claims().Before(3) != 0 {
		t.Errorf("%+v; %d are from before", claims, of.Claims().Before(4))
	}
	if plan, err := of.Plan(); err != nil || plan.Version != 4 {
		t.Errorf("%+v, %v", plan, err)
	}
	r.must(of.End("o"))
	r.begin("another run", nil)
	if plan, err := of.Plan(); err != nil || plan.Version != 0 {
		t.Errorf("another run begins with %+v, %v", plan, err)
	}
}

func (r *rig) configureAs(version int) {
	r.t.Helper()
	plan, err := r.Frontier.Crawl(rigCrawl).Plan()
	r.must(err)
	r.must(r.do(r.Configure, ConfigureInput{Definition: plan.Definition, Version: version}))
}
