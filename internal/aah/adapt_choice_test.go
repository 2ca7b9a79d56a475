package aah

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/kb"
)

const longText = "the ravens and the jays of this wall have written down all that they saw from it on that day and in the night before"

// talk writes a thread after a redesign: of what the rook's rules know only the dates are left.
func talk(page, posts int) string {
	var b strings.Builder
	b.WriteString(rook + `<div id="all">`)
	for i := range posts {
		fmt.Fprintf(&b, `<div class="m"><h4 class="n">Jay %d</h4><time datetime="2026-11-%02d">x</time><div class="said"><p>Page %d, post %d: %s.</p></div><div class="mark"><a href="/r/%d">Reply to this post or report it to those who keep the wall</a></div></div>`,
			i, i+1, page, i, longText, i)
	}
	return b.String() + `</div>`
}

// TestEvidentAtOnce: several things of one form that are together the text of the page need no other pages to verify them. Of few
// things, others must.
func TestEvidentAtOnce(t *testing.T) {
	for posts, want := range map[int]int{6: 6, 2: 0} {
		h := learner(t, DefaultLimits())
		d := read(h, threadURL(1), talk(1, posts), Input{})
		if len(d.Objects) != want {
			t.Fatalf("of %d posts %d are extracted: %.500q", posts, len(d.Objects), said(d))
		}
		for i, o := range d.Objects {
			if got := o.Properties.Get("body"); got != fmt.Sprintf("Page 1, post %d: %s.", i, longText) || o.Confidence > extract.GenericConfidence {
				t.Errorf("%q with confidence %g", got, o.Confidence)
			}
		}
		for page := 2; page <= adapt.EnoughPages+1; page++ {
			d = read(h, threadURL(page), talk(page, posts), Input{})
		}
		if len(d.Objects) != posts {
			t.Errorf("after %d pages %d of %d posts are extracted", adapt.EnoughPages, len(d.Objects), posts)
		}
	}
}

