package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/recognition"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

func TestTokens(t *testing.T) {
	for _, test := range []struct {
		text string
		want string
	}{
		{"", ""},
		{" – … ", ""},
		{"The raven's Nest, 2nd", "the|raven|s|nest|2nd"},
		{"ÄRGER straße e\u0301tude", "ärger|straße|e\u0301tude"},
		{"渡り鳥 bird鳥", "渡|り|鳥|bird|鳥"},
	} {
		if got := strings.Join(Tokens(test.text), "|"); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		right, answer string
		want          Match
	}{
		{"", "", Match{1, 1, 1}},
		{"a", "", Match{}},
		{"", "a", Match{}},
		{"a b", "b a", Match{1, 1, 1}},
		{"a b c d", "a b", Match{1, 0.5, 2. / 3}},
		{"a b", "a b c d", Match{0.5, 1, 2. / 3}},
		{"a", "a a a a", Match{0.25, 1, 0.4}},
		{"a a b", "a c", Match{0.5, 1. / 3, 0.4}},
	} {
		got := Compare(Tokens(test.right), Tokens(test.answer))
		for _, d := range []float64{got.Precision - test.want.Precision, got.Recall - test.want.Recall, got.F1 - test.want.F1} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%q, %q: %+v, want %+v", test.right, test.answer, got, test.want)
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	none, day := "", "2019-05-13"
	late := time.Date(2019, 5, 12, 23, 30, 0, 0, time.FixedZone("", -3600))
	for _, test := range []struct {
		name      string
		got, want Verdict
	}{
		{"title not judged", judgeTitle(nil, "Ravens"), Verdict{false, true, false}},
		{"title, none is shown", judgeTitle([]string{}, ""), Verdict{true, false, true}},
		{"title that is not shown", judgeTitle([]string{}, "Ravens"), Verdict{true, true, false}},
		{"title, other signs", judgeTitle([]string{"Ravens – a study"}, "ravens: A Study"), Verdict{true, true, true}},
		{"title, second form", judgeTitle([]string{"Ravens", "Ravens | Birds"}, "Ravens | Birds"), Verdict{true, true, true}},
		{"title, longer", judgeTitle([]string{"Ravens"}, "Ravens | Birds"), Verdict{true, true, false}},
		{"title missing", judgeTitle([]string{"Ravens"}, ""), Verdict{true, false, false}},
		{"author, other order", judgeAuthor([]string{"Jane Smith and John Doe"}, "By Smith, Jane; Doe, John"), Verdict{true, true, true}},
		{"author, one of two", judgeAuthor([]string{"Jane Smith and John Doe"}, "Jane Smith"), Verdict{true, true, false}},
		{"author, twice", judgeAuthor([]string{"Jane Smith"}, "Jane Smith Jane Smith"), Verdict{true, true, false}},
		{"date not judged", judgeDate(nil, late), Verdict{false, true, false}},
		{"date, none is shown", judgeDate(&none, time.Time{}), Verdict{true, false, true}},
		{"date that is not shown", judgeDate(&none, late), Verdict{true, true, false}},
		{"date in UTC", judgeDate(&day, late), Verdict{true, true, true}},
		{"date the day before", judgeDate(&day, late.Add(-time.Hour)), Verdict{true, true, false}},
		{"date missing", judgeDate(&day, time.Time{}), Verdict{true, false, false}},
	} {
		if test.got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, test.got, test.want)
		}
	}
}

