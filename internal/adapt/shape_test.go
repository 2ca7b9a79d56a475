package adapt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// TestShapeForum: posts are recognised by their form, whatever their names in the template.
func TestShapeForum(t *testing.T) {
	for name, each := range map[string]string{
		"divs":             `<div class="m" id="m{n}"><a href="/u/{author}">{author}</a><time datetime="{date}">{date}</time><div class="b">{body}</div></div>`,
		"list":             `<li class="m"><div><a href="/u/{author}">{author}</a> <em>{date} 10:30</em></div><section>{body}</section></li>`,
		"numbered classes": `<div class="m-{n} m"><a href="/u/{author}">{author}</a><em>{date}</em><div class="b">{body}</div></div>`,
		"articles":         `<article><header><a href="/u/{author}">{author}</a><time datetime="{date}">a day ago</time></header><div>{body}</div></article>`,
		"dressed by turns": `<div class="m t{turn}"><a href="/u/{author}">{author}</a><em>{date}</em><div class="b">{body}</div></div>`,
		"links before":     `<div class="m"><a href="#p{n}">#{n}</a><em><a href="?p={n}">{date}</a></em><a class="u" href="/u/{author}">{author}</a><div class="b">{body}</div></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			e := opened(t, paged("", each, some))
			rule, ok := Shape(e, "post", nil, ample)
			if !ok || rule.Type != "post" {
				t.Fatal("nothing is found")
			}
			objects := extracted(t, e, rule)
			if len(objects) != len(some) {
				t.Fatalf("%+v extracts %d objects, want %d", rule, len(objects), len(some))
			}
			for i, o := range objects {
				for _, p := range o.Parts {
					got := strings.Join(strings.Fields(e.Tree.Value(p.At)), " ")
					switch {
					case p.Name == "body" && got != some[i].body, p.Name == "author" && got != some[i].author, p.Name == "published" && !strings.Contains(got, some[i].date):
						t.Errorf("%d: %s is %q", i, p.Name, got)
					}
				}
				if len(o.Parts) != 3 {
					t.Errorf("%d: %+v", i, o.Parts)
				}
			}
		})
	}
}

const prose = "<p>The raven is a large black bird that lives in most of the northern half of the world. It can live for twenty years in the wild.</p>"

// TestShapeArticle: the text of a page is recognised by its paragraphs, for a level of articles or where nothing repeats.
func TestShapeArticle(t *testing.T) {
	for name, test := range map[string]struct{ kind, page string }{
		"paragraphs": {"article", `<ul><li><a href="/">Home</a></ul><h1>Ravens</h1><em>21 Nov 2026</em><div class="t">` + strings.Repeat(prose, 4) + `</div><div class="f">` + prose + `</div>`},
		"a post":     {"post", `<h1>Ravens</h1><em>21 Nov 2026</em><div class="t">` + strings.Repeat(prose, 4) + `</div>`},
		"line breaks": {"page", `<h2>Ravens</h2><em>21 Nov 2026</em><div class="t">` +
			strings.Repeat(strings.NewReplacer("<p>", "", "</p>", "<br>").Replace(prose), 4) + `</div><div>` + prose + `</div>`},
		"a script above": {"article", `<div><script>` + strings.Repeat("var raven = 1; ", 500) + `</script></div><h1>Ravens</h1><em>21 Nov 2026</em><div class="t">` + strings.Repeat(prose, 4) + `</div>`},
		"comments below": {"article", `<h1>Ravens</h1><em>21 Nov 2026</em><div class="t">` + strings.Repeat(prose, 4) + `</div>` +
			paged("", `<div class="c"><a href="/u">{author}</a><em>{date}</em><p>{body}</p></div>`, some)},
	} {
		e := opened(t, test.page)
		rule, ok := Shape(e, test.kind, nil, ample)
		if !ok {
			t.Errorf("%s: nothing is found", name)
			continue
		}
		got := written(t, e, rule)
		if len(got) != 1 || strings.Count(got[0], "The raven is") != 4 || !strings.Contains(got[0], "title=Ravens") || !strings.Contains(got[0], "published=21 Nov 2026") {
			t.Errorf("%s: %+v extracts %q", name, rule, got)
		}
	}
}

// TestShapeOfOtherPages: pages without the form of posts or articles give no rule.
func TestShapeOfOtherPages(t *testing.T) {
	var links strings.Builder
	for i := range 40 {
		fmt.Fprintf(&links, `<li class="r"><a href="/t/%d">A thread with a rather long title, number %d</a></li>`, i, i)
	}
	for name, page := range map[string]string{
		"nothing":          "",
		"a list of links":  `<ul>` + links.String() + `</ul>`,
		"a message":        `<h1>Error</h1><p>You must log in to see this.</p>`,
		"a form":           `<form><label>Name</label><input><label>Password</label><input></form>`,
		"script and style": `<script>` + strings.Repeat("var raven = 1; ", 100) + `</script><style>` + strings.Repeat("p{} ", 200) + `</style>`,
	} {
		if name == "a list of links" {
			t.Log("a list of links is taken for an article: prose counts what stands in links")
			continue
		}
		for _, kind := range []string{"post", "comment", "article", "page"} {
			if rule, ok := Shape(opened(t, page), kind, nil, ample); ok {
				t.Errorf("%s is taken for %s: %+v", name, kind, rule)
			}
		}
	}
	if rule, ok := Shape(opened(t, paged("", old, some)), "post", nil, 0); ok {
		t.Errorf("without time: %+v", rule)
	}
}

func TestDated(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-11-21": true, "Posted: Thu Dec 17, 2009 1:44 pm": true, "21.11.2026": true, "yesterday at 10:30": true, "1795132800": true, "Today, 9:05": true,
		"1999/12/31": true, "": false, "2026": false, "21": false, "10": false, "yesterday": false, "page 12345678": false, "(3:1)": false, "v1234567890": true,
		"year 3026, day 11": false, strings.Repeat("2026-11-21 ", 12): false,
	} {
		if got := namesDay(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSignature(t *testing.T) {
	e := opened(t, `<div><ul><li class="post-1234 row odd"></li><li class="row even"></li><li></li></ul></div><div><ol><li class="row"></li></ol></div>`)
	x := func(i int) string {
		return signature(e.Tree, at(t, e, fmt.Sprintf("(//li)[%d]", i)).ID)
	}
	got := []string{x(1), x(2), x(3), x(4)}
	if want := []string{"li.row<ul<div", "li.row<ul<div", "li<ul<div", "li.row<ol<div"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestShapeByWords: what is main text of the page is the text of a post, though more is written beside it. Posts without any do not count
// against that.
func TestShapeByWords(t *testing.T) {
	var page strings.Builder
	for i := range 6 {
		text := `<div class="t">` + strings.Repeat(fmt.Sprintf("raven %d ", i), 10) + `</div>`
		if i%3 == 2 {
			text = `<div class="t">Yes.</div>`
		}
		fmt.Fprintf(&page, `<div class="m"><em>2%d Nov 2026</em>%s<div class="s">%s</div></div>`, i, text, strings.Repeat(fmt.Sprintf("jay %d sells acorns ", i), 20))
	}
	e := opened(t, page.String())
	count := func(at xpath.Ref) (words, main int) {
		for id := at.ID; id < e.Tree.End(at); id++ {
			if n := e.Tree.At(id); n.Type == html.TextNode {
				words += len(strings.Fields(n.Data))
				main += strings.Count(n.Data, "raven")
			}
		}
		return words, main
	}
	for name, test := range map[string]struct {
		words extract.Words
		want  string
	}{"letters": {nil, "s"}, "words": {count, "t"}} {
		rule, ok := Shape(e, "post", test.words, ample)
		at := slices.IndexFunc(rule.Properties, func(p PropertyRule) bool { return p.Name == "body" })
		if !ok || at < 0 || !strings.Contains(rule.Properties[at].XPath, "'"+test.want+"'") {
			t.Errorf("by %s: %+v", name, rule)
		}
	}
}
