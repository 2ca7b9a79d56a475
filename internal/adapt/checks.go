package adapt

import (
	"slices"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// mainType is the type of object that the level is for: that of its first rule with a body.
func (a *adaptation) mainType() string {
	for i := range a.Level.Objects {
		if o := &a.Level.Objects[i]; o.Has("body") {
			return o.Type
		}
	}
	return ""
}

// repeatedTypes are the types of which a page holds several, as a rule: one that is the whole page is a last resort.
var repeatedTypes = map[string]bool{"post": true, "comment": true, "answer": true, "review": true}

// findsTexts reports whether the shipped rules extracted a text of the type that is not just the whole page; of types without a
// text whether they extracted anything.
func (a *adaptation) findsTexts(kind string) bool {
	if !slices.ContainsFunc(a.Level.Objects, func(o kb.Object) bool { return o.Type == kind && o.Has("body") }) {
		return slices.ContainsFunc(a.Located, func(l extract.Located) bool { return l.Type == kind })
	}
	for _, l := range a.Located {
		if l.Type != kind || repeatedTypes[kind] && a.isWholePage(l.At) {
			continue
		}
		for _, p := range l.Parts {
			if p.Name == "body" && !a.isWholePage(p.At) {
				return true
			}
		}
	}
	return false
}

// isWholePage reports whether an element is the whole page.
func (a *adaptation) isWholePage(r xpath.Ref) bool {
	n := a.page.Eval.Tree.Node(r)
	return n.DataAtom == atom.Body || n.DataAtom == atom.Html
}

func (a *adaptation) shippedRule(kind string) string {
	for i := range a.Level.Objects {
		if a.Level.Objects[i].Type == kind {
			return a.Level.Objects[i].Rule
		}
	}
	return ""
}

// agreement is the share of the earlier objects whose longest text was extracted again, without what did not belong
// to it.
func (a *adaptation) agreement(located []extract.Located, prints []Print) float64 {
	if len(prints) == 0 {
		return 1
	}
	now := map[uint64][]Property{}
	for _, p := range PrintsOf(a.page.Eval.Tree, located) {
		for _, q := range p.Properties {
			now[q.Hash] = append(now[q.Hash], q)
		}
	}
	same := 0
	for i := range prints {
		at := prints[i].Longest()
		if at < 0 {
			continue
		}
		before := &prints[i].Properties[at]
		if slices.ContainsFunc(now[before.Hash], func(q Property) bool { return leavesOut(before.Out, q.Out) }) {
			same++
		}
	}
	return float64(same) / float64(len(prints))
}

// knownShare is the share of the earlier properties that were extracted again.
func (a *adaptation) knownShare(located []extract.Located, prints []Print) float64 {
	now, n, of := map[uint64]bool{}, 0, 0
	for _, p := range PrintsOf(a.page.Eval.Tree, located) {
		for _, q := range p.Properties {
			now[q.Hash] = true
		}
	}
	for _, p := range prints {
		for _, q := range p.Properties {
			if of++; now[q.Hash] {
				n++
			}
		}
	}
	return float64(n) / float64(max(of, 1))
}

// leavesOut reports whether most of what was left out before is left out now.
func leavesOut(before, now []uint64) bool {
	n := 0
	for _, hash := range before {
		if slices.Contains(now, hash) {
			n++
		}
	}
	return float64(n) >= Support*float64(len(before))
}