// inForce puts rules for a type into the store of a host, each verified by as many pages as are needed.
func inForce(t *testing.T, h *Helper, host, app, level, kind, method string, rules ...adapt.Rule) {
	t.Helper()
	err := h.Adaptations.Update(host, func(s *adapt.Site) bool {
		for _, r := range rules {
			r.Type = kind
			s.Rules = append(s.Rules, &adapt.SiteRule{Application: app, Level: level, Rule: r, Method: method, Verified: adapt.EnoughPages})
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBestOfRules: of several rules in force the one counts whose texts agree best with the page's main text, but not one text that is
// the whole page.
func TestBestOfRules(t *testing.T) {
	body := func(each, text string) adapt.Rule {
		return adapt.Rule{Each: each, Properties: []adapt.PropertyRule{{Name: "body", XPath: text}}}
	}
	whole, wide, tight := body("//div[@id='all']", "."), body("//div[has-class('m')]", "."), body("//div[has-class('m')]", ".//div[has-class('said')]")
	for name, rules := range map[string][]adapt.Rule{"the whole page last": {wide, tight, whole}, "the whole page first": {whole, wide, tight}, "the best first": {tight, wide, whole}} {
		h := learner(t, DefaultLimits())
		inForce(t, h, "a.test", "Rook", "thread", "post", adapt.ByParts, rules...)
		page := strings.Replace(talk(1, 6), `<div id="all">`, `<div id="all"><p>`+strings.Repeat(longText+". ", 5)+`</p>`, 1)
		d := read(h, threadURL(1), page, Input{})
		if len(d.Objects) != 6 || d.Objects[0].Properties.Get("body") != fmt.Sprintf("Page 1, post 0: %s.", longText) {
			t.Errorf("%s: %.600q", name, said(d))
		}
	}
}

// TestTextWithSigns: a rule whose texts hold the dates of the posts extracts more than their texts.
func TestTextWithSigns(t *testing.T) {
	h := learner(t, DefaultLimits())
	inForce(t, h, "a.test", "Rook", "thread", "post", adapt.ByParts, adapt.Rule{Each: "//div[has-class('m')]", Properties: []adapt.PropertyRule{
		{Name: "body", XPath: "."}, {Name: "published", XPath: ".//time/@datetime"}}})
	for _, o := range read(h, threadURL(1), talk(1, 6), Input{}).Objects {
		if body := o.Properties.Get("body"); strings.Contains(body, "Jay") {
			t.Errorf("%q", body)
		}
	}
}

const dawBlog = `<application xmlns="` + kb.Namespace + `" name="Daw" category="blog"><detect generator="daw"/>
<level name="article" terminal="true"><match url="/a/"/>
<object type="article" each="//body"><property name="title" xpath=".//h1"/><property name="body" xpath=".//div[has-class('entry')]"/><property name="body" xpath="."/></object>
</level>
<level name="thread" terminal="true"><match url="/t/"/>
<object type="post" each="//div[has-class('first')]"><property name="body" xpath=".//p"/><property name="published" xpath=".//time/@datetime" as="dateTime"/></object>
<object type="comment" each="//div[has-class('m')]"><property name="published" xpath=".//time/@datetime" as="dateTime"/><property name="body" xpath=".//div[has-class('said')]"/></object>
</level></application>`

// TestWholePageStays: a page whose text is short is the text of its article as long as no rule does clearly better. Scripts are no text.
func TestWholePageStays(t *testing.T) {
	h := learner(t, DefaultLimits())
	h.SetBase(base(t, dawBlog))
	for i := range 6 {
		page := fmt.Sprintf(`<meta name="generator" content="daw"><h1>Room %d</h1><script>%s</script><p>Call us.</p><div class="d"><p>%d jays at most and %s</p><p>%d acorns a day and %s</p></div>`,
			i, strings.Repeat("var raven = 1; ", 60), i, longText, i, longText)
		d := read(h, fmt.Sprintf("http://c.test/a/%d", i), page, Input{})
		want := fmt.Sprintf("Room %d Call us. %d jays at most and %s %d acorns a day and %s", i, i, longText, i, longText)
		if len(d.Objects) != 1 || strings.Join(strings.Fields(d.Objects[0].Properties.Get("body")), " ") != want {
			t.Errorf("page %d: %q", i, said(d))
		}
	}
}

// TestCommentsAreNoPosts: what is found as comments is not found again as posts, where the posts are missing.
func TestCommentsAreNoPosts(t *testing.T) {
	h := learner(t, DefaultLimits())
	h.SetBase(base(t, dawBlog))
	for i := range 5 {
		page := strings.Replace(talk(i, 6), rook, `<meta name="generator" content="daw">`, 1)
		d := read(h, fmt.Sprintf("http://c.test/t/%d", i), page, Input{})
		if len(d.Objects) != 6 {
			t.Errorf("page %d: %d objects", i, len(d.Objects))
		}
		for _, o := range d.Objects {
			if o.Type != "comment" {
				t.Errorf("page %d: %s %q", i, o.Type, o.Properties.Get("body"))
			}
		}
	}
}

// TestUnfitRule: a rule in force does not replace the text of an article by one that is not the page's main text.
func TestUnfitRule(t *testing.T) {
	h := learner(t, DefaultLimits())
	h.SetBase(base(t, dawBlog))
	inForce(t, h, "c.test", "Daw", "article", "article", adapt.ByRelaxed, adapt.Rule{Each: "//ul", Properties: []adapt.PropertyRule{{Name: "body", XPath: "."}}})
	page := `<meta name="generator" content="daw"><h1>The wall</h1><ul><li><a href="/1">Of what the ravens have not written</a></li></ul>` + strings.Repeat("<p>"+longText+".</p>", 12)
	d := read(h, "http://c.test/a/1", page, Input{})
	if len(d.Objects) != 1 || strings.Count(d.Objects[0].Properties.Get("body"), longText) != 12 {
		t.Errorf("%.300q", said(d))
	}
}

// TestSingleByFit: a rule for an article extracts the page's main text, and neither a part of it nor what repeats on the page.
func TestSingleByFit(t *testing.T) {
	h := learner(t, DefaultLimits())
	h.SetBase(base(t, dawBlog))
	var last string
	for i := range 6 {
		var list strings.Builder
		for j := range 40 {
			fmt.Fprintf(&list, `<li><h1>Coupon %d</h1><p><a href="/c/%d">%d acorns off, to be shown before work</a></p></li>`, j, j, i+j)
		}
		page := fmt.Sprintf(`<meta name="generator" content="daw"><ul>%s</ul><section class="story">%s<div class="entries">%s</div></section>`, list.String(),
			strings.Repeat(fmt.Sprintf("<p>Page %d: %s.</p>", i, longText), 4), strings.Repeat(fmt.Sprintf("<p>Page %d: %s.</p>", i, longText), 8))
		d := read(h, fmt.Sprintf("http://c.test/a/%d", i), page, Input{})
		if len(d.Objects) != 1 {
			t.Fatalf("page %d: %.400q", i, said(d))
		}
		last = d.Objects[0].Properties.Get("body")
	}
	if strings.Contains(last, "acorns") || strings.Count(last, "Page 5: ") != 12 {
		t.Errorf("%.300q", last)
	}
}
