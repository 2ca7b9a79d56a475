package extract

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// The choice of the element that holds the text of a page's only article.
const (
	// maxBodies bounds the elements that one rule offers.
	maxBodies = 20
	// chosenWords is how many main words a page must have: of shorter ones the first element of the first rule counts.
	chosenWords = 80
	// betterFit is by how much the fit of a rule's element must exceed that of an earlier rule's.
	betterFit = 0.15
	// leastShare is the share of the page's main words below which an element is not the body.
	leastShare = 1. / 3
	// likelyShare is the share below which an element is not the body if another one of the page has a good fit.
	likelyShare = 0.5
	// manyParts is how many elements there must be for a list.
	manyParts = 3
	// LeastFit is the least fit of an element that no rule selects.
	LeastFit = 0.6
)

// one is, of the elements that a rule selects, the one with the best fit. If how is kb.OneMain, that counts only if it holds more than
// half of the page's main words: otherwise the page lists several.
func (p *Page) one(refs []xpath.Ref, how string) []xpath.Ref {
	if len(refs) < 2 {
		return refs
	}
	l := p.layout()
	all := l.main[len(l.main)-1]
	best, fit := 0, 0.
	for i, r := range refs {
		if f := p.fitOf(r, nil); all >= chosenWords && f > fit {
			best, fit = i, f
		}
	}
	_, main := p.wordsOf(refs[best], nil)
	if how == kb.OneMain && (fit == 0 || 2*main <= all) || p.areMany(refs, refs[best]) {
		return refs
	}
	return refs[best : best+1]
}

// areMany reports whether elements are the parts of a list: they are alike, the best one has little of what was written for the page or in
// answer to it, and together they have most of that.
func (p *Page) areMany(refs []xpath.Ref, best xpath.Ref) bool {
	l, tree := p.layout(), p.Eval.Tree
	written := func(from, to int) (n int) {
		for i := from; i < to; i++ {
			if l.segments[i] >= Comments {
				n += l.size(i)
			}
		}
		return n
	}
	all := written(0, len(l.segments))
	if len(refs) < manyParts || all < chosenWords || float64(written(l.blocks(tree, best))) >= leastShare*float64(all) {
		return false
	}
	sum, same, covered := 0, 0, int32(-1)
	for _, r := range refs {
		if alike(tree.Node(r), tree.Node(best)) {
			same++
		}
		if r.ID >= covered {
			sum, covered = sum+written(l.blocks(tree, r)), tree.End(r)
		}
	}
	return 3*same >= 2*len(refs) && 2*sum > all
}

// singleTypes are the types of which a page that is for one of them has one with a text. Posts of threads are many, and may be short.
var singleTypes = map[string]bool{"article": true, "product": true, "event": true, "video": true}

// fit is how well an element agrees with the main text of the page: the F1 measure of its words (WSDM 2010, section 4.1: the harmonic
// mean of precision and recall), in [0,1].
func (l *layout) fit(words, main int) float64 {
	if main == 0 {
		return 0
	}
	return 2 * float64(main) / float64(words+l.main[len(l.main)-1])
}

// fitOf is the fit of an element without some that stand in it, in document order.
func (p *Page) fitOf(r xpath.Ref, out []xpath.Ref) float64 {
	return p.layout().fit(p.wordsOf(r, out))
}

func (p *Page) wordsOf(r xpath.Ref, out []xpath.Ref) (words, main int) {
	if r.Attr >= 0 {
		return 0, 0
	}
	l, tree := p.layout(), p.Eval.Tree
	return p.countWithout(func(at xpath.Ref) (int, int) { return l.below(tree, at) }, r, out)
}

// countWithout counts for an element, without those that are left out of it.
func (p *Page) countWithout(count Words, r xpath.Ref, out []xpath.Ref) (words, main int) {
	words, main = count(r)
	covered := int32(-1)
	for _, o := range out {
		if o.ID < covered {
			continue
		}
		covered = p.Eval.Tree.End(o)
		w, m := count(o)
		words, main = words-w, main-m
	}
	return words, main
}

// candidate is an element that a rule offers as the body.
type candidate struct {
	rule *kb.Property
	at   xpath.Ref
}

// body extracts the body of the only object of its type: the element with the best fit of those that the rules offer. An earlier rule
// is more precise than a later one, so that it needs less.
func (p *Page) body(o *kb.Object, at xpath.Ref, object *crawl.Object) (part Part, ok bool) {
	list, n := p.candidates(o, at), len(object.Properties)
	for _, c := range list {
		if part, ok = p.property(c.rule, c.at, true, object, &crawl.Properties{}); ok && object.Properties.Get("body") != "" {
			return part, true
		}
		object.Properties = object.Properties[:n] // a picture alone: another may have a text
	}
	for _, c := range list {
		if part, ok = p.property(c.rule, c.at, true, object, &crawl.Properties{}); ok {
			return part, true
		}
	}
	return part, false
}

