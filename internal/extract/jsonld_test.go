package extract

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// pageAt is a page for extraction without rules.
func pageAt(t *testing.T, url, html string) *Page {
	t.Helper()
	d := page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: []byte(html)}, page.DefaultLimits())
	if d.Root == nil {
		t.Fatal("no tree")
	}
	return &Page{Evaluator: kb.Evaluator{Eval: xpath.NewEval(d.Root, xpath.DefaultBudget)}, Doc: d, Limits: Limits{Objects: 100, PropertyBytes: 10_000}}
}

func ld(script string) string { return `<script type="application/ld+json">` + script + `</script>` }

// typesOf are the types of objects, joined.
func typesOf(objects []crawl.Object) string {
	var list []string
	for _, o := range objects {
		list = append(list, o.Type)
	}
	return strings.Join(list, " ")
}

func TestLinkedTypes(t *testing.T) {
	faq := `{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"Why?","acceptedAnswer":{"@type":"Answer","text":"So."}}]}`
	product := `{"@type":"Product","name":"A feather"}`
	article := `{"@type":"HowTo","name":"To feed ravens"}`
	for _, c := range []struct{ script, types string }{
		{faq, "question answer"},
		{`[` + faq + `,` + product + `]`, "product"},
		{`{"@graph":[` + faq + `,` + article + `]}`, "article"},
		{`[{"@type":"Comment","text":"Fine."},{"@type":"Question","name":"Why?"},` + article + `]`, "comment question article"},
		{`{"@type":"QAPage","mainEntity":{"@type":"Question","name":"Why?"}}`, "question"},
		{`{"@type":"WebPage","name":"Ravens","datePublished":"2021-02-03"}`, ""},
		{`{"@type":["Guide","Thing"],"name":"Ravens"}`, "article"},
	} {
		found := pageAt(t, "http://a.test/", ld(c.script)).Structured(0)
		if typesOf(found) != c.types {
			t.Errorf("%s: %q", c.script, typesOf(found))
		}
	}
}

// TestLinkedNames: what stands elsewhere in the page's data is found by its @id, and an address is no name.
func TestLinkedNames(t *testing.T) {
	for author, want := range map[string]string{
		`{"@id":"#hugo"}`: "Hugo", `[{"@id":"#hugo"},{"@type":"Person","name":"Munin"}]`: "Hugo|Munin", `{"@id":"#gone"}`: "", `{"@type":"Person","url":"http://a.test/hugo"}`: "",
		`"http://a.test/hugo"`: "", `"Hugo"`: "Hugo", `{"@id":"#loop"}`: "",
	} {
		p := pageAt(t, "http://a.test/", ld(`{"@graph":[{"@type":"Article","headline":"Ravens","author":`+author+`,"image":{"@id":"#picture"},"mainEntityOfPage":{"@type":"WebPage","name":"Ravens","@id":"/r"}},
{"@type":"Person","@id":"#hugo","name":"Hugo"},{"@id":"#picture","@type":"ImageObject","url":"/r.png"},{"@id":"#loop","name":{"@id":"#loop"}}]}`))
		found := p.Structured(0)
		if len(found) != 1 {
			t.Fatalf("%s: %+v", author, found)
		}
		got := found[0].Properties
		if strings.Join(got.All("author"), "|") != want || got.Get("image") != "http://a.test/r.png" || got.Get("permalink") != "http://a.test/r" {
			t.Errorf("%s: %+v", author, got)
		}
	}
}

// TestLinkedLoops: an entity that names itself, and one that very many name, cost what a page may cost.
func TestLinkedLoops(t *testing.T) {
	self := `{"@graph":[{"@type":"Article","author":{"@id":"1"}},{"@id":"1","name":[` + strings.TrimSuffix(strings.Repeat(`{"@id":"1"},`, 1000), ",") + `]}]}`
	authors := strings.TrimSuffix(strings.Repeat(`{"@id":"1"},`, 100), ",")
	many := `{"@graph":[` + strings.Repeat(`{"@type":"Article","author":[`+authors+`]},`, 100) + `{"@id":"1","@type":"Person","name":"` + strings.Repeat("a &amp; b ", 10_000) + `"}]}`
	for _, script := range []string{self, many} {
		p := pageAt(t, "http://a.test/x", ld(script))
		l := p.linked()
		if l.left > maxValueBytes-1000 || l.left < -maxValueBytes {
			t.Errorf("%d bytes are left of %d", l.left, maxValueBytes)
		}
		for _, o := range l.objects {
			if n := len(o.Properties); n > MaxValues {
				t.Errorf("%d properties", n)
			}
		}
	}
}

// TestLinkedReferences: a reference may have a type; of several entities with an @id that which says most counts.
func TestLinkedReferences(t *testing.T) {
	p := pageAt(t, "http://a.test/x", ld(`{"@graph":[{"@type":"Article","name":"Ravens","author":{"@type":"Person","@id":"#hugo"}},{"@type":"Person","@id":"#hugo"},{"@type":"Person","@id":"#hugo","name":"Hugo"}]}`))
	if l := p.linked(); len(l.objects) != 1 || l.objects[0].Properties.Get("author") != "Hugo" {
		t.Errorf("%+v", l.objects)
	}
}
