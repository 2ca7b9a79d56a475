package score

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// TestMerge: the terms of the pages of a batch that have the same link are summed. The topic is (1, 1)/√2.
func TestMerge(t *testing.T) {
	s := scorer(t, ravens, crawl.Weights{Document: 1, Helper: 3}, nil)
	m := &scoreMerge{scorer: s}
	page := func(text string, links ...crawl.Outlink) []crawl.LinkVerdict {
		p := parsed(crawl.Page{Language: "en", Blocks: []string{text}, Links: links})
		scored := s.Page(p, Context{Inherit: 0.1, Terms: true})
		m.add(&p.Page, scored.Verdict.Links, scored.Terms)
		return scored.Verdict.Links
	}
	at := func(url string, prior float64) crawl.Outlink {
		return crawl.Outlink{URL: url, Hop: crawl.HopLink, Block: -1, LinkFindings: crawl.LinkFindings{Prior: prior}}
	}
	redirect := at("http://a.example/both", 0)
	redirect.Hop = crawl.HopRedirect
	pages := [][]crawl.LinkVerdict{
		page("raven", at("http://a.example/both", 0.5), at("http://a.example/one", 0)),
		page("crow", at("http://a.example/both", 0), at("http://a.example/others", 0)),
		page("fox", at("http://a.example/others", 0)),
		page("", redirect),
	}
	m.apply()
	// both: (1, 1) is the topic. others: crow and fox (0, 1, 1): ½.
	for i, want := range [][]crawl.Parts{
		{said("document", 1, "helper", 0.5), said("document", 0.707107)},
		{said("document", 1), said("document", 0.5)},
		{said("document", 0.5)},
		{said()},
	} {
		for j, l := range pages[i] {
			score := 0.1
			if d, spoke := want[j].Of("document"); spoke {
				score = d
			}
			if i == 0 && j == 0 {
				score = (1 + 3*0.5) / 4
			}
			if !alike(l.Parts, want[j]) || !near(l.Score, score) {
				t.Errorf("page %d, link %d: %v, %g, want %v, %g", i, j, l.Parts, l.Score, want[j], score)
			}
		}
	}

	none := scorer(t, crawl.Topic{}, crawl.Weights{Document: 1, Helper: 1}, nil)
	m = &scoreMerge{scorer: none}
	p := parsed(crawl.Page{Links: []crawl.Outlink{at("http://a.example/", 0.5), at("http://a.example/", 0.5)}})
	links := none.Page(p, Context{}).Verdict.Links
	m.add(&p.Page, links, text.Vector{"raven": 1})
	if m.apply(); links[0].Score != 0.5 {
		t.Errorf("without a topic a link scores %g", links[0].Score)
	}
}

