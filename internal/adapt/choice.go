package adapt

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// What the texts that a rule extracts must agree with the page's main text.
const (
	betterFit  = 0.03 // by which a rule must exceed one that is tried before it
	insteadFit = 0.15 // by which it must exceed what the shipped rules extract
)

// choice chooses, of the rules for one type that do well on a page, the one whose texts agree best with the page's main text (extract:
// Fit). Of pages whose main text is short the first rule counts.
type choice struct {
	*adaptation
	kind    string
	shipped bool // the shipped rules extracted a text of the type
	sure    bool // the best was made of what is known, and needs no comparison
	best    extract.Set
	fit     float64
}

func (a *adaptation) newChoice(kind string) *choice {
	return &choice{adaptation: a, kind: kind, shipped: a.findsTexts(kind)}
}

// hasText reports whether the shipped rules extracted a text, if only the whole page.
func (c *choice) hasText() bool {
	return slices.ContainsFunc(c.Located, func(l extract.Located) bool {
		_, ok := bodyOf(l)
		return ok && l.Type == c.kind
	})
}

func (c *choice) found() bool { return len(c.best.Objects) > 0 }

// measure is how well what a rule extracts agrees with the page; ok is false if it has not the form that it promises.
func (c *choice) measure(r *Rule, set extract.Set) (fit float64, ok bool) {
	if !isSound(set, *r) {
		return 0, false
	}
	fit, long := c.page.Fit(set.Located, c.kind)
	switch {
	case repeatedTypes[c.kind]:
		return fit, !c.areOthers(set) && !c.holdSigns(set)
	case len(set.Objects) != 1 || long && fit < extract.LeastFit:
		return fit, false
	case !c.hasText():
		return fit, true
	}
	had, _ := c.page.Fit(c.Located, c.kind)
	return fit, long && fit > had+insteadFit
}

// offer takes what a rule extracts if that is the best until now and may be used. It reports whether the rule did well on the page.
func (c *choice) offer(r *Rule, method string, set extract.Set, inForce bool) (well bool) {
	if method == ByContent || !r.Has("body") {
		if well = isSound(set, *r); well && inForce && !c.found() {
			c.best, c.sure = set, method == ByContent
		}
		return well
	}
	fit, well := c.measure(r, set)
	if well && !inForce && c.isEvident(set, fit) {
		for i := range set.Objects {
			set.Objects[i].Confidence = min(set.Objects[i].Confidence, extract.GenericConfidence)
		}
		inForce = true
	}
	if well && inForce && !c.sure && (!c.found() || c.isBetter(set, fit)) {
		c.best, c.fit = set, fit
	}
	return well
}

// isEvident reports whether a page shows by itself that a rule is right, so that no others need to verify it: there are several things of
// one form, and together they are the page's text.
func (c *choice) isEvident(set extract.Set, fit float64) bool {
	return repeatedTypes[c.kind] && len(set.Objects) >= EnoughPages && fit >= extract.LeastFit
}

// isBetter reports whether what a rule extracts is better than the best until now. That one text agrees better than several things is
// no reason: it holds them all.
func (c *choice) isBetter(set extract.Set, fit float64) bool {
	n, had := len(set.Objects), len(c.best.Objects)
	return n >= had && fit > c.fit+betterFit || had == 1 && c.isEvident(set, fit)
}

// areOthers reports whether most of what a rule extracts is what the page's objects of other types are: comments are no posts.
func (c *choice) areOthers(set extract.Set) bool {
	var others []xpath.Ref
	for _, l := range c.Located {
		if at, ok := bodyOf(l); ok && l.Type != c.kind {
			others = append(others, at)
		}
	}
	tree, n := c.page.Eval.Tree, 0
	for _, l := range set.Located {
		if at, ok := bodyOf(l); ok && slices.ContainsFunc(others, func(o xpath.Ref) bool { return tree.Within(at, o) || tree.Within(o, at) }) {
			n++
		}
	}
	return 2*n > len(set.Located)
}

// holdSigns reports whether author or date stand in the text of most things: they are more than their texts then.
func (c *choice) holdSigns(set extract.Set) bool {
	n := 0
	for _, l := range set.Located {
		if c.holdsSign(l) {
			n++
		}
	}
	return 2*n > len(set.Located)
}

// holdsSign reports whether author or date of an object stand in its text.
func (a *adaptation) holdsSign(l extract.Located) bool {
	body, ok := bodyOf(l)
	return ok && slices.ContainsFunc(l.Parts, func(p extract.Part) bool {
		return (p.Name == "author" || p.Name == "published") && a.page.Eval.Tree.Within(p.At, body)
	})
}

// bodyOf is the element of an object's text.
func bodyOf(l extract.Located) (at xpath.Ref, ok bool) {
	for _, p := range l.Parts {
		if p.Name == "body" && p.At.Attr < 0 {
			return p.At, true
		}
	}
	return at, false
}
