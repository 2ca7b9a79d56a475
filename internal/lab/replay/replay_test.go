package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/webs"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/scattered"
)

// scatteredWeb records a synthetic web with its ground truth, once for all tests.
func scatteredWeb(t testing.TB, sites int) (*recorded.Web, *webworld.World) {
	t.Helper()
	worlds.Lock()
	defer worlds.Unlock()
	if w, known := worlds.of[sites]; known {
		return w.web, w.world
	}
	world := scattered.New(webworld.Options{Seed: 1}, sites)
	web, err := webs.World(world)
	if err != nil {
		t.Fatal(err)
	}
	worlds.of[sites] = recording{web, world}
	return web, world
}

type recording struct {
	web   *recorded.Web
	world *webworld.World
}

var worlds = struct {
	sync.Mutex
	of map[int]recording
}{of: map[int]recording{}}

// definition crawls a whole web in the default order, without a reference crawl.
func definition(web *recorded.Web, keywords ...string) crawl.Definition {
	d := crawl.DefaultDefinition()
	none := int64(0)
	d.Name, d.Topic.Keywords, d.Reference.Pages = "test", keywords, &none
	d.Scope.Within = crawl.WithinWeb
	d.Budget.Pages = int64(len(web.Pages))
	for _, s := range web.Seeds {
		d.Seeds = append(d.Seeds, crawl.Seed{URL: web.Pages[s].URL})
	}
	return d
}

// crawled crawls; no page may be visited twice.
func crawled(t testing.TB, web *recorded.Web, d crawl.Definition) Run {
	t.Helper()
	run, err := Crawl(t.Context(), web, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, v := range run.Visited {
		if v.Page < 0 || v.Page >= len(web.Pages) || seen[v.Page] {
			t.Fatalf("page %d is visited twice, or is none of the web", v.Page)
		}
		seen[v.Page] = true
	}
	return run
}

// order is that of a run's visits.
func (r Run) order() (pages []int) {
	for _, v := range r.Visited {
		pages = append(pages, v.Page)
	}
	return pages
}

// relevant counts the visits of relevant pages.
func (r Run) relevant(web *recorded.Web) (n int) {
	for _, v := range r.Visited {
		if web.Pages[v.Page].Label == webs.Relevant {
			n++
		}
	}
	return n
}

func pages(n int64) *int64 { return &n }

// TestStrategies: with each strategy, two equal crawls have the same order, and visit all pages.
func TestStrategies(t *testing.T) {
	web, world := scatteredWeb(t, 2)
	for i, name := range crawl.Strategies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := definition(web, world.Topic()...)
			d.Order.Strategy, d.Order.PerQueue, d.Order.Batch = name, 3, i%2 == 0
			if err := score.CheckThesaurus(d.Order); err != nil {
				t.Skip(err)
			}
			if strings.HasPrefix(name, crawl.StrategyHMM) {
				d.Reference.Pages = pages(20)
			}
			first, second := crawled(t, web, d), crawled(t, web, d)
			if !slices.Equal(first.Visited, second.Visited) || first.Totals != second.Totals {
				t.Errorf("two runs differ: %v\n%v", first.order(), second.order())
			}
			if len(first.Visited) != len(web.Pages) || first.Totals.Pages != int64(len(web.Pages)) {
				t.Errorf("%d of %d pages are visited; %+v", len(first.Visited), len(web.Pages), first.Totals)
			}
			d.Budget.Pages = 60
			if part := crawled(t, web, d); !slices.Equal(part.Visited[:40], first.Visited[:40]) {
				t.Errorf("with a smaller budget it begins otherwise: %v\n%v", part.order(), first.order())
			}
		})
	}
}

// TestSeed: a random order changes with the seed.
func TestSeed(t *testing.T) {
	web, world := scatteredWeb(t, 2)
	d := definition(web, world.Topic()...)
	d.Order.PerQueue = 1
	first := crawled(t, web, d)
	d.Order.Seed++
	if slices.Equal(first.order(), crawled(t, web, d).order()) {
		t.Error("two seeds make the same crawl")
	}
}

