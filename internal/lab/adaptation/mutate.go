package adaptation

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Strength has the shares of a template's parts that are changed, each in [0,1].
type Strength struct {
	Name    string
	Rename  float64 // classes and IDs that get another name
	Swap    float64 // kinds of element that become another element
	Wrap    float64 // kinds of element around which another is put
	Unwrap  float64 // kinds of element that are taken away, what is in them stays
	Reorder float64 // kinds of element of which the first two parts change places
	Drop    float64 // kinds of element that lose an attribute other than class and id
}

// Strengths are the strengths that are measured.
var Strengths = []Strength{
	{Name: "none"}, // nothing may get worse
	{Name: "mild", Rename: .25, Swap: .05, Wrap: .05, Drop: .05},
	{Name: "medium", Rename: .6, Swap: .2, Wrap: .15, Unwrap: .05, Reorder: .05, Drop: .2},
	{Name: "heavy", Rename: 1, Swap: .4, Wrap: .3, Unwrap: .15, Reorder: .15, Drop: .4},
}

// Mutator changes all pages of one site in the same way: the change of an element depends only on the seed and on the
// element's kind (its name and first class).
type Mutator struct {
	Seed uint64
	Strength
}

// Mutate returns the changed page.
func (m Mutator) Mutate(page []byte) ([]byte, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	var elements []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			elements = append(elements, n)
		}
	}
	for _, n := range elements {
		if inHead(n) || n.DataAtom == atom.Html || n.DataAtom == atom.Body && n.Parent == nil {
			continue
		}
		m.structure(n)
	}
	for _, n := range elements {
		m.attributes(n)
	}
	var out bytes.Buffer
	err = html.Render(&out, root)
	return out.Bytes(), err
}

func inHead(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == atom.Head || n.DataAtom == atom.Script || n.DataAtom == atom.Svg {
			return true
		}
	}
	return false
}

// chance is a pseudo-random number in [0,1). It is the same for the same seed, what and key.
func (m Mutator) chance(what, key string) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s", m.Seed, what, key)
	x := h.Sum64()
	x ^= x >> 33 // the low bits of FNV are not mixed well
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

func kind(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "class" {
			if first, _, _ := strings.Cut(strings.TrimSpace(a.Val), " "); first != "" {
				return n.Data + "." + stem(first)
			}
		}
	}
	return n.Data + "<" + parentName(n)
}

func parentName(n *html.Node) string {
	if n.Parent == nil {
		return ""
	}
	return n.Parent.Data
}

// stem leaves out digits: post-123 and post-124 are of one kind.
func stem(s string) string { return strings.TrimRight(s, "0123456789") }

// swaps are elements that a designer may use in place of each other.
var swaps = map[atom.Atom]string{
	atom.Div: "section", atom.Section: "div", atom.Article: "div", atom.Span: "em", atom.B: "strong", atom.Strong: "span", atom.I: "span",
	atom.H1: "h2", atom.H2: "h3", atom.H3: "h4", atom.H4: "h3", atom.Ul: "ol", atom.Ol: "ul", atom.Header: "div", atom.Footer: "div", atom.Dl: "div",
	atom.Aside: "div", atom.Main: "div", atom.Nav: "div",
}

func (m Mutator) structure(n *html.Node) {
	k := kind(n)
	template := hasName(n) // text that people wrote is left alone
	if to, ok := swaps[n.DataAtom]; ok && template && m.chance("swap", k) < m.Swap {
		n.Data, n.DataAtom = to, atom.Lookup([]byte(to))
	}
	if template && wrappable(n) && m.chance("wrap", k) < m.Wrap {
		w := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div, Attr: []html.Attribute{{Key: "class", Val: "w" + m.name(k)}}}
		n.Parent.InsertBefore(w, n)
		n.Parent.RemoveChild(n)
		w.AppendChild(n)
	}
	if template && n.DataAtom == atom.Div && n.Parent != nil && n.Parent.DataAtom == atom.Div && m.chance("unwrap", k) < m.Unwrap && !hasText(n) {
		for c := n.FirstChild; c != nil; c = n.FirstChild {
			n.RemoveChild(c)
			n.Parent.InsertBefore(c, n)
		}
		n.Parent.RemoveChild(n)
		return
	}
	if template && m.chance("reorder", k) < m.Reorder && !hasText(n) {
		m.reorder(n)
	}
}

// hasName reports whether a template names an element.
func hasName(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "class" || a.Key == "id" || a.Key == "role" || a.Key == "itemprop" {
			return true
		}
	}
	return false
}

func wrappable(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.H1, atom.H2, atom.H3, atom.P, atom.Table, atom.Dl:
		return n.Parent != nil && (n.Parent.DataAtom == atom.Div || n.Parent.DataAtom == atom.Section || n.Parent.DataAtom == atom.Body || n.Parent.DataAtom == atom.Article)
	}
	return false
}

func hasText(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return true
		}
	}
	return false
}

// reorder swaps the first two named parts of an element.
func (m Mutator) reorder(n *html.Node) {
	var parts []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && hasName(c) && (c.DataAtom == atom.Div || c.DataAtom == atom.Section) {
			parts = append(parts, c)
		}
	}
	if len(parts) < 2 || kind(parts[0]) == kind(parts[1]) {
		return
	}
	a, b := parts[0], parts[1]
	n.RemoveChild(b)
	n.InsertBefore(b, a)
}

func (m Mutator) attributes(n *html.Node) {
	k := kind(n)
	kept := n.Attr[:0]
	for _, a := range n.Attr {
		switch a.Key {
		case "class":
			var names []string
			for c := range strings.FieldsSeq(a.Val) {
				names = append(names, m.renamed(c))
			}
			a.Val = strings.Join(names, " ")
		case "id":
			a.Val = m.renamed(a.Val)
		case "href", "src", "content", "datetime", "charset", "type", "http-equiv", "action", "colspan", "rowspan", "title", "alt", "name", "property":
		default:
			if m.chance("drop", k+"@"+a.Key) < m.Drop {
				continue
			}
		}
		kept = append(kept, a)
	}
	n.Attr = kept
}

// renamed is the new name of a class or ID. Its number stays.
func (m Mutator) renamed(name string) string {
	s := stem(name)
	if s == "" || m.chance("rename", s) >= m.Rename {
		return name
	}
	return m.name(s) + name[len(s):]
}

// name makes a new name of syllables.
func (m Mutator) name(of string) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	x := uint64(m.chance("name", of) * (1 << 53))
	var b strings.Builder
	for range 4 {
		b.WriteByte(consonants[x%14])
		x /= 14
		b.WriteByte(vowels[x%5])
		x /= 5
	}
	return b.String()
}