// TestRescoreOutlink scores links by a topic that was learned after they were found: (1, 0, ¾)/1.25 of raven, crow, hare.
func TestRescoreOutlink(t *testing.T) {
	about := crawl.Topic{Keywords: []string{"raven"}, URLPatterns: []crawl.URLPattern{{Pattern: "*one", Score: 0.25}}, Languages: []string{"en"}}
	learned := &topic.Model{Terms: []text.Term{{Text: "hare", Weight: 2}}}
	m := topic.Memory{SiteHistory: topic.NewSiteHistory()}
	for range 3 {
		m.SiteHistory.Add("http://a.example/1", 0.75)
	}
	weights := crawl.Weights{Document: 1, Paragraph: 1, Anchor: 1, URL: 1, Tokens: 1, History: 1, Language: 1, Helper: 1}
	s := remembering(t, about, weights, learned, NewDictionary(), m)
	for _, c := range []struct {
		name      string
		link      crawl.Outlink
		former    crawl.LinkVerdict
		terms     []text.Term
		paragraph string
		want      crawl.Parts
	}{
		{
			"all is known", crawl.Outlink{URL: "http://b.example/raven/one", Hop: crawl.HopLink, Anchor: "hare", Block: 7, LinkFindings: crawl.LinkFindings{Prior: 0.5}}, crawl.LinkVerdict{Parts: said("document", 0.1)},
			[]text.Term{{Text: "hare", Weight: 1}, {Text: "crow", Weight: 1}}, "ravens", // 0.6/√2; of one and raven: 0.8/√2
			said("document", 0.424264, "paragraph", 0.8, "anchor", 0.6, "url", 0.25, "tokens", 0.565685, "language", 1, "helper", 0.5),
		},
		{
			"terms are damped", crawl.Outlink{URL: "http://b.example/", Hop: crawl.HopLink, Block: -1}, crawl.LinkVerdict{},
			[]text.Term{{Text: "hare", Weight: 2}, {Text: "crow", Weight: 1}}, "", // 0.6 · 1.693147 / √(1.693147² + 1)
			said("document", 0.516622, "language", 1),
		},
		{
			"no terms: the page as before", crawl.Outlink{URL: "http://a.example/2", Hop: crawl.HopLink, Block: 1, Anchor: "fox"}, crawl.LinkVerdict{Parts: said("document", 0.3, "anchor", 1, "url", 1)},
			nil, "fox",
			said("document", 0.3, "paragraph", 0, "anchor", 0, "history", 0.75, "language", 1),
		},
		{
			"no terms, and nothing was said", crawl.Outlink{URL: "http://b.example/", Hop: crawl.HopLink, Block: -1}, crawl.LinkVerdict{},
			nil, "", said("language", 1),
		},
		{
			"a redirect", crawl.Outlink{URL: "http://a.example/one", Hop: crawl.HopRedirect, Anchor: "raven", Block: 1}, crawl.LinkVerdict{Score: 0.9},
			[]text.Term{{Text: "raven", Weight: 1}}, "raven", said("url", 0.25, "history", 0.75),
		},
		{
			"a sitemap", crawl.Outlink{URL: "http://b.example/", Hop: crawl.HopSitemap, Block: -1}, crawl.LinkVerdict{Score: 0.9},
			[]text.Term{{Text: "raven", Weight: 1}}, "", said(),
		},
	} {
		l := c.link
		got, v := s.RescoreOutlink(l, c.former, c.terms, c.paragraph, "en")
		sum := 0.0
		for _, p := range c.want {
			sum += p.Score
		}
		score := c.former.Score // what it was, if nothing is said
		if len(c.want) > 0 {
			score = sum / float64(len(c.want))
		}
		if !alike(got.Parts, c.want) || !near(got.Score, score) {
			t.Errorf("%s: %v, %g, want %v, %g", c.name, got.Parts, got.Score, c.want, score)
		}
		if len(v.Links) != 1 || v.Links[0].URL != l.URL || len(v.Text) != len(c.terms) {
			t.Errorf("%s: an order sees %+v", c.name, v)
		}
		anchor, around := s.dictionary.Vector(l.Anchor, "en"), s.dictionary.Vector(c.paragraph, "en")
		if l.Hop != crawl.HopLink {
			anchor, around = nil, nil
		}
		if got := v.Links[0]; !slices.Equal(got.Anchor, text.NewHashedVector(anchor)) || !slices.Equal(got.Around, text.NewHashedVector(around)) {
			t.Errorf("%s: an order sees the link %+v", c.name, got)
		}
	}
}

// TestSpeculative: what is probably embedded is asked for after what surely is, whether an order judges links or not, and when
// several pages of a batch name it.
func TestSpeculative(t *testing.T) {
	for _, strategy := range []string{crawl.StrategyWeighted, crawl.StrategyShark} {
		d := crawl.DefaultDefinition()
		d.Topic, d.Order.Strategy, d.Order.Batch = ravens, strategy, true
		j, err := NewJudge(d, nil, NewDictionary(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := j.Batch(nil)
		var verdicts []crawl.Verdict
		for range 2 {
			v, _, err := b.Page(parsed(crawl.Page{URL: "http://a.example/", Language: "en", Blocks: []string{"raven fox"}, Links: []crawl.Outlink{
				{URL: "http://a.example/e.png", Hop: crawl.HopEmbed, Block: -1}, {URL: "http://a.example/x.png", Hop: crawl.HopSpeculative, Block: -1},
			}}), Context{Inherit: 0.75}, nil)
			if err != nil {
				t.Fatal(err)
			}
			verdicts = append(verdicts, v)
		}
		b.Merge()
		for _, v := range verdicts {
			if sure, probable := v.Links[0].Score, v.Links[1].Score; !near(probable, sure/2) || sure == 0 {
				t.Errorf("%s: %g, and what is speculative %g", strategy, sure, probable)
			}
		}
	}
}