// TestBreadthFirst: with one URL at a time, all pages of a depth are visited before the first of the next.
func TestBreadthFirst(t *testing.T) {
	web, world := scatteredWeb(t, 8)
	depth := map[int]int{}
	for _, p := range world.Pages() {
		at, known := web.At(strings.Replace(p.URL, ":80/", "/", 1))
		if !known {
			t.Fatalf("%s is not in the web", p.URL)
		}
		depth[at] = p.Depth
	}
	depths := func(r Run) (list []int) {
		for _, v := range r.Visited {
			list = append(list, depth[v.Page])
		}
		return list
	}
	d := definition(web, world.Topic()...)
	d.Order.Strategy, d.Order.PerQueue = crawl.StrategyBreadth, 1
	got := depths(crawled(t, web, d))
	if !slices.IsSorted(got) || len(got) != len(web.Pages) || got[len(got)-1] < 3 {
		t.Errorf("%v", got)
	}
	d.Topic = crawl.Topic{}
	if empty := depths(crawled(t, web, d)); !slices.Equal(empty, got) {
		t.Errorf("without a topic: %v", empty)
	}
	d = definition(web, world.Topic()...)
	d.Order.PerQueue = 1
	if slices.IsSorted(depths(crawled(t, web, d))) {
		t.Error("the default order goes by depth too: the test cannot fail")
	}
}

func TestBudget(t *testing.T) {
	web, world := scatteredWeb(t, 4)
	d := definition(web, world.Topic()...)
	for _, perQueue := range []int{1, 7, 50} {
		for _, reference := range []int64{0, 20, 90} {
			d.Order.PerQueue, d.Budget.Pages, d.Reference.Pages = perQueue, 37, &reference
			if run := crawled(t, web, d); len(run.Visited) != 37 || run.Totals.Pages != 37 {
				t.Errorf("%d a queue, a reference crawl of %d: %d pages, want 37", perQueue, reference, len(run.Visited))
			}
		}
	}
	d = definition(web, world.Topic()...)
	d.Budget.PerPLD = 5
	of := map[string]int{}
	for _, p := range crawled(t, web, d).order() {
		of[web.Pages[p].Group]++
	}
	for site, n := range of {
		if n != 5 {
			t.Errorf("%d pages of %s, want 5", n, site)
		}
	}
	if len(of) != 4 {
		t.Errorf("%v", of)
	}
	d.Budget.PerPLD, d.Order.PerQueue, d.Budget.Bytes = 0, 1, 50_000
	run, last := crawled(t, web, d), 0
	for _, p := range run.order() {
		last = len(web.Pages[p].Head) + len(web.Pages[p].Body)
	}
	if run.Totals.Bytes < 50_000 || run.Totals.Bytes-int64(last) >= 50_000 {
		t.Errorf("%d bytes, the last page has %d", run.Totals.Bytes, last)
	}
}

