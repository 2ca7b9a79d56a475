package adapt

import (
	"slices"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Shape guesses the objects of a page of an unknown template by its form, and makes a rule that extracts them: where
// things of one form repeat that bear dates and texts, posts or comments; else the one text of the page. kind is
// the type of object that the level holds. words distinguish main text from other text; nil: letters of paragraphs do.
func Shape(eval *xpath.Eval, kind string, words extract.Words, steps int) (r Rule, ok bool) {
	withinSteps(eval, steps, func(l *learner) {
		l.words = words
		r, ok = l.fromShape(kind)
	})
	return r, ok
}

func (l *learner) fromShape(kind string) (Rule, bool) {
	l.guessed = true
	var objects []*found
	if repeatedTypes[kind] {
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

// objects makes objects of elements by what stands in them. If the text of none of them is main text of the page, letters decide.
func (l *learner) objects(kind string, ids []int32) (list []*found) {
	fill := func() {
		list = nil
		for _, id := range ids {
			if f := l.object(kind, id); f != nil {
				f.chain = []int32{id}
				list = append(list, f)
			}
		}
	}
	fill()
	if l.words != nil && !slices.ContainsFunc(list, hasBody) {
		words := l.words
		l.words = nil
		fill()
		l.words = words
	}
	return list
}

func hasBody(f *found) bool { _, ok := f.parts["body"]; return ok }

// object makes an object of an element by what stands in it.
func (l *learner) object(kind string, id int32) *found {
	body := l.body(id)
	f := &found{print: &Print{Type: kind}, parts: map[string]xpath.Ref{}}
	if body >= 0 {
		f.put(l, "body", xpath.Ref{ID: body, Attr: -1})
	}
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

// body is the element below that holds the text: of the page's main text, or else the one in which the most is written; -1 if that is not known.
func (l *learner) body(id int32) int32 {
	tree := l.eval.Tree
	if l.words != nil {
		return l.mainBody(id, id, nil)
	}
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

// wordSteps is the cost of counting the words of an element, in steps.
const wordSteps = 8

// mainBody is the innermost of the elements from one on, within an object, that agree best with the object's main text, outside of other
// elements of a group; -1 if it has none.
func (l *learner) mainBody(id, from int32, group map[int32]bool) int32 {
	tree := l.eval.Tree
	end := tree.End(xpath.Ref{ID: id, Attr: -1})
	var others []int32 // of the group
	for c := id + 1; c < end && len(group) > 0; c++ {
		if l.pay(1); group[c] {
			others, c = append(others, c), tree.End(xpath.Ref{ID: c, Attr: -1})-1
		}
	}
	count := func(id int32) (words, main int) {
		l.pay(wordSteps)
		at := xpath.Ref{ID: id, Attr: -1}
		words, main = l.words(at)
		for _, o := range others {
			if l.pay(1); tree.Within(xpath.Ref{ID: o, Attr: -1}, at) {
				w, m := l.words(xpath.Ref{ID: o, Attr: -1})
				words, main = words-w, main-m
			}
		}
		return words, main
	}
	_, all := count(id)
	best, most := int32(-1), 0.0
	for c := from; c < end && all > 0 && !l.outOfSteps(); c++ {
		if tree.At(c).Type != html.ElementNode {
			continue
		}
		words, main := count(c)
		if c != id && group[c] || 2*float64(main) < most*float64(all) { // nor does any in it agree better
			c = tree.End(xpath.Ref{ID: c, Attr: -1}) - 1
			continue
		}
		if fit := 2 * float64(main) / float64(words+all); main > 0 && fit >= most {
			best, most = c, fit
		}
	}
	return best
}
