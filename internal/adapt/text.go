package adapt

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// sum is a hash of a text: of the letters and digits of each text node, in lower case, and of the nodes together
// in whatever order. White space, punctuation, markup, and the order in which a template puts the parts do not
// matter.
type sum struct {
	hash uint64
	size int // letters and digits
}

const (
	hashBase  = 0x9e3779b97f4a7c15 | 1
	hashBase2 = hashBase * hashBase & (1<<64 - 1)
)

// asciiLetters are the letters and digits of ASCII, in lower case and plus one; 0: it is none.
var asciiLetters = func() (t [256]uint64) {
	for c := '0'; c <= '9'; c++ {
		t[c] = uint64(c) + 1
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = uint64(c)+1, uint64(c)+1
	}
	return t
}()

func (s sum) add(t sum) sum { return sum{s.hash + t.hash, s.size + t.size} }

func sumOf(text string) sum {
	var s sum
	for i := 0; i < len(text); {
		if v := asciiLetters[text[i]]; v != 0 {
			if i++; i < len(text) && asciiLetters[text[i]] != 0 { // two at once: a step need not wait for the product before it
				s.hash = s.hash*hashBase2 + v*hashBase + asciiLetters[text[i]]
				s.size += 2
				i++
				continue
			}
			s.hash = s.hash*hashBase + v
			s.size++
			continue
		}
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		s.hash = s.hash*hashBase + uint64(unicode.ToLower(r)) + 1
		s.size++
	}
	if s.size > 0 {
		s = mixHash(s)
	}
	return s
}

// mixHash spreads the bits of a hash (the finalizer of SplitMix64), so that sums of several do not meet.
func mixHash(s sum) sum {
	s.hash ^= s.hash >> 30
	s.hash *= 0xbf58476d1ce4e5b9
	s.hash ^= s.hash >> 27
	s.hash *= 0x94d049bb133111eb
	s.hash ^= s.hash >> 31
	return s
}

// texts are the sums of all nodes of a page.
type texts struct {
	tree *xpath.Tree
	sums []sum
	// by hash: elements and text nodes in document order, attributes
	byHash map[uint64][]xpath.Ref
}

// MaxAttribute bounds the attributes whose values are looked for, in bytes.
const MaxAttribute = 300

// sumPage sums up a page. Its text is paid for; the caller has paid for its nodes.
func sumPage(eval *xpath.Eval) *texts {
	tree := eval.Tree
	t := &texts{tree: tree, sums: make([]sum, tree.Len()), byHash: make(map[uint64][]xpath.Ref, tree.Len())}
	// children come after their parents: from the end, each node is whole when its parent takes it
	below := make([]sum, tree.Len())
	for id := int32(tree.Len()) - 1; id >= 0; id-- {
		n := tree.At(id)
		switch {
		case n.Type == html.TextNode:
			t.sums[id] = sumOf(n.Data)
			eval.Pay(len(n.Data) / letterBytes)
		case n.Type == html.ElementNode && n.DataAtom != atom.Script && n.DataAtom != atom.Style:
			t.sums[id] = below[id]
		}
		if above, ok := tree.Parent(xpath.Ref{ID: id, Attr: -1}); ok {
			below[above.ID] = below[above.ID].add(t.sums[id])
		}
	}
	for id := range int32(tree.Len()) {
		n := tree.At(id)
		if s := t.sums[id]; n.Type == html.ElementNode && s.size >= minLetters {
			t.byHash[s.hash] = append(t.byHash[s.hash], xpath.Ref{ID: id, Attr: -1})
		}
		for i := range n.Attr {
			if k := n.Attr[i].Key; k == "class" || k == "id" || k == "style" || len(n.Attr[i].Val) > MaxAttribute {
				continue
			}
			eval.Pay(1 + len(n.Attr[i].Val)/letterBytes)
			if s := sumOf(n.Attr[i].Val); s.size >= minLetters {
				t.byHash[s.hash] = append(t.byHash[s.hash], xpath.Ref{ID: id, Attr: int32(i)})
			}
		}
	}
	return t
}

// minLetters is the least number of letters by which a text is distinguished from others.
const minLetters = 2

func (t *texts) of(r xpath.Ref) sum {
	if r.Attr >= 0 {
		return sumOf(t.tree.Node(r).Attr[r.Attr].Val)
	}
	return t.sums[r.ID]
}

// sumBelow sums up the text below one node.
func sumBelow(tree *xpath.Tree, r xpath.Ref) sum {
	var s sum
	for id := r.ID; id < tree.End(r); id++ {
		n := tree.At(id)
		switch {
		case n.Type == html.ElementNode && (n.DataAtom == atom.Script || n.DataAtom == atom.Style):
			id = tree.End(xpath.Ref{ID: id, Attr: -1}) - 1
		case n.Type == html.TextNode:
			s = s.add(sumOf(n.Data))
		}
	}
	return s
}
