package frontier

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestBanditLearnsWhileItCrawls: links of two places have the same score; the links of one place lead to relevant pages.
// After a few batches the links of the other place come after them, though they were queued first. What was learned
// survives a restart.
func TestBanditLearnsWhileItCrawls(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Topic.Keywords, d.Order.PerQueue, d.Order.Strategy = []string{"raven"}, 10, crawl.StrategyWeighted
	})
	const home = "http://a.example/"
	var links []crawl.Discovery
	for i := range 300 {
		links = append(links,
			crawl.Discovery{URL: fmt.Sprintf("%sbad/%d", home, i), Via: home, Path: "SL", Score: 0.3, TagPath: "html/body/div.footer/ul.links/li/a"},
			crawl.Discovery{URL: fmt.Sprintf("%sgood/%d", home, i), Via: home, Path: "SL", Score: 0.3, TagPath: "html/body/div.main/article.post/h2.title/a"})
	}
	r.must(r.URLs().Offer("links", links))
	good, seen := 0, 0
	for n := range 30 {
		if n == 15 {
			r.reopen()
		}
		batch, lanes := r.take()
		commit := Commit{Batch: batch}
		for _, lane := range lanes {
			for _, target := range lane.Targets {
				o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: target.URL, Kind: crawl.OutcomeDone, Status: 200}}
				if strings.Contains(target.URL, "/good/") {
					o.Score = 0.9
				}
				if n >= 15 {
					seen++
					if o.Score > 0 {
						good++
					}
				}
				commit.Outcomes = append(commit.Outcomes, o)
			}
		}
		r.must(r.Commit(commit))
		r.clock.pass(1e9)
	}
	if seen < 50 || good*10 < seen*9 {
		t.Errorf("%d of the last %d pages are of the good place", good, seen)
	}
}

// TestReward: the bandit learns from the scores of pages, once for each page, also if a commit is repeated.
func TestReward(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) {
		d.Topic.Keywords, d.Order.Strategy = []string{"raven"}, crawl.StrategyWeighted
	})
	const home, tag = "http://a.example/", "html/body/div.main/h2/a"
	link := func(path string) crawl.Discovery {
		return crawl.Discovery{URL: home + path, Via: home, Path: "SL", Score: 0.3, TagPath: tag}
	}
	r.must(r.URLs().Offer("links", []crawl.Discovery{link("one")}))
	for range 2 {
		r.must(r.Learning().Reward("reward-1", map[string]float64{home + "one": 0, home + "unknown": 1}))
	}
	r.reopen()
	r.must(r.URLs().Offer("more", []crawl.Discovery{link("two")}))
	_, lanes := r.take()
	for _, target := range lanes[0].Targets {
		// by hand: of a group with one page of worth 0 there is to be expected 0 + 0.3·√(ln 3 / 2); the helper's share of
		// the weights is a twelfth
		want := 0.3*11/12 + 0.3*math.Sqrt(math.Log(3)/2)/12
		if strings.HasSuffix(target.URL, "/two") && math.Abs(target.Priority-want) > 1e-3 {
			t.Errorf("priority %.4f, want %.4f", target.Priority, want)
		}
	}
}