// recordedAs writes a web of answers, by their URLs: a header and a body, separated by a blank line.
func recordedAs(t testing.TB, answers [][2]string, seeds ...string) *recorded.Web {
	t.Helper()
	var b strings.Builder
	for i, a := range answers {
		head, body, _ := strings.Cut(a[1], "\n\n")
		block := "HTTP/1.1 " + strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
		fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:92283950-ef2f-4d72-b224-%012d>\r\nWARC-Date: 2026-03-04T05:06:07Z\r\n"+
			"WARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, a[0], len(block), block)
	}
	dir := t.TempDir()
	err := errors.Join(os.WriteFile(filepath.Join(dir, "1.warc"), []byte(b.String()), 0o644), os.WriteFile(filepath.Join(dir, "seeds.txt"), []byte(strings.Join(seeds, "\n")), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	web, err := recorded.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(web.Pages) != len(answers) {
		t.Fatalf("%d pages of %d", len(web.Pages), len(answers))
	}
	return web
}

const html = "200 OK\nContent-Type: text/html\n\n"

// TestAnswers: redirects are followed; links of error pages and of pages with nofollow are not; URLs that were not recorded
// are not visited.
func TestAnswers(t *testing.T) {
	moved := func(to string) string { return "302 Found\nContent-Type: text/html\nLocation: " + to + "\n\n" }
	web := recordedAs(t, [][2]string{
		{"http://a.test/", html + `<a href="/old">old</a> <a href="/gone">gone</a> <a href="/loop">loop</a> <a href="/out">out</a> <a href="/quiet">quiet</a> <a href="/never">never recorded</a>`},
		{"http://a.test/old", moved("/older?x=1")},
		{"http://a.test/older?x=1", moved("http://b.test/new")},
		{"http://b.test/new", html + `<p>here it is now: <a href="http://a.test/">back</a>`},
		{"http://a.test/gone", "404 Not Found\nContent-Type: text/html\n\n" + `<a href="/hidden">a link of a page that is lost</a>`},
		{"http://a.test/hidden", html + "hidden"},
		{"http://a.test/loop", moved("/loop")},
		{"http://a.test/out", moved("http://elsewhere.test/")},
		{"http://a.test/quiet", html + `<meta name="robots" content="nofollow"><a href="/secret">secret</a>`},
		{"http://a.test/secret", html + "secret"},
	}, "http://a.test/")
	for _, strategy := range []string{crawl.StrategyFused, crawl.StrategyWeighted, crawl.StrategyBreadth} {
		d := definition(web, "raven")
		d.Order.Strategy = strategy
		d.Seeds = append(d.Seeds, crawl.Seed{URL: "http://lost.test/"})
		run := crawled(t, web, d)
		var urls []string
		for _, v := range run.Visited {
			p := &web.Pages[v.Page]
			if urls = append(urls, p.URL); p.Status != 200 && v.Score != -1 {
				t.Errorf("%s: %s has the score %v", strategy, p.URL, v.Score)
			}
		}
		slices.Sort(urls)
		want := []string{"http://a.test/", "http://a.test/gone", "http://a.test/loop", "http://a.test/old", "http://a.test/older?x=1", "http://a.test/out", "http://a.test/quiet", "http://b.test/new"}
		if !slices.Equal(urls, want) {
			t.Errorf("%s: %q, want %q", strategy, urls, want)
		}
		if run.Totals.Pages != 3 || run.Totals.Errors != 2 {
			t.Errorf("%s: %+v, want 3 pages; one that is lost and a seed that was not recorded", strategy, run.Totals)
		}
	}
	// only pages count for the budget
	d := definition(web, "raven")
	d.Budget.Pages, d.Order.PerQueue = 3, 1
	if run := crawled(t, web, d); len(run.Visited) != 8 {
		t.Errorf("%d visits for three pages", len(run.Visited))
	}
}

// TestEdges: if the recorders list links, only these are followed.
func TestEdges(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pages.tsv": "url\tlabel\tgroup\tpath\nhttp://a.test/\t\t\thome.html\nhttp://a.test/1\t\t\t1.html\nhttp://a.test/2\t\t\t2.html\nhttp://a.test/3\t\t\t3.html\n",
		"edges.tsv": "http://a.test/\thttp://a.test/1\tone\nhttp://a.test/1\thttp://a.test/2\ttwo\n",
		"home.html": `<a href="/1">one</a> <a href="/3">three, which is not listed</a>`, "1.html": "<p>a link to two was here", "2.html": "two", "3.html": "three",
		"seeds.txt": "http://a.test/\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	web, err := recorded.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, reference := range []int64{0, 2} {
		d := definition(web, "raven")
		d.Reference.Pages = &reference
		if got := crawled(t, web, d).order(); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("with a reference crawl of %d: %v, want [0 1 2]", reference, got)
		}
	}
}

