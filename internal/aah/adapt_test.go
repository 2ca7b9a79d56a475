package aah

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/recognise"
	"github.com/muninn-archive/muninn/kb"
)

const rookForum = `<application xmlns="` + kb.Namespace + `" name="Rook" category="forum">
<detect generator="rook"/>
<level name="login"><match xpath="//form[@id='login']"/></level>
<level name="thread" terminal="true"><match url="/t/"/><match xpath="//div[@id='rook-thread']"/>
<object type="post" each="//div[has-class('post')]"><property name="author" xpath=".//b[has-class('who')]"/><property name="published" xpath=".//time/@datetime" as="dateTime"/><property name="body" xpath=".//div[has-class('text')]"/></object>
</level>
<level name="list of threads"><match url="/f/"/></level>
<drop xpath="//a[has-class('reply')]"/>
<version name="2"><detect generator="rook 2"/></version>
</application>`

const jayBlog = `<application xmlns="` + kb.Namespace + `" name="Jay" category="blog">
<detect generator="jay"/>
<level name="article" terminal="true"><match url="/a/"/>
<object type="article" each="//body"><property name="title" xpath=".//h1[has-class('t')]"/><property name="body" xpath=".//div[has-class('entry')]"/></object>
<object type="comment" each="//li[has-class('c')]"><property name="author" xpath="b"/><property name="body" xpath="p"/></object>
</level></application>`

// The forum before and after a redesign. Only the second has an element for the thread, which the base does not know.
const (
	wasPost = `<div class="post"><b class="who">%s</b><time datetime="%s">x</time><div class="text">%s</div></div>`
	isPost  = `<article class="c-message"><h4 class="c-name">%s</h4><time datetime="%s">x</time><section class="c-said"><p>%s</p></section></article>`
	rook    = `<meta name="generator" content="Rook 2"><ul><li><a href="/">Home</a></ul>`
)

// thread writes a page of five posts, which differ from those of other pages.
func thread(page int, head, each string) string {
	var b strings.Builder
	b.WriteString(head + `<div id="all">`)
	for i := range 5 {
		fmt.Fprintf(&b, each, []string{"Hugin", "Munin", "Odin"}[i%3], fmt.Sprintf("2026-11-%02d", i+1), fmt.Sprintf("Thread %d, post %d: the ravens saw %d crows and told the wall.", page, i, page*7+i))
	}
	return b.String() + `</div><p>Said by birds.</p>`
}

func threadURL(page int) string { return fmt.Sprintf("http://a.test/t/%d", page) }

// learner is a helper that learns, in memory.
func learner(t testing.TB, limits Limits) *Helper {
	t.Helper()
	h := New(base(t, rookForum, jayBlog), limits)
	store, err := adapt.OpenStore("")
	if err != nil {
		t.Fatal(err)
	}
	h.Adaptations = store
	h.OnError = func(err error) { t.Error(err) }
	return h
}

// patient gives learning the steps that it needs.
func patient() Limits {
	l := DefaultLimits()
	l.AdaptSteps = 1 << 40
	return l
}

// said writes the objects of a page, but for their markup.
func said(d *crawl.Parsed) (list []string) {
	for _, o := range d.Objects {
		parts := []string{o.Type}
		for _, name := range []string{"title", "author", "published", "body"} {
			if v := o.Properties.Get(name); v != "" {
				parts = append(parts, name+"="+v)
			}
		}
		list = append(list, strings.Join(parts, " "))
	}
	return list
}

