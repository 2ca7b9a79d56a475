package xpath

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/fnv"
)

// Tree is a page, flattened: nodes have numbers in document order.
type Tree struct {
	nodes  []*html.Node
	parent []int32 // −1 of the root
	end    []int32 // the first number behind the node and all that is below it
	atoms  []uint32
	bits   []uint64   // a bit for each class
	attrs  []uint64   // a bit for the name of each attribute
	all    uint64     // attrs of all nodes
	tokens [64]uint64 // a bit for each class and id of the page
	text   []byte     // for short use
}

// noElement marks text, comments and the document in atoms; otherElement an element without an atom. (1 is the
// atom of <a>.)
const (
	noElement    = 0
	otherElement = 1 << 31
)

// Ref is a node of a tree, or an attribute of one.
type Ref struct {
	ID   int32
	Attr int32 // −1: the node itself
}

// NewTree flattens a page. A tree can be used for another page by Reset.
func NewTree(root *html.Node) *Tree {
	t := &Tree{}
	t.Reset(root)
	return t
}

// Reset flattens another page into the tree.
func (t *Tree) Reset(root *html.Node) {
	t.nodes, t.parent, t.end = t.nodes[:0], t.parent[:0], t.end[:0]
	t.atoms, t.bits, t.attrs, t.all = t.atoms[:0], t.bits[:0], t.attrs[:0], 0
	clear(t.tokens[:])
	if root == nil {
		return
	}
	above := int32(-1)
	for n := root; ; {
		id := int32(len(t.nodes))
		t.add(n, above)
		if n.FirstChild != nil {
			above, n = id, n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			t.end[id] = int32(len(t.nodes))
			n, id = n.Parent, t.parent[id]
		}
		t.end[id] = int32(len(t.nodes))
		if n == root {
			return
		}
		above, n = t.parent[id], n.NextSibling
	}
}

func (t *Tree) add(n *html.Node, above int32) {
	kind, bits, attrs := uint32(noElement), uint64(0), uint64(0)
	if n.Type == html.ElementNode {
		if kind = uint32(n.DataAtom); kind == 0 || foreign(n) {
			if kind = uint32(atom.Lookup([]byte(strings.ToLower(n.Data)))); kind == 0 {
				kind = otherElement
			}
		}
		for i := range n.Attr {
			a := &n.Attr[i]
			attrs |= bitOf(a)
			switch {
			case len(a.Key) == 5 && bits == 0 && hasName(a, "class"):
				bits = t.classes(a.Val)
			case len(a.Key) == 2 && hasName(a, "id"):
				t.token(fnv.Sum32(a.Val))
			}
		}
		t.all |= attrs
	}
	t.nodes, t.parent, t.end = append(t.nodes, n), append(t.parent, above), append(t.end, 0)
	t.atoms, t.bits, t.attrs = append(t.atoms, kind), append(t.bits, bits), append(t.attrs, attrs)
}

// foreign reports whether SVG writes the name of an element with capitals; expressions have none.
func foreign(n *html.Node) bool {
	return n.Namespace != "" && strings.IndexFunc(n.Data, func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0
}

// classes returns the bits of a list of classes, and takes them for the page's.
func (t *Tree) classes(list string) (bits uint64) {
	for begin := 0; begin < len(list); {
		end := begin
		for end < len(list) && !space(list[end]) {
			end++
		}
		if end > begin {
			h := fnv.Sum32(list[begin:end])
			bits |= bit(h)
			t.token(h)
		}
		begin = end + 1
	}
	return bits
}

func (t *Tree) token(h uint32) { t.tokens[h>>26] |= 1 << (h >> 20 & 63) }

// hasToken reports whether a class or an id may be in the page.
func (t *Tree) hasToken(h uint32) bool { return h == 0 || t.tokens[h>>26]>>(h>>20&63)&1 != 0 }

// bit gives a class its bit.
func bit(hash uint32) uint64 { return 1 << (hash >> 14 & 63) }

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Root is the page itself.
func (t *Tree) Root() Ref { return Ref{0, -1} }

// Node returns the node of a reference, the owner of an attribute's.
func (t *Tree) Node(r Ref) *html.Node { return t.nodes[r.ID] }

// Parent returns the node above; false of the root.
func (t *Tree) Parent(r Ref) (Ref, bool) {
	if r.Attr >= 0 {
		return Ref{r.ID, -1}, true
	}
	return Ref{t.parent[r.ID], -1}, t.parent[r.ID] >= 0
}

// End returns the first number behind a node and all that is below it.
func (t *Tree) End(r Ref) int32 { return t.end[r.ID] }

// Within reports whether a node is another or stands below it.
func (t *Tree) Within(r, outer Ref) bool { return r.ID >= outer.ID && r.ID < t.end[outer.ID] }

// Value is the string value of a node: of an attribute its value, of an element all text below it.
func (t *Tree) Value(r Ref) string {
	n := t.nodes[r.ID]
	switch {
	case r.Attr >= 0:
		return n.Attr[r.Attr].Val
	case n.Type == html.TextNode || n.Type == html.CommentNode:
		return n.Data
	}
	first, several := "", false
	t.text = t.text[:0]
	for id := r.ID + 1; id < t.end[r.ID]; id++ {
		if t.atoms[id] != noElement {
			continue
		}
		if c := t.nodes[id]; c.Type == html.TextNode {
			switch {
			case first == "" && !several:
				first = c.Data
			case !several:
				several = true
				t.text = append(append(t.text, first...), c.Data...)
			default:
				t.text = append(t.text, c.Data...)
			}
		}
	}
	if !several {
		return first
	}
	return string(t.text)
}

func attribute(n *html.Node, name string) (value string, found bool) {
	for i := range n.Attr {
		if hasName(&n.Attr[i], name) {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// hasName compares in the way of expressions: small letters, and a prefix if there is one.
func hasName(a *html.Attribute, name string) bool {
	if a.Namespace != "" {
		rest, found := strings.CutPrefix(name, a.Namespace+":")
		return found && strings.EqualFold(rest, a.Key)
	}
	return a.Key == name || len(a.Key) == len(name) && strings.EqualFold(a.Key, name)
}

func hasClass(list, class string) bool {
	for rest := list; ; {
		at := strings.Index(rest, class)
		if at < 0 {
			return false
		}
		end := at + len(class)
		if (at == 0 || space(rest[at-1])) && (end == len(rest) || space(rest[end])) {
			return true
		}
		for at < len(rest) && !space(rest[at]) {
			at++
		}
		rest = rest[at:]
	}
}

// hasSpace reports whether there is space in a string.
func hasSpace(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x80 && space(byte(r)) }) >= 0
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// At returns the node of a number.
func (t *Tree) At(id int32) *html.Node { return t.nodes[id] }
