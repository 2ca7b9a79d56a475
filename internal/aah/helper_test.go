package aah

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

const ravenForum = `<application xmlns="` + kb.Namespace + `" name="Raven" category="forum">
<detect generator="raven board"/>
<detect xpath="//script[contains(@src, '/raven.js')]" confidence="0.6"/>
<detect text="ravenboard-footer" confidence="0.4"/>
<detect cookie="ravensession"/>
<detect header="X-Made-By: Hugin"/>
<level name="login"><match url="/login"/></level>
<level name="thread" terminal="true"><match xpath="//div[@id='thread']"/>
  <object type="post" each="//div[has-class('post')]">
    <property name="author" xpath=".//b"/>
    <property name="published" xpath=".//time/@datetime" as="dateTime"/>
    <property name="body" xpath=".//p" without=".//s | .//u"/>
    <property name="permalink" xpath=".//a[has-class('self')]/@href" as="url"/>
    <property name="score" xpath=".//i" as="number" match="([0-9,]+) points"/>
    <property name="tags" xpath=".//em" many="true"/>
  </object>
  <follow xpath="//div[@id='pages']//a" level="thread" priority="0.9" paging="true"/>
</level>
<level name="list of threads"><match url="/f/"/>
  <follow xpath="//a[has-class('t')]" level="thread" priority="1"/>
  <follow url="/t/" level="thread" priority="0.5"/>
  <drop xpath="//a[has-class('new')]"/>
</level>
<drop url="/(login|reply)"/>
<normalize parameter="sid"/>
<normalize parameter="page" value="1"/>
<normalize url="/topic-([0-9]+)-.*$" to="/t/$1"/>
<version name="2"><detect generator="raven board 2"/></version>
<version name="3"><detect generator="raven board 3"/></version>
</application>`

const crowBlog = `<application xmlns="` + kb.Namespace + `" name="Crow" category="blog">
<detect text="crow-engine" confidence="0.7"/>
<level name="article" terminal="true"><match url="."/><object type="article" each="//body"><property name="title" xpath=".//h1"/><property name="body" xpath=".//article"/></object></level>
</application>`

func base(t testing.TB, files ...string) *kb.Base {
	t.Helper()
	m := fstest.MapFS{}
	for i, f := range files {
		m[fmt.Sprintf("%d.xml", i)] = &fstest.MapFile{Data: []byte(f)}
	}
	b, err := kb.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func helper(t testing.TB) *Helper { return New(base(t, ravenForum, crowBlog), DefaultLimits()) }

// apply returns the page of a document with what the helper says of it.
func apply(h *Helper, d *page.Document, in Input) *crawl.Parsed {
	found := h.Apply(d, in) // changes the links of the page
	return &crawl.Parsed{Page: d.Page, Findings: found}
}

func read(h *Helper, url, body string, in Input) *crawl.Parsed {
	return apply(h, document(url, body), in)
}

func document(url, body string) *page.Document {
	return page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: []byte(body)}, page.DefaultLimits())
}

const generator = `<meta name="generator" content="Raven Board 2.1">`

func TestRecognise(t *testing.T) {
	tests := []struct{ name, url, head, body, app, version string }{
		{"generator, case apart", "/", "", generator, "Raven", "2"},
		{"the second generator", "/", "", `<meta name="generator" content="Elementor"><meta name="GENERATOR" content="RAVEN BOARD 3">`, "Raven", "3"},
		{"one strong mark", "/", "", `<script src="/raven.js"></script>`, "Raven", ""},
		{"one weak mark", "/", "", `<p><!--ravenboard-footer-->`, "", ""},
		{"a weak mark beside a strong one of another", "/", "", `<p><!--ravenboard-footer crow-engine-->`, "Crow", ""},
		{"two marks against one", "/", "", `<script src="/raven.js"></script><p><!--ravenboard-footer crow-engine-->`, "Raven", ""},
		{"cookie", "/", "Set-Cookie: RavenSession=1; path=/\r\n", "<p>x", "Raven", ""},
		{"cookie of another name", "/", "Set-Cookie: other=ravensession\r\n", "<p>x", "", ""},
		{"header", "/", "X-Made-By:  hugin 7\r\n", "<p>x", "Raven", ""},
		{"header of another name", "/", "X-Other: hugin x-made-by\r\n", "<p>x", "", ""},
		{"words of the marks in another place", "/", "", `<p>raven board x-made-by hugin ravensession</p><a href="/raven.js">s</a>`, "", ""},
		{"nothing", "/", "", ``, "", ""},
	}
	for _, test := range tests {
		d := read(helper(t), "http://a.test"+test.url, test.body, Input{Head: []byte(test.head)})
		if d.Application != test.app || d.Version != test.version || (d.Rule == "") != (test.app == "") {
			t.Errorf("%s: %q %q by %q, want %q %q", test.name, d.Application, d.Version, d.Rule, test.app, test.version)
		}
	}
}

