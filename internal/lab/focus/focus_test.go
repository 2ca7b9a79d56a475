package focus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/text"
)

// homePages are the seeds of crawls of WebKB.
var homePages = []string{"http://www.cs.cornell.edu/", "http://www.cs.utexas.edu/", "http://www.cs.washington.edu/", "http://www.cs.wisc.edu/"}

// record writes a corpus in the form of WebKB: pages labelled "bird" and "soup". Home pages link to lists, and lists to
// pages.
func record(t *testing.T) string {
	t.Helper()
	var pages, edges strings.Builder
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	pages.WriteString("url\tcategory\tuniversity\tpath\tin\tout\n")
	add := func(url, label, text string, links ...string) {
		name := "pages/" + strings.ReplaceAll(url, "/", "^")
		fmt.Fprintf(&pages, "%s\t%s\tx\t%s\t0\t0\n", url, label, name)
		body := "Server: old\n\n<title>" + label + "</title><p>" + text + "<ul>"
		for _, l := range links {
			body += `<li><a href="` + l + `">` + l[strings.LastIndex(l, "/")+1:] + `</a></li>`
			fmt.Fprintf(&edges, "%s\t%s\tto %s\n", url, l, l)
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(body)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		_, _ = archive.Write([]byte(body))
	}
	for _, home := range homePages {
		add(home, "other", "welcome to the department", home+"birds", home+"soups", "http://elsewhere.test/")
		var birds, soups []string
		for i := range 20 {
			birds, soups = append(birds, fmt.Sprintf("%sb/raven%d", home, i)), append(soups, fmt.Sprintf("%ss/onion%d", home, i))
			add(birds[i], "bird", fmt.Sprintf("the raven and the crow on the wall, number %d", i))
			add(soups[i], "soup", fmt.Sprintf("a pot of water with an onion, number %d", i))
		}
		add(home+"birds", "other", "a list of birds", birds...)
		add(home+"soups", "other", "a list of soups", soups...)
	}
	if err := errors.Join(archive.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, raw := range map[string][]byte{"pages.tsv": []byte(pages.String()), "edges.tsv": []byte(edges.String()), "pages.tar.gz": packed.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func recordedWeb(t *testing.T) *Corpus {
	t.Helper()
	c, err := Open(record(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWebKB(t *testing.T) {
	c := recordedWeb(t)
	if len(c.Pages) != 4*43 || len(c.Seeds) != 4 {
		t.Fatalf("%d pages, %d seeds", len(c.Pages), len(c.Seeds))
	}
	if _, n := c.Reachable(c.Seeds); n != len(c.Pages) {
		t.Errorf("%d pages can be reached", n)
	}
	home := &c.Pages[c.Seeds[0]]
	if len(home.Links) != 2 || len(home.To) != 2 || home.Links[0].URL != homePages[0]+"birds" || home.Links[0].Name != "birds" || len(home.Links[0].Anchor) == 0 || home.Links[0].TagPath == "" {
		t.Errorf("%+v", home.Links)
	}
	if at, _ := c.At(homePages[0] + "b/raven7"); len(home.Text) == 0 || len(c.Pages[at].Title) == 0 || c.Pages[at].Label != "bird" {
		t.Error("the page has no words")
	}
	dir := record(t)
	if err := os.Remove(filepath.Join(dir, "edges.tsv")); err != nil {
		t.Fatal(err)
	}
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, n := c.Reachable(c.Seeds); n != len(c.Pages) {
		t.Errorf("%d pages can be reached by the links that the parser finds", n)
	}
}

// TestFolder: pages may be in a folder, without lists of links; labels of few pages are no topics.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pages := "url\tlabel\tgroup\tpath\nhttp://a.test/\tother\t\thome.html\n"
	links := ""
	for i := range recorded.LeastOfTopic {
		pages += fmt.Sprintf("http://a.test/%d\tbird\t\t%d.html\n", i, i)
		links += fmt.Sprintf(`<a href="/%d">raven</a>`, i)
		write(fmt.Sprintf("%d.html", i), "HTTP/1.0 200 OK\r\nServer: old\r\n\r\n<title>Raven</title>")
	}
	pages += "http://a.test/fish\tfish\t\tfish.html\n"
	write("fish.html", "<title>Fish</title>")
	write("home.html", "<p>Note: no header.\n\n"+links)
	write("pages.tsv", pages)
	write("seeds.txt", "http://a.test/\n")
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	home := &c.Pages[c.Seeds[0]]
	if len(c.Seeds) != 1 || !slices.Equal(c.Topics, []string{"bird"}) || len(home.Links) != recorded.LeastOfTopic || len(home.Text) == 0 || len(c.Pages[1].Title) == 0 || len(c.Pages[1].Text) != 1 {
		t.Errorf("%v %v %+v", c.Seeds, c.Topics, home)
	}
	write("seeds.txt", "http://a.test/\nhttp://A.test\n")
	if c, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if _, n := c.Reachable(c.Seeds); n != 1+recorded.LeastOfTopic {
		t.Errorf("%d pages can be reached from a seed that is named twice", n)
	}
	o := DefaultOptions()
	o.Draws, o.Share, o.Topics = 1, 0.1, []string{"bird"} // four pages: fewer than the places of a curve
	r, err := Measure(c, o)
	if err != nil || !slices.IsSorted(r.row(crawl.StrategyBreadth, "bird").Curve) || r.row(crawl.StrategyBreadth, "bird").Curve[Points-1] != r.row(crawl.StrategyBreadth, "bird").Recall {
		t.Errorf("%v %v", r.row(crawl.StrategyBreadth, "bird"), err)
	}
	o.Topics, o.Orders = []string{"fish"}, []string{crawl.StrategyBreadth} // which cannot be reached
	if r, err = Measure(c, o); err != nil || r.Rows[0].Half != r.Rows[0].Fetched || r.Rows[0].Area != 0 {
		t.Errorf("%+v %v", r.Rows, err)
	}
	write("edges.tsv", "http://a.test/\thttp://a.test/3\n")
	if c, err = Open(dir); err != nil || len(c.Pages[c.Seeds[0]].Links) != 1 {
		t.Errorf("a link without an anchor: %v", err)
	}
}

// web makes a corpus of numbered pages that link to each other.
func web(links ...[]int) *Corpus {
	c := &Corpus{Name: "web", index: map[string]int{}}
	for i, to := range links {
		url := fmt.Sprintf("http://a.test/%d", i)
		p := Page{Page: order.Page{URL: url}, To: to}
		for _, n := range to {
			p.Links = append(p.Links, order.Link{URL: fmt.Sprintf("http://a.test/%d", n)})
		}
		c.index[url] = i
		c.Pages = append(c.Pages, p)
	}
	return c
}

// byNumber gives links the priorities of their pages.
type byNumber map[string]float64

func (b byNumber) Judge(p *order.Page, _ []byte) order.Judgement {
	out := make([]order.Judged, len(p.Links))
	for i := range p.Links {
		out[i].Priority = b[p.Links[i].URL]
	}
	return order.Judgement{Links: out}
}

func TestCrawl(t *testing.T) {
	c := web([]int{1, 2}, []int{3, 0}, []int{3, 4, -1}, nil, []int{5}, nil, []int{0})
	c.Pages[2].To, c.Pages[2].Links = []int{3, 4, -1}, append(c.Pages[2].Links[:2], order.Link{URL: "http://outside.test/"})
	for name, test := range map[string]struct {
		order  order.Order
		budget int
		want   []int
	}{
		crawl.StrategyBreadth: {order.Breadth{}, 10, []int{0, 1, 2, 3, 4, 5}},
		"budget":              {order.Breadth{}, 3, []int{0, 1, 2}},
		"best-first":          {byNumber{"http://a.test/2": 1, "http://a.test/4": .5, "http://a.test/1": .1}, 10, []int{0, 2, 4, 1, 3, 5}},
	} {
		if got := c.Crawl(test.order, []int{0, 0}, test.budget, crawl.UpdateMax); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// raised gives a page a higher priority when another was fetched.
type raised struct{ fetched map[string]bool }

func (r raised) Judge(p *order.Page, _ []byte) order.Judgement {
	out := make([]order.Judged, len(p.Links))
	for i := range p.Links {
		out[i].LinkFeatures = []byte(p.Links[i].URL)
	}
	return order.Judgement{Links: out, PageFeatures: []byte(p.URL)}
}
func (r raised) Learn(v order.Visit)   { r.fetched[string(v.PageFeatures)] = true }
func (r raised) Expect([]byte) float64 { return 0 }
func (r raised) Priority(kept []byte) float64 {
	if r.fetched["http://a.test/1"] && string(kept) == "http://a.test/99" {
		return 1
	}
	return 0
}

// byTen fetches ten pages before it looks at any of them.
type byTen struct{ raised }

func (byTen) Size() int { return 10 }

// TestCrawlRefreshes: the priorities of waiting pages are computed again, also with batches.
func TestCrawlRefreshes(t *testing.T) {
	links := make([][]int, 100)
	for i := 1; i < 100; i++ {
		links[0] = append(links[0], i)
	}
	for want, o := range map[int]order.Order{Refresh: raised{map[string]bool{}}, 31: byTen{raised{map[string]bool{}}}} { // 1, 11, 21, 31
		visited := web(links...).Crawl(o, []int{0}, 100, crawl.UpdateMax)
		if at := slices.Index(visited, 99); at != want {
			t.Errorf("%T: page 99 is fetched as number %d, want %d", o, at, want)
		}
	}
}

// pupil is an order that records what it is shown. A link has the priority that is given for its page, and stores its source and
// target.
type pupil struct {
	turns  turns
	judged map[string]order.Page
	kept   map[string]string
	visits []order.Visit
}

func (p *pupil) Judge(page *order.Page, kept []byte) order.Judgement {
	p.judged[page.URL], p.kept[page.URL] = *page, string(kept)
	j := p.turns.Judge(page, kept)
	for i := range j.Links {
		j.Links[i].LinkFeatures = []byte(number(page.URL) + ">" + number(page.Links[i].URL))
	}
	j.PageFeatures, j.Worth = []byte(number(page.URL)), float64(len(page.Links))/10
	return j
}
func (p *pupil) Learn(v order.Visit) { p.visits = append(p.visits, v) }

// number is that of a page of a web.
func number(url string) string { return url[strings.LastIndex(url, "/")+1:] }

// link finds a link by what was stored with it.
func (p *pupil) link(kept []byte) float64 {
	from, to, _ := strings.Cut(string(kept), ">")
	page := p.judged["http://a.test/"+from]
	for i, l := range page.Links {
		if number(l.URL) == to {
			return p.turns[page.URL][i]
		}
	}
	return -1
}
func (p *pupil) Priority(kept []byte) float64 { return p.link(kept) }
func (p *pupil) Expect(kept []byte) float64   { return p.link(kept) }

// TestCrawlTeaches: an order judges a page with what was stored with the best link to it. It learns from the page with all
// links that led there, and with the promise of its links to pages that none before it has linked to.
func TestCrawlTeaches(t *testing.T) {
	c := web([]int{1, 2, 3}, []int{3, 0, 2}, []int{3, 1}, nil)
	p := &pupil{judged: map[string]order.Page{}, kept: map[string]string{}, turns: turns{
		"http://a.test/0": {.9, .5, .2}, "http://a.test/1": {.4, .8, .1}, "http://a.test/2": {.3, .7},
	}}
	before := fmt.Sprint(c.Pages)
	if got := c.Crawl(p, []int{0}, 9, crawl.UpdateMax); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Fatalf("%v", got)
	}
	if fmt.Sprint(c.Pages) != before {
		t.Error("the corpus is changed")
	}
	for i, want := range []struct {
		depth   int
		best    string
		kept    string // all links to it
		worth   float64
		promise float64
	}{
		{0, "", "[]", .3, .9 + .5 + .2},
		{1, "0>1", "[0>1]", .3, 0},
		{1, "0>2", "[0>2 1>2]", .2, 0},
		{1, "1>3", "[0>3 1>3 2>3]", 0, 0},
	} {
		url, v := fmt.Sprintf("http://a.test/%d", i), p.visits[i]
		if page := p.judged[url]; page.Depth != want.depth || page.Score != -1 || p.kept[url] != want.best {
			t.Errorf("page %d is judged at depth %d, with score %v and %q kept, want %+v", i, page.Depth, page.Score, p.kept[url], want)
		}
		if kept := fmt.Sprintf("%s", v.LinkFeatures); string(v.PageFeatures) != fmt.Sprint(i) || kept != want.kept || v.Worth != want.worth || math.Abs(v.Promise-want.promise) > 1e-9 {
			t.Errorf("visit %d: %+v with %s, want %+v", i, v, kept, want)
		}
	}
	if len(p.visits) != 4 {
		t.Errorf("%d visits", len(p.visits))
	}
}

// TestCrawlSeeds: a seed is judged as a seed, even if there are links to it.
func TestCrawlSeeds(t *testing.T) {
	c := web([]int{1, 2}, nil, nil)
	p := &pupil{judged: map[string]order.Page{}, kept: map[string]string{}, turns: turns{"http://a.test/0": {.1, .9}}}
	if got := c.Crawl(p, []int{0, 1}, 9, crawl.UpdateLast); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("%v", got)
	}
	if page := p.judged["http://a.test/1"]; page.Depth != 0 || p.kept["http://a.test/1"] != "" {
		t.Errorf("a seed is judged at depth %d, with %q kept", page.Depth, p.kept["http://a.test/1"])
	}
	if kept := fmt.Sprintf("%s", p.visits[1].LinkFeatures); kept != "[0>1]" {
		t.Errorf("and learned of with %s", kept)
	}
}

// TestPaired checks a paired test by hand: differences .1, .2 and .3.
func TestPaired(t *testing.T) {
	r := Result{Topics: []string{"x"}, Rows: []Row{{Order: "a", Topic: "x", Areas: []float64{.3, .5, .7}}, {Order: "b", Topic: "x", Areas: []float64{.2, .3, .4}}}}
	d, tt, ahead, of := r.Paired("a", "b")
	if want := .2 / (.1 / math.Sqrt(3)); math.Abs(d-.2) > 1e-9 || math.Abs(tt-want) > 1e-9 || ahead != 3 || of != 3 {
		t.Errorf("%v %v %d %d, want .2 %v 3 3", d, tt, ahead, of, want)
	}
}

func TestMeasure(t *testing.T) {
	c := recordedWeb(t)
	o := Options{Topics: []string{"bird"}, Draws: 2, Examples: 10, Share: 0.5, Seed: 1}
	r, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != len(Strategies)-2 || len(r.Orders) != len(r.Rows) || r.Reachable != len(c.Pages) {
		t.Fatalf("%+v", r)
	}
	best, ours, first := r.row("oracle", "bird"), r.row(Ours, "bird"), r.row(crawl.StrategyBreadth, "bird")
	// home pages and lists of birds, then nothing but birds: 78 of 80 in 86 pages
	if best.Area < 0.45 || best.Recall < 0.9 || ours.Area <= first.Area || ours.Area > best.Area || first.Spread != 0 {
		t.Errorf("oracle %.3f, ours %.3f, breadth-first %.3f", best.Area, ours.Area, first.Area)
	}
	if ours.Similar <= first.Similar || ours.Half >= first.Half || ours.Harvest <= first.Harvest || ours.Curve[Points-1] != ours.Recall {
		t.Errorf("%+v\n%+v", ours, first)
	}
	d, tt, ahead, of := r.Paired(Ours, crawl.StrategyBreadth)
	if d <= 0 || tt < 0 || ahead != 2 || of != 2 {
		t.Errorf("%v %v %d of %d", d, tt, ahead, of)
	}
	var out, curves strings.Builder
	if err := errors.Join(r.Print(&out), r.CSV(&curves)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bird", "oracle", "172 pages", "ahead in 2 of 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if n := strings.Count(curves.String(), "\n"); n != 1+Points*len(r.Rows) {
		t.Errorf("%d lines of curves", n)
	}
	var page strings.Builder
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); strings.Count(text, "<svg") != 2 || strings.Count(text, "</svg>") != 2 || !strings.Contains(text, "oracle") || strings.Contains(text, "NaN") {
		t.Errorf("the page has %d plots", strings.Count(text, "<svg"))
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	again, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again.Rows {
		if !slices.Equal(again.Rows[i].Areas, r.Rows[i].Areas) {
			t.Errorf("%s: %v, then %v", r.Rows[i].Order, r.Rows[i].Areas, again.Rows[i].Areas)
		}
	}
	o.Topics = []string{"fish"}
	if _, err := Measure(c, o); !errors.Is(err, ErrNoTopic) {
		t.Errorf("%v", err)
	}
	o.Topics, o.Orders = []string{"bird"}, []string{crawl.StrategySynonyms}
	if _, err := Measure(c, o); err == nil || !strings.Contains(err.Error(), "thesaurus") {
		t.Errorf("%v", err)
	}
	o.Words = nothing{}
	if r, err := Measure(c, o); err != nil || len(r.Rows) != 1 || r.Rows[0].Recall == 0 {
		t.Errorf("%+v %v", r, err)
	}
	o.Orders = []string{"worst-first"}
	if _, err := Measure(c, o); err == nil || !strings.Contains(err.Error(), crawl.StrategyBreadth) {
		t.Errorf("%v", err)
	}
}

// nothing is a thesaurus without words.
type nothing struct{}

func (nothing) Synonyms(uint32) []uint32 { return nil }
func (nothing) Near(uint32) []uint32     { return nil }

// TestPaths: pages that lead to examples are found backwards, with their distances and links.
func TestPaths(t *testing.T) {
	c := web([]int{1}, []int{2}, []int{3}, []int{4}, nil, []int{4}, []int{5, 0})
	levels := map[int]int{}
	list := c.paths([]int{4})
	for _, p := range list {
		levels[p.Level]++
	}
	if len(list) != 6 || levels[0] != 1 || levels[1] != 2 || levels[2] != 2 || levels[3] != 1 || len(list[0].Next) != 0 || len(list[1].Next) != 1 {
		t.Errorf("%+v", list)
	}
}

// TestUpdate: of two links to a page, the first of .2 and the second of .6, each function makes its own priority; the
// other page waits with .5.
func TestUpdate(t *testing.T) {
	var s scores
	s.add(.2)
	s.add(.6)
	for update, want := range map[string]float64{crawl.UpdateFirst: .2, crawl.UpdateLast: .6, crawl.UpdateAvg: .4, crawl.UpdateSum: .8, crawl.UpdateMax: .6} {
		if got := s.by(update); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", update, got, want)
		}
		c := web([]int{1, 2, 3}, []int{2}, nil, nil)
		visited := c.Crawl(turns{"http://a.test/0": {.9, .2, .5}, "http://a.test/1": {.6}}, []int{0}, 9, update)
		if first := visited[2] == 2; first != (want > .5) {
			t.Errorf("%s: %v", update, visited)
		}
	}
}

// turns has the priorities of the links of each page.
type turns map[string][]float64

func (p turns) Judge(page *order.Page, _ []byte) order.Judgement {
	out := make([]order.Judged, len(page.Links))
	for i, x := range p[page.URL] {
		out[i].Priority = x
	}
	return order.Judgement{Links: out}
}

// TestCrawlBatch: the links of a batch are judged when all its pages are fetched.
func TestCrawlBatch(t *testing.T) {
	c := web([]int{1, 2}, []int{3}, nil, nil)
	best := byNumber{"http://a.test/1": .5, "http://a.test/2": .1, "http://a.test/3": 1}
	if got := c.Crawl(best, []int{0}, 9, crawl.UpdateMax); !slices.Equal(got, []int{0, 1, 3, 2}) {
		t.Errorf("%v", got)
	}
	if got := c.Crawl(batch{Order: best, N: 2}, []int{0}, 9, crawl.UpdateMax); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("by two: %v", got)
	}
}

// TestArea checks a curve by hand: of two relevant pages one comes first, the other third of four.
func TestArea(t *testing.T) {
	c := web([]int{1, 2, 3, 4, 5, 6, 7}, nil, nil, nil, nil, nil, nil, nil)
	for i := range c.Pages {
		c.Pages[i].Text = text.NewHashedVector(map[string]float64{"raven": 1})
	}
	c.Pages[0].Label, c.Pages[2].Label = "bird", "bird"
	r := Row{Curve: make([]float64, Points)}
	c.Seeds = []int{0}
	breadth := Setting{Strategy: crawl.StrategyBreadth, Update: crawl.UpdateMax}
	if err := r.run(c, breadth, c.task("bird", []int{0, 2}, Options{Examples: 1, Seed: 1, Share: 0.5}, 0), nil); err != nil {
		t.Fatal(err)
	}
	r.finish(1)
	if want := (1 + 1 + 2 + 2) / 8.0; r.Area != want || r.Recall != 1 || r.Harvest != 0.5 || r.Half != 1 || r.Most != 3 || math.Abs(r.Near-1) > 1e-9 || math.Abs(r.Similar-1) > 1e-9 {
		t.Errorf("%+v, want an area of %v", r, want)
	}
}

// TestLongOursOnWebKB: on WebKB our order is better by half than the best order of the literature, and never worse than any of
// them.
func TestLongOursOnWebKB(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no recorded web")
	}
	t.Parallel()
	c, err := Open(filepath.Join(data, "webkb"))
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Draws, o.Orders = 2, []string{crawl.StrategyBreadth, crawl.StrategyContent, crawl.StrategyAnchor, crawl.StrategyContentAnchor, Ours}
	r, err := Measure(c, o)
	if err != nil {
		t.Fatal(err)
	}
	means := map[string]float64{}
	for _, topic := range r.Topics {
		for _, name := range r.Orders {
			means[name] += r.row(name, topic).Area / float64(len(r.Topics))
			if name != Ours && r.row(name, topic).Area > r.row(Ours, topic).Area {
				t.Errorf("%s: %s %.3f, ours %.3f", topic, name, r.row(name, topic).Area, r.row(Ours, topic).Area)
			}
		}
	}
	t.Log(means)
	if means[Ours] < 0.55 {
		t.Errorf("ours has a mean of %.3f, want .55", means[Ours])
	}
}

// TestKeywords: an archivist names the words that the pages of a topic have and others have not, and orders get what analysers say of them.
func TestKeywords(t *testing.T) {
	c := web([]int{1, 2}, nil, nil, nil)
	for i, words := range []string{"all", "raven all", "raven all", "soup all"} {
		p := &c.Pages[i]
		p.Text = text.NewHashedVector(text.Vector{})
		for _, w := range strings.Fields(words) {
			p.Text = append(p.Text, text.HashedTerm{ID: text.Hash(w), Weight: 1})
		}
		p.Text = p.Text.Sorted()
		if p.Label = "other"; strings.Contains(words, "raven") {
			p.Label = "ravens"
		}
	}
	if got := c.keywords("ravens", 1); len(got) != 1 || got[0].ID != text.Hash("raven") {
		t.Fatalf("%v", got)
	}
	o := DefaultOptions()
	o.Keywords = 1
	task := c.task("ravens", []int{1, 2}, o, 0)
	if len(task.Examples) > 0 || !task.keywords {
		t.Errorf("%d examples", len(task.Examples))
	}
	c.Pages[0].Links[0].Anchor = task.Topic
	p := c.Pages[0].Page
	task.view(0, &p)
	q := c.Pages[1].Page
	task.view(1, &q)
	if p.Score != 0 || q.Score < 0.5 || p.Links[0].Hints[0].Value < 0.99 || p.Links[1].Hints[0].Value != 0 || len(c.Pages[0].Links[0].Hints) > 0 {
		t.Errorf("scores %v and %v, hints %v", p.Score, q.Score, p.Links)
	}
}
