package adapt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Learned is an extraction rule for one type of object, made of a page.
type Learned struct {
	Type       string        `json:"type"`
	Each       string        `json:"each"`
	Properties []LearnedPart `json:"properties"`
	Support    int           `json:"support"` // objects of the page that it was made of
	Of         int           `json:"of"`      // objects that should have been found
}

// LearnedPart is the expression of a property, relative to the object.
type LearnedPart struct {
	Name    string `json:"name"`
	XPath   string `json:"xpath"`
	Match   string `json:"match,omitempty"`   // of the text only what the first group holds
	Without string `json:"without,omitempty"` // selects parts of the node that do not belong to the value
}

// Has tells whether the rule lifts a property.
func (l *Learned) Has(name string) bool {
	return slices.ContainsFunc(l.Properties, func(p LearnedPart) bool { return p.Name == name })
}

// Bounds of the work on one page.
const (
	// DefaultSteps is what each way of learning may cost on one page, in steps: nodes of the page that are looked at, and
	// what costs as much. They are counted and not timed, so that a page gives the same rule on a slow machine and on a
	// busy one. It was 20 ms before.
	DefaultSteps = 4 << 20
	// Support is the share of the objects of a page that a learned expression must find.
	Support = 0.8
)

// learner tries expressions on one page.
type learner struct {
	eval  *xpath.Eval
	texts *texts
	cache map[string]*xpath.Expr
	// classes of the page in document order, each once, when they were asked for
	classes []string
	// above are expressions for objects by way of their parts
	above []string
	// guessed tells that the bodies are not known by their text, but by their form alone
	guessed bool
}

// What some work costs, in steps.
const (
	parseSteps  = 8 // a byte of an expression that is parsed or changed
	letterBytes = 4 // bytes of a text that is summed up, a step
)

// newLearner sums up the texts of a page.
func newLearner(eval *xpath.Eval) *learner {
	l := &learner{eval: eval, cache: map[string]*xpath.Expr{}}
	l.pay(4 * eval.Tree.Len())
	if !l.spent() {
		l.texts = read(eval)
	}
	return l
}

// within runs fn with a learner that may take so many steps of the page's budget. fn is not called if they are too few to
// read the page.
func within(eval *xpath.Eval, steps int, fn func(*learner)) {
	eval.Within(steps, func() {
		if l := newLearner(eval); !l.spent() {
			fn(l)
		}
	})
}

// spent tells that no steps are left: what was found until then is the result.
func (l *learner) spent() bool { return l.eval.Budget < 0 }

func (l *learner) pay(steps int) { l.eval.Pay(steps) }

// sum is that of a node or an attribute.
func (l *learner) sum(r xpath.Ref) sum {
	if r.Attr >= 0 {
		l.pay(len(l.eval.Tree.Node(r).Attr[r.Attr].Val) / letterBytes)
	}
	return l.texts.of(r)
}

func (l *learner) parse(text string) *xpath.Expr {
	if x, ok := l.cache[text]; ok {
		return x
	}
	l.pay(parseSteps * len(text))
	x, err := xpath.Parse(text)
	if err != nil {
		x = nil
	}
	l.cache[text] = x
	return x
}

// Learn looks for the objects of before in a page, and makes rules that lift them from it as it is now: one for
// each type of which enough objects are found, in so many steps. stands tells that enough objects of a type are in the page,
// whether or not a rule could be made.
func Learn(eval *xpath.Eval, prints []Print, steps int) (rules []Learned, stands bool) {
	within(eval, steps, func(l *learner) { rules, stands = l.learn(prints) })
	return rules, stands
}

func (l *learner) learn(prints []Print) (rules []Learned, stands bool) {
	byType := map[string][]Print{}
	var order []string
	for _, p := range prints {
		if byType[p.Type] == nil {
			order = append(order, p.Type)
		}
		byType[p.Type] = append(byType[p.Type], p)
	}
	for _, kind := range order {
		objects := l.align(byType[kind])
		if len(objects) == 0 || float64(len(objects)) < Support*float64(len(byType[kind])) {
			continue
		}
		stands = true
		if r, ok := l.best(kind, objects, len(byType[kind])); ok {
			rules = append(rules, r)
		}
	}
	return rules, stands
}

// best makes the rule that lifts the most of the objects.
func (l *learner) best(kind string, objects []*found, of int) (Learned, bool) {
	best, most := Learned{}, -1.0
	for _, each := range l.each(objects) {
		if l.spent() {
			break
		}
		r := Learned{Type: kind, Each: each.text, Support: each.support, Of: of}
		score := 0.0
		for _, name := range l.names(objects) {
			text, support := l.part(name, objects, each)
			if text == "" {
				continue
			}
			r.Properties = append(r.Properties, LearnedPart{Name: name, XPath: text, Without: l.without(name, objects)})
			weight := 1.0
			if name == "body" {
				weight = 3
			}
			score += weight * support
		}
		left := l.refine(&r, each)
		score *= float64(each.support) / float64(len(objects)+left)
		if score > most {
			best, most = r, score
		}
	}
	return best, most > 0
}

