package focus

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
	"github.com/muninn-archive/muninn/internal/urls"
)

// plainly has one setting of each.
func plainly() *Live {
	return &Live{PerQueue: []int{1}, Batch: []bool{false}}
}

// breadthLive takes one URL of a queue at a time, by breadth.
var breadthLive = Setting{Strategy: crawl.StrategyBreadth, Update: crawl.UpdateMax, PerQueue: 1}

// TestLiveNames: each combination of settings has its own name, which describes it.
func TestLiveNames(t *testing.T) {
	l := &Live{PerQueue: []int{1, 10, 100}, Batch: []bool{false, true}}
	list, err := l.settings(crawl.Strategies, crawl.Updates)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range list {
		if known[s.name(false)] || s.name(false) != s.name(true) {
			t.Errorf("%q names two", s.name(false))
		}
		known[s.name(false)] = true
	}
	if want := len(crawl.Strategies) * len(crawl.Updates) * 3 * 2; len(known) != want {
		t.Errorf("%d combinations, want %d", len(known), want)
	}
	for _, want := range []string{"fused, max, 10 a queue", "fused, max, 10 a queue, batch", "hmm-content, sum, 100 a queue, batch", "breadth-first, first, 1 a queue"} {
		if !known[want] {
			t.Errorf("there is no %q", want)
		}
	}
	if list, err = plainly().settings(nil, []string{crawl.UpdateMax}); err != nil || len(list) != 1 || list[0].name(false) != "fused, max, 1 a queue" {
		t.Errorf("if none is named: %+v, %v", list, err)
	}
	_, err = l.settings([]string{"fused", Oracle}, crawl.Updates) // which the simulation knows
	if err == nil || !strings.Contains(err.Error(), `"oracle"`) {
		t.Fatalf("%v", err)
	}
	for _, name := range crawl.Strategies {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q is not among the known ones: %v", name, err)
		}
	}
	o := DefaultOptions()
	o.Live, o.Orders = plainly(), []string{"oracle"}
	if _, err := Measure(recordedWeb(t), o); err == nil || !strings.Contains(err.Error(), `"oracle"`) {
		t.Errorf("%v", err)
	}
}

// TestLiveBreadthFirst: breadth-first, one URL at a time, the live crawl has the same order as the simulation.
func TestLiveBreadthFirst(t *testing.T) {
	c := recordedWeb(t)
	live := plainly()
	live.Change = anyLikeness(t, c)
	for _, share := range []float64{0.2, 1} {
		at, _ := c.At(homePages[0] + "b/raven0")
		task := c.task("bird", []int{at}, Options{Examples: 1, Share: share}, 0)
		got, _, err := live.crawl(task, breadthLive)
		if err != nil {
			t.Fatal(err)
		}
		if want := c.Crawl(order.Breadth{}, c.Seeds, task.budget, crawl.UpdateMax); !slices.Equal(got, want) {
			t.Errorf("live %v\nsimulated %v", got, want)
		}
	}
}