// TestScores: pages have scores if there is a topic, and the frontier counts relevant pages by them.
func TestScores(t *testing.T) {
	web, world := scatteredWeb(t, 2)
	d := definition(web, world.Topic()...)
	run := crawled(t, web, d)
	on, off, relevant := 0.0, 0.0, int64(0)
	for _, v := range run.Visited {
		if v.Score >= d.Topic.Threshold {
			relevant++
		}
		if web.Pages[v.Page].Label == webs.Relevant {
			on += v.Score
		} else {
			off += v.Score
		}
	}
	n := float64(run.relevant(web))
	if relevant == 0 || relevant != run.Totals.Relevant || on <= 0 || on/n < 3*off/(float64(len(run.Visited))-n) {
		t.Errorf("%d pages from the threshold on, %+v; mean scores %v and %v", relevant, run.Totals, on/n, off)
	}
	d = definition(web)
	for _, v := range crawled(t, web, d).Visited {
		if v.Score != -1 {
			t.Fatalf("without a topic, page %d has the score %v", v.Page, v.Score)
		}
	}
}

// TestReference: a reference crawl has the same order as a crawl without one; afterwards the crawl uses what was learned.
func TestReference(t *testing.T) {
	web, _ := scatteredWeb(t, 8)
	for _, strategy := range []string{crawl.StrategyFused, crawl.StrategyWeighted, crawl.StrategyContentAnchor} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			d := definition(web, "raven", "Odin")
			d.Order.Strategy, d.Order.PerQueue, d.Budget.Pages = strategy, 1, 150
			without := crawled(t, web, d)
			d.Reference.Pages = pages(20)
			with := crawled(t, web, d)
			if !slices.Equal(with.order()[:20], without.order()[:20]) {
				t.Errorf("the reference crawl goes another way: %v\n%v", with.order()[:20], without.order()[:20])
			}
			if slices.Equal(with.order(), without.order()) {
				t.Error("nothing is learned")
			}
			t.Logf("%d relevant pages with a reference crawl, %d without", with.relevant(web), without.relevant(web))
		})
	}
}

// TestReorder: the links of a reference crawl are scored again, and not counted again.
func TestReorder(t *testing.T) {
	web, world := scatteredWeb(t, 2)
	d := definition(web, world.Topic()...)
	without := crawled(t, web, d)
	d.Reference.Pages = pages(100)
	with := crawled(t, web, d)
	if with.Totals.Links != without.Totals.Links || with.Totals.Known != without.Totals.Known {
		t.Errorf("%+v with a reference crawl, %+v without", with.Totals, without.Totals)
	}
}

// TestBatch: pages of a batch that link to the same URL are judged together if order.batch is set.
func TestBatch(t *testing.T) {
	web, world := scatteredWeb(t, 4)
	for _, strategy := range []string{crawl.StrategyWeighted, crawl.StrategyContentAnchor} {
		d := definition(web, world.Topic()...)
		d.Order.Strategy, d.Order.PerQueue, d.Budget.Pages = strategy, 10, 150
		apart := crawled(t, web, d).order()
		d.Order.Batch = true
		if slices.Equal(crawled(t, web, d).order(), apart) {
			t.Errorf("%s: batch prioritisation makes no difference", strategy)
		}
	}
}

// TestShark: an order gets what it stored with a link when the link is followed: pages behind a relevant page come before
// others, although the page between them is not relevant.
func TestShark(t *testing.T) {
	link := func(to string) string {
		return html + fmt.Sprintf("<p>some words of no interest</p><p><a href=%q>on</a>", to)
	}
	web := recordedAs(t, [][2]string{
		{"http://a.test/", link("/1")},
		{"http://b.test/", link("/1") + "<p>a raven, and another raven</p>"},
		{"http://a.test/1", link("/2")},
		{"http://b.test/1", link("/2")},
		{"http://a.test/2", link("/")},
		{"http://b.test/2", link("/")},
	}, "http://a.test/", "http://b.test/")
	for strategy, want := range map[string][]int{crawl.StrategyShark: {0, 1, 3, 5, 2, 4}, crawl.StrategyContent: {0, 1, 3, 2, 5, 4}} {
		d := definition(web, "raven")
		d.Order.Strategy, d.Order.PerQueue = strategy, 1
		if got := crawled(t, web, d).order(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", strategy, got, want)
		}
	}
}

