package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Segment is what a text block of a page of an unknown application is.
type Segment uint8

// The segments of a page.
const (
	Boilerplate Segment = iota // repeated on the pages of a site
	Navigation                 // leads elsewhere
	Comments                   // what readers wrote
	Main                       // the text that the page is for
)

// segments reports what each text block is, by the shallow text features of Kohlschütter, Fankhauser and Nejdl
// (Boilerplate detection using shallow text features, WSDM 2010): words and share of linked words of a block and
// its neighbours, by the decision tree of their paper; and by what elements around it are for.
func (p *Page) segments() []Segment {
	d := p.Doc
	words, linked := make([]int, len(d.Blocks)), make([]int, len(d.Blocks))
	for i, b := range d.Blocks {
		words[i] = countWords(b)
	}
	for i := range d.Links {
		if l := &d.Links[i]; l.Hop == crawl.HopLink && l.Block >= 0 && l.Block < len(words) {
			linked[l.Block] += countWords(l.Anchor)
		}
	}
	density := func(i int) float64 {
		if i < 0 || i >= len(words) || words[i] == 0 {
			return 0
		}
		return min(float64(linked[i])/float64(words[i]), 1)
	}
	size := func(i int) int {
		if i < 0 || i >= len(words) {
			return 0
		}
		return words[i]
	}
	out := make([]Segment, len(d.Blocks))
	for i := range d.Blocks {
		role := Main
		if len(d.Starts) == len(d.Blocks) {
			role = roleOf(d.Starts[i])
		}
		switch content := isContent(density(i), density(i-1), size(i-1), size(i), size(i+1)); {
		case role == Navigation:
			out[i] = Navigation
		case role == Comments && content:
			out[i] = Comments
		case content:
			out[i] = role
		case density(i) > 0.5:
			out[i] = Navigation
		}
	}
	return out
}

// isContent is the decision tree over the features of a block and those beside it.
func isContent(density, before float64, previous, words, next int) bool {
	switch {
	case density > 1./3:
		return false
	case before <= 5./9:
		return words > 16 || next > 15 || previous > 4
	}
	return words > 40 || next > 17
}

// maxNames bounds how much of a list of classes is looked at, in bytes.
const maxNames = 256

// roleOf reports what the elements around a text are for, by their names, classes and IDs.
func roleOf(n *html.Node) Segment {
	for depth := 0; n != nil && depth < 30; n, depth = n.Parent, depth+1 {
		switch n.DataAtom {
		case atom.Nav, atom.Button, atom.Select, atom.Label:
			return Navigation
		case atom.Footer, atom.Aside:
			return Boilerplate
		case atom.Body:
			return Main
		}
		for i := range n.Attr {
			if k := n.Attr[i].Key; k != "class" && k != "id" && k != "role" {
				continue
			}
			switch name := n.Attr[i].Val[:min(len(n.Attr[i].Val), maxNames)]; {
			case holdsAny(name, "comment", "Comment", "disqus", "respond"):
				return Comments
			case holdsAny(name, "navigation", "navbar", "menu", "breadcrumb", "pagination"):
				return Navigation
			case holdsAny(name, "footer", "sidebar", "cookie", "banner", "related", "share", "social", "newsletter"):
				if n.DataAtom != atom.Body && n.DataAtom != atom.Html {
					return Boilerplate
				}
			}
		}
	}
	return Main
}

func holdsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func countWords(s string) int {
	n, in := 0, false
	for i := range len(s) {
		switch letter := s[i] > ' '; {
		case letter && !in:
			n, in = n+1, true
		case !letter:
			in = false
		}
	}
	return n
}

// The least that the main text of a page must have for the page to count as an article, if it does not say
// itself what it is.
const (
	articleWords = 120
	articleShare = 0.4 // of the words of the page
	unsure       = 0.3 // the confidence of what is distinguished from the form of the text alone
)

// Segments marks the text blocks that are content of a page of which no rule knows the bodies, by the form of its text; nil: none
// is. If article is set, it makes an article of the main text; of a page whose level is not known only if that is long enough.
func (p *Page) Segments(levelKnown, article bool) (content []bool, o crawl.Object, found bool) {
	d := p.Doc
	segments := p.segments()
	marks, any := make([]bool, len(segments)), false
	var main []string
	var blocks []int
	words, all := 0, 0
	for i, s := range segments {
		n := countWords(d.Blocks[i])
		all += n
		if marks[i] = s == Main || s == Comments; marks[i] {
			any = true
		}
		if s == Main {
			main, blocks = append(main, d.Blocks[i]), append(blocks, i)
			words += n
		}
	}
	if any {
		content = marks
	}
	if !article || !levelKnown && (words < articleWords || float64(words) < articleShare*float64(all)) {
		return content, o, false
	}
	o = crawl.Object{Type: "article", Rule: BySegments, Confidence: unsure}
	if title := p.heading(); title != "" {
		o.Properties = append(o.Properties, crawl.Property{Name: "title", Value: title})
	}
	text := shorten(strings.Join(main, "\n"), p.Limits.PropertyBytes)
	if text == "" {
		return content, o, false
	}
	o.Properties = append(o.Properties, crawl.Property{Name: "body", Value: text, Place: &crawl.Place{
		Blocks: blocks, Limit: p.Limits.PropertyBytes, Bytes: len(text), Sum: crawl.SumOf(text),
	}})
	return content, o, true
}

// BySegments is the rule of articles that were made of the form of a page's text.
const BySegments = "segments"

// maxHeading bounds a heading, in bytes.
const maxHeading = 1024

// heading is the page's first h1, or else its title.
func (p *Page) heading() string {
	for n := range p.Doc.Root.Descendants() {
		if n.DataAtom == atom.H1 {
			if text := textOf(n, nil, maxHeading); text != "" {
				return text
			}
		}
	}
	return p.Doc.Title
}
