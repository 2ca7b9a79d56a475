// Package extract takes the web objects out of a page (paper §4.1): by the rules of a knowledge base, by what the page says of
// itself in JSON-LD, and by the form of its text. It notes where texts stand, and cuts them out of the page again for readers of
// an archive. It reads pages and never alters them.
package extract

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// Limits bound what is extracted from one page.
type Limits struct {
	Objects       int
	PropertyBytes int // of one property's value
}

// Page is a page that objects are extracted from. It is read and never altered.
type Page struct {
	kb.Evaluator
	Doc    *page.Document
	Limits Limits

	single                 bool        // the level is of pages that are for one thing
	outside                *xpath.Expr // what the rules of the level leave out of the body of an article; nil: nothing
	laidOut                *layout     // see layout
	data                   *linked     // see linked
	meta                   *page.Metadata
	sold                   []bool // see product
	soldKnown, saysProduct bool   // sold was made; the page's own data say product
	baskets                int    // buttons that sell it
}

// Located is a web object with the places its properties were found at.
type Located struct {
	Type  string
	At    xpath.Ref // the object's element
	Parts []Part
}

// Part is a property and its place.
type Part struct {
	Name string
	At   xpath.Ref
	Out  []xpath.Ref // elements below that do not belong to it by its rule
	// Clean are elements below that do not belong to it by their form: see clean. They change from crawl to crawl, so that nothing is
	// remembered of them.
	Clean []xpath.Ref
	// Of a body, the indexes among the object's properties of its text, if that is the text of the element and nothing
	// else, and of its markup; −1 where there is none. Whole reports that Out and Clean belong to both: there was no other text.
	Text, Markup int
	Whole        bool
}

// Set is the objects of a page. Where objects come from the page's own data, or from its segments, there are more of them than
// of Located.
type Set struct {
	Objects []crawl.Object
	Located []Located
}

// Level adds the objects of a level to a set. Of several rules for a type the first that finds something counts.
func (p *Page) Level(level *kb.Level, confidence float64, set *Set) {
	found := map[string]bool{}
	p.single = level.Terminal
	if p.single {
		if out := withoutOf(level, "article"); out != nil {
			p.outside = out
		}
		defer p.correct(level, set)
	}
	for i := range level.Objects {
		o := &level.Objects[i]
		if found[o.Type] {
			continue
		}
		if p.Objects(o, o.Needs, confidence, p.Limits.Objects-len(set.Objects), set) {
			found[o.Type] = true
		}
		if len(set.Objects) >= p.Limits.Objects {
			return
		}
	}
}

// Objects adds at most limit objects of one rule to a set; false if there are none.
func (p *Page) Objects(o *kb.Object, needs kb.Needs, confidence float64, limit int, set *Set) (found bool) {
	refs := p.Select(o.Each, needs, p.Eval.Tree.Root(), limit)
	if o.One != "" {
		refs = p.one(refs, o.One)
	}
	choose := p.single && singleTypes[o.Type] && len(refs) == 1
	for _, at := range refs {
		if object, located, ok := p.object(o, at, confidence, choose); ok {
			set.Objects, set.Located = append(set.Objects, object), append(set.Located, located)
			found = true
		}
	}
	return found
}

// object extracts one object; of several rules for a property the first that finds something counts.
func (p *Page) object(o *kb.Object, at xpath.Ref, confidence float64, choose bool) (object crawl.Object, located Located, ok bool) {
	located.Type, located.At = o.Type, at
	object = crawl.Object{Type: o.Type, Rule: o.Rule, Confidence: confidence}
	var unread crawl.Properties // dates as they stand there, which no rule could read
	// Of an object with a body some property stands within it; what stands elsewhere alone is said of the page.
	inside := !o.Has("body") || p.wholePage(at)
	chosen := false
	for i := range o.Properties {
		q := &o.Properties[i]
		if object.Properties.Get(q.Name) != "" {
			continue
		}
		if choose && q.Name == "body" {
			if chosen {
				continue // of all rules at once
			}
			if part, ok := p.body(o, at, &object); ok {
				located.Parts, inside = append(located.Parts, part), inside || p.Eval.Tree.Within(part.At, at)
			}
			chosen = true
			continue
		}
		limit := 1
		if q.Many {
			limit = MaxValues
		}
		if q.Append != nil {
			inside = p.composed(q, at, &object) || inside
			continue
		}
		refs := p.Select(q.XPath, q.Needs, at, limit)
		if choose && (q.Name == "published" || q.Name == "author") && len(refs) == 1 && p.misplaced(q, refs[0]) {
			refs = p.firstInPlace(q, at, refs)
		}
		for _, r := range refs {
			if part, ok := p.property(q, r, false, &object, &unread); ok {
				located.Parts, inside = append(located.Parts, part), inside || p.Eval.Tree.Within(r, at)
			}
		}
	}
	for _, u := range unread {
		if object.Properties.Get(u.Name) == "" {
			object.Properties = append(object.Properties, u)
		}
	}
	return object, located, inside && len(object.Properties) > 0
}

