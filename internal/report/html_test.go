package report

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// about is a crawl about which little is known beside its archive.
func about() Crawl {
	d := crawl.DefaultDefinition()
	d.Name, d.Description = "ravens", "about ravens"
	return Crawl{Definition: d, Status: frontier.Status{Run: 3, Started: start}, Made: start.Add(time.Hour)}
}

func write(t *testing.T, c *Collector, of Crawl) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.HTML(&out, of); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// document is a report as a browser reads it.
type document struct {
	elements map[string]int
	names    []string // of attributes
	links    []string
	texts    []string
	tables   [][][]string
}

// element are the elements of a report, including drawings.
var element = []string{
	"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tbody", "tr", "th", "td", "section", "a",
	"svg", "g", "path", "text", "defs", "desc", "clippath", "clipPath", "rect", "line", "polyline", "polygon",
}

// parse reads a page. It allows only elements of a report, and requires that all rows of a table are as long as its head.
func parse(t *testing.T, page string) *document {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if root.FirstChild.Type != html.DoctypeNode || root.FirstChild.Data != "html" {
		t.Error("there is no doctype")
	}
	d := &document{elements: map[string]int{}}
	d.walk(root)
	for name := range d.elements {
		if !slices.Contains(element, name) {
			t.Errorf("there is an element %q", name)
		}
	}
	for _, name := range d.names {
		if strings.HasPrefix(strings.ToLower(name), "on") || name == "src" {
			t.Errorf("there is an attribute %q", name)
		}
	}
	for _, table := range d.tables {
		for _, row := range table {
			if len(row) != len(table[0]) {
				t.Errorf("a row has %d cells of %d: %q", len(row), len(table[0]), row)
			}
		}
	}
	for _, open := range []string{"svg", "section", "table", "style", "title", "h1", "h2", "p", "a", "body", "html", "head"} {
		if a, b := strings.Count(page, "<"+open+">")+strings.Count(page, "<"+open+" "), strings.Count(page, "</"+open+">"); a != b {
			t.Errorf("%d of <%s> and %d of </%s>", a, open, b, open)
		}
	}
	return d
}

