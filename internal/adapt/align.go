package adapt

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// found is an object of the earlier crawl in the current page.
type found struct {
	print *Print
	parts map[string]xpath.Ref
	// chain holds the elements that may stand for the object: the smallest that holds all its parts, and
	// those around that hold no part of another object; the smallest first.
	chain []int32
	at    *xpath.Ref // of the longest text, once it was asked for
}

// align finds the objects of the earlier crawl by their texts. An object whose longest text is not in the page is left out.
func (l *learner) align(prints []Print) (out []*found) {
	taken := map[xpath.Ref]bool{}
	for i := range prints {
		p := &prints[i]
		anchor := p.Longest()
		if anchor < 0 {
			continue
		}
		at, ok := l.findText(p.Properties[anchor].Hash, taken, nil)
		if !ok {
			continue
		}
		taken[at] = true
		f := &found{print: p, parts: map[string]xpath.Ref{p.Properties[anchor].Name: at}}
		for j := range p.Properties {
			if q := &p.Properties[j]; j != anchor && f.parts[q.Name] == (xpath.Ref{}) {
				if r, ok := l.findText(q.Hash, nil, &at); ok {
					f.parts[q.Name] = r
				}
			}
		}
		out = append(out, f)
	}
	for _, f := range out {
		if f.chain = l.chain(f, out); len(f.chain) == 0 { // its parts lie beside each other: the text stands for it
			f.chain = l.surrounding(f.anchor(), f, out)
		}
	}
	return slices.DeleteFunc(out, func(f *found) bool { return len(f.chain) == 0 })
}

// findText finds where a text stands: of several places one that is not taken, the nearest to another node; of
// nested elements with the same text the innermost.
func (l *learner) findText(hash uint64, taken map[xpath.Ref]bool, near *xpath.Ref) (best xpath.Ref, ok bool) {
	least := int32(1 << 30)
	for _, r := range l.texts.byHash[hash] {
		if l.pay(2 + len(taken)); l.outOfSteps() {
			break
		}
		if l.overlapsTaken(r, taken) || ok && r.Attr >= 0 && best.Attr < 0 {
			continue
		}
		distance := int32(0)
		if near != nil {
			distance = l.distance(r, *near)
		}
		// an element within the best so far, with the same text, takes its place
		inner := ok && r.Attr < 0 && best.Attr < 0 && l.eval.Tree.Within(r, best) && r != best
		if !ok || best.Attr >= 0 && r.Attr < 0 || distance < least || inner && distance <= least+8 {
			best, least, ok = r, distance, true
		}
	}
	return best, ok
}

// overlapsTaken reports whether a node holds a taken one or stands in it.
func (l *learner) overlapsTaken(r xpath.Ref, taken map[xpath.Ref]bool) bool {
	for other := range taken {
		if l.eval.Tree.Within(r, other) || l.eval.Tree.Within(other, r) {
			return true
		}
	}
	return false
}

// distance is the size of the smallest element that holds both.
func (l *learner) distance(a, b xpath.Ref) int32 {
	at := xpath.Ref{ID: a.ID, Attr: -1}
	for !l.eval.Tree.Within(xpath.Ref{ID: b.ID, Attr: -1}, at) {
		l.pay(1)
		up, ok := l.eval.Tree.Parent(at)
		if !ok {
			break
		}
		at = up
	}
	return l.eval.Tree.End(at) - at.ID
}

// chain lists the elements that may stand for an object.
func (l *learner) chain(f *found, all []*found) (chain []int32) {
	low, high := int32(1<<30), int32(-1)
	for _, r := range f.parts {
		if l.isOutside(r, f, all) {
			continue // said once for several objects, as a title in the head
		}
		low, high = min(low, r.ID), max(high, r.ID)
	}
	if high < 0 {
		return nil
	}
	at, ok := l.enclosing(low, high)
	if !ok {
		return nil
	}
	return l.surrounding(at, f, all)
}

// enclosing is the innermost element around two nodes, the first of which comes before the other; false if there is none.
func (l *learner) enclosing(low, high int32) (at xpath.Ref, ok bool) {
	at = xpath.Ref{ID: low, Attr: -1}
	for l.eval.Tree.End(at) <= high {
		l.pay(1)
		up, ok := l.eval.Tree.Parent(at)
		if !ok {
			return at, false
		}
		at = up
	}
	return at, true
}

// surrounding lists an element and those around it that hold no text of another object, maxChain at most.
func (l *learner) surrounding(at xpath.Ref, f *found, all []*found) (chain []int32) {
	at.Attr = -1
	for len(chain) < maxChain && !l.holdsOther(at, f, all) {
		chain = append(chain, at.ID)
		l.pay(1)
		up, ok := l.eval.Tree.Parent(at)
		if !ok {
			break
		}
		at = up
	}
	return chain
}

// anchor is where the longest text of an object stands.
func (f *found) anchor() xpath.Ref {
	if f.at == nil {
		at := f.parts[f.print.Properties[f.print.Longest()].Name]
		f.at = &at
	}
	return *f.at
}

// isOutside reports whether a part lies so far from the object's text that another object's text stands between.
func (l *learner) isOutside(r xpath.Ref, f *found, all []*found) bool {
	anchor := f.anchor()
	at, ok := l.enclosing(min(r.ID, anchor.ID), max(r.ID, anchor.ID))
	return !ok || l.holdsOther(at, f, all)
}

func (l *learner) holdsOther(at xpath.Ref, f *found, all []*found) bool {
	l.pay(len(all))
	for _, other := range all {
		if other == f || other.print.Type != f.print.Type {
			continue
		}
		if l.eval.Tree.Within(other.anchor(), at) {
			return true
		}
	}
	return false
}
