package aah

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/page"
)

// rulesOf adapts a helper to examples of the shipped base with changed templates, and returns the learned rules without dates.
func rulesOf(t *testing.T, now func() time.Time) (rules []adapt.SiteRule) {
	t.Helper()
	h := shippedLearner(t)
	h.Now = now
	for _, app := range h.Base().Applications {
		for _, x := range app.Examples {
			var prints []byte
			for _, body := range []string{x.Page, strings.ReplaceAll(x.Page, "class=", "data-was="), strings.ReplaceAll(x.Page, "div", "section")} {
				d := page.Parse(page.Input{URL: x.URL, MIME: "text/html; charset=utf-8", Body: []byte(body)}, page.DefaultLimits())
				found := h.Apply(d, Input{Head: []byte(x.Headers), Before: prints})
				if prints == nil {
					prints = found.Prints
				}
			}
		}
	}
	if _, err := h.Adaptations.Sites(func(s *adapt.Site) error {
		for _, r := range s.Rules {
			r.First, r.Last = time.Time{}, time.Time{}
			rules = append(rules, *r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestSameRuleOnSlowMachine: a page gives the same rules for any clock, and on a busy machine.
func TestSameRuleOnSlowMachine(t *testing.T) {
	sorted := func(rules []adapt.SiteRule) map[string][]adapt.SiteRule {
		by := map[string][]adapt.SiteRule{}
		for _, r := range rules {
			by[r.Evidence[0]] = append(by[r.Evidence[0]], r)
		}
		return by
	}
	still := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	want := sorted(rulesOf(t, func() time.Time { return still }))
	if len(want) < 20 {
		t.Fatalf("rules were learned of %d pages", len(want))
	}
	clock := still
	if got := sorted(rulesOf(t, func() time.Time { clock = clock.Add(time.Hour); return clock })); !reflect.DeepEqual(got, want) {
		t.Error("a clock that leaps an hour between two looks gives other rules")
	}
	const readers = 4
	rules := make([]map[string][]adapt.SiteRule, readers)
	var wait sync.WaitGroup
	for i := range readers {
		wait.Go(func() { rules[i] = sorted(rulesOf(t, time.Now)) })
	}
	wait.Wait()
	for _, got := range rules {
		if !reflect.DeepEqual(got, want) {
			t.Error("a busy machine gives other rules")
		}
	}
}