func (d *document) walk(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		d.texts = append(d.texts, n.Data)
	case html.ElementNode:
		d.elements[n.Data]++
		for _, a := range n.Attr {
			d.names = append(d.names, a.Key)
			if a.Key == "href" {
				d.links = append(d.links, a.Val)
			}
		}
		switch n.Data {
		case "table":
			d.tables = append(d.tables, nil)
		case "tr":
			d.tables[len(d.tables)-1] = append(d.tables[len(d.tables)-1], nil)
		case "td", "th":
			table := d.tables[len(d.tables)-1]
			table[len(table)-1] = append(table[len(table)-1], strings.TrimSpace(textOf(n)))
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		d.walk(c)
	}
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

// table is the table whose head begins with these cells.
func (d *document) table(t *testing.T, head ...string) [][]string {
	t.Helper()
	for _, table := range d.tables {
		if len(table) > 0 && len(table[0]) >= len(head) && slices.Equal(table[0][:len(head)], head) {
			return table[1:]
		}
	}
	t.Fatalf("no table begins with %q", head)
	return nil
}

func (d *document) has(words string) bool {
	return slices.ContainsFunc(d.texts, func(s string) bool { return strings.Contains(s, words) })
}

func TestHTML(t *testing.T) {
	of := about()
	of.Status.Totals = frontier.Totals{Pages: 4, Scored: 3, Relevant: 2, Errors: 5, Robots: 6, Retries: 7, Links: 8, Known: 9, Requisites: 10, RequisitesArchived: 9, RequisitesCut: 2, New: 1, Changed: 2, Unchanged: 3, Gone: 4, Forbidden: 5, NotDue: 6}
	of.Status.Ends = []frontier.DroppedURL{{URL: "http://gone.example/", Kind: crawl.OutcomeFailed, Reason: "no such host", At: start}}
	of.TopicModel = &topic.Model{Terms: []text.Term{{Text: "nest"}, {Text: "feather"}}}
	first, second := indexed(0, "http://a.example/1", 0.75), indexed(60, "http://a.example/2", 0.25)
	first.Application, first.Length, second.Length = "wordpress", 2_000_000, 1_500_000
	d := parse(t, write(t, collect(0.5, first, second, indexed(90, "http://b.example/", 0.5), indexed(91, "http://b.example/p", -1)), of))
	for _, c := range []struct {
		head string
		want [][]string
	}{
		{"pages archived in all runs", [][]string{{"4", "0", "3.5", "2"}}},
		{"pages of this run", [][]string{{"4", "3", "2", "0.667", "5", "6", "7", "8", "9", "10", "9", "2", "0.750"}}},
		{"new pages of this run", [][]string{{"1", "2", "3", "4", "5", "6"}}},
		{"host", [][]string{{"a.example", "2", "2", "1", "0.500", "0.500", "0", "3.5"}, {"b.example", "2", "1", "1", "1.000", "0.500", "0", "0.0"}}},
		{"application", [][]string{{"none recognised", "2", "1", "0.500", "0.375"}, {"wordpress", "1", "1", "1.000", "0.750"}}},
		{"status", [][]string{{"200", "4"}}},
	} {
		if got := d.table(t, c.head); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: %q, want %q", c.head, got, c.want)
		}
	}
	const part = "those of the worker"
	of.Definition.Spread = true
	if d.has(part) || !parse(t, write(t, collect(0.5, first), of)).has(part) {
		t.Error("it is not said, or of a crawl of one worker, that the numbers are those of one worker")
	}
	of.Definition.Spread = false
	if got, want := d.table(t, "URL", "kind"), [][]string{{"http://gone.example/", string(crawl.OutcomeFailed), "no such host"}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("ends %q, want %q", got, want)
	}
	if got, want := d.table(t, "URL", "score"), [][]string{{"http://a.example/1", "0.750"}, {"http://b.example/", "0.500"}, {"http://a.example/2", "0.250"}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("top %q, want %q", got, want)
	}
	if want := []string{"http://a.example/1", "http://b.example/", "http://a.example/2"}; !slices.Equal(d.links, want) {
		t.Errorf("links %q, want %q", d.links, want)
	}
	for _, words := range []string{"Crawl ravens", "about ravens", "Run 3, started 2026-03-04 05:00:00 UTC", "made 2026-03-04 06:00:00 UTC", "score of 0.5 on", "Order: fused", "nest feather",
		"harvest ratio", "of the last tenth", "relevant pages", "1M"} {
		if !d.has(words) {
			t.Errorf("%q is not written", words)
		}
	}
	if d.elements["svg"] != 4 {
		t.Errorf("%d drawings", d.elements["svg"])
	}
}

// A crawl that has archived nothing, or nothing that was judged, gives a valid page.
func TestHTMLOfLittle(t *testing.T) {
	moved := indexed(0, "http://a.example/", -1)
	moved.Status = 301
	for name, list := range map[string][]archive.Indexed{
		"nothing": nil, "robots.txt alone": {indexed(0, "http://a.example/robots.txt", -1)}, "a redirect alone": {moved},
		"a picture alone": {indexed(0, "http://a.example/p.png", -1)}, "one page": {indexed(0, "http://a.example/", 1)},
		"all at one time": {indexed(0, "http://a.example/", 1), indexed(0, "http://b.example/", 0)},
	} {
		for _, of := range []Crawl{{}, about()} {
			d := parse(t, write(t, collect(0.5, list...), of))
			if d.elements["svg"] != 4 || d.elements["h1"] != 1 {
				t.Errorf("%s: %v", name, d.elements)
			}
			if name == "nothing" && !slices.Equal(d.table(t, "pages archived in all runs")[0], []string{"0", "0", "0.0", "0"}) {
				t.Errorf("%q", d.tables)
			}
		}
	}
}