// TestHostMemory: a page without marks gets the application of its host if it looks like it; a page of another
// host does not, nor one of a host that has changed.
func TestHostMemory(t *testing.T) {
	h := helper(t)
	bare := `<div id="thread"><div class="post"><p>They fly.</p></div></div>`
	for range 3 {
		read(h, "http://a.test/", generator, Input{})
	}
	tests := []struct{ name, url, body, app string }{
		{"looks like it", "http://a.test/t/1", bare, "Raven"},
		{"does not", "http://a.test/x", "<p>About us", ""},
		{"another host", "http://b.test/t/1", bare, ""},
	}
	for _, test := range tests {
		if d := read(h, test.url, test.body, Input{}); d.Application != test.app || test.app != "" && (d.Rule != "host" || d.Version != "2" || len(d.Objects) != 1) {
			t.Errorf("%s: %q by %q", test.name, d.Application, d.Rule)
		}
	}
	for range 20 {
		read(h, "http://a.test/", `<!--crow-engine-->`, Input{})
	}
	if d := read(h, "http://a.test/t/1", bare, Input{}); d.Application == "Raven" {
		t.Error("a host that has changed is taken for what it was")
	}
	small := New(h.Base(), Limits{Objects: 1, PropertyBytes: 10, Nodes: 1000, Hosts: 2})
	for i := range 50 {
		read(small, fmt.Sprintf("http://h%d.test/", i), generator, Input{})
	}
	if n := small.hosts.Len(); n > 2 {
		t.Errorf("%d hosts are remembered, 2 may be", n)
	}
}

