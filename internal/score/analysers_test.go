package score

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// weigh gives all named parts the same weight.
func weigh(t testing.TB, weight float64, names ...crawl.PartName) (w crawl.Weights) {
	t.Helper()
	m := map[crawl.PartName]float64{}
	for _, name := range names {
		m[name] = weight
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// says is the score of a link by one analyser, which alone has a weight; silent if it gives none.
func says(t testing.TB, name crawl.PartName, about crawl.Topic, p crawl.Page, l crawl.Outlink, c Context) float64 {
	t.Helper()
	return saysOf(t, name, about, crawl.Parsed{Page: p}, l, c)
}

// saysOf is the same for a page with findings of the helper.
func saysOf(t testing.TB, name crawl.PartName, about crawl.Topic, p crawl.Parsed, l crawl.Outlink, c Context) float64 {
	t.Helper()
	s := scorer(t, about, weigh(t, 2, name), nil)
	c.Inherit = 0.123
	p.Links = append(slices.Clone(p.Links), l)
	v := s.Page(&p, c).Verdict.Links[len(p.Links)-1]
	if len(v.Parts) == 0 {
		if v.Score != 0.123 {
			t.Errorf("%s is silent of %s, which scores %g", name, l.URL, v.Score)
		}
		return silent
	}
	if len(v.Parts) > 1 || v.Parts[0].Name != name || v.Score != v.Parts[0].Score {
		t.Errorf("%s alone says %v of %s, which scores %g", name, v.Parts, l.URL, v.Score)
	}
	return v.Parts[0].Score
}

func link(url, anchor string) crawl.Outlink {
	return crawl.Outlink{URL: url, Hop: crawl.HopLink, Anchor: anchor, Block: -1}
}

var ravens = crawl.Topic{Keywords: []string{"raven", "crow"}}

// TestTokens: the topic is (1, 1)/√2.
func TestTokens(t *testing.T) {
	for _, c := range []struct {
		url  string
		want float64
	}{
		{"http://a.example/raven", 1 / math.Sqrt2},
		{"http://a.example/RAVENS/crow", 1},
		{"http://a.example/the-crow/and/the-raven/", 1},
		{"http://a.example/raven_crow.html", 2 / math.Sqrt(6)}, // raven, crow, html
		{"http://a.example/?q=ravens", 1 / math.Sqrt2},
		{"http://a.example/raven/raven/fox", 0.608845}, // as in TestCosine
		{"http://raven.example/", silent},              // the host is no path
		{"http://raven.example", silent},
		{"http://a.example/fox", silent}, // most URLs say nothing
		{"http://a.example/the/of", silent},
		{"http://a.example/ravenna", silent},
		{"http://a.example/", silent},
		{"mailto:raven", silent},
		{"", silent},
	} {
		if got := says(t, "tokens", ravens, crawl.Page{Language: "en"}, link(c.url, ""), Context{}); !near(got, c.want) {
			t.Errorf("%s: %g, want %g", c.url, got, c.want)
		}
	}
	if got := says(t, "tokens", crawl.Topic{}, crawl.Page{Language: "en"}, link("http://a.example/raven", ""), Context{}); got != silent {
		t.Errorf("without a topic: %g", got)
	}
	if got := says(t, "tokens", ravens, crawl.Page{Language: "en"}, crawl.Outlink{URL: "http://a.example/raven", Hop: crawl.HopSitemap}, Context{}); !near(got, 1/math.Sqrt2) {
		t.Errorf("of a sitemap: %g", got)
	}
}

func TestParagraphAndAnchor(t *testing.T) {
	page := crawl.Page{Language: "en", Blocks: []string{"raven crow", "fox", "", "the of"}}
	for _, c := range []struct {
		hop               crawl.Hop
		block             int
		anchor            string
		inBlock, inAnchor float64
	}{
		{crawl.HopLink, 0, "raven", 1, 1 / math.Sqrt2},
		{crawl.HopPaging, 0, "crow raven", 1, 1},
		{crawl.HopLink, 1, "fox", 0, 0},
		{crawl.HopLink, 2, "", silent, silent},
		{crawl.HopLink, 3, "»", silent, silent},
		{crawl.HopLink, -1, "click", silent, 0},
		{crawl.HopLink, -1, "here", silent, silent},
		{crawl.HopLink, 4, "of the", silent, silent},
		{crawl.HopEmbed, 0, "raven", silent, silent},
		{crawl.HopRedirect, 0, "raven", silent, silent},
		{crawl.HopSitemap, 0, "raven", silent, silent},
	} {
		l := crawl.Outlink{URL: "http://a.example/", Hop: c.hop, Block: c.block, Anchor: c.anchor}
		if got := says(t, "paragraph", ravens, page, l, Context{}); !near(got, c.inBlock) {
			t.Errorf("%c in block %d: paragraph %g, want %g", c.hop, c.block, got, c.inBlock)
		}
		if got := says(t, "anchor", ravens, page, l, Context{}); !near(got, c.inAnchor) {
			t.Errorf("%c %q: anchor %g, want %g", c.hop, c.anchor, got, c.inAnchor)
		}
	}
}

func TestURLPatterns(t *testing.T) {
	about := crawl.Topic{URLPatterns: []crawl.URLPattern{{Pattern: "*/blog/*", Score: 0.5}, {Pattern: "surt:example,a,", Score: 0.25}, {Pattern: "re:[.]zip$", Score: 0}}}
	for url, want := range map[string]float64{
		"http://a.example/": 0.25, "http://a.example/blog/1": 0.5, "http://b.example/blog/": 0.5, "http://b.example/": silent, "http://b.example/a.zip": 0,
		"http://a.example/a.zip": 0.25, "mailto:a@a.example": silent, "": silent, "http://": silent,
	} {
		if got := says(t, "url", about, crawl.Page{}, link(url, ""), Context{}); got != want {
			t.Errorf("%q: %g, want %g", url, got, want)
		}
	}
	if got := says(t, "url", ravens, crawl.Page{}, link("http://a.example/blog/", ""), Context{}); got != silent {
		t.Errorf("without patterns: %g", got)
	}
}

func TestLanguage(t *testing.T) {
	about := crawl.Topic{Languages: []string{"de", "is"}}
	for lang, want := range map[string]float64{"de": 1, "is": 1, "en": 0, "": silent} {
		if got := says(t, "language", about, crawl.Page{Language: lang}, link("http://a.example/", ""), Context{}); got != want {
			t.Errorf("%q: %g, want %g", lang, got, want)
		}
	}
	if got := says(t, "language", crawl.Topic{}, crawl.Page{Language: "de"}, link("http://a.example/", ""), Context{}); got != silent {
		t.Errorf("of a topic in any language: %g", got)
	}
}

func TestSocial(t *testing.T) {
	for submitted, want := range map[float64]float64{0.4: 0.4, 0.999: 0.999, 0: silent, -1: silent, 1: silent, 2: silent} {
		if got := says(t, "social", crawl.Topic{}, crawl.Page{}, link("http://a.example/", ""), Context{Submitted: submitted}); got != want {
			t.Errorf("%g: %g, want %g", submitted, got, want)
		}
	}
}

func TestHelperPart(t *testing.T) {
	for prior, want := range map[float64]float64{0.25: 0.25, 1: 1, 0: silent, -1: silent} {
		if got := says(t, "helper", crawl.Topic{}, crawl.Page{}, crawl.Outlink{URL: "http://a.example/", Hop: crawl.HopLink, LinkFindings: crawl.LinkFindings{Prior: prior}}, Context{}); got != want {
			t.Errorf("%g: %g, want %g", prior, got, want)
		}
	}
}

// TestFreshness: today is the fifth of October 2026; a year has 365 days.
func TestFreshness(t *testing.T) {
	now := time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		dates string // of web objects, '|' between
		want  float64
	}{
		{"2026-10-05", 1},
		{"2025-10-05", 0.5},
		{"2025-10-05T00:00:00Z", 0.5},
		{"2025-10-05T02:00:00+02:00", 0.5},
		{"2025-10-05 00:00:00", 0.5},
		{"2025-10-05T00:00", 0.5},
		{"2024-10-05", 0.25},
		{"2026-04-05T12:00:00Z", 1 / math.Sqrt2}, // 182.5 days
		{"2016-10-07", 1.0 / 1024},               // 3650 days: two of the years were leap years, and one day more
		{"2027-01-01", 1},                        // yet to come
		{"0001-01-02", 0},
		{"2024-10-05|2025-10-05|2020-01-01", 0.5}, // the youngest
		{"last year|2025-10-05|2026-13-01", 0.5},
		{"last year", silent},
		{"", silent},
	} {
		p := crawl.Parsed{}
		for _, date := range strings.Split(c.dates, "|") {
			p.Objects = append(p.Objects, crawl.Object{Type: "post", Properties: crawl.Properties{{Name: "title", Value: "2026-10-05"}, {Name: "modified", Value: date}}})
		}
		if got := saysOf(t, "freshness", crawl.Topic{}, p, link("http://a.example/", ""), Context{Now: now}); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.dates, got, c.want)
		}
		if got := saysOf(t, "freshness", crawl.Topic{}, p, link("http://a.example/", ""), Context{}); got != silent {
			t.Errorf("%s, and no time is known: %g", c.dates, got)
		}
	}
	if got := says(t, "freshness", crawl.Topic{}, crawl.Page{}, link("http://a.example/", ""), Context{Now: now}); got != silent {
		t.Errorf("a page without objects: %g", got)
	}
}

