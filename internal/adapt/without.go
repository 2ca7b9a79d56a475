package adapt

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Bounds of what is learned of parts that do not belong to a text.
const (
	maxWithout  = 6  // expressions for them
	maxSearched = 12 // objects in which they are looked for
)

// withoutExpression makes an expression for the parts of a property's text that did not belong to it before, "" if there are
// none, or nothing distinguishes them from the text.
func (l *learner) withoutExpression(name string, objects []*found) string {
	var list []string
	for _, f := range objects[:min(len(objects), maxSearched)] {
		whole, ok := f.parts[name]
		if !ok || whole.Attr >= 0 {
			continue
		}
		for _, hash := range f.leftOut(name) {
			for _, r := range l.texts.byHash[hash] {
				if l.pay(1); l.outOfSteps() || len(list) == maxWithout {
					return strings.Join(list, " | ")
				}
				if r.Attr >= 0 || r.ID == whole.ID || !l.eval.Tree.Within(r, whole) || l.selectedBy(list, whole, r) {
					continue
				}
				if text := l.strayExpression(r, whole, name, objects); text != "" {
					list = append(list, text)
				}
				break // others that say the same are mostly written the same
			}
		}
	}
	return strings.Join(list, " | ")
}

// leftOut are the hashes of what did not belong to a property's text.
func (f *found) leftOut(name string) []uint64 {
	for i := range f.print.Properties {
		if p := &f.print.Properties[i]; p.Name == name {
			return p.Out
		}
	}
	return nil
}

// selectedBy reports whether an element, or one around it, is selected by one of the expressions already.
func (l *learner) selectedBy(list []string, whole, r xpath.Ref) bool {
	for _, text := range list {
		refs, err := l.eval.Select(l.parse(text), whole, maxStrays)
		if err != nil || slices.ContainsFunc(refs, func(s xpath.Ref) bool { return l.eval.Tree.Within(r, s) }) {
			return true
		}
	}
	return false
}

// maxStrays bounds the elements that one expression may take out of one text.
const maxStrays = 1000

// textElements are elements that texts are made of: their names alone do not show that a part does not belong to a text.
var textElements = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Span: true, atom.A: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Em: true, atom.Strong: true,
	atom.B: true, atom.I: true, atom.U: true, atom.Img: true, atom.Table: true, atom.Tr: true, atom.Td: true, atom.Pre: true, atom.Code: true,
	atom.Blockquote: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.Font: true, atom.Section: true, atom.Sup: true, atom.Sub: true,
}

// strayExpression finds an expression that selects an element in the text, and nothing of any object that belongs to it.
func (l *learner) strayExpression(r, within xpath.Ref, name string, objects []*found) string {
	for _, text := range candidates(l.eval.Tree, r.ID, ".//") {
		x := l.parse(text)
		if x == nil || l.outOfSteps() || !strings.Contains(text, "[") && textElements[l.eval.Tree.Node(r).DataAtom] {
			continue
		}
		own, err := l.eval.Select(x, within, maxStrays)
		good := err == nil && slices.Contains(own, r)
		for _, f := range objects[:min(len(objects), maxSearched)] {
			whole, ok := f.parts[name]
			if !good || !ok || whole.Attr >= 0 {
				continue
			}
			refs, err := l.eval.Select(x, whole, maxStrays)
			out, known := f.leftOut(name), 0
			for _, s := range refs {
				if slices.Contains(out, l.texts.sums[s.ID].hash) || l.texts.sums[s.ID].size < minLetters {
					known++
				}
			}
			// of many only the first are known
			if err != nil || known < len(refs) && (len(out) < maxOut || known*2 < len(refs)) {
				good = false
				break
			}
		}
		if good {
			return text
		}
	}
	return ""
}