// TestRecrawl: the objects of a page are found again after a redesign. A rule that found them on enough pages is in force on
// pages that were never seen before.
func TestRecrawl(t *testing.T) {
	h := learner(t, patient())
	was := map[int]*crawl.Parsed{}
	for i := 1; i <= adapt.EnoughPages; i++ {
		was[i] = read(h, threadURL(i), thread(i, rook, wasPost), Input{})
	}
	for i := 1; i <= adapt.EnoughPages; i++ {
		before := was[i]
		if len(before.Objects) != 5 || before.Prints == nil {
			t.Fatalf("%d objects, prints %x", len(before.Objects), before.Prints)
		}
		p := adapt.DecodePrints(before.Prints)
		if p == nil || p.Application != "Rook" || p.Version != "2" || p.Level != "thread" || len(p.Objects) != 5 {
			t.Fatalf("%+v", p)
		}
		now := read(h, threadURL(i), thread(i, rook, isPost), Input{Before: before.Prints})
		if !reflect.DeepEqual(said(now), said(before)) {
			t.Fatalf("%q, want %q", said(now), said(before))
		}
		for _, o := range now.Objects {
			if o.Rule == before.Objects[0].Rule || o.Confidence <= 0 || o.Confidence > adapt.MaxConfidence {
				t.Errorf("by %s with confidence %g", o.Rule, o.Confidence)
			}
		}
		if again := adapt.DecodePrints(now.Prints); again == nil || !reflect.DeepEqual(again.Objects, p.Objects) {
			t.Errorf("the prints are %+v, were %+v", again, p)
		}
		rule := byContent(t, h, "Rook")
		if rule.Type != "post" || rule.Level != "thread" || rule.Instead != before.Objects[0].Rule || rule.Verified < i || rule.Evidence[0] != threadURL(1) {
			t.Errorf("%d: %+v", i, rule)
		}
	}
	if rule := byContent(t, h, "Rook"); !rule.InForce() {
		t.Fatalf("%+v is not in force", rule)
	}
	for _, head := range []string{rook, "<p>without a mark</p>"} {
		d := read(h, threadURL(7), thread(7, head, isPost), Input{})
		want := said(read(h, threadURL(7), thread(7, rook, wasPost), Input{}))
		if d.Level != "thread" || !d.Terminal || !reflect.DeepEqual(said(d), want) {
			t.Errorf("a page never seen before is of level %q: %q, want %q", d.Level, said(d), want)
		}
		if d.Prints == nil {
			t.Error("it leaves no prints")
		}
	}
	if d := read(h, "http://b.test/t/7", thread(7, rook, isPost), Input{}); len(d.Objects) == 5 {
		t.Error("what was learned of one host holds on another")
	}
}

// TestRecrawlFirst: a rule learned from known content comes before a rule guessed from the form of pages.
func TestRecrawlFirst(t *testing.T) {
	h := learner(t, patient())
	var was []*crawl.Parsed
	for i := range 4 {
		was = append(was, read(h, threadURL(i), thread(i, rook, wasPost), Input{}))
	}
	for i, before := range was {
		for j := range 3 {
			n := 100 + 10*i + j
			read(h, threadURL(n), thread(n, rook, isPost), Input{})
		}
		read(h, threadURL(i), thread(i, rook, isPost), Input{Before: before.Prints})
	}
	got, want := said(read(h, threadURL(7), thread(7, rook, isPost), Input{})), said(read(New(h.Base(), DefaultLimits()), threadURL(7), thread(7, rook, wasPost), Input{}))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q: of the rules in force one that was guessed is asked first", got, want)
	}
}