// distinct are n words of five letters, no two of them alike, in blocks of ten.
func distinct(n int, word string) (blocks []string) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%c%c ", word, 'b'+i/20, 'b'+i%20)
		if i%10 == 9 || i == n-1 {
			blocks = append(blocks, strings.TrimSpace(b.String()))
			b.Reset()
		}
	}
	return blocks
}

func TestSpam(t *testing.T) {
	const long = "abcdefghijklmnopq" // and two letters
	many := func(n int, anchor string) (links []crawl.Outlink) {
		for range n {
			links = append(links, link("http://b.example/", anchor))
		}
		return links
	}
	again := func(n int) string { return strings.TrimSpace(strings.Repeat("qwert ", n)) }
	title := func(n int) string { return strings.Join(distinct(n, "ttt"), " ") }
	for _, c := range []struct {
		name string
		page crawl.Page
		want float64
	}{
		{"a page like others", crawl.Page{Title: "Ravens", Blocks: distinct(80, "www")}, silent},
		{"one term too often", crawl.Page{Blocks: append(distinct(40, "www"), again(11))}, 0.5}, // 11 of 51
		{"just not too often", crawl.Page{Blocks: append(distinct(48, "www"), again(12))}, silent},
		{"too short", crawl.Page{Blocks: []string{again(49)}}, silent},
		{"just long enough", crawl.Page{Blocks: []string{again(50)}}, 0.5},
		{"stop words are no terms", crawl.Page{Blocks: []string{again(49), strings.Repeat("the of and ", 50)}}, silent},
		{"a long title", crawl.Page{Title: title(26), Blocks: distinct(50, "www")}, 0.5},
		{"a title just not too long", crawl.Page{Title: title(25), Blocks: distinct(50, "www")}, silent},
		// 80 words of 5 letters and 8 blocks of 9 spaces: 472 letters, of which 90 % are 424.8.
		{"anchors and little else", crawl.Page{Blocks: distinct(80, "www"), Links: append(many(200, "aa"), many(25, "b")...)}, 0.5},
		{"and some more text", crawl.Page{Blocks: distinct(80, "www"), Links: append(many(200, "aa"), many(24, "b")...)}, silent},
		{"few links", crawl.Page{Blocks: distinct(80, "www"), Links: many(199, "aaaaa")}, silent},
		// 19 letters and 0.9 spaces to the word.
		{"long words", crawl.Page{Language: "en", Blocks: distinct(80, long)}, 0.5},
		{"long words of no language", crawl.Page{Blocks: distinct(80, long)}, silent},
		{"all of that", crawl.Page{Language: "en", Title: title(26), Blocks: append(distinct(60, long), strings.Repeat(long+" ", 100)), Links: many(250, long)}, 1.0 / 16},
		{"nothing", crawl.Page{}, silent},
	} {
		if got := says(t, "spam", ravens, c.page, link("http://a.example/", ""), Context{}); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// TestLongWords: letters count, not bytes, and the spaces between them.
func TestLongWords(t *testing.T) {
	for _, c := range []struct {
		word string
		want bool
	}{
		{strings.Repeat("a", 14), false}, {strings.Repeat("a", 15), false}, {strings.Repeat("a", 16), true},
		{strings.Repeat("я", 14), false}, {strings.Repeat("я", 15), false}, {strings.Repeat("я", 16), true}, {strings.Repeat("渡", 8), false},
	} {
		if got := longWords([]string{c.word, c.word}); got != c.want {
			t.Errorf("%s: %v", c.word, got)
		}
	}
	if longWords(nil) {
		t.Error("a page without text has long words")
	}
}

// everything is a topic and a page that all analysers score, with a link of each hop.
func everything() (crawl.Topic, *crawl.Parsed, Context) {
	about := crawl.Topic{
		Keywords: []string{"raven"}, Entities: []crawl.Entity{{Name: "Muninn"}, {Name: "Huginn"}}, Languages: []string{"en"},
		URLPatterns: []crawl.URLPattern{{Pattern: "*", Score: 0.5}},
	}
	p := parsed(crawl.Page{
		URL: "http://a.example/0", Language: "en", Title: "Muninn", Blocks: append(distinct(40, "www"), strings.Repeat("raven ", 20)),
	})
	p.Objects = []crawl.Object{{Type: "post", Properties: crawl.Properties{{Name: "modified", Value: "2025-10-05"}}}}
	for _, hop := range []crawl.Hop{crawl.HopLink, crawl.HopPaging, crawl.HopEmbed, crawl.HopPrereq, crawl.HopRedirect, crawl.HopSitemap} {
		p.Links = append(p.Links, crawl.Outlink{URL: "http://a.example/raven", Hop: hop, Anchor: "raven", Block: 4, LinkFindings: crawl.LinkFindings{Prior: 0.75}})
	}
	return about, p, Context{Inherit: 0.5, Submitted: 0.25, Now: time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC)}
}

// met is a memory of a host whose pages have a mean score of 0.25.
func met() topic.Memory {
	m := topic.Memory{SiteHistory: topic.NewSiteHistory()}
	for range 5 {
		m.SiteHistory.Add("http://a.example/0", 0.25)
	}
	return m
}

// TestPassedOn: the scores of a page are passed on to the links of its text, but not to the target of a redirect or to links of a
// sitemap.
func TestPassedOn(t *testing.T) {
	about, p, c := everything()
	v := remembering(t, about, weigh(t, 1, crawl.PartNames...), nil, NewDictionary(), met()).Page(p, c).Verdict
	of := map[crawl.Hop]string{
		crawl.HopLink:     "document paragraph anchor url tokens entities history language freshness spam social helper",
		crawl.HopPaging:   "document paragraph anchor url tokens entities history language freshness spam social helper",
		crawl.HopEmbed:    "document url tokens entities history language freshness spam social helper",
		crawl.HopPrereq:   "document url tokens entities history language freshness spam social helper",
		crawl.HopRedirect: "url tokens history helper",
		crawl.HopSitemap:  "url tokens history helper",
	}
	for i, l := range p.Links {
		var names []string
		for _, part := range v.Links[i].Parts {
			names = append(names, string(part.Name))
		}
		if got := strings.Join(names, " "); got != of[l.Hop] {
			t.Errorf("%c: %s spoke, want %s", l.Hop, got, of[l.Hop])
		}
		for name, want := range map[crawl.PartName]float64{"document": v.Score, "language": 1, "freshness": 0.5, "spam": 0.5, "social": 0.25, "entities": 0.5, "history": 0.25, "helper": 0.75, "url": 0.5} {
			if got, spoke := v.Links[i].Parts.Of(name); spoke && !near(got, want) {
				t.Errorf("%c: %s says %g, want %g", l.Hop, name, got, want)
			}
		}
	}
	var names []crawl.PartName
	for _, name := range strings.Fields(of[crawl.HopLink]) {
		names = append(names, crawl.PartName(name))
	}
	slices.Sort(names)
	if all := slices.Sorted(slices.Values(crawl.PartNames)); !slices.Equal(names, all) {
		t.Errorf("the parts are named %v, their analysers %v", all, names)
	}
}

// TestWeightsOfZero turn a part off, and no other.
func TestWeightsOfZero(t *testing.T) {
	about, p, c := everything()
	all := remembering(t, about, weigh(t, 1, crawl.PartNames...), nil, NewDictionary(), met()).Page(p, c).Verdict.Links
	for _, name := range crawl.PartNames {
		without := slices.DeleteFunc(slices.Clone(crawl.PartNames), func(n crawl.PartName) bool { return n == name })
		links := remembering(t, about, weigh(t, 1, without...), nil, NewDictionary(), met()).Page(p, c).Verdict.Links
		for i := range links {
			want := slices.DeleteFunc(slices.Clone(all[i].Parts), func(part crawl.Part) bool { return part.Name == name })
			if got := links[i].Parts; !alike(got, want) {
				t.Errorf("without %s: %v, want %v", name, got, want)
			}
		}
	}
	for _, l := range remembering(t, about, crawl.Weights{}, nil, NewDictionary(), met()).Page(p, c).Verdict.Links {
		if len(l.Parts) > 0 || l.Score != 0.5 {
			t.Errorf("without weights: %v, %g", l.Parts, l.Score)
		}
	}
}

// TestPageScore: the score of a page is that of its text; other analysers do not change it.
func TestPageScore(t *testing.T) {
	about, p, c := everything()
	want := scorer(t, about, weigh(t, 1, "document"), nil).Page(p, c).Verdict.Score
	if want <= 0 || want >= 1 {
		t.Fatalf("the page scores %g", want)
	}
	for _, name := range crawl.PartNames {
		if got := remembering(t, about, weigh(t, 1, name), nil, NewDictionary(), met()).Page(p, c).Verdict.Score; got != want {
			t.Errorf("with %s alone the page scores %g, not %g", name, got, want)
		}
		topicless := crawl.Topic{Languages: about.Languages, URLPatterns: about.URLPatterns}
		if got := remembering(t, topicless, weigh(t, 1, name), nil, NewDictionary(), met()).Page(p, c).Verdict.Score; got != silent {
			t.Errorf("without words, with %s, the page scores %g", name, got)
		}
	}
}

// TestAsked: terms and view are returned if the context asks for them.
func TestAsked(t *testing.T) {
	about, p, c := everything()
	s := remembering(t, about, weigh(t, 1, crawl.PartNames...), nil, NewDictionary(), met())
	if got := s.Page(p, c); got.Terms != nil || got.View != nil {
		t.Errorf("nothing was asked for: %v, %v", got.Terms, got.View)
	}
	c.Terms, c.View, c.Depth = true, true, 3
	s = remembering(t, about, weigh(t, 1, crawl.PartNames...), nil, NewDictionary(), met())
	got := s.Page(p, c)
	if got.Terms["raven"] != 20 || got.Terms["muninn"] != titleWeight || len(got.Terms) != 42 {
		t.Errorf("terms %v", got.Terms)
	}
	v := got.View
	if v.URL != p.URL || v.Depth != 3 || v.Score != got.Verdict.Score || len(v.Text) != 42 || len(v.Title) != 1 || len(v.Links) != len(p.Links) {
		t.Fatalf("view %+v", v)
	}
	for i, l := range v.Links {
		inText := i < 2
		if l.URL != p.Links[i].URL || (l.Name == "raven") != inText || (len(l.Anchor) == 1) != inText || (len(l.Around) == 1) != inText {
			t.Errorf("link %d is seen as %+v", i, l)
		}
		hints := map[string]float64{}
		for _, h := range l.Hints {
			hints[h.Name] = h.Value
			if h.Value < -1 || h.Value > 1 {
				t.Errorf("link %d: the hint %v", i, h)
			}
		}
		want := map[string]float64{"patterns": 0, "helper": 0.5, "history": -0.5}
		if inText {
			want["spam"], want["language"], want["social"], want["freshness"] = -0.5, 1, -0.5, 0.5
		}
		for name, value := range want {
			if x, hinted := hints[name]; !hinted || !near(x, value) {
				t.Errorf("link %d: the hint %s is %g, %v, want %g", i, name, x, hinted, value)
			}
		}
		if _, hinted := hints["document"]; hinted {
			t.Errorf("link %d: the page is a hint", i)
		}
	}
}

// TestAnchorThatIsItsBlock: an anchor says the same whether it is the whole text of its block, which is counted already, or stands
// alone; one without terms says nothing.
func TestAnchorThatIsItsBlock(t *testing.T) {
	s := scorer(t, crawl.Topic{Keywords: []string{"raven", "crow"}}, crawl.Weights{Document: 1, Anchor: 1}, nil)
	p := parsed(crawl.Page{Language: "en", Blocks: []string{"Ravens and bread", "»"}})
	for _, anchor := range p.Blocks {
		for _, block := range []int{0, 1, -1} {
			p.Links = append(p.Links, crawl.Outlink{URL: "http://a.example/", Hop: crawl.HopLink, Anchor: anchor, Block: block})
		}
	}
	got := s.Page(p, Context{View: true})
	for i := range p.Links {
		first := i / 3 * 3
		score, is := got.Verdict.Links[i].Parts.Of("anchor")
		want, wants := got.Verdict.Links[first].Parts.Of("anchor")
		if is != (first == 0) || is != wants || score != want || !slices.Equal(got.View.Links[i].Anchor, got.View.Links[first].Anchor) {
			t.Errorf("link %d: %v, %v, %v; the first of its anchor %v", i, score, is, got.View.Links[i].Anchor, want)
		}
	}
}