func TestReadFaults(t *testing.T) {
	const good = `{"file":"a/1.html","use":"judging","kind":"article","body":["/html/body"],"sum":"x","words":1}` + "\n"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "# remark\n\n", "gold: has no gold"},
		{"no JSON", good + "x\n", "gold:2: "},
		{"two objects", strings.TrimSpace(good) + "{}", "gold:1: something follows"},
		{"an unknown field", `{"flie":"x"}`, `gold:1: json: unknown field "flie"`},
		{"no file", "# remark\n{}", "gold:2: file is missing"},
		{"twice", good + "\n" + good, "gold:3: a/1.html has a line already, line 1"},
		{"use", strings.Replace(good, "judging", "training", 1), `gold:1: use: "training" is neither choosing nor judging`},
		{"kind", strings.Replace(good, "article", "poem", 1), `gold:1: kind: "poem" is none of article, forum`},
		{"no body", `{"file":"x","use":"judging","kind":"form"}`, "gold:1: body is missing"},
		{"a sum of no body", `{"file":"x","use":"judging","kind":"form","body":[],"words":3}`, "gold:1: body is empty"},
		{"no XPath", strings.Replace(good, "/html/body", "/html/", 1), `gold:1: body[0]: "/html/": `},
		{"no elements", strings.Replace(good, "/html/body", "count(//p)", 1), `gold:1: body[0]: "count(//p)" selects no elements`},
		{"without", strings.Replace(good, `"sum"`, `"without":["//p","]"],"sum"`, 1), "gold:1: without[1]: "},
		{"date", strings.Replace(good, `"sum"`, `"date":"13.5.2019","sum"`, 1), `gold:1: date: "13.5.2019" is no date`},
		{"modified", strings.Replace(good, `"sum"`, `"modified":"2019-13-01","sum"`, 1), "gold:1: modified: "},
		{"title", strings.Replace(good, `"sum"`, `"title":["–"],"sum"`, 1), `gold:1: title, author: "–" has no word`},
		{"a line too long", good + strings.Repeat("x", MaxLine+1), "gold:2: bufio.Scanner: token too long"},
	} {
		if _, err := Read(strings.NewReader(test.text), "gold"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	list, err := Read(strings.NewReader("# remark\n\n"+good+`{"file":"b","use":"choosing","kind":"form","body":[],"title":[],"date":""}`), "gold")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d lines: %v", len(list), err)
	}
	if g := list[1]; g.Title == nil || g.Author != nil || g.Date == nil || *g.Date != "" || list[0].Date != nil {
		t.Errorf("what is absent and what is empty are the same: %+v", list)
	}
}

// hosts with their halves: three synthetic sites of two applications, and one of an application that has no other.
var halves = func() (found map[string]string) {
	found = map[string]string{}
	for n := 0; len(found) < 2; n++ {
		host := fmt.Sprintf("h%d.test", n)
		if use := UseOf(host, false); found[use] == "" {
			found[use] = host
		}
	}
	return found
}()

const (
	article = `<html><head><title>Ravens | Birds</title><meta name=author content="Jane Smith"><meta property="article:published_time" content="2019-05-13"></head>
<body><nav>home ravens</nav><article><h1>Ravens</h1><div id=text><p>Ravens are large <b>bl</b>ack birds.</p><aside>Buy seed now</aside><script>x()</script><p>They nest early.</p></div></article>
<div class=comments><p>Nice birds</p></div></body></html>`
	thread = `<html><head><title>Which seed?</title></head><body><div class=post><b>ann</b><p>Which seed is best?</p></div><div class=post><b>bob</b><p>Sunflower seed.</p></div></body></html>`
	login  = `<html><head><title>Log in</title></head><body><form><input type=password></form></body></html>`
)

