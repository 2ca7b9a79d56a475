package adapt

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Bounds of relaxing.
const (
	maxRelaxed = 40  // expressions made of one that fails
	maxObjects = 200 // elements that an expression for objects may select
	keptShare  = 0.6 // of the objects in which a property must be found to be left as it is
)

// Relax makes a rule of one that fails on a page: of its expressions those that select nothing are made less strict
// (a condition is left out, a name or an axis widened, a class replaced by one of the page that is like it), and
// what is still not found is looked for by its form in the objects that are. The form decides between candidates:
// how many objects there are, and how many of their properties.
func Relax(eval *xpath.Eval, failing Rule, words extract.Words, steps int) (best Rule, ok bool) {
	withinSteps(eval, steps, func(l *learner) {
		l.words = words
		best, ok = l.relax(failing)
	})
	return best, ok
}

func (l *learner) relax(failing Rule) (best Rule, ok bool) {
	l.guessed = true
	most := 0.0
	for _, each := range append([]string{failing.Each}, l.relaxed(failing.Each)...) {
		if l.outOfSteps() {
			break
		}
		x := l.parse(each)
		if x == nil {
			continue
		}
		refs, err := l.eval.Select(x, l.eval.Tree.Root(), maxObjects+1)
		if err != nil || len(refs) == 0 || len(refs) > maxObjects || l.areNested(refs) || l.isNearlyPage(refs) {
			continue
		}
		r, worth := l.fillProperties(each, failing, refs)
		if worth > most {
			best, most, ok = r, worth, true
		}
	}
	return best, ok
}

// isNearlyPage reports whether one of the elements is the page, or nearly.
func (l *learner) isNearlyPage(refs []xpath.Ref) bool {
	for _, r := range refs {
		n := l.eval.Tree.Node(r)
		if n.Type != html.ElementNode || n.DataAtom == atom.Html || n.DataAtom == atom.Body {
			return true
		}
	}
	return false
}

// areNested reports whether elements stand in each other: they are not things side by side.
func (l *learner) areNested(refs []xpath.Ref) bool {
	for i := 1; i < len(refs); i++ {
		if l.eval.Tree.Within(refs[i], refs[i-1]) {
			return true
		}
	}
	return false
}

