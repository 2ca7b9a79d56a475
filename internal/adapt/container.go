package adapt

import (
	"github.com/muninn-archive/muninn/internal/xpath"
)

// container is an expression that selects, of each object's chain, one element.
type container struct {
	text    string
	at      []xpath.Ref // by object; ID −1: none
	support int
	strays  []xpath.Ref
	clean   bool // selects nothing but objects
	loose   bool // selects more that is no object than a rule may: what the objects have, and the others lack, must distinguish them
}

const (
	maxEach    = 4    // containers that are tried with all properties
	maxChain   = 12   // elements around an object that may stand for it
	maxPartial = 12   // containers of some of the objects
	maxLoose   = 2    // loose containers that are tried where no other is found
	looseShare = 6    // elements that are no object, for each object, that a loose container may select: rows between posts
	maxTried   = 5000 // elements that a container may select
)

// objectContainers finds expressions for the objects themselves.
func (l *learner) objectContainers(objects []*found) (list []container) {
	if len(objects) == 1 { // its page is the object
		if c, ok := l.tryContainer("//body", objects); ok {
			list = append(list, c)
		}
	}
	for _, text := range l.above {
		if c, ok := l.tryContainer(text, objects); ok && len(list) < maxEach/2 {
			list = append(list, c)
		}
	}
	seen := map[string]bool{}
	var partial, loose []container
	defer func() { list = append(list, loose...) }()
	// the smallest element that holds all parts, of the first, of the last and of one between
	for _, f := range []*found{objects[0], objects[len(objects)/2], objects[len(objects)-1]} {
		for _, id := range f.chain[:min(len(f.chain), maxChain)] {
			for _, text := range candidates(l.eval.Tree, id, "//") {
				if seen[text] {
					continue
				}
				seen[text] = true
				if l.outOfSteps() {
					return list
				}
				c, ok := l.tryContainer(text, objects)
				if !ok && c.clean && len(partial) < maxPartial {
					partial = append(partial, c)
				}
				if c.loose && len(loose) < maxLoose {
					loose = append(loose, c)
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
	// rows with alternating classes: two expressions together
	for i, a := range partial {
		for _, b := range partial[:i] {
			if len(list) >= maxEach || l.outOfSteps() {
				return list
			}
			if float64(a.support+b.support) < Support*float64(len(objects)) {
				continue
			}
			if c, ok := l.tryContainer(b.text+" | "+a.text, objects); ok {
				list = append(list, c)
			}
		}
	}
	return list
}

// tryContainer evaluates a container: it must select one element for each object, and few elements that are no object. It is clean
// if it selects no others, even if it lacks some objects, and loose if it selects more of them.
func (l *learner) tryContainer(text string, objects []*found) (c container, ok bool) {
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
	last := int32(0)
	for _, f := range objects {
		last = max(last, f.chain[0])
	}
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
	if float64(c.support) < Support*float64(len(objects)) {
		return c, false
	}
	few := len(c.strays) <= len(objects)/2
	c.loose = !few && len(objects) > 1 && len(c.strays) <= looseShare*len(objects)
	return c, few
}
