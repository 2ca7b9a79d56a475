package extract

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Limits of schema.org data in JSON-LD.
const (
	maxStructured = 256 << 10 // bytes of one script
	maxEntities   = 200       // of a page
	maxNested     = 8
)

// linked is what a page says of itself in JSON-LD.
type linked struct {
	page    *Page
	objects []crawl.Object
	about   crawl.Properties          // what is said of the page as such, and of no object on it
	asked   []any                     // the questions of lists of frequent questions
	nodes   map[string]map[string]any // entities that others name, by their @id
	left    int                       // bytes of values that may still be read: an @id in many places, or in itself, multiplies them
}

// linked reads the JSON-LD of a page once.
func (p *Page) linked() *linked {
	if p.data == nil {
		p.data = &linked{page: p, left: maxValueBytes}
		p.data.read()
	}
	return p.data
}

func (l *linked) read() {
	if s := l.page.Doc.Source; !bytes.Contains(s, []byte("+json")) || !bytes.Contains(s, []byte("ld+json")) { // a plus is rare, and quick to find
		return
	}
	var scripts []any
	for n := range l.page.Doc.Root.Descendants() {
		if n.DataAtom != atom.Script || !isLinkedData(attr(n, "type")) || n.FirstChild == nil || len(n.FirstChild.Data) > maxStructured {
			continue
		}
		scripts = append(scripts, readJSON(n.FirstChild.Data)...)
	}
	l.nodes = map[string]map[string]any{}
	for _, data := range scripts {
		l.index(data, 0)
	}
	for _, data := range scripts {
		l.entities(data, 0)
	}
	if len(l.objects) == 0 { // then the questions are what the page is for
		for _, data := range l.asked {
			l.entities(data, 0)
		}
	}
}

// isLinkedData reports whether a script is of JSON-LD: "application/ld+json", with parameters or without.
func isLinkedData(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/ld+json")
}

// maxValueBytes bounds the texts of all values of a page's JSON-LD together, and one counts for each list, entity and number.
const maxValueBytes = 4 << 20

// index notes the entities that have an @id, of several with one @id that which says most. The order of a map is chance, and must not show.
func (l *linked) index(data any, depth int) {
	if depth > maxNested || len(l.nodes) >= maxEntities {
		return
	}
	switch x := data.(type) {
	case []any:
		for _, e := range x {
			l.index(e, depth+1)
		}
	case map[string]any:
		if id, ok := x["@id"].(string); ok && len(x) > max(1, len(l.nodes[id])) {
			l.nodes[id] = x
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			switch e := x[name].(type) {
			case []any, map[string]any:
				l.index(e, depth+1)
			}
		}
	}
}

// entities gathers the web objects of a value: lists, graphs, and what stands in their parts.
func (l *linked) entities(data any, depth int) {
	if depth > maxNested || len(l.objects) >= min(maxEntities, l.page.Limits.Objects) {
		return
	}
	switch x := data.(type) {
	case []any:
		for _, e := range x {
			l.entities(e, depth+1)
		}
	case map[string]any:
		switch kind := kindOf(x["@type"]); kind {
		case "":
		case aboutPage:
			if l.about == nil {
				l.about = l.entity(kind, x).Properties
			}
		default:
			if o := l.entity(kind, x); len(o.Properties) > 0 {
				l.objects = append(l.objects, o)
			}
		}
		questions := isFrequent(x["@type"])
		if questions {
			l.asked = append(l.asked, x["mainEntity"])
		}
		for _, part := range []string{"@graph", "mainEntity", "mainEntityOfPage", "acceptedAnswer", "suggestedAnswer", "comment", "hasPart", "itemListElement", "item"} {
			if !questions || part != "mainEntity" {
				l.entities(x[part], depth+1)
			}
		}
	}
}

// resolve is the entity that a value names by its @id, with its type or without, or the value itself.
func (l *linked) resolve(x map[string]any) map[string]any {
	if id, ok := x["@id"].(string); ok && len(x) <= 2 && len(l.nodes[id]) > len(x) {
		return l.nodes[id]
	}
	return x
}