// anyLikeness is the change of a definition by which pages that are alike, as those of this web are, do not come later.
func anyLikeness(t *testing.T, c *Corpus) json.RawMessage {
	t.Helper()
	yes, plds := true, map[string]crawl.Override{}
	for _, p := range c.Pages {
		u, err := urls.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		plds[u.PLD()] = crawl.Override{IgnoreTraps: &yes}
	}
	change, err := json.Marshal(map[string]any{"overrides": map[string]any{"plds": plds}})
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func TestLiveMeasure(t *testing.T) {
	t.Parallel()
	c := recordedWeb(t)
	o := Options{Topics: []string{"bird"}, Orders: []string{crawl.StrategyFused, crawl.StrategyBreadth, crawl.StrategyHMM}, Draws: 2, Examples: 10, Updates: []string{crawl.UpdateMax}, Share: 0.5, Seed: 1}
	o.Live = &Live{PerQueue: []int{1, 5}, Batch: []bool{false, true}}
	r, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 3*2*2 || len(r.Orders) != len(r.Rows) {
		t.Fatalf("%d rows, %q", len(r.Rows), r.Orders)
	}
	for i, row := range r.Rows {
		if row.Order != r.Orders[i] || row.Topic != "bird" || len(row.Areas) != 2 || row.Fetched != 86 || row.Relevant != 80 || row.Recall <= 0 || row.Recall > 1 || row.Harvest > 1 || row.Micros < 0 {
			t.Errorf("%+v", row)
		}
	}
	ours, first := r.row("fused, max, 1 a queue", "bird"), r.row("breadth-first, max, 1 a queue", "bird")
	if ours.Area <= first.Area || ours.Recall < 0.8 || first.Spread != 0 {
		t.Errorf("ours %.3f with %.2f found, breadth-first %.3f", ours.Area, ours.Recall, first.Area)
	}
	o.Orders, o.Live.PerQueue = []string{crawl.StrategyFused}, []int{5}
	again, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range again.Rows {
		if before := r.row(row.Order, "bird"); !slices.Equal(before.Areas, row.Areas) {
			t.Errorf("%s: %v, then %v", row.Order, before.Areas, row.Areas)
		}
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil || !strings.Contains(out.String(), "fused, max, 5 a queue, batch") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if raw, err := json.Marshal(r); err != nil || !strings.Contains(string(raw), "fused, max, 1 a queue") {
		t.Errorf("%v", err)
	}
}

// TestLabelBy: exactly the pages whose score reaches the threshold are relevant.
func TestLabelBy(t *testing.T) {
	c := recordedWeb(t)
	d := crawl.DefaultDefinition()
	d.Name, d.Topic.Keywords = "corvids", []string{"raven", "crow", "wall"}
	scorer, err := score.New(d, nil, score.NewDictionary(), topic.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, len(c.Pages))
	for i := range c.Pages {
		p := page.Parse(page.Input{URL: c.Pages[i].URL, MIME: "text/html", Body: c.web.Pages[i].Body}, page.DefaultLimits())
		scores[i] = scorer.Page(&crawl.Parsed{Page: p.Page}, score.Context{}).Verdict.Score
	}
	raven, _ := c.At(homePages[2] + "b/raven3")
	onion, _ := c.At(homePages[2] + "s/onion3")
	if scores[raven] <= scores[onion] || scores[onion] >= 0.1 {
		t.Fatalf("raven %v, onion %v", scores[raven], scores[onion])
	}
	for _, threshold := range []float64{0.1, scores[raven], 0} { // a page whose score equals the threshold is relevant
		d.Topic.Threshold = threshold
		if err := c.LabelBy(d); err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range c.Pages {
			if is := c.Pages[i].Label == ByDefinition; is != (scores[i] >= threshold) || !is && c.Pages[i].Label != "" {
				t.Errorf("threshold %v: %s of score %v has the label %q", threshold, c.Pages[i].URL, scores[i], c.Pages[i].Label)
			}
			if c.Pages[i].Label == ByDefinition {
				n++
			}
		}
		if !slices.Equal(c.Topics, []string{ByDefinition}) || (threshold == 0.1) != (n == 80) {
			t.Errorf("threshold %v: topics %q, %d pages", threshold, c.Topics, n)
		}
	}
	d.Topic.Threshold = slices.Max(scores) + 1e-6
	if err := c.LabelBy(d); err == nil || !strings.Contains(err.Error(), "corvids") || !strings.Contains(err.Error(), c.Name) {
		t.Errorf("no page is relevant: %v", err)
	}
	d.Topic.URLPatterns = []crawl.URLPattern{{Pattern: "re:("}}
	if err := c.LabelBy(d); err == nil || !strings.Contains(err.Error(), "url_patterns") {
		t.Errorf("%v", err)
	}
}

// TestLiveDefinition: the crawl is for the topic of the definition, not for that of examples; its seeds, scope and budget are those of
// the measurement.
func TestLiveDefinition(t *testing.T) {
	c := recordedWeb(t)
	birds := crawl.DefaultDefinition()
	birds.Name, birds.Topic.Keywords, birds.Budget.Pages, birds.Budget.PerPLD = "corvids", []string{"raven", "crow", "birds"}, 1, 1
	birds.Scope.Exclude, birds.Seeds = []string{"*"}, []crawl.Seed{{URL: homePages[0] + "b/raven0"}}
	soups := birds
	soups.Name, soups.Topic.Keywords = "soups", []string{"onion", "pot", "soups"}
	if err := c.LabelBy(birds); err != nil {
		t.Fatal(err)
	}
	o := Options{Orders: []string{crawl.StrategyFused, crawl.StrategyBreadth}, Draws: 1, Examples: 1, Updates: []string{crawl.UpdateMax}, Share: 0.5, Seed: 1, Live: plainly()}
	measured := func(d *crawl.Definition) (ours, first *Row) {
		t.Helper()
		o.Live.Definition = d
		r, err := Measure(c, o)
		if err != nil {
			t.Fatal(err)
		}
		return r.row("fused, max, 1 a queue", ByDefinition), r.row("breadth-first, max, 1 a queue", ByDefinition)
	}
	ours, first := measured(&birds)
	if ours.Area <= first.Area || ours.Recall < 0.8 || ours.Fetched != 86 {
		t.Errorf("%+v\n%+v", ours, first)
	}
	if others, _ := measured(&soups); others.Recall > ours.Recall/4 {
		t.Errorf("a crawl for soups finds %.2f of the birds", others.Recall)
	}
	visited, _, err := o.Live.crawl(c.task(ByDefinition, c.Seeds[:1], o, 0), breadthLive)
	if err != nil || len(visited) != 86 || !slices.Equal(visited[:4], c.Seeds) {
		t.Errorf("%v: %v", visited, err)
	}
	if birds.Budget.Pages != 1 || len(birds.Seeds) != 1 || len(birds.Scope.Exclude) != 1 || birds.Order != crawl.DefaultDefinition().Order {
		t.Errorf("the definition is changed: %+v", birds)
	}
}

// TestLiveSettings: update functions, batch prioritisation and the seeds of the draws make a difference.
func TestLiveSettings(t *testing.T) {
	c, err := Open("webworld:2")
	if err != nil {
		t.Fatal(err)
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Topic.Keywords = "corvids", []string{"raven", "crow", "Odin", "runes"}
	o := Options{Draws: 1, Examples: 1, Updates: []string{crawl.UpdateMax, crawl.UpdateSum}, Share: 0.5, Seed: 1, Orders: []string{crawl.StrategyContentAnchor}}
	o.Live = &Live{Definition: &d, PerQueue: []int{10}, Batch: []bool{false, true}}
	r, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	plain := r.row("content-anchor, max, 10 a queue", "relevant").Areas
	for _, name := range []string{"content-anchor, sum, 10 a queue", "content-anchor, max, 10 a queue, batch"} {
		if areas := r.row(name, "relevant").Areas; len(areas) != 1 || slices.Equal(areas, plain) {
			t.Errorf("%s: %v, as without", name, areas)
		}
	}
	o.Live, o.Orders, o.Draws = plainly(), []string{crawl.StrategyFused}, 2
	o.Live.Definition = &d
	if r, err = Measure(c, o); err != nil || r.Rows[0].Areas[0] == r.Rows[0].Areas[1] {
		t.Errorf("the draws are alike: %v, %v", r.Rows, err)
	}
}

// TestLiveKeywords: the live crawl is given words that have the terms of the keywords, and no pages; it finds the topic sooner than by breadth.
func TestLiveKeywords(t *testing.T) {
	c, err := Open("webworld:3")
	if err != nil {
		t.Fatal(err)
	}
	terms := c.keywords("relevant", 4)
	words := c.spelled(terms)
	if len(words) != 4 {
		t.Fatalf("%d terms are spelled %q", len(terms), words)
	}
	analyser := text.NewVocabulary()
	for _, w := range words {
		v := text.NewHashedVector(analyser.Vector(w, "en"))
		if len(v) != 1 || !slices.ContainsFunc(terms, func(x text.HashedTerm) bool { return x.ID == v[0].ID }) {
			t.Errorf("%q is none of them", w)
		}
	}
	o := Options{Draws: 1, Examples: 5, Keywords: 4, Updates: []string{crawl.UpdateMax}, Share: 0.5, Seed: 1, Orders: []string{crawl.StrategyBreadth, crawl.StrategyContent}}
	o.Live = &Live{PerQueue: []int{10}, Batch: []bool{false}}
	r, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows[1].Area < r.Rows[0].Area+0.05 {
		t.Errorf("by breadth %.3f, by content %.3f", r.Rows[0].Area, r.Rows[1].Area)
	}
}

// TestRedirects: a redirect is a link of the graph, also if its target is relative or its page has a body.
func TestRedirects(t *testing.T) {
	var b strings.Builder
	for i, a := range [][3]string{
		{"http://a.test/", "200 OK\r\nContent-Type: text/html", `<a href="/old">old</a> <a href="/older">older</a> <a href="/oldest">oldest</a>`},
		{"http://a.test/old", "301 Moved Permanently\r\nLocation: http://a.test/1", ""},
		{"http://a.test/older", "301 Moved Permanently\r\nLocation: /2", ""},
		{"http://a.test/oldest", "301 Moved Permanently\r\nContent-Type: text/html\r\nLocation: /3", "<p>it has moved"},
		{"http://a.test/1", "200 OK\r\nContent-Type: text/html", "<p>one"},
		{"http://a.test/2", "200 OK\r\nContent-Type: text/html", "<p>two"},
		{"http://a.test/3", "200 OK\r\nContent-Type: text/html", "<p>three"},
	} {
		block := "HTTP/1.1 " + a[1] + "\r\n\r\n" + a[2]
		fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:92283950-ef2f-4d72-b224-%012d>\r\nWARC-Date: 2026-03-04T05:06:07Z\r\n"+
			"WARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, a[0], len(block), block)
	}
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "1.warc"), []byte(b.String()), 0o644), os.WriteFile(filepath.Join(dir, "seeds.txt"), []byte("http://a.test/\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	reached, n := c.Reachable(c.Seeds)
	for i, is := range reached {
		if !is {
			t.Errorf("%s cannot be reached", c.Pages[i].URL)
		}
	}
	visited, _, err := plainly().crawl(c.task("", []int{4}, Options{Examples: 1, Share: 1}, 0), breadthLive)
	if err != nil || len(visited) < n {
		t.Errorf("a live crawl visits %v of %d: %v", visited, n, err)
	}
}
