package extract

import (
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
)

// Describe adds to the only article of a page, or what else the page is for, what it lacks and the page says of itself: in JSON-LD, and in
// the meta elements of its head. Located are the places of the first objects.
func (p *Page) Describe(objects []crawl.Object, located []Located, confidence float64) {
	at := mainOf(objects)
	if at < 0 {
		return
	}
	p.Complete(objects, confidence)
	o := &objects[at]
	p.fromHead(o)
	cleanAuthor(o)
	var place *Located
	if at < len(located) {
		place = &located[at]
	}
	p.setTitle(o, place, o.Rule == BySegments || o.Rule == bySchema || strings.Contains(o.Rule, "generic.xml"))
	if o.Type != "event" { // the dates that readers see are those of the event
		p.fromText(o, place)
	}
	p.supply(o, "author", p.metadata().Author)
}

// fromText adds what readers see near the heading and the text.
func (p *Page) fromText(o *crawl.Object, place *Located) {
	dated, named := dateTime(o.Properties.Get("published")) != "", o.Properties.Get("author") != ""
	if dated && named {
		return
	}
	w, ok := p.windowOf(o, place)
	if !ok {
		return
	}
	if !dated {
		p.visibleDates(o, w)
	}
	if !named && !isFront(p.Doc.URL) {
		p.supply(o, "author", p.visibleAuthor(w))
	}
}

// describedTypes are the types of objects that a page may be for, the likelier first.
var describedTypes = []string{"article", "product", "video", "repository", "event"}

// mainOf is the index of the object that a page is for, if it is the only one of its type; −1 if there is none.
func mainOf(objects []crawl.Object) int {
	for _, kind := range describedTypes {
		found := -1
		for i := range objects {
			if objects[i].Type != kind {
				continue
			}
			if found >= 0 {
				return -1
			}
			found = i
		}
		if found >= 0 {
			return found
		}
	}
	return -1
}

// metadata is what the head of the page says, read once.
func (p *Page) metadata() *page.Metadata {
	if p.meta == nil {
		m := p.Doc.Metadata()
		p.meta = &m
	}
	return p.meta
}

// fromHead adds what the head says, and what JSON-LD says of the page as such.
func (p *Page) fromHead(o *crawl.Object) {
	m, about := p.metadata(), p.linked().about
	if !p.ofSite(m.Author) {
		p.supply(o, "author", m.Author, about.Get("author"))
	}
	p.supply(o, "published", dashed(m.Published), about.Get("published"))
	p.supply(o, "modified", m.Modified, about.Get("modified"))
	p.supply(o, "summary", m.Summary)
	p.supply(o, "permalink", m.Canonical)
	p.supply(o, "image", m.Image)
}

// dashed writes a date of eight digits as others are; package dates holds such a number for anything.
func dashed(s string) string {
	if len(s) != len("20120801") || digits(s) != len(s) {
		return s
	}
	return s[:4] + "-" + s[4:6] + "-" + s[6:]
}

// supply gives an object a property that it lacks: the first value that can be read. A date of the object that nobody can read is lacking.
func (p *Page) supply(o *crawl.Object, name string, values ...string) {
	has := o.Properties.Get(name)
	if has != "" && (ValueType(name) != "dateTime" || dateTime(has) != "") {
		return
	}
	for _, value := range values {
		switch ValueType(name) {
		case "dateTime":
			value = dateTime(value)
		case "url":
			if value != "" {
				value = p.address(value)
			}
		}
		if value = shorten(value, p.Limits.PropertyBytes); value != "" {
			set(o, name, value)
			return
		}
	}
}

// set gives a property its only value.
func set(o *crawl.Object, name, value string) {
	at := slices.IndexFunc(o.Properties, func(p crawl.Property) bool { return p.Name == name })
	if at < 0 {
		o.Properties = append(o.Properties, crawl.Property{Name: name, Value: value})
		return
	}
	o.Properties[at].Value = value
}