// saved makes a folder of pages with its gold.
func saved(t *testing.T) (dir string, list []Gold) {
	t.Helper()
	dir = t.TempDir()
	var index []string
	for _, p := range []struct{ file, cms, host, text string }{
		{"a.html", "Birds", halves[Choosing], article}, {"t.html", "Birds", halves[Judging], thread}, {"l.html", "Lone", "lone.test", login},
	} {
		index = append(index, fmt.Sprintf(`{"file":%q,"cms":%q,"level":"post","url":"http://www.%s/x"}`, p.file, p.cms, p.host))
		if err := os.WriteFile(filepath.Join(dir, p.file), []byte(p.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "index.jsonl"), []byte(strings.Join(index, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	day, none := "2019-05-13", ""
	return dir, []Gold{
		{
			File: "a.html", Use: Choosing, Kind: "article", Body: []string{"//*[@id='text']", "//*[@id='text']/p[1]"}, Without: []string{"aside"},
			Sum: crawl.SumOf("Ravens are large black birds. They nest early."), Words: 8, Title: []string{"Ravens"}, Author: []string{"Jane Smith"}, Date: &day,
		},
		{
			File: "t.html", Use: Judging, Kind: "forum", Body: []string{"/html/body/div[2]/p", "/html/body/div[1]/p"},
			Sum: crawl.SumOf("Which seed is best?\nSunflower seed."), Words: 6, Title: []string{"Which seed?"}, Author: []string{"ann"}, Date: &none,
		},
		{File: "l.html", Use: Judging, Kind: "form", Body: []string{}},
	}
}

func TestLoad(t *testing.T) {
	dir, list := saved(t)
	pages, err := Load(dir, list)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(pages[1].Right, " "); len(pages) != 3 || got != "which seed is best sunflower seed" {
		t.Errorf("%d pages, %q", len(pages), got)
	}
	for _, test := range []struct {
		name   string
		change func(list []Gold)
		want   string
	}{
		{"file", func(l []Gold) { l[0].File = "b.html" }, "b.html is not in the index"},
		{"half", func(l []Gold) { l[0].Use = Judging }, "a.html: use is \"judging\", but the pages of " + halves[Choosing] + " are for choosing"},
		{"half of an only host", func(l []Gold) { l[2].Use = Choosing }, "l.html: use is \"choosing\""},
		{"selects nothing", func(l []Gold) { l[0].Body = []string{"//main"} }, `a.html: body: "//main" selects nothing`},
		{"selects an attribute", func(l []Gold) { l[0].Body = []string{"//@id"} }, `a.html: body: "//@id" selects what is no element`},
		{"selects a text", func(l []Gold) { l[0].Body = []string{"//p/text()"} }, `selects what is no element`},
		{"without nothing", func(l []Gold) { l[0].Without = []string{"aside", "nav"} }, `a.html: without: "nav" selects nothing within the body`},
		{"without outside", func(l []Gold) { l[0].Without = []string{"//nav"} }, `a.html: without: "//nav" selects nothing within the body`},
		{"no words", func(l []Gold) { l[2].Body = []string{"//form"} }, "l.html: body: it has no words"},
		{"another text", func(l []Gold) { l[0].Without = nil }, `a.html: the body has 11 words and the sum "`},
		{"no sum", func(l []Gold) { l[0].Sum = "" }, `a.html: the body has 8 words and the sum "` + list[0].Sum},
		{"other words", func(l []Gold) { l[0].Words++ }, `not 9 and`},
	} {
		changed := slices.Clone(list)
		test.change(changed)
		if _, err := Load(dir, changed); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.html"), []byte(strings.Replace(article, "large", "small", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, list); err == nil || !strings.Contains(err.Error(), "a.html: the body has 8 words and the sum") {
		t.Errorf("a page that was changed is measured: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "a.html")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, list); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page that is not there: %v", err)
	}
}

// TestHalves: three of five hosts are for choosing, and the half of a host never changes: who has chosen on it has seen it.
func TestHalves(t *testing.T) {
	n := 0
	for i := range 5000 {
		if UseOf(fmt.Sprintf("host-%d.test", i), false) == Choosing {
			n++
		}
	}
	if n < 2900 || n > 3100 {
		t.Errorf("%d of 5000 hosts are for choosing", n)
	}
	for host, want := range map[string]string{"emotion.de": Judging, "en.wikipedia.org": Judging, "literaturgefluester.wordpress.com": Choosing} {
		if got := UseOf(host, false); got != want {
			t.Errorf("%s is for %s, not %s", host, got, want)
		}
	}
	if UseOf("literaturgefluester.wordpress.com", true) != Judging {
		t.Error("an application of one host is for choosing")
	}
}

// fixed is a system with the same answers whatever the page.
func fixed(name string, answers map[string]Answer, err error) System {
	return System{Name: name, Body: true, Title: true, Author: true, Date: true, Extract: func(p *Page) (Answer, error) {
		if p.File == "l.html" && err == nil {
			panic("no form can be read")
		}
		return answers[p.File], err
	}}
}

func TestMeasure(t *testing.T) {
	dir, list := saved(t)
	pages, err := Load(dir, list)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2019, 5, 13, 0, 0, 0, 0, time.UTC)
	half := fixed("half", map[string]Answer{
		"a.html": {Body: "Ravens are large black", Title: "Ravens", Author: "John Doe", Published: day}, "t.html": {Body: "which", Title: "Birds", Published: day},
	}, nil)
	dates := System{Name: "dates", Date: true, Extract: func(*Page) (Answer, error) { return Answer{Published: day, Title: "Ravens"}, nil }}
	noise := System{Name: "noise", Body: true, Extract: func(p *Page) (Answer, error) {
		return Answer{Body: strings.Join(p.Right, " ") + strings.Repeat(" menu", 100)}, nil
	}}
	r := Sum("base", Measure(pages, []System{half, dates, fixed("broken", nil, errors.New("it is broken")), noise}), 2)
	row := map[string]Row{}
	for _, x := range r.Rows {
		row[x.Group+" "+x.System] = x
	}
	all := row["all half"]
	if want := (Row{Group: "all", System: "half", Pages: 3, Bodies: 3, Bodied: 2, Missed: 1, Faults: 1, Title: Values{2, 2, 1, 1}, Author: Values{2, 1, 0, 0}, Date: Values{2, 2, 1, 1}}); all.Match.F1 < .650 || all.Match.F1 > .651 {
		t.Errorf("F1 %v", all.Match)
	} else if all.Match, all.CPU = want.Match, 0; all != want {
		t.Errorf("%+v, want %+v", all, want)
	}
	if x := row["all dates"]; x.Bodies != 0 || x.Title.Judged != 0 || x.Date != (Values{2, 2, 1, 1}) {
		t.Errorf("a system is judged by what it does not extract: %+v", x)
	}
	if x := row["all noise"]; x.Match.F1 > .2 || x.Missed != 0 || x.Bodied != 2 {
		t.Errorf("a body is missed that is there among other words: %+v", x)
	}
	if x := row["all broken"]; x.Faults != 3 || x.Match.F1 != 1./3 { // of the page that has no body the empty answer is right
		t.Errorf("%+v", x)
	}
	for group, n := range map[string]int{"all": 3, Choosing: 1, Judging: 2, "article": 1, "forum": 1, "form": 1, "product": 0} {
		if row[group+" half"].Pages != n {
			t.Errorf("%s: %d pages, want %d", group, row[group+" half"].Pages, n)
		}
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"all       half    3  .651", "dates   3  -", "best other", `a.html (article, choosing); author is not "John Doe"`, `t.html (forum, judging); title is not "Birds"; no author; date is not "2019-05-13"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "l.html") {
		t.Error("the best page is listed among the two worst")
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"nest early", "Sunflower", "large black"} {
		if bytes.Contains(raw, []byte(word)) {
			t.Errorf("the report has text of a page: %s", word)
		}
	}
	if one := Sum("base", r.Pages[:1], 0); slices.ContainsFunc(one.Rows, func(r Row) bool { return r.Group == Choosing }) {
		t.Error("one half has rows beside those of all pages")
	}
}

const birds = `<application xmlns="https://muninn-archive.github.io/ns/kb/1" name="Birds" category="forum">
	<detect xpath="//div[has-class('post')]" confidence="1"/>
	<level name="thread" terminal="true"><match xpath="//div[has-class('post')]"/>
		<object type="post" each="//div[has-class('post')]"><property name="author" xpath="b"/><property name="body" xpath="p"/></object>
	</level>
</application>`

func TestMuninn(t *testing.T) {
	dir, list := saved(t)
	pages, err := Load(dir, list)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"applications/birds.xml": {Data: []byte(birds)}}
	for _, name := range []string{"applications/generic.xml", "categories/forum.xml"} {
		raw, err := fs.ReadFile(kb.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: raw}
	}
	base, err := kb.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	generic, err := GenericBase(files)
	if err != nil {
		t.Fatal(err)
	}
	if generic.Application("Birds") != nil || generic.Generic() == nil {
		t.Fatal("the generic layer knows an application, or is not there")
	}
	r := Sum(base.ID, Measure(pages, []System{Muninn("muninn", base, false), Muninn("shared", base, true), Muninn("generic", generic, false)}), 0)
	for _, s := range r.Pages[1].Scores[:2] { // the thread
		if s.Match.F1 != 1 || !s.Author.Right || !s.Title.Right || !s.Date.Right || s.Fault != "" {
			t.Errorf("%s: %+v", s.System, s)
		}
	}
	if s := r.Pages[1].Scores[2]; s.Match.F1 == 1 || s.Match.Recall != 1 {
		t.Errorf("without its rules: %+v", s.Match)
	}
	if s := r.Pages[0].Scores[0]; s.Match.Recall != 1 || s.Match.Precision == 1 || !s.Date.Right || !s.Author.Right || s.Title.Right {
		t.Errorf("article: %+v %+v", s, s.Match)
	}
}

// TestBodies: comments on an article are no part of the body, those of a thread are.
func TestBodies(t *testing.T) {
	object := func(kind, body string) crawl.Object {
		return crawl.Object{Type: kind, Properties: crawl.Properties{{Name: "body", Value: body}}}
	}
	d := &page.Document{}
	d.Blocks = []string{"menu", "text"}
	for _, test := range []struct {
		objects []crawl.Object
		content []bool
		want    string
	}{
		{nil, nil, "menu\ntext"},
		{nil, []bool{false, true}, "text"},
		{[]crawl.Object{object("comment", "c"), object("article", "a")}, []bool{true, true}, "a"},
		{[]crawl.Object{object("post", "p"), object("comment", "c")}, nil, "p\nc"},
		{[]crawl.Object{object("question", "q"), object("answer", "a"), object("comment", "c")}, nil, "q\na\nc"},
		{[]crawl.Object{object("comment", "c"), object("comment", "d")}, nil, "c\nd"},
		{[]crawl.Object{{Type: "article"}}, []bool{false, true}, "text"},
	} {
		if got := answerOf(d, crawl.Findings{Terminal: true, Objects: test.objects, Content: test.content}).Body; got != test.want {
			t.Errorf("%+v: %q, want %q", test.objects, got, test.want)
		}
	}
	list := crawl.Findings{Objects: []crawl.Object{object("article", "a")}, Content: []bool{false, true}}
	if got := answerOf(d, list).Body; got != "text" {
		t.Errorf("a list: %q, want its content", got)
	}
}

// TestValuesOfList: title, author and date of a list are what the page says, not those of its first entry.
func TestValuesOfList(t *testing.T) {
	d := &page.Document{}
	d.Title = "Birds"
	found := crawl.Findings{Level: "front", Objects: []crawl.Object{{Type: "article", Properties: crawl.Properties{{Name: "title", Value: "Ravens"}, {Name: "author", Value: "Hugo"}, {Name: "published", Value: "2021-02-03"}}}}}
	if a := answerOf(d, found); a.Title != "Birds" || a.Author != "" || !a.Published.IsZero() {
		t.Errorf("list: %+v", a)
	}
	found.Terminal = true
	if a := answerOf(d, found); a.Title != "Ravens" || a.Author != "Hugo" || a.Published.IsZero() {
		t.Errorf("page: %+v", a)
	}
}

func TestShow(t *testing.T) {
	dir, list := saved(t)
	show := func(file string) string {
		t.Helper()
		var out strings.Builder
		if err := Show(&out, dir, file, list); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := show("a.html")
	for _, want := range []string{
		"a.html: Birds, post, http://www." + halves[Choosing] + "/x, for choosing", `author "Jane Smith", published "2019-05-13"`, "*   3    5  Ravens are large black birds.",
		"\n    4    3  Buy seed now\n", "/html/body/article/div   #text", "/html/body/div   .comments", fmt.Sprintf(`"sum":%q,"words":8`, list[0].Sum),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text := show("l.html"); strings.Contains(text, "body: \"sum\"") {
		t.Errorf("a page without a body has one:\n%s", text)
	}
	list[0].Body = []string{"//main"}
	var out strings.Builder
	if err := Show(&out, dir, "a.html", list); err == nil || !strings.Contains(err.Error(), "selects nothing") || !strings.Contains(out.String(), "Ravens are large") {
		t.Errorf("of gold that is wrong the page is not shown, or the fault is not: %v\n%s", err, out.String())
	}
	if err := Show(&out, dir, "nowhere.html", list); err == nil || !strings.Contains(err.Error(), "nowhere.html is not in the index") {
		t.Errorf("a page that is not there: %v", err)
	}
}

// TestPaths: each expression that --show prints selects the element that it is printed for.
func TestPaths(t *testing.T) {
	p := page.Parse(page.Input{URL: noURL, MIME: "text/html", Body: []byte(`<div><p>a<p>b</div><o:p>c</o:p><my-part><p>d</my-part><div><svg><g><text>e</text></g></svg><p>f</div>`)}, page.DefaultLimits())
	n := 0
	for node := range p.Root.Descendants() {
		source := pathOf(node)
		if source == "" {
			continue
		}
		b, err := bodyOf(p.Root, &Gold{Body: []string{source}})
		if n++; err == nil && (!b.in[node] || b.Text != textBelow(node, nil)) || err != nil && !strings.Contains(err.Error(), "no words") {
			t.Errorf("%s: %v", source, err)
		}
	}
	if n < 10 {
		t.Errorf("%d elements", n)
	}
}

func TestDraw(t *testing.T) {
	var index []recognition.Labelled
	for _, p := range []struct {
		cms, host string
		pages     int
	}{{"Birds", "a.test", 9}, {"Birds", "b.test", 1}, {"Birds", "c.test", 3}, {"Lone", "d.test", 9}} {
		for n := range p.pages {
			index = append(index, recognition.Labelled{File: fmt.Sprintf("%s/%d", p.host, n), CMS: p.cms, URL: "http://" + p.host + "/"})
		}
	}
	drawn := Draw(index, "1")
	hosts := map[string]int{}
	for i, l := range drawn["Birds"] {
		if hosts[hostOf(l)]++; i < 3 && hosts[hostOf(l)] > 1 {
			t.Errorf("%s comes before the first page of another host", l.File)
		}
	}
	if hosts["a.test"] != 2 || hosts["b.test"] != 1 || hosts["c.test"] != 2 || len(drawn["Lone"]) != 4 {
		t.Errorf("%v, alone %d", hosts, len(drawn["Lone"]))
	}
	slices.Reverse(index)
	if again := Draw(index, "1"); !slices.EqualFunc(again["Birds"], drawn["Birds"], func(a, b recognition.Labelled) bool { return a.File == b.File }) {
		t.Error("the draw depends on the order of the index")
	}
	dir, list := saved(t)
	var out strings.Builder
	if err := PrintDraw(&out, dir, list[:1]); err != nil || !strings.Contains(out.String(), "*  Birds  choosing  a.html") || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("%v\n%s", err, out.String())
	}
}