// fillProperties finds the properties in the elements of the objects.
func (l *learner) fillProperties(each string, failing Rule, refs []xpath.Ref) (r Rule, worth float64) {
	r = Rule{Type: failing.Type, Each: each, Support: len(refs), Expected: len(refs)}
	ids := make([]int32, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	objects := l.objects(failing.Type, ids)
	if len(objects) == 0 {
		return r, 0
	}
	at := container{at: make([]xpath.Ref, len(objects))}
	for i, f := range objects {
		at.at[i] = xpath.Ref{ID: f.chain[0], Attr: -1}
	}
	have := map[string]bool{}
	add := func(p PropertyRule, text string, share float64) {
		have[p.Name] = true
		p.XPath = text
		r.Properties = append(r.Properties, p)
		if p.Name == "body" {
			share *= 3
		}
		worth += share
	}
	for _, p := range failing.Properties { // as they are, the first of a name that is found
		if have[p.Name] || p.XPath == "." { // the last resort
			continue
		}
		if share := l.shareWithText(p.XPath, refs); share >= keptShare {
			add(p, p.XPath, share)
		}
	}
	for _, p := range failing.Properties {
		if have[p.Name] || l.outOfSteps() {
			continue
		}
		if slices.ContainsFunc(objects, func(f *found) bool { _, formed := f.parts[p.Name]; return formed }) { // body, date and author have a form of their own
			if text, share := l.bestExpression(p.Name, objects, at); text != "" {
				add(p, text, share)
				continue
			}
		}
		for _, text := range l.relaxed(p.XPath) {
			if share := l.shareWithText(text, refs); share >= Support {
				add(p, text, share/2)
				break
			}
		}
	}
	return r, worth * float64(min(len(refs), 10))
}

// shareWithText is in which part of the objects an expression finds a text.
func (l *learner) shareWithText(text string, refs []xpath.Ref) float64 {
	x := l.parse(text)
	if x == nil {
		return 0
	}
	n := 0
	for _, ref := range refs {
		if r, found, err := l.eval.First(x, ref); err == nil && found && l.sum(r).size >= minLetters {
			n++
		}
	}
	return float64(n) / float64(len(refs))
}

// relaxed makes less strict expressions of one, each by one change.
func (l *learner) relaxed(text string) (list []string) {
	x := l.parse(text)
	if x == nil {
		return nil
	}
	paths := 0
	xpath.Walk(x.Root, func(n xpath.Node) {
		if _, ok := n.(*xpath.Path); ok {
			paths++
		}
	})
	emit := func(root xpath.Node) {
		if len(list) < maxRelaxed {
			text := xpath.Text(root)
			l.pay(parseSteps * len(text))
			list = append(list, text)
		}
	}
	for i := range paths {
		// the same path in a copy of the expression, to change it there
		in := func(change func(*xpath.Path) bool) {
			root, at := xpath.Clone(x.Root), 0
			xpath.Walk(root, func(n xpath.Node) {
				if p, ok := n.(*xpath.Path); ok {
					if at == i && change(p) {
						emit(root)
					}
					at++
				}
			})
		}
		steps, preds := 0, 0
		in(func(p *xpath.Path) bool {
			steps = len(p.Steps)
			for _, s := range p.Steps {
				preds = max(preds, len(s.Preds))
			}
			return false
		})
		for s := range steps {
			for _, like := range l.similarSteps(x, i, s) {
				in(func(p *xpath.Path) bool { return like(p.Steps[s]) })
			}
			in(func(p *xpath.Path) bool { // the name
				if p.Steps[s].Axis == xpath.Attribute || p.Steps[s].Test == "*" || len(p.Steps[s].Preds) == 0 {
					return false
				}
				p.Steps[s].Test = "*"
				return true
			})
			in(func(p *xpath.Path) bool { // the axis
				if p.Steps[s].Axis != xpath.Child {
					return false
				}
				p.Steps[s].Axis = xpath.Descendant
				return true
			})
			for k := range preds {
				in(func(p *xpath.Path) bool { // a condition
					q := p.Steps[s].Preds
					if k >= len(q) {
						return false
					}
					p.Steps[s].Preds = append(append([]xpath.Node(nil), q[:k]...), q[k+1:]...)
					return true
				})
			}
		}
	}
	return list
}

// maxAlike bounds the classes of the page that are tried in the place of one.
const maxAlike = 4

// similarSteps makes changes of a step: a class or ID that it asks for is replaced by those of the page that are most
// like it.
func (l *learner) similarSteps(x *xpath.Expr, path, step int) (changes []func(*xpath.Step) bool) {
	at := 0
	xpath.Walk(x.Root, func(n xpath.Node) {
		p, ok := n.(*xpath.Path)
		if !ok {
			return
		}
		if at++; at != path+1 || step >= len(p.Steps) {
			return
		}
		for k, pred := range p.Steps[step].Preds {
			call, ok := pred.(*xpath.Call)
			if !ok || call.Name != "has-class" || len(call.Args) != 1 {
				continue
			}
			class, _ := call.Args[0].(xpath.Literal)
			for _, other := range l.similarClasses(string(class)) {
				changes = append(changes, func(s *xpath.Step) bool {
					s.Preds[k] = &xpath.Call{Name: "has-class", Args: []xpath.Node{xpath.Literal(other)}}
					return true
				})
			}
		}
	})
	return changes
}

// similarClasses lists the classes of the page that share most of their letters with one.
func (l *learner) similarClasses(class string) (list []string) {
	if l.classes == nil {
		seen := map[string]bool{}
		l.classes = []string{}
		l.pay(4 * l.eval.Tree.Len())
		for id := range int32(l.eval.Tree.Len()) {
			n := l.eval.Tree.At(id)
			if n.Type != html.ElementNode {
				continue
			}
			for c := range classesOf(n) {
				if !seen[c] {
					seen[c] = true
					l.classes = append(l.classes, c)
				}
			}
		}
	}
	for _, c := range l.classes {
		if l.pay(parseSteps * len(c)); l.outOfSteps() {
			break
		}
		if c != class && likeness(c, class) >= 0.6 {
			list = append(list, c)
		}
	}
	sortByLikeness(list, class)
	return list[:min(len(list), maxAlike)]
}