// The same pages give the same report in any order.
func TestOrderOfInput(t *testing.T) {
	var list []archive.Indexed
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 500 {
		page := indexed(i, fmt.Sprintf("http://h%d.example/%d", random.IntN(40), i), float64(random.IntN(11)-1)/8)
		page.Length, page.Application = int64(random.IntN(1<<20)), []string{"", "wordpress", "mediawiki"}[random.IntN(3)]
		list = append(list, page)
	}
	want := write(t, collect(0.5, list...), about())
	for range 5 {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if write(t, collect(0.5, list...), about()) != want {
			t.Fatal("another order gives another report")
		}
	}
}

// The order of pages that were fetched within one second does not matter either.
func TestOrderOfInputWithinASecond(t *testing.T) {
	list := []archive.Indexed{indexed(0, "http://a.example/", 0.9), indexed(0, "http://b.example/", 0.1), indexed(0, "http://c.example/", 0.6)}
	want := write(t, collect(0.5, list...), about())
	slices.Reverse(list)
	if write(t, collect(0.5, list...), about()) != want {
		t.Error("another order gives another report")
	}
}

// A report can be written again, also after more pages were added.
func TestHTMLTwice(t *testing.T) {
	c := collect(0.5, scored(0.9, 0.1, 0.6)...)
	want := write(t, c, about())
	if write(t, c, about()) != want {
		t.Error("the second is another")
	}
	c.Add(indexed(-5, "http://a.example/late", 0.2))
	if got := write(t, c, about()); got != write(t, collect(0.5, append(scored(0.9, 0.1, 0.6), indexed(-5, "http://a.example/late", 0.2))...), about()) {
		t.Error("what came later counts in another way")
	}
}

// No text of the web or of an archivist becomes markup or script.
func TestHostile(t *testing.T) {
	const script = `</title></style></td></svg><script>alert(1)</script><img src=x onerror="alert(1)"><!-- ' " & {{.}} `
	of := about()
	of.Definition.Name, of.Definition.Description, of.Definition.Order.Strategy = script, script, script
	of.Status.Totals.Pages = 1
	of.Status.Ends = []frontier.DroppedURL{{URL: script, Kind: script, Reason: script}}
	of.TopicModel = &topic.Model{Terms: []text.Term{{Text: script}}}
	urls := []string{
		script, "javascript:alert(1)", " javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x",
		`http://a.example/" onmouseover="alert(1)`, "http://a.example/' onclick='alert(1)", "http://<script>alert(1)</script>.example/", "http://a.example/%3Cscript%3E?a=1&b=2#<b>",
		"http://a.example/\x00\u2028\xff", "//evil.example/", "",
	}
	var list []archive.Indexed
	for i, u := range urls {
		page := indexed(i, u, 0.5)
		page.Application = script
		list = append(list, page)
	}
	page := write(t, collect(0.5, list...), of)
	d := parse(t, page)
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, "<!--") {
		t.Error("the page holds markup that is not its own")
	}
	for _, link := range d.links {
		scheme, _, found := strings.Cut(strings.ToLower(strings.TrimSpace(link)), ":")
		if found && !strings.ContainsAny(scheme, "/?#") && scheme != "http" && scheme != "https" {
			t.Errorf("there is a link to %q", link)
		}
	}
	if len(d.links) != len(urls) || slices.Index(d.links, "#ZgotmplZ") < 0 {
		t.Errorf("%d links of %d: %q", len(d.links), len(urls), d.links)
	}
	n := 0
	for _, text := range d.texts {
		n += strings.Count(text, "<script>alert(1)</script><img src=x")
	}
	if n < 10 { // title, heading, description, order, term, three of an end, host, application, page
		t.Errorf("what is hostile is written out %d times, want it wherever it belongs", n)
	}
	if d.elements["h1"] != 1 || d.elements["svg"] != 4 || d.elements["title"] != 1 {
		t.Errorf("%v", d.elements)
	}
}

// full is a disk that has room for a few bytes.
type full struct{ room int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestHTMLNotWritten(t *testing.T) {
	if err := collect(0.5, scored(1)...).HTML(&full{room: 100}, about()); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}
