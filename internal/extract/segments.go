package extract

import (
	"strings"

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
	segments := p.layout().segments
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
