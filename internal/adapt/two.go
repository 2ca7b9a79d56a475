package adapt

import (
	"strings"
)

// Bounds of the search for two expressions for one property.
const (
	maxFirst  = 8   // expressions for the first objects that are tried with all others
	maxOfBoth = 200 // expressions that are tried for either
)

// twoExpressions finds two expressions for a property that no single one finds in enough objects: templates write short texts and long
// ones in different ways, as a comment of one paragraph and of several. The first must select nothing in the objects that the second is
// for.
func (l *learner) twoExpressions(name string, objects []*found, each container) (first, second string, support float64) {
	have := 0
	for i, f := range objects {
		if _, ok := f.parts[name]; ok && each.at[i].ID >= 0 {
			have++
		}
	}
	var all, sure []verdicts
	for _, text := range l.eitherExpression(name, objects, each) {
		v := l.judge(text, name, objects, each)
		if v.right == 0 || l.outOfSteps() {
			continue
		}
		if all = append(all, v); v.wrong == 0 && len(sure) < maxFirst {
			sure = append(sure, v)
		}
	}
	best := 0
	for _, a := range sure {
		for _, b := range all {
			n := a.right
			for i, of := range b.of {
				if of == right && a.of[i] == none {
					n++
				}
			}
			if l.pay(len(objects)); n > best && n > a.right {
				first, second, best = a.text, b.text, n
			}
		}
	}
	if have == 0 || float64(best) < Support*float64(have) {
		return "", "", 0
	}
	return first, second, float64(best) / float64(have)
}

// eitherExpression lists expressions for the property in the first objects; those for an element also for where it is the only one of
// its name beside each other.
func (l *learner) eitherExpression(name string, objects []*found, each container) (list []string) {
	tried := map[string]bool{}
	add := func(text string) {
		if !tried[text] && len(list) < maxOfBoth {
			tried[text] = true
			list = append(list, text)
		}
	}
	for i, f := range objects[:min(len(objects), maxLooked)] {
		r, ok := f.parts[name]
		if !ok || each.at[i].ID < 0 {
			continue
		}
		for _, text := range l.expressions(r, each.at[i]) {
			add(text)
			if r.Attr < 0 && text != "." && !strings.Contains(text, "|") {
				add(text + "[count(../" + l.eval.Tree.Node(r).Data + ") = 1]")
			}
		}
	}
	return list
}

// verdict is what an expression selects in an object.
type verdict uint8

const (
	none  verdict = iota // nothing, or the object is not asked
	right                // what the property said
	wrong                // something else
)

type verdicts struct {
	text         string
	of           []verdict // by object
	right, wrong int
}

func (l *learner) judge(text, name string, objects []*found, each container) (v verdicts) {
	v.text, v.of = text, make([]verdict, len(objects))
	x := l.parse(text)
	if x == nil {
		return v
	}
	for i, f := range objects {
		want, ok := f.parts[name]
		if !ok || each.at[i].ID < 0 {
			continue
		}
		r, found, err := l.eval.First(x, each.at[i])
		switch {
		case err != nil || !found:
		case l.sum(r).hash == l.sum(want).hash:
			v.of[i] = right
			v.right++
		default:
			v.of[i] = wrong
			v.wrong++
		}
	}
	return v
}
