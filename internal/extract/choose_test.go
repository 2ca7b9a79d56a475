package extract

import (
	"math"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

func expression(t *testing.T, text string) *xpath.Expr {
	t.Helper()
	x, err := xpath.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// extracted is what a rule for articles extracts from a terminal page; each of the texts is a rule for the body.
func extracted(t *testing.T, body string, o kb.Object, bodies ...string) Set {
	t.Helper()
	if o.Each == nil {
		o.Each = expression(t, "//body")
	}
	if o.Type == "" {
		o.Type = "article"
	}
	for _, b := range bodies {
		o.Properties = append(o.Properties, kb.Property{Name: "body", XPath: expression(t, b)})
	}
	comments := kb.Object{Type: "comment", Each: expression(t, "//*[has-class('remark')]"), Properties: []kb.Property{{Name: "body", XPath: expression(t, "self::*")}}}
	var set Set
	pageOf(t, body).Level(&kb.Level{Terminal: true, Objects: []kb.Object{o, comments}}, 1, &set)
	return set
}

// TestChoiceOfBody: of the elements that rules offer, the one that agrees with the page's main text is the body.
func TestChoiceOfBody(t *testing.T) {
	p := func(word string, n int) string { return "<p>" + word + " " + prose(n) + "</p>" }
	teasers := strings.Repeat(`<div class=teaser><p>more <a href="/x">`+prose(5)+`</a></p></div>`, 4)
	for name, c := range map[string]struct {
		body  string
		rules []string
		want  string // the first word of the body, "" for none
	}{
		"the first is a teaser":         {`<div class=t>` + p("teaser", 20) + `</div><div class=t>` + p("story", 200) + `</div>`, []string{".//div[@class='t']"}, "story"},
		"a short page":                  {`<div class=t>` + p("first", 20) + `</div><div class=t>` + p("story", 40) + `</div>`, []string{".//div[@class='t']"}, "first"},
		"a later rule is no better":     {`<div id=a>` + p("story", 200) + `</div>`, []string{".//div[@id='a']", ".//div[@id='a']/p"}, "story"},
		"a later rule is in it":         {`<div id=a>lead ` + teasers + strings.Repeat(`<p>`+prose(6)+`</p>`, 60) + `<div id=b>` + p("story", 400) + `</div></div>`, []string{".//div[@id='a']", ".//div[@id='b']"}, "lead"},
		"a later rule holds more":       {`<div id=c>` + p("others", 200) + `<div id=a>` + p("story", 200) + `</div></div>`, []string{".//div[@id='a']", ".//div[@id='c']"}, "story"},
		"a part, and a later rule":      {`<div id=c>` + p("story", 300) + `<div id=a>` + p("part", 30) + `</div></div>`, []string{".//div[@id='a']", ".//div[@id='c']"}, "story"},
		"a part, and no other rule":     {`<div id=a>` + p("part", 30) + `</div><div id=c>` + p("story", 300) + p("and", 100) + `</div>`, []string{".//div[@id='a']"}, "story"},
		"a part, and no other element":  {`<div id=a>` + p("part", 30) + `</div>` + p("one", 60) + `<div>` + p("two", 60) + `</div>`, []string{".//div[@id='a']"}, "part"},
		"comments are no main text":     {`<div id=a>` + p("story", 60) + `</div>` + strings.Repeat(`<div class=remark>`+p("no", 60)+`</div>`, 9), []string{".//div[@id='a']"}, "story"},
		"without what does not belong":  {`<div id=a>` + p("story", 200) + `<ul><li><a href="/b">` + prose(6) + `link</a></ul></div>`, []string{".//div[@id='a']"}, "story"},
		"a form and a footer are apart": {`<div id=a>` + p("story", 100) + `<form>link ` + prose(3) + `</form><footer>link ` + prose(30) + `</footer></div>`, []string{".//div[@id='a']"}, "story"},
	} {
		set := extracted(t, c.body, kb.Object{Properties: []kb.Property{{Name: "title", XPath: expression(t, "self::*")}}}, c.rules...)
		body := set.Objects[0].Properties.Get("body")
		if first, _, _ := strings.Cut(body, " "); first != c.want {
			t.Errorf("%s: %.60q, want %q", name, body, c.want)
		}
		if part := strings.HasPrefix(name, "a part, and no"); part != (set.Objects[0].Confidence < 1) && c.want != "" {
			t.Errorf("%s: confidence %v", name, set.Objects[0].Confidence)
		}
		if strings.Contains(body, "link") {
			t.Errorf("%s: %q", name, body)
		}
	}
	for name, body := range map[string]string{
		"a longer list":     `<div id=a>` + p("story", 100) + `<ul><li><a href="/b">` + prose(60) + `link</a></ul></div>`,
		"a linked heading":  `<div id=a>` + p("story", 100) + `<div><h3><a href="/b">` + prose(3) + `link</a></h3></div><div><a href="/c">` + prose(3) + `</a></div>` + p("and", 100) + `</div>`,
		"a short paragraph": `<div id=a>` + p("story", 100) + `<h2>head ` + prose(3) + `</h2><p>link</p>` + p("and", 100) + `</div>`,
	} {
		if set := extracted(t, body, kb.Object{}, ".//div[@id='a']"); !strings.Contains(set.Objects[0].Properties.Get("body"), "link") {
			t.Errorf("%s is left out", name)
		}
	}
}

// TestOneOfSeveral: see kb.OneAlways and kb.OneMain.
func TestOneOfSeveral(t *testing.T) {
	article := func(n int) string { return "<article><p>" + prose(n) + "</p></article>" }
	for _, c := range []struct {
		body, one string
		want      int // objects
		words     int // of the first
	}{
		{article(30) + article(200) + article(40), "", 3, 30},
		{article(30) + article(200) + article(40), kb.OneAlways, 1, 200},
		{article(30) + article(200) + article(40), kb.OneMain, 1, 200},
		{article(60) + article(70) + article(50), kb.OneAlways, 1, 70},
		{article(60) + article(70) + article(50), kb.OneMain, 3, 60},
		{article(20) + article(30), kb.OneAlways, 1, 20}, // too short
		{article(20) + article(30), kb.OneMain, 2, 20},
		{article(20), kb.OneMain, 1, 20},
	} {
		set := extracted(t, c.body, kb.Object{Each: expression(t, "//article"), One: c.one}, "self::*")
		if len(set.Objects) != c.want || countWords(set.Objects[0].Properties.Get("body")) != c.words {
			t.Errorf("one=%q: %d objects, the first of %d words, want %d and %d", c.one, len(set.Objects), countWords(set.Objects[0].Properties.Get("body")), c.want, c.words)
		}
	}
}

// TestFit: the bodies of a type are compared with the page's main text together, each word once, without what is left out of them; those
// of other types and attributes do not count. Words in an element for comments are main text of posts, and not of an article.
func TestFit(t *testing.T) {
	p := pageOf(t, `<div id="a"><p>`+prose(60)+`</p><p id="b">`+prose(40)+`</p></div><ul id="l"><li><a href="/x">`+prose(50)+`</a></li></ul><div class="comments" id="c"><p>`+prose(100)+`</p></div>`)
	body := func(kind string, ids ...string) (list []Located) {
		for _, id := range ids {
			list = append(list, Located{Type: kind, Parts: []Part{{Name: "body", At: byID(t, p.Eval.Tree, id)}}})
		}
		return list
	}
	a := byID(t, p.Eval.Tree, "a")
	without := []Located{{Type: "article", Parts: []Part{{Name: "body", At: a, Out: []xpath.Ref{byID(t, p.Eval.Tree, "b")}}}}}
	attribute := []Located{{Type: "article", Parts: []Part{{Name: "body", At: xpath.Ref{ID: a.ID, Attr: 0}}}}}
	for name, test := range map[string]struct {
		located []Located
		kind    string
		want    float64
	}{
		"all of it":          {body("article", "a"), "article", 1},
		"a part":             {body("article", "b"), "article", 2 * 40. / (40 + 100)},
		"one in another":     {body("article", "a", "b"), "article", 1},
		"without a part":     {without, "article", 2 * 60. / (60 + 100)},
		"links too":          {body("article", "a", "l"), "article", 2 * 100. / (150 + 100)},
		"other text":         {body("article", "l"), "article", 0},
		"of another type":    {body("comment", "a"), "article", 0},
		"an attribute":       {attribute, "article", 0},
		"comments":           {body("article", "c"), "article", 0},
		"comments, as posts": {body("post", "a", "c"), "post", 1},
	} {
		if got, long := p.Fit(test.located, test.kind); math.Abs(got-test.want) > 1e-9 || !long {
			t.Errorf("%s: %g, want %g", name, got, test.want)
		}
	}
	short := pageOf(t, `<p id="a">`+prose(chosenWords-1)+`</p>`)
	if _, long := short.Fit(nil, "article"); long {
		t.Error("a short text counts as long")
	}
}