// refine tells objects from what only looks like them by what they have and the others lack; it returns how many of
// those are left.
func (l *learner) refine(r *Learned, each container) (left int) {
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

// container is an expression that selects one element of each object's chain.
type container struct {
	text    string
	at      []xpath.Ref // by object; ID −1: none
	support int
	strays  []xpath.Ref
	clean   bool // selects nothing but objects
}

const (
	maxEach    = 4    // containers that are tried with all properties
	maxChain   = 12   // elements around an object that may stand for it
	maxPartial = 12   // containers of some of the objects
	maxTried   = 5000 // elements that a container may select
)

// each finds expressions for the objects themselves.
func (l *learner) each(objects []*found) (list []container) {
	if len(objects) == 1 { // its page is the object
		if c, ok := l.try("//body", objects); ok {
			list = append(list, c)
		}
	}
	for _, text := range l.above {
		if c, ok := l.try(text, objects); ok && len(list) < maxEach/2 {
			list = append(list, c)
		}
	}
	seen := map[string]bool{}
	var partial []container
	// the smallest element that holds all parts, of the first, of the last and of one between
	for _, f := range []*found{objects[0], objects[len(objects)/2], objects[len(objects)-1]} {
		for _, id := range f.chain[:min(len(f.chain), maxChain)] {
			for _, text := range candidates(l.eval.Tree, id, "//") {
				if seen[text] {
					continue
				}
				seen[text] = true
				if l.spent() {
					return list
				}
				c, ok := l.try(text, objects)
				if !ok && c.clean && len(partial) < maxPartial {
					partial = append(partial, c)
				}
				if ok {
					if list = append(list, c); len(list) >= maxEach {
						return list
					}
					break // the next element of the chain
				}
			}
		}
	}
	// rows that are dressed by turns: two expressions together
	for i, a := range partial {
		for _, b := range partial[:i] {
			if len(list) >= maxEach || l.spent() {
				return list
			}
			if float64(a.support+b.support) < Support*float64(len(objects)) {
				continue
			}
			if c, ok := l.try(b.text+" | "+a.text, objects); ok {
				list = append(list, c)
			}
		}
	}
	return list
}

// try evaluates a container: one element for each object, and few that are none. It is clean if there is none
// that is none, though some objects may lack one.
func (l *learner) try(text string, objects []*found) (c container, ok bool) {
	x := l.parse(text)
	if x == nil {
		return c, false
	}
	refs, err := l.eval.Select(x, l.eval.Tree.Root(), maxTried)
	if err != nil || len(refs) == 0 || len(refs) == maxTried {
		return c, false
	}
	l.pay(len(refs) + maxChain*len(objects))
	of := map[int32]int{}
	for i, f := range objects {
		for _, id := range f.chain {
			of[id] = i
		}
	}
	c = container{text: text, at: make([]xpath.Ref, len(objects))}
	for i := range c.at {
		c.at[i] = xpath.Ref{ID: -1, Attr: -1}
	}
	last := objects[len(objects)-1].chain[0]
	for _, r := range refs {
		mine, known := of[r.ID]
		if !known {
			mine = -1
		}
		switch {
		case mine < 0 && r.ID > last && len(objects) >= fullPrints: // a page may have more than are remembered
		case mine < 0:
			c.strays = append(c.strays, r)
		case c.at[mine].ID < 0:
			c.at[mine] = r
			c.support++
		default:
			return c, false // two elements for one object
		}
	}
	c.clean = len(c.strays) == 0 && c.support > 0
	return c, float64(c.support) >= Support*float64(len(objects)) && len(c.strays) <= len(objects)/2
}

// names are the properties of the objects, the first object's first.
func (l *learner) names(objects []*found) (names []string) {
	seen := map[string]bool{}
	for _, f := range objects {
		for _, p := range f.print.Properties {
			if !seen[p.Name] {
				seen[p.Name] = true
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// part finds the expression of a property: the first node that it selects in an object must say what the
// property said.
func (l *learner) part(name string, objects []*found, each container) (best string, support float64) {
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
	attempts := 0
	for i, f := range objects {
		r, ok := f.parts[name]
		if !ok || each.at[i].ID < 0 {
			continue
		}
		if attempts++; attempts > 3 {
			break
		}
		for _, text := range l.expressions(r, each.at[i]) {
			if tried[text] {
				continue
			}
			tried[text] = true
			if l.spent() {
				if support < Support {
					return "", 0
				}
				return best, support
			}
			n, letters := l.agree(text, name, objects, each)
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
		list = l.beside(r, object, suffix)
	}
	// elements around that say the same may be better known than the innermost
	same := l.sum(r)
	for depth := range maxChain {
		for _, text := range candidates(tree, r.ID, lead) {
			list = append(list, text+suffix)
		}
		up, ok := tree.Parent(r)
		if !ok || suffix != "" || up.ID <= object.ID || !l.guessed && (depth > 2 || l.texts.sums[up.ID].hash != same.hash) {
			break
		}
		r = up
	}
	return list
}

// beside makes expressions for a node that stands in an element beside the object's.
func (l *learner) beside(r, object xpath.Ref, suffix string) (list []string) {
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

// agree counts the objects of which an expression selects what the property said, and the letters it selects.
func (l *learner) agree(text, name string, objects []*found, each container) (n, letters int) {
	x := l.parse(text)
	if x == nil {
		return 0, 0
	}
	for i, f := range objects {
		want, ok := f.parts[name]
		if !ok || each.at[i].ID < 0 {
			continue
		}
		r, found, err := l.eval.First(x, each.at[i])
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