// wholePage reports whether a node is the page, or all of what it shows or says of itself.
func (p *Page) wholePage(at xpath.Ref) bool {
	switch n := p.Eval.Tree.Node(at); n.DataAtom {
	case atom.Html, atom.Head, atom.Body:
		return true
	default:
		return n.Type == html.DocumentNode
	}
}

// composed adds a property that is put together of two nodes. Its value is that of none of them, so it has no part; inside says that the second one is within the object.
func (p *Page) composed(q *kb.Property, at xpath.Ref, object *crawl.Object) (inside bool) {
	for _, first := range p.Select(q.XPath, q.Needs, at, 1) {
		for _, second := range p.Select(q.Append, q.AppendNeeds, at, 1) {
			a, b := matched(q.Match, p.text(first, nil)), matched(q.AppendMatch, p.text(second, nil))
			if a == "" || b == "" {
				continue
			}
			if value := p.typed(q.As, a+q.Between+b); value != "" {
				object.Properties = append(object.Properties, crawl.Property{Name: q.Name, Value: value})
				inside = p.Eval.Tree.Within(second, at)
			}
		}
	}
	return inside
}

// property adds what a node says of a property to an object; if clean is set, without what is no text of the page by its form. A date
// that cannot be read goes to unread.
func (p *Page) property(q *kb.Property, r xpath.Ref, clean bool, object *crawl.Object, unread *crawl.Properties) (part Part, ok bool) {
	out, skip := p.leaveOut(q, r)
	var less []xpath.Ref
	if clean && q.Match == nil && q.As == "" {
		less = p.clean(r, out)
		skip = p.alsoSkip(skip, less)
	}
	value := p.value(q, r, skip)
	whole := false
	if value == "" && len(skip) > 0 { // nothing else is there
		value = p.value(q, r, nil)
		whole = value != ""
	}
	if value == "" && q.As == "dateTime" {
		text := p.text(r, nil)
		if q.Match != nil && !q.Match.MatchString(text) {
			return part, false // that is no date at all
		}
		if text != "" && len(text) <= MaxDate && unread.Get(q.Name) == "" {
			*unread = append(*unread, crawl.Property{Name: q.Name, Value: shorten(text, p.Limits.PropertyBytes)})
		}
		return part, false
	}
	if value == "" && (q.Name != "body" || !p.picture(r)) {
		return part, false
	}
	part = Part{Name: q.Name, At: r, Out: out, Clean: less, Text: -1, Markup: -1, Whole: whole}
	element := q.Name == "body" && r.Attr < 0 && p.Eval.Tree.Node(r).Type != html.TextNode
	if value != "" {
		if element && q.Match == nil && q.As == "" {
			part.Text = len(object.Properties)
		}
		object.Properties = append(object.Properties, crawl.Property{Name: q.Name, Value: value})
	}
	if element { // its place is noted once it is known that the object stays: see Locate
		part.Markup = len(object.Properties)
		object.Properties = append(object.Properties, crawl.Property{Name: crawl.Markup})
	}
	return part, true
}

// maxLeftOut bounds the parts that are left out of one value.
const maxLeftOut = 1000

// leaveOut finds the parts of a node that do not belong to a value.
func (p *Page) leaveOut(q *kb.Property, r xpath.Ref) (refs []xpath.Ref, skip skipSet) {
	if q.Without == nil || r.Attr >= 0 {
		return nil, nil
	}
	for _, ref := range p.Select(q.Without, nil, r, maxLeftOut) {
		if n := p.Eval.Tree.Node(ref); ref.Attr < 0 && ref.ID != r.ID && p.Eval.Tree.Within(ref, r) {
			if skip == nil {
				skip = skipSet{}
			}
			refs = append(refs, ref)
			skip[n] = true
		}
	}
	return refs, skip
}

// picture reports whether a body shows something instead of saying it.
func (p *Page) picture(r xpath.Ref) bool {
	if r.Attr >= 0 {
		return false
	}
	for id := r.ID; id < p.Eval.Tree.End(r); id++ {
		switch p.Eval.Tree.At(id).DataAtom {
		case atom.Img, atom.Video, atom.Iframe, atom.Audio, atom.Object, atom.Embed:
			return true
		}
	}
	return false
}
