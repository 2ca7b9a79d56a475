package adapt

import (
	"fmt"
	"strings"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// propertyNames are the properties of the objects, the first object's first.
func (l *learner) propertyNames(objects []*found) (propertyNames []string) {
	seen := map[string]bool{}
	for _, f := range objects {
		for _, p := range f.print.Properties {
			if !seen[p.Name] {
				seen[p.Name] = true
				propertyNames = append(propertyNames, p.Name)
			}
		}
	}
	return propertyNames
}

// bestExpression finds the expression of a property: the first node that it selects in an object must say what the
// property said.
func (l *learner) bestExpression(name string, objects []*found, each container) (best string, support float64) {
	have, least := 0, 0
	guess := l.guessed && name == "body" // of several that hold all texts the one that holds the least beside them
	tried := map[string]bool{}
	for i, f := range objects {
		if _, ok := f.parts[name]; ok && each.at[i].ID >= 0 {
			have++
		}
	}
	if have == 0 {
		return "", 0
	}
	attempts, looked := 0, 0
	for i, f := range objects {
		r, ok := f.parts[name]
		if !ok || each.at[i].ID < 0 {
			continue
		}
		if looked++; attempts == maxAttempts || looked > maxLooked {
			break
		}
		counted := false
		for _, text := range l.expressions(r, each.at[i]) {
			if tried[text] {
				continue
			}
			if tried[text] = true; !counted { // an object that is written as one before adds nothing
				counted = true
				attempts++
			}
			if l.outOfSteps() {
				if support < Support {
					return "", 0
				}
				return best, support
			}
			n, letters := l.countAgreeing(text, name, objects, each)
			s := float64(n) / float64(have)
			better := s > support
			if guess && s >= Support && support >= Support { // some guesses went wrong: the tightest that fits most
				better = letters < least
			}
			if better {
				best, support, least = text, s, letters
			}
			if n == have && !guess {
				return best, support
			}
		}
	}
	if support < Support {
		return "", 0
	}
	return best, support
}

// Bounds of the objects whose expressions for a property are tried: those that add one, and all.
const (
	maxAttempts = 3
	maxLooked   = 12
)

// expressions for a node from the element of its object: relative to it, or of the page where it stands
// elsewhere.
func (l *learner) expressions(r, object xpath.Ref) (list []string) {
	tree := l.eval.Tree
	lead, suffix := ".//", ""
	if r.Attr >= 0 {
		suffix = "/@" + tree.Node(r).Attr[r.Attr].Key
		r.Attr = -1
	}
	switch {
	case r.ID == object.ID:
		if suffix != "" {
			return []string{suffix[1:]}
		}
		return []string{"."}
	case !tree.Within(r, object):
		lead = "//"
		list = l.siblingExpressions(r, object, suffix)
	}
	// elements around that say the same may be better known than the innermost
	same := l.sum(r)
	for depth := range maxChain {
		for _, text := range candidates(tree, r.ID, lead) {
			list = append(list, text+suffix)
		}
		up, ok := tree.Parent(r)
		if ok && suffix == "" && up.ID == object.ID && l.texts.sums[up.ID].hash == same.hash {
			list = append(list, ".") // a text of several paragraphs is the object
		}
		if !ok || suffix != "" || up.ID <= object.ID || !l.guessed && (depth > 2 || l.texts.sums[up.ID].hash != same.hash) {
			break
		}
		r = up
	}
	return list
}

// siblingExpressions makes expressions for a node that stands in an element beside the object's.
func (l *learner) siblingExpressions(r, object xpath.Ref, suffix string) (list []string) {
	tree := l.eval.Tree
	up, ok := tree.Parent(object)
	if !ok || !tree.Within(r, up) {
		return nil
	}
	sibling := r
	for {
		p, ok := tree.Parent(sibling)
		if !ok {
			return nil
		}
		if p == up {
			break
		}
		sibling = p
	}
	axis, first, last := "preceding-sibling", sibling.ID, object.ID
	if sibling.ID > object.ID {
		axis, first, last = "following-sibling", object.ID+1, sibling.ID+1
	}
	n := tree.At(sibling.ID)
	count := 0 // elements of the name between the two, the sibling among them
	for c := up.ID + 1; c < tree.End(up); c = tree.End(xpath.Ref{ID: c, Attr: -1}) {
		if c >= first && c < last && c != object.ID && tree.At(c).Type == n.Type && tree.At(c).Data == n.Data {
			count++
		}
	}
	if count == 0 || count > 5 {
		return nil
	}
	step := fmt.Sprintf("%s::%s[%d]", axis, n.Data, count)
	if r.ID == sibling.ID {
		return []string{step + suffix}
	}
	for _, text := range candidates(tree, r.ID, "//") {
		list = append(list, step+text+suffix)
	}
	return list
}

// countAgreeing counts the objects of which an expression selects what the property said, and the letters it selects.
func (l *learner) countAgreeing(text, name string, objects []*found, each container) (n, letters int) {
	x := l.parse(text)
	if x == nil {
		return 0, 0
	}
	var r xpath.Ref
	var found, asked bool
	var err error
	ofPage := strings.HasPrefix(text, "/") // it selects the same for all objects
	for i, f := range objects {
		want, ok := f.parts[name]
		if !ok || each.at[i].ID < 0 {
			continue
		}
		if !asked || !ofPage {
			r, found, err = l.eval.First(x, each.at[i])
			asked = true
		}
		if err == nil && found {
			letters += l.sum(r).size
		}
		switch {
		case err != nil || !found:
		case l.sum(r).hash == l.sum(want).hash:
			n++
		case l.guessed && name == "body" && r.Attr < 0 && l.eval.Tree.Within(want, r):
			n++ // the guess went too deep into this one
		}
	}
	return n, letters
}
