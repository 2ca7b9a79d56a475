package adapt

import (
	"slices"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Limits of what is made of the parts that are still found.
const (
	maxAnchors   = 400  // nodes of one property
	partsLetters = 8    // that the texts of the objects have on average
	partsShare   = 0.1  // of the page's letters, that all objects hold together
	partsCover   = 0.75 // of the objects that must have a property for it to count
)

// Parts makes a rule of those properties of failing ones that are found in a page though the things they belong to
// are not: links to profiles, dates and permanent links outlive a template. Where such parts repeat, the elements
// that hold one of each are the things; what else belongs to them is searched for there. It makes rules for two objects and
// more.
func Parts(eval *xpath.Eval, kind string, failing []PropertyRule, words extract.Words, steps int) (r Rule, ok bool) {
	withinSteps(eval, steps, func(l *learner) {
		l.words = words
		r, ok = l.fromParts(kind, failing)
	})
	return r, ok
}

func (l *learner) fromParts(kind string, failing []PropertyRule) (Rule, bool) {
	l.guessed = true
	lists := l.anchors(failing)
	if len(lists) == 0 {
		return Rule{}, false
	}
	var best []*found
	most := 0.0
	for _, group := range l.groups(lists) {
		if l.outOfSteps() {
			break
		}
		if objects, worth := l.groupObjects(kind, group, lists); worth > most {
			best, most = objects, worth
		}
	}
	if len(best) < minRecords {
		return Rule{}, false
	}
	best = best[:min(len(best), MaxPrints)]
	l.chains(best)
	l.above = ancestors(l, lists, best)
	if slices.ContainsFunc(best, func(f *found) bool { return len(f.chain) == 0 }) {
		return Rule{}, false
	}
	r, ok := l.bestRule(kind, best, len(best))
	if !ok || !r.Has("body") {
		return Rule{}, false
	}
	l.keepFailing(&r, failing, best)
	return r, true
}

// anchors are the nodes of one property, and what selects them.
type anchors struct {
	text string
	refs []xpath.Ref
}

// anchors finds the nodes of each property anywhere in the page, by the first of its expressions that finds several.
func (l *learner) anchors(failing []PropertyRule) map[string]anchors {
	lists := map[string]anchors{}
	for _, p := range failing {
		if len(lists[p.Name].refs) >= minRecords || l.outOfSteps() {
			continue
		}
		x := l.parse(p.XPath)
		if x == nil {
			continue
		}
		root, ok := inWholePage(xpath.Clone(x.Root))
		if !ok {
			continue
		}
		if x = l.parse(xpath.Text(root)); x == nil {
			continue
		}
		refs, err := l.eval.Select(x, l.eval.Tree.Root(), maxAnchors+1)
		if err != nil || len(refs) < minRecords || len(refs) > maxAnchors {
			continue
		}
		lists[p.Name] = anchors{x.String(), refs}
	}
	return lists
}

// inWholePage makes an expression that looks in an object look in the whole page.
func inWholePage(n xpath.Node) (xpath.Node, bool) {
	switch n := n.(type) {
	case *xpath.Path:
		switch {
		case n.From != nil:
			from, ok := inWholePage(n.From)
			if !ok {
				return nil, false
			}
			n.From, n.Filter = from, nil
			return n, true
		case n.Absolute:
			return nil, false
		}
		for len(n.Steps) > 0 && n.Steps[0].Axis == xpath.Self {
			n.Steps = n.Steps[1:]
		}
		if len(n.Steps) == 0 || n.Steps[0].Axis != xpath.Child && n.Steps[0].Axis != xpath.Descendant {
			return nil, false
		}
		n.Absolute, n.Steps[0].Axis = true, xpath.Descendant
		return n, true
	case *xpath.Binary:
		if n.Op != "|" {
			return nil, false
		}
		left, ok := inWholePage(n.Left)
		right, too := inWholePage(n.Right)
		switch {
		case ok && too:
			return &xpath.Binary{Op: "|", Left: left, Right: right}, true
		case ok:
			return left, true
		}
		return right, too
	}
	return nil, false
}

// groups gathers the elements of one form that hold a part each.
func (l *learner) groups(lists map[string]anchors) (groups [][]int32) {
	tree := l.eval.Tree
	by, seen := map[string][]int32{}, map[int32]bool{}
	var order []string
	for _, name := range sortedNames(lists) {
		for _, r := range lists[name].refs {
			at := xpath.Ref{ID: r.ID, Attr: -1}
			for depth := 0; depth < 2*maxChain && !seen[at.ID]; depth++ {
				seen[at.ID] = true
				l.pay(signatureSteps)
				key := signature(tree, at.ID)
				if by[key] == nil {
					order = append(order, key)
				}
				by[key] = append(by[key], at.ID)
				up, ok := tree.Parent(at)
				if !ok {
					break
				}
				at = up
			}
		}
	}
	for _, key := range order {
		if list := by[key]; len(list) >= minRecords && len(list) <= maxRecords {
			slices.Sort(list)
			groups = append(groups, list)
		}
	}
	return groups
}

func sortedNames(lists map[string]anchors) (names []string) {
	for name := range lists {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// groupObjects makes objects of the elements of a group: what each holds outside of others of the group. Their score grows
// with the properties that most of them have and with the share of the page's text.
func (l *learner) groupObjects(kind string, group []int32, lists map[string]anchors) (objects []*found, worth float64) {
	in := map[int32]bool{}
	for _, id := range group {
		in[id] = true
	}
	owner := func(r xpath.Ref) int32 { // the innermost element of the group around a node
		for at, ok := (xpath.Ref{ID: r.ID, Attr: -1}), true; ok; at, ok = l.eval.Tree.Parent(at) {
			l.pay(1)
			if in[at.ID] {
				return at.ID
			}
		}
		return -1
	}
	parts := map[int32]map[string]xpath.Ref{}
	for _, id := range group {
		parts[id] = map[string]xpath.Ref{}
	}
	for _, name := range sortedNames(lists) {
		for _, r := range lists[name].refs {
			if id := owner(r); id >= 0 && parts[id][name] == (xpath.Ref{}) {
				parts[id][name] = r
			}
		}
	}
	count, letters := map[string]int{}, 0
	for _, id := range group {
		if len(parts[id]) == 0 {
			continue
		}
		if l.outOfSteps() {
			return nil, 0
		}
		body, known := parts[id]["body"]
		if !known {
			body = xpath.Ref{ID: l.bodyOutside(id, in), Attr: -1}
		}
		f, size := &found{print: &Print{Type: kind}, parts: map[string]xpath.Ref{}}, 0
		if body.ID >= 0 {
			if size = l.sum(body).size; body.ID == id && !known || size == 0 {
				continue
			}
			f.put(l, "body", body)
		}
		for _, name := range sortedNames(lists) {
			if r, has := parts[id][name]; has && name != "body" {
				f.put(l, name, r)
				count[name]++
			}
		}
		if _, has := f.parts["published"]; !has {
			if at, ok := l.date(id); ok && owner(at) == id {
				f.put(l, "published", at)
				count["published"]++
			}
		}
		letters += size
		objects = append(objects, f)
	}
	n := float64(len(objects))
	share := float64(letters) / float64(max(l.texts.sums[0].size, 1))
	if len(objects) < minRecords || float64(letters) < partsLetters*n || share < partsShare || n < partsCover*float64(len(group)) {
		return nil, 0
	}
	common := 0.0
	for _, of := range count {
		if float64(of) >= partsCover*n {
			common += float64(of) / n
		}
	}
	if common < 1 {
		return nil, 0
	}
	return objects, common * share
}

// bodyOutside is the element below in which the most is written, outside of other elements of a group.
func (l *learner) bodyOutside(id int32, group map[int32]bool) int32 {
	tree := l.eval.Tree
	if l.words != nil {
		return l.mainBody(id, id+1, group)
	}
	best, most := id, 0
	l.pay(2 * int(tree.End(xpath.Ref{ID: id, Attr: -1})-id))
	for c := id + 1; c < tree.End(xpath.Ref{ID: id, Attr: -1}); c++ {
		if group[c] {
			c = tree.End(xpath.Ref{ID: c, Attr: -1}) - 1
			continue
		}
		if tree.At(c).Type == html.ElementNode && l.texts.sums[c].size > most {
			if n := l.countProse(c); n > most {
				best, most = c, n
			}
		}
	}
	return best
}
