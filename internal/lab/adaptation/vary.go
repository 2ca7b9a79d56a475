package adaptation

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/lab/text"
)

// What differs between the pages that are made of one.
const (
	leastVaried = 8   // words from which on a text is what people wrote, and not the template's
	mostLess    = 0.5 // of the words of a page's texts that may be left out
	dropPart    = 0.3 // of the elements that repeat, as paragraphs and posts do
)

// vary makes another page of the same template: the words of its longer texts are in another order, some are left out, and so are
// some of the elements that repeat. Texts without words between blanks, as in Chinese, stay.
func vary(page []byte, seed, n uint64) ([]byte, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(seed, n))
	less := mostLess * rnd.Float64()
	var texts, elements []*html.Node
	for d := range root.Descendants() {
		switch {
		case inHead(d):
		case d.Type == html.TextNode && d.Parent.DataAtom != atom.Style && d.Parent.DataAtom != atom.Textarea:
			texts = append(texts, d)
		case d.Type == html.ElementNode:
			elements = append(elements, d)
		}
	}
	for _, t := range texts {
		varyText(t, less, rnd)
	}
	for _, e := range elements {
		if repeats(e) && rnd.Float64() < dropPart {
			e.Parent.RemoveChild(e)
		}
	}
	var out bytes.Buffer
	err = html.Render(&out, root)
	return out.Bytes(), err
}

// varyText changes what people wrote. Words with digits stay where they are: dates are read as they are.
func varyText(n *html.Node, less float64, rnd *rand.Rand) {
	words := strings.Fields(n.Data)
	if len(words) < leastVaried {
		return
	}
	var free []int
	for i, w := range words {
		if !strings.ContainsFunc(w, unicode.IsDigit) {
			free = append(free, i)
		}
	}
	rnd.Shuffle(len(free), func(i, j int) { words[free[i]], words[free[j]] = words[free[j]], words[free[i]] })
	kept := words[:0]
	for i, w := range words {
		if i < leastVaried/2 || strings.ContainsFunc(w, unicode.IsDigit) || rnd.Float64() >= less {
			kept = append(kept, w)
		}
	}
	n.Data = " " + strings.Join(kept, " ") + " "
}

// repeats reports whether the element before this one is of its kind, and this one holds what people wrote.
func repeats(n *html.Node) bool {
	before := n.PrevSibling
	for before != nil && before.Type != html.ElementNode {
		before = before.PrevSibling
	}
	return before != nil && kind(before) == kind(n) && wordsBelow(n) >= leastVaried
}

func wordsBelow(n *html.Node) (words int) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !inHead(d) {
			words += len(text.Tokens(d.Data))
		}
	}
	return words
}
