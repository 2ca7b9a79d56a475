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

const hashBase = 0x9e3779b97f4a7c15 | 1

// hashStep is what a character makes of a hash, (hash*times + plus), and of a size. What counts for nothing leaves both.
type hashStep struct {
	times, plus uint64
	letters     int
}

// asciiSteps are the steps of ASCII: letters, in lower case, and digits count.
var asciiSteps = func() (t [256]hashStep) {
	for c := range t {
		t[c].times = 1
	}
	letter := func(c, as rune) { t[c] = hashStep{hashBase, uint64(as) + 1, 1} }
	for c := '0'; c <= '9'; c++ {
		letter(c, c)
	}
	for c := 'a'; c <= 'z'; c++ {
		letter(c, c)
		letter(c-'a'+'A', c)
	}
	return t
}()

// then is two steps in one: what it computes does not wait for the hash before it.
func (a *hashStep) then(b *hashStep) hashStep {
	return hashStep{a.times * b.times, a.plus*b.times + b.plus, a.letters + b.letters}
}

func (s sum) add(t sum) sum { return sum{s.hash + t.hash, s.size + t.size} }

func sumOf(text string) sum {
	var s sum
	for i := 0; i < len(text); {
		if i+4 <= len(text) && (text[i]|text[i+1]|text[i+2]|text[i+3]) < utf8.RuneSelf { // without a branch for each letter
			ab := asciiSteps[text[i]].then(&asciiSteps[text[i+1]])
			cd := asciiSteps[text[i+2]].then(&asciiSteps[text[i+3]])
			all := ab.then(&cd)
			s.hash, s.size = s.hash*all.times+all.plus, s.size+all.letters
			i += 4
			continue
		}
		if c := text[i]; c < utf8.RuneSelf {
			step := &asciiSteps[c]
			s.hash, s.size = s.hash*step.times+step.plus, s.size+step.letters
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