// TestHMM: a hidden Markov model is trained with the reference crawl; without one, links are ordered by their scores.
func TestHMM(t *testing.T) {
	web, world := scatteredWeb(t, 2)
	by := func(strategy string, reference int64) []int {
		d := definition(web, world.Topic()...)
		d.Order.Strategy, d.Order.PerQueue, d.Helper, d.Reference.Pages = strategy, 1, crawl.HelperOff, &reference
		return crawled(t, web, d).order()
	}
	scores, trained := by(crawl.StrategyWeighted, 0), by(crawl.StrategyWeighted, 20)
	for _, strategy := range []string{crawl.StrategyHMM, crawl.StrategyHMMContent, crawl.StrategyHMMAnchor} {
		if !slices.Equal(by(strategy, 0), scores) {
			t.Errorf("%s without a reference crawl does not go by the scores", strategy)
		}
		if got := by(strategy, 20); slices.Equal(got, trained) || !slices.Equal(got[:20], trained[:20]) {
			t.Errorf("%s with one: %v", strategy, got)
		}
	}
}

// TestFused: with the default settings, most of the relevant pages are found in a small part of the web.
func TestFused(t *testing.T) {
	web, err := webs.Open("webworld:8")
	if err != nil {
		t.Fatal(err)
	}
	_, world := scatteredWeb(t, 8)
	all := 0
	for i := range web.Pages {
		if web.Pages[i].Label == webs.Relevant {
			all++
		}
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Topic.Keywords = "test", world.Topic()
	for _, s := range web.Seeds {
		d.Seeds = append(d.Seeds, crawl.Seed{URL: web.Pages[s].URL})
	}
	d.Budget.Pages = int64(len(web.Pages)) * 3 / 10
	found := crawled(t, web, d).relevant(web)
	d.Order.Strategy = crawl.StrategyBreadth
	first := crawled(t, web, d).relevant(web)
	t.Logf("%d of %d relevant pages in %d of %d, breadth-first %d", found, all, d.Budget.Pages, len(web.Pages), first)
	if all < 50 || found*10 < all*8 || first*10 >= all*8 {
		t.Errorf("fused finds %d of %d relevant pages in three tenths of the web, want four fifths; breadth-first %d", found, all, first)
	}
}

// TestHelper: the helper changes the order of a crawl.
func TestHelper(t *testing.T) {
	helper, err := aah.Open("", aah.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	world := webworld.NewDemo(webworld.Options{Seed: 1})
	web, err := webs.World(world)
	if err != nil {
		t.Fatal(err)
	}
	visited := map[string]int{}
	for _, mode := range crawl.HelperModes {
		d := definition(web, world.Topic()...)
		d.Helper = mode
		run, err := Crawl(t.Context(), web, d, helper)
		if err != nil {
			t.Fatal(err)
		}
		visited[mode] = len(run.Visited)
	}
	if visited[crawl.HelperStrict] >= visited[crawl.HelperLenient] || visited[crawl.HelperLenient] > visited[crawl.HelperOff] || visited[crawl.HelperStrict] == 0 {
		t.Errorf("%v of %d pages", visited, len(web.Pages))
	}
}

// TestFaults: a definition that cannot be crawled is reported.
func TestFaults(t *testing.T) {
	web, world := scatteredWeb(t, 2)
	for name, test := range map[string]struct {
		edit func(*crawl.Definition)
		word string
	}{
		"seed":      {func(d *crawl.Definition) { d.Seeds[0].URL = "mailto:a@a.test" }, "mailto:a@a.test"},
		"pattern":   {func(d *crawl.Definition) { d.Topic.URLPatterns = []crawl.URLPattern{{Pattern: "re:(", Score: 1}} }, "url_patterns"},
		"thesaurus": {func(d *crawl.Definition) { d.Order.Strategy, d.Order.Thesaurus = crawl.StrategySynonyms, "/nowhere" }, "order.thesaurus"},
	} {
		d := definition(web, world.Topic()...)
		d.Seeds = slices.Clone(d.Seeds)
		test.edit(&d)
		if run, err := Crawl(t.Context(), web, d, nil); err == nil || !strings.Contains(err.Error(), test.word) || len(run.Visited) > 0 {
			t.Errorf("%s: %v, %d pages", name, err, len(run.Visited))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Crawl(ctx, web, definition(web, world.Topic()...), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestLeavesNothing: a run leaves no files behind, however it ends; with more than a thousand visits, it has written a snapshot.
func TestLeavesNothing(t *testing.T) {
	web, world := scatteredWeb(t, 10)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if os.TempDir() != dir {
		t.Skip("the folder of temporary files cannot be set here")
	}
	d := definition(web, world.Topic()...)
	if run := crawled(t, web, d); len(run.Visited) < 1000 {
		t.Fatalf("%d pages", len(run.Visited))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Crawl(ctx, web, d, nil); err == nil {
		t.Error("it continues after the end of its context")
	}
	d.Seeds = []crawl.Seed{{URL: "no URL"}}
	if _, err := Crawl(t.Context(), web, d, nil); err == nil {
		t.Error("there is no such seed")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}

// TestArrival: two pages link to the same targets, with different scores. With the update functions avg, max and sum, the
// order of the targets does not depend on which of the two pages is fetched first; with first and last it does.
func TestArrival(t *testing.T) {
	const targets, draws = 12, 4
	random := rand.New(rand.NewPCG(1, 2))
	differ := map[string]int{}
	for range draws {
		// an anchor of one word of the topic and n others has the similarity 1/√(4(n+1)); the numbers are drawn
		n := random.Perm(2 * targets)
		answers := [][2]string{{"http://a.test/", html}, {"http://b.test/", html}}
		filler := 0
		for i := range targets {
			url := fmt.Sprintf("http://c.test/%d", i)
			for from := range 2 {
				anchor := "raven"
				for range n[2*i+from] {
					filler++
					anchor += " " + word(filler)
				}
				answers[from][1] += fmt.Sprintf("<p><a href=%q>%s</a>\n", url, anchor)
			}
			answers = append(answers, [2]string{url, html + "no links"})
		}
		web := recordedAs(t, answers, "http://a.test/", "http://b.test/")
		for _, update := range crawl.Updates {
			d := definition(web, "raven", "magpie", "jackdaw", "rook")
			d.Order.Strategy, d.Order.PerQueue, d.Order.Update = crawl.StrategyAnchor, 1, update
			one := crawled(t, web, d).order()
			slices.Reverse(d.Seeds)
			other := crawled(t, web, d).order()
			if !slices.Equal(one[:2], []int{0, 1}) || !slices.Equal(other[:2], []int{1, 0}) || len(one) != len(answers) {
				t.Fatalf("%s: %v and %v: the two pages do not come first", update, one, other)
			}
			if !slices.Equal(one[2:], other[2:]) {
				differ[update]++
			}
		}
	}
	for _, update := range crawl.Updates {
		free := update == crawl.UpdateAvg || update == crawl.UpdateMax || update == crawl.UpdateSum
		if free != (differ[update] == 0) {
			t.Errorf("%s: the order differs in %d of %d webs", update, differ[update], draws)
		}
	}
}

// word makes a word whose stem no other word has.
func word(n int) string {
	const letters = "bcdfghklmnprtvz"
	w := ""
	for range 4 {
		w += string(letters[n%len(letters)]) + "o"
		n /= len(letters)
	}
	return w + "x"
}
