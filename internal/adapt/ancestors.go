package adapt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// ancestors makes expressions for the elements around the objects by way of the parts: these are known to last.
func ancestors(l *learner, lists map[string]anchors, objects []*found) (list []string) {
	tree := l.eval.Tree
	for _, name := range sortedNames(lists) {
		if name == "body" {
			continue
		}
		count := map[string]int{}
		var order []string
		for _, f := range objects {
			r, ok := f.parts[name]
			if !ok || !slices.Contains(lists[name].refs, r) {
				continue
			}
			names := map[string]int{}
			at := xpath.Ref{ID: r.ID, Attr: -1}
			for depth := 0; depth < maxChain; depth++ {
				if depth > 0 || r.Attr >= 0 {
					n := tree.At(at.ID).Data
					if names[n]++; slices.Contains(f.chain, at.ID) {
						text := lists[name].text
						if strings.Contains(text, " | ") {
							text = "(" + text + ")"
						}
						text += "/ancestor::" + n + "[" + strconv.Itoa(names[n]) + "]"
						if count[text]++; count[text] == 1 {
							order = append(order, text)
						}
					}
				}
				up, ok := tree.Parent(at)
				if !ok {
					break
				}
				at = up
			}
		}
		for _, text := range order {
			if float64(count[text]) >= Support*float64(len(objects)) {
				list = append(list, text)
			}
		}
	}
	return list
}

// keepFailing replaces new expressions by the failing rule's own, for the properties that these find in the objects.
func (l *learner) keepFailing(r *Rule, failing []PropertyRule, objects []*found) {
	each := l.parse(r.Each)
	if each == nil {
		return
	}
	refs, err := l.eval.Select(each, l.eval.Tree.Root(), maxObjects)
	if err != nil {
		return
	}
	kept := map[string]bool{}
	for _, p := range failing {
		at := slices.IndexFunc(r.Properties, func(q PropertyRule) bool { return q.Name == p.Name })
		if kept[p.Name] || p.XPath == "." || l.outOfSteps() || l.shareWithText(p.XPath, refs) < Support {
			continue
		}
		if p.Name == "body" && !l.sameTexts(p.XPath, refs, objects) {
			continue
		}
		kept[p.Name] = true
		if at < 0 {
			r.Properties = append(r.Properties, p)
			continue
		}
		others := slices.DeleteFunc(slices.Clone(r.Properties[at+1:]), func(q PropertyRule) bool { return q.Name == p.Name })
		r.Properties = append(append(r.Properties[:at:at], p), others...)
	}
}

// sameTexts reports whether an expression finds the texts that the objects were made with. Where none is known it finds none.
func (l *learner) sameTexts(text string, refs []xpath.Ref, objects []*found) bool {
	bodies, known := map[uint64]bool{}, 0
	for _, f := range objects {
		if body, ok := f.parts["body"]; ok {
			bodies[l.sum(body).hash] = true
			known++
		}
	}
	x, same := l.parse(text), 0
	for _, ref := range refs {
		if r, found, err := l.eval.First(x, ref); err == nil && found && bodies[l.sum(r).hash] {
			same++
		}
	}
	return same > 0 && float64(same) >= Support*float64(min(known, len(refs)))
}
