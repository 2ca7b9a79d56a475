package adapt

import (
	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Shape guesses the objects of a page of an unknown template by its form, and makes a rule that extracts them: where
// things of one form repeat that bear dates and texts, posts or comments; else the one text of the page. kind is
// the type of object that the level holds.
func Shape(eval *xpath.Eval, kind string, steps int) (r Rule, ok bool) {
	withinSteps(eval, steps, func(l *learner) { r, ok = l.fromShape(kind) })
	return r, ok
}

func (l *learner) fromShape(kind string) (Rule, bool) {
	l.guessed = true
	var objects []*found
	if kind != "article" && kind != "page" {
		objects = l.records(kind)
	}
	if len(objects) == 0 {
		if objects = l.article(kind); len(objects) == 0 {
			return Rule{}, false
		}
	}
	r, ok := l.bestRule(kind, objects, len(objects))
	if ok && !r.Has("body") { // no place in the objects has the text alone: all of them then
		r.Properties = append(r.Properties, PropertyRule{Name: "body", XPath: "."})
	}
	return r, ok
}

func (l *learner) chains(objects []*found) {
	for _, f := range objects {
		f.chain = l.chain(f, objects)
	}
}

// object makes an object of an element by what stands in it.
func (l *learner) object(kind string, id int32) *found {
	body := l.body(id)
	f := &found{print: &Print{Type: kind}, parts: map[string]xpath.Ref{}}
	f.put(l, "body", xpath.Ref{ID: body, Attr: -1})
	if at, ok := l.date(id); ok {
		f.put(l, "published", at)
	}
	if at, ok := l.author(id, body); ok {
		f.put(l, "author", at)
	}
	if len(f.print.Properties) == 0 {
		return nil
	}
	return f
}

func (f *found) put(l *learner, name string, at xpath.Ref) {
	s := l.sum(at)
	f.parts[name] = at
	f.print.Properties = append(f.print.Properties, Property{Name: name, Hash: s.hash, Size: s.size})
}

// body is the element below in which the most is written.
func (l *learner) body(id int32) int32 {
	tree := l.eval.Tree
	best, most := id, 0
	l.pay(2 * int(tree.End(xpath.Ref{ID: id, Attr: -1})-id))
	for c := id; c < tree.End(xpath.Ref{ID: id, Attr: -1}); c++ {
		if tree.At(c).Type == html.ElementNode && l.texts.sums[c].size > most {
			if n := l.countProse(c); n > most {
				best, most = c, n
			}
		}
	}
	return best
}