// byContent is the rule that was learned by content; there must be one.
func byContent(t *testing.T, h *Helper, app string) (found adapt.SiteRule) {
	t.Helper()
	n := 0
	for _, r := range h.Adaptations.Rules("a.test", app) {
		if r.Method == adapt.ByContent {
			found = r
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d rules were learned by content: %+v", n, h.Adaptations.Rules("a.test", app))
	}
	return found
}

// TestRecrawlWithoutMarks: a page that has lost its marks, including that of its level, keeps its application and level.
func TestRecrawlWithoutMarks(t *testing.T) {
	h := learner(t, patient())
	before := read(h, "http://a.test/x1", thread(1, rook+`<div id="rook-thread"></div>`, wasPost), Input{})
	if before.Level != "thread" || len(before.Objects) != 5 {
		t.Fatalf("%s: %q", before.Level, said(before))
	}
	now := read(h, "http://a.test/x1", thread(1, "", isPost), Input{Before: before.Prints})
	if now.Application != "Rook" || now.Version != "2" || now.Level != "thread" || !now.Terminal || now.LevelRule != "before" || now.Confidence > recognise.MaxByHistory || !reflect.DeepEqual(said(now), said(before)) {
		t.Errorf("%s %s %s by %s: %q", now.Application, now.Version, now.Level, now.LevelRule, said(now))
	}
}

// TestShippedRuleStays: learned rules do not replace a rule of the base that works.
func TestShippedRuleStays(t *testing.T) {
	h := learner(t, patient())
	works := func(name, url, body string, before []byte) {
		t.Helper()
		want := read(New(h.Base(), DefaultLimits()), url, body, Input{})
		got := read(h, url, body, Input{Before: before})
		if !reflect.DeepEqual(got.Objects, want.Objects) {
			t.Errorf("%s: %q by %s, want %q", name, said(got), got.Objects[0].Rule, said(want))
		}
	}
	works("nothing learned", threadURL(1), thread(1, rook, wasPost), nil)
	before := make([][]byte, 5)
	for i := range before {
		before[i] = read(h, threadURL(i), thread(i, rook, wasPost), Input{}).Prints
	}
	works("as it was", threadURL(1), thread(1, rook, wasPost), before[1])
	if rules := h.Adaptations.Rules("a.test", "Rook"); len(rules) != 0 {
		t.Fatalf("learned where all is well: %+v", rules)
	}
	for i, p := range before {
		read(h, threadURL(i), thread(i, rook, isPost), Input{Before: p})
	}
	if rule := byContent(t, h, "Rook"); !rule.InForce() {
		t.Fatalf("%+v is not in force", rule)
	}
	for i := 20; i < 40; i++ {
		works("a page with its old template", threadURL(i), thread(i, rook, wasPost), nil)
	}
	if rules := h.Adaptations.Rules("a.test", "Rook"); len(rules) == 0 || !rules[0].InForce() {
		t.Errorf("pages with their old template count against the rule: %+v", rules)
	}
	works("… and was seen before", threadURL(1), thread(1, rook, wasPost), before[1])
	works("one that is of both", threadURL(9), thread(9, rook, wasPost)+`<article class="c-message"><h4 class="c-name">Related</h4></article>`, nil)
}

const (
	jay     = `<meta name="generator" content="jay">`
	jayText = `Article %d tells how the jays hid %d acorns in the old wall and never came back for them.`
)

// TestShippedRuleStaysOnPages: nor does a learned rule for whole pages, which selects something on any page.
func TestShippedRuleStaysOnPages(t *testing.T) {
	h := learner(t, patient())
	was := func(i int) string {
		return fmt.Sprintf(jay+`<h1 class="t">Jays %d</h1><main><p>By Hugin, who has seen it all, in November</p><div class="entry">`+jayText+`</div></main>`, i, i, i)
	}
	is := func(i int) string {
		return fmt.Sprintf(jay+`<h1>Jays %d</h1><main><p>`+jayText+`</p></main>`, i, i, i)
	}
	url := func(i int) string { return fmt.Sprintf("http://a.test/a/%d", i) }
	var pages []*crawl.Parsed
	for i := range 5 {
		pages = append(pages, read(h, url(i), was(i), Input{}))
	}
	for i, before := range pages {
		if d := read(h, url(i), is(i), Input{Before: before.Prints}); !reflect.DeepEqual(said(d), said(before)) {
			t.Fatalf("%q, want %q", said(d), said(before))
		}
	}
	want := read(New(h.Base(), DefaultLimits()), url(7), was(7), Input{})
	got := read(h, url(7), was(7), Input{})
	if !reflect.DeepEqual(said(got), said(want)) {
		t.Errorf("%q by %+v, want %q: unseen asks rules in force before the shipped ones that work", said(got), byContent(t, h, "Jay").Rule, said(want))
	}
}

// TestRecrawlTypes: an article and its many comments are found again if the template of only one of them changed.
func TestRecrawlTypes(t *testing.T) {
	write := func(article, comment string) string {
		var b strings.Builder
		fmt.Fprintf(&b, jay+article, fmt.Sprintf(jayText, 1, 1))
		for i := range 9 {
			fmt.Fprintf(&b, comment, "Magpie", fmt.Sprintf("Comment %d of the magpies who saw it.", i))
		}
		return b.String()
	}
	const article, comment = `<h1 class="t">Jays</h1><div class="entry">%s</div><ul>`, `<li class="c"><b>%s</b><p>%s</p></li>`
	const article2, comment2 = `<h1 class="t">Jays</h1><section class="said">%s</section><ul>`, `<li class="d"><i>%s</i><q>%s</q></li>`
	for name, now := range map[string]string{"the comments": write(article, comment2), "both": write(article2, comment2), "the article": write(article2, comment)} {
		h := learner(t, patient())
		before := read(h, "http://a.test/a/1", write(article, comment), Input{})
		if len(before.Objects) != 10 {
			t.Fatalf("%q", said(before))
		}
		got := map[string]bool{}
		for _, s := range said(read(h, "http://a.test/a/1", now, Input{Before: before.Prints})) {
			got[s] = true
		}
		for _, want := range said(before) {
			if !got[want] {
				t.Errorf("%s: %q is not there", name, want)
			}
		}
	}
}
