package extract

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// TestRoleOfNames: words in classes and IDs count, not letters within words; what says that there is no sidebar is none.
func TestRoleOfNames(t *testing.T) {
	for list, want := range map[string]Segment{
		"": Main, "post": Main, "entry-content": Main, "article-body": Main, "fashionable": Main, "unshared": Main, "commentary": Main, "shared-text": Main,
		"has-sidebar": Main, "content-w-sidebar": Main, "page-with-sidebar": Main, "no-sidebar": Main, "sidebar-layout_main": Main, "sticky-footer_body": Main,
		"not-footer": Main, "has-side-banner": Main, "pagination-hidden": Main, "layoutNoSidebar": Main, "without_comments": Main, "has-navy-color": Main,
		"sidebar": Boilerplate, "left-sidebar": Boilerplate, "sidebar1": Boilerplate, "leftSidebar": Boilerplate, "sidebar-wrapper": Boilerplate, "site-footer": Boilerplate,
		"SiteFooter": Boilerplate, "jp-relatedposts": Boilerplate, "post related": Boilerplate, "post-share": Boilerplate, "sharedaddy": Boilerplate, "social_links": Boilerplate,
		"cookie-notice": Boilerplate, "newsletter--box": Boilerplate, "top-banner": Boilerplate, "advertisement": Boilerplate,
		"nav": Navigation, "navbar-brand": Navigation, "main-navigation": Navigation, "left_menu": Navigation, "menuItem": Navigation, "breadcrumbs": Navigation, "pager": Navigation,
		"comments": Comments, "comment-body": Comments, "commentlist": Comments, "disqus_thread": Comments, "respond": Comments, "postComments": Comments,
		"  wide   footer ": Boilerplate, strings.Repeat("x", 300) + " footer": Main, "-_-": Main, "ÄFooter": Main,
	} {
		if got := roleOfNames(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}

// prose are so many words.
func prose(words int) string { return strings.Repeat("raven ", words) }

// laidOut is the layout of a page, and the tree for it.
func laidOut(t *testing.T, body string) (*layout, *xpath.Tree) {
	t.Helper()
	p := pageOf(t, body)
	return p.layout(), p.Eval.Tree
}

func pageOf(t *testing.T, body string) *Page {
	t.Helper()
	d := page.Parse(page.Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
	eval := xpath.NewEval(d.Root, xpath.DefaultBudget)
	t.Cleanup(eval.Free)
	return &Page{Evaluator: kb.Evaluator{Eval: eval}, Doc: d, Limits: Limits{Objects: 100, PropertyBytes: 64 << 10}}
}

// segment is the segment of the only block that holds a word.
func segment(t *testing.T, body, word string) Segment {
	t.Helper()
	p, at := pageOf(t, body), -1
	for i, b := range p.Doc.Blocks {
		if strings.Contains(b, word) {
			if at >= 0 {
				t.Fatalf("several blocks hold %q", word)
			}
			at = i
		}
	}
	if at < 0 {
		t.Fatalf("no block holds %q", word)
	}
	return p.layout().segments[at]
}

// TestSegmentsByRole: what elements are for, and which of them are asked.
func TestSegmentsByRole(t *testing.T) {
	text := "here " + prose(40)
	for name, c := range map[string]struct {
		body string
		want Segment
	}{
		"a text":                       {`<p>` + text, Main},
		"a sidebar":                    {`<p>` + prose(60) + `<div class=sidebar><p>` + text + `</div>`, Boilerplate},
		"a wrapper of the whole page":  {`<div class="sidebar-left"><p>` + text + `</div>`, Main},
		"within what is not":           {`<p>` + prose(60) + `<div class=sidebar><main><p>` + text + `</main></div>`, Main},
		"the innermost counts":         {`<p>` + prose(90) + `<div class=sidebar><div class=comments><p>` + text + `</div></div>`, Comments},
		"comments are most of it":      {`<h1>R</h1><p>` + prose(30) + `<div id=comments><p>` + text + `</div>`, Comments},
		"the page is named so":         {`<div class=comments><h1>R</h1><p>` + text + `</div>`, Main},
		"the body is named so":         {`<body class=sidebar><p>` + text, Main},
		"an element, however large":    {`<aside><p>` + text + `</aside>`, Boilerplate},
		"a role attribute":             {`<p>` + prose(60) + `<div role=contentinfo><p>` + text + `</div>`, Boilerplate},
		"the title of the page":        {`<title>` + text + `</title><p>` + prose(60), Boilerplate},
		"a form that holds everything": {`<form class=footer-form><p>` + text + `</form>`, Main},
	} {
		if got := segment(t, c.body, "here"); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestLinkedWords: words in links count wherever they stand, though a page lists each of its links once.
func TestLinkedWords(t *testing.T) {
	link := "here " + prose(30)
	for name, body := range map[string]string{
		"a link":                    `<div><a href="/a">` + link + `</a></div>`,
		"the second to the page":    `<div><a href="/a"><img src=x></a></div><div><a href="/a">` + link + `</a></div>`,
		"a part of the page":        `<div><a href="#a">` + link + `</a></div>`,
		"the page itself":           `<div><a href="http://a.test/">` + link + `</a></div>`,
		"elements in the link":      `<div><a href="/a"><b>here</b> <i>` + prose(30) + `</i></a></div>`,
		"a link around blocks":      `<a href="/a"><div>` + link + `</div></a>`,
		"a link of a script's":      `<div><a href="javascript:void(0)">` + link + `</a></div>`,
		"several blocks in one":     `<div><a href="/a">` + prose(800) + link + `</a></div>`,
		"a link before and behind":  `<div><a href="/a">x</a> <a href="/b">` + link + `</a> <a href="/c">y</a></div>`,
		"links are most of a block": `<div>At <a href="/a">` + link + `</a> and ` + prose(10) + `</div>`,
	} {
		if got := segment(t, `<p>`+prose(900)+`</p>`+body, "here"); got != Navigation {
			t.Errorf("%s: %d", name, got)
		}
	}
	for name, body := range map[string]string{
		"no link":            `<p><a name="a">` + link + `</a>`,
		"one in a long text": `<p>` + link + ` <a href="/a">` + prose(5) + `</a>`,
		"words of a drawing": `<p>` + link + ` <a href="/a"><svg><text>` + prose(60) + `</text></svg></a>`,
	} {
		if got := segment(t, body, "here"); got != Main {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// byID is the element with an ID.
func byID(t *testing.T, tree *xpath.Tree, id string) xpath.Ref {
	t.Helper()
	for at := range int32(tree.Len()) {
		if attr(tree.At(at), "id") == id {
			return xpath.Ref{ID: at, Attr: -1}
		}
	}
	t.Fatalf("there is no #%s", id)
	return xpath.Ref{}
}

// TestWordsBelow: the words of an element are those of the blocks that begin in it.
func TestWordsBelow(t *testing.T) {
	l, tree := laidOut(t, `<body><div id=a><p>`+prose(20)+`</p><nav>`+prose(3)+`</nav></div><div id=b>`+prose(50)+`<span id=c>`+prose(7)+`</span></div><div id=d></div>`)
	for id, want := range map[string][2]int{"a": {23, 20}, "b": {57, 57}, "c": {0, 0}, "d": {0, 0}} {
		r := byID(t, tree, id)
		if words, main := l.below(tree, r); [2]int{words, main} != want {
			t.Errorf("%s: %d words and %d main, want %v", id, words, main, want)
		}
	}
	if words, main := l.below(tree, tree.Root()); words != 80 || main != 77 {
		t.Errorf("the page: %d words and %d main", words, main)
	}
}