func TestLevelAndObjects(t *testing.T) {
	document := document("http://a.test/t/7", generator+`<div id="thread">
<div class="post"><b>Hugo</b><time datetime="2026-11-21">x</time><p>One<br><s>not <u>this</u></s>two <u>nor</u><script>no</script></p><a class="self" href="#1">1</a><i>1,234 points</i><em>black</em><em>bird</em></div>
<div class="post x"><p>Three</p><i>none</i></div><div class="post"></div></div>`)
	d := apply(helper(t), document, Input{})
	if d.Level != "thread" || !d.Terminal || !strings.HasPrefix(d.LevelRule, "0.xml:") {
		t.Fatalf("level %q by %q", d.Level, d.LevelRule)
	}
	want := []string{
		"author=Hugo published=2026-11-21T00:00:00Z body=One two html=One<br/>two <script>no</script> permalink=http://a.test/t/7#1 score=1234 tags=black tags=bird",
		"body=Three html=Three",
	}
	var got []string
	for _, o := range d.Objects {
		var parts []string
		if err := extract.Fill(document, &o); err != nil {
			t.Error(err)
		}
		for _, p := range o.Properties {
			parts = append(parts, p.Name+"="+p.Value)
		}
		if o.Type != "post" || o.Confidence != 1 || !strings.HasPrefix(o.Rule, "0.xml:") {
			t.Errorf("%+v", o)
		}
		got = append(got, strings.Join(parts, " "))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var content []string
	for i, in := range d.Content {
		if in {
			content = append(content, d.Blocks[i])
		}
	}
	if !slices.ContainsFunc(content, func(s string) bool { return strings.Contains(s, "Three") }) || slices.ContainsFunc(content, func(s string) bool { return strings.Contains(s, "points") }) {
		t.Errorf("content %q of %q", content, d.Blocks)
	}
}

func TestJudge(t *testing.T) {
	body := generator + `<a class="t" href="/t/1?sid=abc">1</a><a class="t" href="/topic-2-old-ravens">2</a><a href="/t/3?page=1&x=2">3</a><a class="new" href="/t/4">4</a>
<a href="/login?x">l</a><a href="/about">a</a><a href="http://b.test/login">b</a><img src="/i.png"><a href="http://www.a.test/reply">r</a><a href="/t/1">again</a>`
	for mode, want := range map[string][]string{
		crawl.HelperLenient: {"L /t/1 thread 1.0", "L /t/2 thread 1.0", "L /t/3?x=2 thread 0.5", "L /about  0.1", "L http://b.test/login  0.1", "E /i.png  0.0"},
		crawl.HelperStrict:  {"L /t/1 thread 1.0", "L /t/2 thread 1.0", "L /t/3?x=2 thread 0.5", "E /i.png  0.0"},
		crawl.HelperOff: {"L /t/1?sid=abc  0.0", "L /topic-2-old-ravens  0.0", "L /t/3?page=1&x=2  0.0", "L /t/4  0.0", "L /login?x  0.0", "L /about  0.0",
			"L http://b.test/login  0.0", "E /i.png  0.0", "L http://www.a.test/reply  0.0", "L /t/1  0.0"},
	} {
		if got := kept(read(helper(t), "http://a.test/f/1", body, Input{Mode: mode})); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", mode, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	d := read(helper(t), "http://a.test/t/1", generator+`<div id="thread"><div class="post"><p>See <a href="http://b.test/x">there</a></p></div></div><div id="pages"><a href="/t/1?page=2">2</a></div><a href="http://c.test/">c</a>`, Input{Mode: crawl.HelperStrict})
	if got, want := kept(d), []string{"L http://b.test/x  0.0", "N /t/1?page=2 thread 0.9"}; !reflect.DeepEqual(got, want) {
		t.Errorf("paging and what content links to: %q, want %q", got, want)
	}
}

// kept writes the links of a page.
func kept(d *crawl.Parsed) (list []string) {
	for _, l := range d.Links {
		list = append(list, fmt.Sprintf("%c %s %s %.1f", l.Hop, strings.TrimPrefix(l.URL, "http://a.test"), l.Level, l.Prior))
	}
	return list
}

func TestLimits(t *testing.T) {
	body := `<!--crow-engine--><h1>äääää</h1><article>` + strings.Repeat("<p>x</p>", 50) + `</article>`
	d := read(New(base(t, crowBlog), Limits{Objects: 3, PropertyBytes: 5, Nodes: 10_000, Hosts: 1}), "http://a.test/", body, Input{})
	if len(d.Objects) != 1 || d.Objects[0].Properties.Get("title") != "ää" || len(d.Objects[0].Properties.Get("html")) > 5 {
		t.Errorf("%+v", d.Objects)
	}
	d = read(New(base(t, crowBlog), Limits{Objects: 3, PropertyBytes: 5, Nodes: 20, Hosts: 1}), "http://a.test/", body, Input{})
	if d.Application != "Crow" || len(d.Objects) > 0 && d.Objects[0].Properties.Get("title") != "" {
		t.Errorf("the budget does not end the work: %+v", d.Objects)
	}
}

// TestConcurrentUse: one helper, many pages at once, the same answers; a base may be replaced meanwhile.
func TestConcurrentUse(t *testing.T) {
	h := helper(t)
	body := generator + `<div id="thread"><div class="post"><p>They fly.</p></div></div><a href="/login">x</a>`
	want := read(h, "http://a.test/t/1", body, Input{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				if i == 10 {
					h.SetBase(base(t, ravenForum, crowBlog))
				}
				if got := read(h, "http://a.test/t/1", body, Input{}); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v\nwant %+v", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestStructured(t *testing.T) {
	ld := `<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"Organization","name":"x"},{"@type":["NewsArticle","Thing"],
"headline":"Ravens &amp; crows","author":[{"@type":"Person","name":"Hugo"}],"datePublished":"2026-11-21","keywords":"black, bird","url":"/r","articleBody":"They <b>fly</b>.",
"comment":[{"@type":"Comment","text":"Fine.","author":{"name":"Munin"}}]}]}</script><script type="application/ld+json">{broken</script>`
	d := read(helper(t), "http://a.test/r", ld+"<p>short", Input{})
	want := crawl.Properties{{Name: "title", Value: "Ravens & crows"}, {Name: "author", Value: "Hugo"}, {Name: "published", Value: "2026-11-21T00:00:00Z"}, {Name: "body", Value: "They fly ."},
		{Name: "tags", Value: "black"}, {Name: "tags", Value: "bird"}, {Name: "permalink", Value: "http://a.test/r"}}
	if len(d.Objects) != 2 || !reflect.DeepEqual(d.Objects[0].Properties, want) || d.Objects[1].Properties.Get("author") != "Munin" || d.Level != "article" {
		t.Errorf("%+v, level %s", d.Objects, d.Level)
	}
	d = read(helper(t), "http://a.test/r", ld+"<!--crow-engine--><h1>Own title</h1><article>Own body</article>", Input{})
	p := d.Objects[0].Properties
	if len(d.Objects) != 1 || p.Get("title") != "Own title" || p.Get("body") != "Own body" || p.Get("author") != "Hugo" || len(p.All("tags")) != 2 {
		t.Errorf("what the page says of itself does not complete its object: %+v", d.Objects)
	}
}

// TestSegments: on a page of an unknown application, the main text is distinguished from navigation and footers.
func TestSegments(t *testing.T) {
	text := strings.Repeat("The raven sits on the wall of the old tower and looks down at the people who pass below it. ", 3)
	body := `<body><div id="menu"><a href="/a">Home</a> <a href="/b">About us</a> <a href="/c">Contact</a></div><div class="main"><h1>Ravens</h1><p>` + text + `</p><p>` + text + `</p><p>` + text +
		`</p></div><div class="comments"><p>` + text + `</p></div><div class="footer">All rights reserved by the people of the tower who keep the ravens and feed them every day of the year</div>`
	d := read(helper(t), "http://a.test/x", body, Input{})
	if len(d.Objects) != 1 || d.Objects[0].Type != "article" || d.Objects[0].Properties.Get("title") != "Ravens" || !d.Terminal {
		t.Fatalf("%+v", d.Objects)
	}
	got := d.Objects[0].Properties.Get("body")
	if strings.Count(got, "The raven sits") != 9 || strings.Contains(got, "Contact") || strings.Contains(got, "rights") {
		t.Errorf("body %q", got)
	}
	if d := read(helper(t), "http://a.test/x", `<ul><li><a href="/a">One</a><li><a href="/b">Two</a></ul>`, Input{}); len(d.Objects) != 0 || d.Level != "" {
		t.Errorf("a list of links is taken for %s: %+v", d.Level, d.Objects)
	}
}

// TestDataWithoutText: an article that the page's data name has the page's text as its body; a FAQ beside it makes no question of it.
func TestDataWithoutText(t *testing.T) {
	text := strings.Repeat("<p>"+strings.Repeat("The raven sits on the wall of the old tower. ", 8)+"</p>", 4)
	questions := `{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"Why?","acceptedAnswer":{"@type":"Answer","text":"So."}}]}`
	page := func(data string) crawl.Findings {
		body := `<script type="application/ld+json">[` + data + `]</script><div id=nav><a href="/a">Home</a></div><div><h1>Ravens</h1>` + text + `</div>`
		d := read(helper(t), "http://a.test/x", body, Input{})
		return d.Findings
	}
	for _, c := range []struct {
		data, level, kind string
		raven             int // times that the text stands in the first body
	}{
		{questions + `,{"@type":"Article","headline":"Ravens"}`, "article", "article", 32},
		{questions + `,{"@type":"Product","name":"A raven","description":"Black."}`, "product", "product", 32},
		{`{"@type":"Article","headline":"Ravens","articleBody":"The raven sits."}`, "article", "article", 32},
		{`{"@type":"Article","headline":"Ravens","articleBody":"` + strings.Repeat("The raven of the data sits on the wall. ", 30) + `"}`, "article", "article", 30},
		{`{"@type":"Comment","text":"Fine."},{"@type":"Product","name":"A raven"}`, "product", "comment", 0},
		{questions, "question", "question", 0},
		{`{"@type":"QAPage","mainEntity":{"@type":"Question","name":"Why?"}}`, "question", "question", 0},
	} {
		found := page(c.data)
		if found.Level != c.level || len(found.Objects) == 0 || found.Objects[0].Type != c.kind || strings.Count(found.Objects[0].Properties.Get("body"), "The raven") != c.raven {
			t.Errorf("%.80s: level %q, %+v", c.data, found.Level, found.Objects)
		}
	}
}

// TestContentOfLists: of a list, what stands outside of navigation and footers is content, also titles, which are links; of a form all.
func TestContentOfLists(t *testing.T) {
	const rules = `<application xmlns="` + kb.Namespace + `" name="Crow" category="blog"><detect text="crow-engine"/>
<level name="list"><match xpath="//ul[@id='l']"/></level><level name="login"><match xpath="//form"/></level></application>`
	h := New(base(t, rules), DefaultLimits())
	read := func(body string) (content []string) {
		d := read(h, "http://a.test/", "<!-- crow-engine --><nav><a href=/n>Home</a></nav>"+body+"<footer>All rights reserved by ravens</footer>", Input{})
		for i, b := range d.Blocks {
			if d.Content == nil || d.Content[i] {
				content = append(content, b)
			}
		}
		return content
	}
	if got := strings.Join(read(`<ul id=l><li><a href=/1>One raven</a><li><a href=/2>Two</a></ul>`), "|"); got != "One raven|Two" {
		t.Errorf("content of a list: %q", got)
	}
	if got := strings.Join(read(`<form>Name</form>`), "|"); got != "Home|Name|All rights reserved by ravens" {
		t.Errorf("content of a form: %q", got)
	}
}

// TestMixedHost: if a host runs an application on some pages only, its other pages do not count as that application forever.
func TestMixedHost(t *testing.T) {
	h := helper(t)
	for range 3 {
		read(h, "http://a.test/board/", generator, Input{})
	}
	taken := 0
	for i := range 20 {
		if d := read(h, fmt.Sprintf("http://a.test/f/%d", i), `<p>another part of the site`, Input{}); d.Application == "Raven" {
			taken++
		}
	}
	if taken == 0 || taken > 5 {
		t.Errorf("%d of 20 pages without a mark are taken for the application", taken)
	}
}