// candidates are what the rules for a body offer, the best first.
func (p *Page) candidates(o *kb.Object, at xpath.Ref) (list []candidate) {
	long, best := false, 0.
	for i := range o.Properties {
		q := &o.Properties[i]
		if q.Name != "body" {
			continue
		}
		refs := p.Select(q.XPath, q.Needs, at, maxBodies)
		if len(refs) == 0 {
			continue
		}
		if l := p.layout(); len(list) == 0 {
			long = l.main[len(l.main)-1] >= chosenWords
		}
		offers := make([]candidate, len(refs))
		fits := make(map[xpath.Ref]float64, len(refs))
		for i, r := range refs {
			offers[i] = candidate{q, r}
			if long {
				out, _ := p.leaveOut(q, r)
				fits[r] = p.fitOf(r, out)
			}
		}
		if long {
			slices.SortStableFunc(offers, func(a, b candidate) int {
				switch d := fits[a.at] - fits[b.at]; {
				case d > 0:
					return -1
				case d < 0:
					return 1
				}
				return 0
			})
		}
		switch fit := fits[offers[0].at]; {
		case len(list) == 0:
			list, best = offers, fit
		case long && fit > best+betterFit && (p.Eval.Tree.Within(offers[0].at, list[0].at) || p.isPart(list[0].at)):
			list, best = append(offers, list...), fit
		default:
			list = append(list, offers...)
		}
		if best+betterFit >= 1 {
			break
		}
	}
	return list
}

// isPart reports whether an element holds too little of the page's main text to be the body.
func (p *Page) isPart(r xpath.Ref) bool {
	_, main := p.wordsOf(r, nil)
	all := p.layout().main
	return float64(main) < leastShare*float64(all[len(all)-1])
}

// tightest is the element of the page with the best fit, the innermost of several; its fit is 0 if none has enough.
func (p *Page) tightest() (best xpath.Ref, fit float64) {
	l, tree := p.layout(), p.Eval.Tree
	all := l.main[len(l.main)-1]
	for id := int32(0); int(id) < tree.Len(); id++ {
		r := xpath.Ref{ID: id, Attr: -1}
		n := tree.At(id)
		if n.Type == html.DocumentNode {
			continue
		}
		words, main := l.below(tree, r)
		if n.Type != html.ElementNode || float64(main) < LeastFit/2*float64(all) { // nor can any in it have a fit of LeastFit
			id = tree.End(r) - 1
			continue
		}
		if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
			continue
		}
		if f := l.fit(words, main); f >= LeastFit && f >= fit {
			best, fit = r, f
		}
	}
	return best, fit
}

// correct replaces the body of the page's only article where its element holds less than a third of the page's main words, or less than half
// and another element has a good fit: it is a teaser, an advertisement or a part. The element with the best fit is the body then; if none
// has enough, the article has none. One that holds little of what the page shows gives way to the page's region.
func (p *Page) correct(level *kb.Level, set *Set) {
	at := -1
	for i, l := range set.Located {
		if singleTypes[l.Type] {
			if at >= 0 {
				return
			}
			at = i
		}
	}
	if at < 0 {
		return
	}
	p.takeComments(set.Located)
	located, object := &set.Located[at], &set.Objects[at]
	k := slices.IndexFunc(located.Parts, func(p Part) bool { return p.Name == "body" })
	l := p.layout()
	all := l.main[len(l.main)-1]
	if k < 0 || located.Parts[k].At.Attr >= 0 || all < chosenWords {
		return
	}
	part := located.Parts[k]
	_, main := p.wordsOf(part.At, part.Out)
	little := located.Type == "article" && p.isLittle(part.At)
	if float64(main) >= likelyShare*float64(all) && !little {
		return
	}
	r, fit := p.tightest()
	if little {
		if wider, ok := p.wholeRegion(); ok {
			r, fit = wider, supplyFit
		}
	}
	if fit == 0 && float64(main) >= leastShare*float64(all) {
		return
	}
	object.Properties = slices.DeleteFunc(object.Properties, func(p crawl.Property) bool { return p.Name == "body" || p.Name == crawl.Markup })
	located.Parts = slices.DeleteFunc(located.Parts, func(p Part) bool { return p.Name == "body" })
	object.Confidence = min(object.Confidence, GenericConfidence)
	if fit == 0 {
		return
	}
	var unread crawl.Properties
	if part, ok := p.property(&kb.Property{Name: "body", Without: withoutOf(level, located.Type)}, r, true, object, &unread); ok {
		located.Parts = append(located.Parts, part)
	}
}

// isLittle reports whether an element holds less than a third of what the page shows, long texts or not.
func (p *Page) isLittle(r xpath.Ref) bool {
	l := p.layout()
	return 3*l.gained(l.blocks(p.Eval.Tree, r)) < l.gained(0, len(l.roles))
}

// takeComments makes comments of the blocks of those that rules have found: they are no main text of the page.
func (p *Page) takeComments(located []Located) {
	l, any := p.layout(), false
	for i := range located {
		if located[i].Type != "comment" {
			continue
		}
		from, to := l.blocks(p.Eval.Tree, located[i].At)
		for b := from; b < to; b++ {
			l.roles[b] = Comments // whatever their classes say: dates and authors are looked for by role
			if l.segments[b] == Main {
				l.segments[b], any = Comments, true
			}
		}
	}
	if any {
		l.sum()
	}
}

// withoutOf is what the first rule for the body of a type says that is no part of it.
func withoutOf(level *kb.Level, kind string) *xpath.Expr {
	for i := range level.Objects {
		for k := range level.Objects[i].Properties {
			if q := &level.Objects[i].Properties[k]; level.Objects[i].Type == kind && q.Name == "body" && q.Without != nil {
				return q.Without
			}
		}
	}
	return nil
}
