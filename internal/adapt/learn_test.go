package adapt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// ample are steps enough for any page.
const ample = 1 << 40

// extracted applies a rule to a page.
func extracted(t testing.TB, e *xpath.Eval, rule Rule) (list []extract.Located) {
	t.Helper()
	selected := func(expression string, from xpath.Ref) []xpath.Ref {
		x, err := xpath.Parse(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		refs, err := e.Select(x, from, 0)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		return refs
	}
	for _, r := range selected(rule.Each, e.Tree.Root()) {
		o := extract.Located{Type: rule.Type}
		for _, p := range rule.Properties {
			if found := selected(p.XPath, r); len(found) > 0 {
				o.Parts = append(o.Parts, extract.Part{Name: p.Name, At: found[0]})
			}
		}
		list = append(list, o)
	}
	return list
}

// written writes what a rule extracts: "author=Hugin body=Text", an object a string, properties by name.
func written(t testing.TB, e *xpath.Eval, rule Rule) (list []string) {
	t.Helper()
	for _, o := range extracted(t, e, rule) {
		var parts []string
		for _, p := range o.Parts {
			parts = append(parts, p.Name+"="+strings.Join(strings.Fields(e.Tree.Value(p.At)), " "))
		}
		slices.Sort(parts)
		list = append(list, strings.Join(parts, " "))
	}
	return list
}

// post is a contribution of the test pages.
type post struct{ author, date, body string }

// some are five posts, two of the same author.
var some = []post{
	{"Hugin", "2026-11-01", "The raven sat on the old wall all day."},
	{"Munin", "2026-11-02", "Mine came back with the first snow."},
	{"Hugin", "2026-11-03", "They remember every face they see."},
	{"Odin", "2026-11-04", "Nobody asked the crows what they think."},
	{"Frigg", "2026-11-05", "A spear is no perch, I said to him."},
}

// paged writes a page of posts: each with author, date and body filled in, head before them all.
func paged(head, each string, posts []post) string {
	var b strings.Builder
	b.WriteString(head + `<ul class="menu"><li><a href="/">Home of the birds</a></li><li><a href="/new">New posts</a></li></ul><div id="all">`)
	for i, p := range posts {
		b.WriteString(strings.NewReplacer("{author}", p.author, "{date}", p.date, "{body}", p.body, "{n}", fmt.Sprint(100+i), "{turn}", fmt.Sprint(i%2+1)).Replace(each))
	}
	b.WriteString(`</div><p class="foot">All that is said here was said by birds.</p>`)
	return b.String()
}

const old = `<div class="post" id="p{n}"><b class="who">{author}</b><time datetime="{date}">{date}</time><div class="text">{body}</div></div>`

var oldRule = Rule{Type: "post", Each: "//div[has-class('post')]", Properties: []PropertyRule{
	{Name: "author", XPath: ".//b[has-class('who')]"}, {Name: "published", XPath: ".//time/@datetime"}, {Name: "body", XPath: ".//div[has-class('text')]"},
}}

// expected are the posts in the form of written.
func expected(posts []post) (list []string) {
	for _, p := range posts {
		list = append(list, strings.Join([]string{"author=" + p.author, "body=" + p.body, "published=" + p.date}, " "))
	}
	return list
}

// remembered are the prints of the posts as they were.
func remembered(t testing.TB, posts []post) []Print {
	t.Helper()
	e := opened(t, paged("", old, posts))
	return PrintsOf(e.Tree, extracted(t, e, oldRule))
}

func TestLearnForum(t *testing.T) {
	many := func(n int) (posts []post) {
		for i := range n {
			posts = append(posts, post{some[i%5].author, fmt.Sprintf("2026-10-%02d", i%28+1), fmt.Sprintf("Contribution %d says %s", i, some[i%5].body)})
		}
		return posts
	}
	same := slices.Clone(some)
	same[3].body = same[1].body
	tests := []struct {
		name, head, each string
		posts            []post
		wanting          string // why it is not learned yet
	}{
		{"as it was", "", old, some, ""},
		{"renamed", "", `<div class="c-message" id="m{n}"><b class="c-name">{author}</b><time datetime="{date}">{date}</time><div class="c-said">{body}</div></div>`, some, ""},
		{"one post", "", `<div class="c-message"><b class="c-name">{author}</b><time datetime="{date}">{date}</time><div class="c-said">{body}</div></div>`, some[:1], ""},
		{"two posts", "", `<div class="c-message"><b class="c-name">{author}</b><time datetime="{date}">{date}</time><div class="c-said">{body}</div></div>`, some[:2], ""},
		{"wrapped", "", `<section class="row"><div class="cell"><div class="post"><div class="side"><p><b class="who">{author}</b></p></div><div class="main"><span><time datetime="{date}">{date}</time></span>
			<div class="inner"><div class="text">{body}</div></div></div></div></div></section>`, some, ""},
		{"other elements", "", `<article class="post"><strong class="who">{author}</strong><span data-day="{date}">{date}</span><section class="text"><p>{body}</p></section></article>`, some, ""},
		{"tables without a class", "", `<table><tr><td>{author}</td><td><i>{date}</i></td></tr><tr><td colspan="2">{body}</td></tr></table>`, some, "candidates have no places: tr[2]/td"},
		{"dressed by turns", "", `<div class="row{turn} bg{turn}"><i>{author}</i><u>{date}</u><p class="said">{body}</p></div>`, some, ""},
		{"dressed by turns under two names", "", `<div class="{turn}-side"><i>{author}</i><u>{date}</u><p>{body}</p></div>`, many(6), ""},
		{"author before the post", "", `<dt><b>{author}</b> <em>{date}</em></dt><dd class="said">{body}</dd>`, some, ""},
		{"author behind the post", "", `<div class="said">{body}</div><div class="by"><b>{author}</b> <em>{date}</em></div>`, some, ""},
		{"a date in the post's attribute", "", `<li data-day="{date}" class="m"><a href="/u/{author}">{author}</a><span>{body}</span></li>`, some, ""},
		{"body in many parts", "", `<div class="m"><a>{author}</a><em>{date}</em><div class="b"><p>{body}</p><script>var x</script></div></div>`, some, ""},
		{"all in one author's name", "", `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`, []post{{"Hugin", "2026-11-01", "One day on the wall."}, {"Hugin", "2026-11-01", "Two days on the wall."}, {"Hugin", "2026-11-01", "Three days on the wall."}}, ""},
		{"a list of those who were here before", `<ul class="online"><li>Odin</li><li>Hugin</li><li>Munin</li><li>Frigg</li></ul>`, `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`, some, ""},
		{"more than are remembered", "", `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`, many(maxAligned + 20), ""},
		{"two posts that say the same", "", `<div class="m"><a>{author}</a><em>{date}</em><div class="o"><div class="b">{body}</div></div></div>`, same, ""},
		{"the first post in the head", `<meta name="description" content="` + some[0].body + `">`, `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`, some[:3], ""},
		{"the first post in a list of new ones", `<ul class="latest"><li>` + some[0].body + `</li></ul>`, `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`, some[:3], "place takes the first of several places"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.wanting != "" {
				t.Skip(test.wanting)
			}
			e := opened(t, paged(test.head, test.each, test.posts))
			rules, _ := Learn(e, remembered(t, test.posts), ample)
			if len(rules) != 1 || rules[0].Type != "post" {
				t.Fatalf("learned %+v", rules)
			}
			got, want := written(t, e, rules[0]), expected(test.posts)
			if !slices.Equal(got, want) {
				t.Errorf("%+v extracts\n%s\nwant\n%s", rules[0], strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if r := rules[0]; r.Expected != min(len(test.posts), maxAligned) || r.Support > r.Expected || float64(r.Support) < Support*float64(r.Expected) {
				t.Errorf("support %d of %d", r.Support, r.Expected)
			}
		})
	}
}

// TestLearnPartly: the other posts are found even if some posts are gone and some are new.
func TestLearnPartly(t *testing.T) {
	const each = `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`
	fresh := post{"Sleipnir", "2026-12-01", "I have eight legs and no wings at all."}
	tests := []struct {
		name    string
		posts   []post
		learned bool
	}{
		{"one gone", some[1:], true},
		{"two gone", some[2:], false}, // too few are left
		{"one new", append(slices.Clone(some), fresh), true},
		{"one gone, one new", append(slices.Clone(some[1:]), fresh), true},
		{"one changed", append(slices.Clone(some[:4]), fresh), true},
		{"all changed", []post{fresh, {"Hugin", "2026-12-02", "This is another thread altogether."}}, false},
		{"none there", nil, false},
	}
	for _, test := range tests {
		e := opened(t, paged("", each, test.posts))
		rules, _ := Learn(e, remembered(t, some), ample)
		if (len(rules) == 1) != test.learned {
			t.Errorf("%s: learned %+v", test.name, rules)
			continue
		}
		if test.learned && !slices.Equal(written(t, e, rules[0]), expected(test.posts)) {
			t.Errorf("%s: %+v extracts\n%s", test.name, rules[0], strings.Join(written(t, e, rules[0]), "\n"))
		}
	}
}

// TestLearnWithout: a property that some objects lack is learned from the others.
func TestLearnWithout(t *testing.T) {
	page := strings.Replace(paged("", `<div class="m"><a>{author}</a><em>{date}</em><div class="b">{body}</div></div>`, some), "<a>Munin</a>", "", 1)
	was := strings.Replace(paged("", old, some), `<b class="who">Munin</b>`, "", 1)
	before := opened(t, was)
	e := opened(t, page)
	rules, _ := Learn(e, PrintsOf(before.Tree, extracted(t, before, oldRule)), ample)
	want := expected(some)
	want[1] = strings.TrimPrefix(want[1], "author=Munin ")
	if len(rules) != 1 || !slices.Equal(written(t, e, rules[0]), want) {
		t.Errorf("learned %+v", rules)
	}
}

// TestLearnArticle: on a page with one object, its properties may be anywhere.
func TestLearnArticle(t *testing.T) {
	const text = "The raven is a large black bird. It can live for twenty years in the wild, and longer among people."
	before := opened(t, `<h1 class="t">Ravens</h1><i class="by">Hugin</i><div class="entry">`+text+`</div><a class="tag">birds</a>`)
	prints := PrintsOf(before.Tree, extracted(t, before, Rule{Type: "article", Each: "//body", Properties: []PropertyRule{
		{Name: "title", XPath: ".//h1"}, {Name: "author", XPath: ".//i"}, {Name: "body", XPath: ".//div"}, {Name: "tags", XPath: ".//a"},
	}}))
	for name, page := range map[string]string{
		"renamed":         `<h1 class="c-title">Ravens</h1><i class="c-by">Hugin</i><div class="c-entry">` + text + `</div><a class="c-tag">birds</a>`,
		"apart":           `<div id="top"><h2>Ravens</h2></div><main><p class="a1">` + text + `</p><p class="a2">Read more of this</p></main><footer>by <span class="n">Hugin</span> in <a rel="tag">Birds</a></footer>`,
		"in the head too": `<title>Ravens</title><meta name="author" content="Hugin"><nav><a href="/">Home</a><a href="/b">birds</a></nav><article><h1>Ravens</h1><section>` + text + `</section></article>`,
	} {
		e := opened(t, page)
		rules, _ := Learn(e, prints, ample)
		if len(rules) != 1 {
			t.Errorf("%s: learned %+v", name, rules)
			continue
		}
		if got, want := strings.ToLower(strings.Join(written(t, e, rules[0]), "|")), strings.ToLower("author=Hugin body="+text+" tags=birds title=Ravens"); got != want && !strings.HasPrefix(name, "in the head") || !strings.Contains(got, strings.ToLower("body="+text)) {
			t.Errorf("%s: %+v extracts %s", name, rules[0], got)
		}
	}
}

// TestLearnTypes: an article and its comments are learned side by side, each from its own objects.
func TestLearnTypes(t *testing.T) {
	before := opened(t, `<div class="entry">A long article about the ravens of the tower.</div>`+paged("", old, some))
	prints := append(PrintsOf(before.Tree, extracted(t, before, Rule{Type: "article", Each: "//body", Properties: []PropertyRule{{Name: "body", XPath: "div[has-class('entry')]"}}})),
		PrintsOf(before.Tree, extracted(t, before, Rule{Type: "comment", Each: oldRule.Each, Properties: oldRule.Properties}))...)
	e := opened(t, `<main><p>A long article about the ravens of the tower.</p></main>`+paged("", `<li class="c"><a>{author}</a><em>{date}</em><q>{body}</q></li>`, some))
	rules, _ := Learn(e, prints, ample)
	if len(rules) != 2 || rules[0].Type != "article" || rules[1].Type != "comment" {
		t.Fatalf("learned %+v", rules)
	}
	if got := written(t, e, rules[0]); !slices.Equal(got, []string{"body=A long article about the ravens of the tower."}) {
		t.Errorf("%+v extracts %q", rules[0], got)
	}
	if got := written(t, e, rules[1]); !slices.Equal(got, expected(some)) {
		t.Errorf("%+v extracts %q", rules[1], got)
	}
}

// TestLearnBounds: without steps nothing is learned; odd prints do no harm.
func TestLearnBounds(t *testing.T) {
	page := paged("", old, some)
	for name, test := range map[string]struct {
		prints []Print
		steps  int
	}{
		"no steps":         {remembered(t, some), 0},
		"less than none":   {remembered(t, some), -1},
		"no prints":        {nil, ample},
		"empty prints":     {[]Print{{}, {Type: "post"}, {Type: "post", Properties: []Property{{}, {Name: "body", Size: -1}}}}, ample},
		"of another page":  {[]Print{{Type: "post", Properties: []Property{{Name: "body", Hash: 7, Size: 100}}}}, ample},
		"the same a lot":   {slices.Repeat([]Print{{Type: "post", Properties: []Property{{Name: "body", Hash: sumOf(some[0].body).hash, Size: 30}}}}, 50), ample},
		"all of the names": {[]Print{{Type: "post", Properties: slices.Repeat([]Property{{Name: "tags", Hash: sumOf("Hugin").hash, Size: 5}}, 50)}, {Type: "post"}, {Type: "post"}}, ample},
	} {
		if rules, _ := Learn(opened(t, page), test.prints, test.steps); len(rules) != 0 {
			t.Errorf("%s: learned %+v", name, rules)
		}
	}
	Learn(opened(t, ""), remembered(t, some), ample)
}
