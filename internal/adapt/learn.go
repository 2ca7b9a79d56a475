package adapt

import (
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Rule is an extraction rule for one type of object, made of a page.
type Rule struct {
	Type       string         `json:"type"`
	Each       string         `json:"each"`
	Properties []PropertyRule `json:"properties"`
	Support    int            `json:"support"` // objects of the page that it was made of
	Expected   int            `json:"of"`      // objects that should have been found
}

// PropertyRule is the expression of a property, relative to the object.
type PropertyRule struct {
	Name    string `json:"name"`
	XPath   string `json:"xpath"`
	Match   string `json:"match,omitempty"`   // of the text only what the first group holds
	Without string `json:"without,omitempty"` // selects parts of the node that do not belong to the value
	// What composes the value, as in kb.Property.
	Append      string `json:"append,omitempty"`
	AppendMatch string `json:"append_match,omitempty"`
	Between     string `json:"between,omitempty"`
}

// Has reports whether the rule extracts a property.
func (l *Rule) Has(name string) bool {
	return slices.ContainsFunc(l.Properties, func(p PropertyRule) bool { return p.Name == name })
}

// Learn searches a page for the objects of the earlier crawl, and makes rules that extract them from it as it is now: one for each
// type of which enough objects are found. It takes at most so many steps. stands reports whether enough objects of a type are in
// the page, even if no rule could be made.
func Learn(eval *xpath.Eval, prints []Print, steps int) (rules []Rule, stands bool) {
	withinSteps(eval, steps, func(l *learner) { rules, stands = l.learn(prints) })
	return rules, stands
}

func (l *learner) learn(prints []Print) (rules []Rule, stands bool) {
	byType := map[string][]Print{}
	var order []string
	for _, p := range prints {
		if byType[p.Type] == nil {
			order = append(order, p.Type)
		}
		byType[p.Type] = append(byType[p.Type], p)
	}
	for i, kind := range order {
		same := byType[kind]
		same = same[:min(len(same), maxAligned)]
		l.eval.Within(l.eval.Budget/(len(order)-i), func() { // one type leaves the others their steps
			objects := l.align(same)
			if len(objects) == 0 || float64(len(objects)) < Support*float64(len(same)) {
				return
			}
			stands = true
			if r, ok := l.bestRule(kind, objects, len(same)); ok {
				rules = append(rules, r)
			}
		})
	}
	return rules, stands
}

// maxAligned bounds the objects of one type from which a rule is made: its cost grows with their square. That it finds the others too
// is seen where it is applied.
const maxAligned = 60

// bestRule makes the rule that extracts the most of the objects.
func (l *learner) bestRule(kind string, objects []*found, of int) (Rule, bool) {
	best, most := Rule{}, -1.0
	names := l.propertyNames(objects)
	for _, each := range l.objectContainers(objects) {
		if l.outOfSteps() || each.loose && most > 0 {
			break
		}
		r := Rule{Type: kind, Each: each.text, Support: each.support, Expected: of}
		score := 0.0
		for _, name := range bodyFirst(names) {
			text, support := l.bestExpression(name, objects, each)
			if text == "" && name == "body" && !l.guessed {
				var first string
				if first, text, support = l.twoExpressions(name, objects, each); first != "" {
					r.Properties = append(r.Properties, PropertyRule{Name: name, XPath: first, Without: l.withoutExpression(name, objects)})
				}
			}
			if text == "" {
				continue
			}
			r.Properties = append(r.Properties, PropertyRule{Name: name, XPath: text, Without: l.withoutExpression(name, objects)})
			weight := 1.0
			if name == "body" {
				weight = 3
			}
			score += weight * support
		}
		slices.SortStableFunc(r.Properties, func(a, b PropertyRule) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
		left := l.refine(&r, each)
		if each.loose && left > len(objects)/2 {
			continue
		}
		score *= float64(each.support) / float64(len(objects)+left)
		if score > most {
			best, most = r, score
		}
	}
	return best, most > 0
}

// bodyFirst puts the text before the other properties: without it they are worth little, and steps may be few.
func bodyFirst(names []string) []string {
	at := slices.Index(names, "body")
	if at < 1 {
		return names
	}
	return slices.Insert(slices.Delete(slices.Clone(names), at, at+1), 0, "body")
}

// refine distinguishes objects from what only looks like them by what they have and the others lack; it returns how many of
// those are left.
func (l *learner) refine(r *Rule, each container) (left int) {
	if len(each.strays) == 0 {
		return 0
	}
	strays := each.strays
	for _, p := range r.Properties {
		if len(strays) == 0 || strings.HasPrefix(p.XPath, "/") || strings.Contains(r.Each, " | ") || p.XPath == "." {
			continue
		}
		x := l.parse(p.XPath)
		if x == nil {
			continue
		}
		has := func(at xpath.Ref) bool {
			_, found, err := l.eval.First(x, at)
			return err == nil && found
		}
		kept, without := strays[:0:0], 0
		for _, s := range strays {
			if has(s) {
				kept = append(kept, s)
			}
		}
		for _, at := range each.at {
			if at.ID >= 0 && !has(at) {
				without++
			}
		}
		if len(kept) < len(strays) && without == 0 {
			r.Each += "[" + p.XPath + "]"
			strays = kept
		}
	}
	return len(strays)
}
