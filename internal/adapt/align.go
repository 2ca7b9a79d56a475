package adapt

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// found is an object of before in the page as it is now.
type found struct {
	print *Print
	parts map[string]xpath.Ref
	// chain holds the elements that may stand for the object: the smallest that holds all its parts, and
	// those around that hold no part of another object; the smallest first.
	chain []int32
	at    *xpath.Ref // of the longest text, once it was asked for
}

// align finds the objects of before by what they said. Objects of which the longest text is not in the page are
// left out.
func align(t *texts, prints []Print) (out []*found) {
	taken := map[xpath.Ref]bool{}
	for i := range prints {
		p := &prints[i]
		anchor := p.Longest()
		if anchor < 0 {
			continue
		}
		at, ok := t.place(p.Properties[anchor].Hash, taken, nil)
		if !ok {
			continue
		}
		taken[at] = true
		f := &found{print: p, parts: map[string]xpath.Ref{p.Properties[anchor].Name: at}}
		for j := range p.Properties {
			if q := &p.Properties[j]; j != anchor && f.parts[q.Name] == (xpath.Ref{}) {
				if r, ok := t.place(q.Hash, nil, &at); ok {
					f.parts[q.Name] = r
				}
			}
		}
		out = append(out, f)
	}
	for _, f := range out {
		if f.chain = t.chain(f, out); len(f.chain) == 0 { // its parts lie beside each other: the text stands for it
			f.chain = t.around(f.anchor(), f, out)
		}
	}
	return slices.DeleteFunc(out, func(f *found) bool { return len(f.chain) == 0 })
}

// place finds where a text stands: of several places one that is not taken, the nearest to another node; of
// nested elements with the same text the innermost.
func (t *texts) place(hash uint64, taken map[xpath.Ref]bool, near *xpath.Ref) (best xpath.Ref, ok bool) {
	least := int32(1 << 30)
	for _, r := range t.byHash[hash] {
		if t.inTaken(r, taken) || ok && r.Attr >= 0 && best.Attr < 0 {
			continue
		}
		distance := int32(0)
		if near != nil {
			distance = t.distance(r, *near)
		}
		// an element within the best so far, with the same text, takes its place
		inner := ok && r.Attr < 0 && best.Attr < 0 && t.tree.Within(r, best) && r != best
		if !ok || best.Attr >= 0 && r.Attr < 0 || distance < least || inner && distance <= least+8 {
			best, least, ok = r, distance, true
		}
	}
	return best, ok
}

// inTaken tells of nodes that hold a taken one or stand in it.
func (t *texts) inTaken(r xpath.Ref, taken map[xpath.Ref]bool) bool {
	for other := range taken {
		if t.tree.Within(r, other) || t.tree.Within(other, r) {
			return true
		}
	}
	return false
}

// distance is the size of the smallest element that holds both.
func (t *texts) distance(a, b xpath.Ref) int32 {
	at := xpath.Ref{ID: a.ID, Attr: -1}
	for !t.tree.Within(xpath.Ref{ID: b.ID, Attr: -1}, at) {
		up, ok := t.tree.Parent(at)
		if !ok {
			break
		}
		at = up
	}
	return t.tree.End(at) - at.ID
}

// chain lists the elements that may stand for an object.
func (t *texts) chain(f *found, all []*found) (chain []int32) {
	low, high := int32(1<<30), int32(-1)
	for _, r := range f.parts {
		if t.outside(r, f, all) {
			continue // said once for several objects, as a title in the head
		}
		low, high = min(low, r.ID), max(high, r.ID)
	}
	if high < 0 {
		return nil
	}
	at := xpath.Ref{ID: low, Attr: -1}
	for t.tree.End(at) <= high {
		up, ok := t.tree.Parent(at)
		if !ok {
			return nil
		}
		at = up
	}
	return t.around(at, f, all)
}

// around lists an element and those around it that hold no text of another object, maxChain at most.
func (t *texts) around(at xpath.Ref, f *found, all []*found) (chain []int32) {
	at.Attr = -1
	for len(chain) < maxChain && !t.holdsOther(at, f, all) {
		chain = append(chain, at.ID)
		up, ok := t.tree.Parent(at)
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

// outside tells of a part that lies so far from the object's text that another object's stands between.
func (t *texts) outside(r xpath.Ref, f *found, all []*found) bool {
	anchor := f.anchor()
	at := xpath.Ref{ID: min(r.ID, anchor.ID), Attr: -1}
	for t.tree.End(at) <= max(r.ID, anchor.ID) {
		up, ok := t.tree.Parent(at)
		if !ok {
			return true
		}
		at = up
	}
	return t.holdsOther(at, f, all)
}

func (t *texts) holdsOther(at xpath.Ref, f *found, all []*found) bool {
	for _, other := range all {
		if other == f || other.print.Type != f.print.Type {
			continue
		}
		if t.tree.Within(other.anchor(), at) {
			return true
		}
	}
	return false
}
