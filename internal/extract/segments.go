package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
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

// countWords counts words: what stands between white space. Of Chinese and Japanese, which have none, each two letters count as a word.
func countWords(s string) int {
	n, in, signs := 0, false, 0
	for i := range len(s) {
		switch letter := s[i] > ' '; {
		case s[i] >= 0xE3 && s[i] <= 0xE9: // the first byte of a letter in U+3000 to U+9FFF
			signs, in = signs+1, true
		case letter && !in:
			n, in = n+1, true
		case !letter:
			in = false
		}
	}
	return n + (signs+1)/2
}

// The least that the main text of a page must have for the page to count as an article, if it does not say
// itself what it is.
const (
	articleWords = 120
	articleShare = 0.4 // of the words of the page
	unsure       = 0.3 // the confidence of what is distinguished from the form of the text alone
)

// Supply gives the page's only article a body where no rule and no data of the page do: the element that agrees best with the main text,
// else the blocks of the main text. If there are no objects it makes an article of them; of a page whose level is not known only if the text
// is long enough. It reports whether it made one.
func (p *Page) Supply(levelKnown bool, set *Set) (made bool) {
	l := p.layout()
	main, all := l.main[len(l.main)-1], l.words[len(l.words)-1]
	at := p.only(set)
	if made = len(set.Objects) == 0; made {
		if main == 0 || !levelKnown && p.sellsOne() || !levelKnown && (main < articleWords || float64(main) < articleShare*float64(all)) && !p.saysArticle() {
			return false
		}
		o := crawl.Object{Type: "article", Rule: BySegments, Confidence: unsure}
		if title := p.heading(); title != "" {
			o.Properties = append(o.Properties, crawl.Property{Name: "title", Value: title})
		}
		set.Objects, at = append(set.Objects, o), 0
	}
	if at >= 0 && !made && set.Objects[at].Type == "product" && p.supplyProduct(&set.Objects[at]) {
		if at < len(set.Located) {
			set.Located[at].Parts = slices.DeleteFunc(set.Located[at].Parts, func(p Part) bool { return p.Name == "body" })
		}
		return false
	}
	if at < 0 || !made && (main < chosenWords || p.hasBody(&set.Objects[at])) {
		return false
	}
	for len(set.Located) <= at {
		set.Located = append(set.Located, Located{Type: set.Objects[len(set.Located)].Type})
	}
	object, located := &set.Objects[at], &set.Located[at]
	object.Properties = slices.DeleteFunc(object.Properties, func(p crawl.Property) bool { return p.Name == "body" })
	r, fit := p.tightest()
	if fit < supplyFit {
		if wider, ok := p.wholeRegion(); ok {
			r, fit = wider, supplyFit
		}
	}
	if fit >= supplyFit {
		body := kb.Property{Name: "body"}
		if object.Type == "article" {
			body.Without = p.outside
		}
		if part, ok := p.property(&body, r, true, object, &crawl.Properties{}); ok {
			located.Parts = append(located.Parts, part)
			return made
		}
	}
	if text := p.mainText(); text.Value != "" {
		object.Properties = append(object.Properties, text)
	}
	return made
}

// supplyFit is the least fit of an element that is the body of an article which has no other; of less, the blocks of the main text are.
const supplyFit = 0.8

// only is the index of the page's only object of a type of which a page has one with a text; −1 if there is none, or several.
func (p *Page) only(set *Set) int {
	at := -1
	for i := range set.Objects {
		if singleTypes[set.Objects[i].Type] {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// hasBody reports whether an object has a body that may be that of the page. What the page's data say counts only if it has half as many
// words as the page's main text.
func (p *Page) hasBody(o *crawl.Object) bool {
	if o.Type == "video" || slices.ContainsFunc(o.Properties, func(p crawl.Property) bool { return p.Name == crawl.Markup }) {
		return true
	}
	main := p.layout().main
	return 2*countWords(o.Properties.Get("body")) >= main[len(main)-1]
}

// mainText is the text of the Main blocks.
func (p *Page) mainText() crawl.Property {
	marks := make([]bool, len(p.Doc.Blocks))
	for i, s := range p.layout().segments {
		marks[i] = s == Main
	}
	return p.blocksText(marks)
}

// blocksText is the text of the blocks that are marked.
func (p *Page) blocksText(marks []bool) crawl.Property {
	var main []string
	var blocks []int
	for i, m := range marks {
		if m {
			main, blocks = append(main, p.Doc.Blocks[i]), append(blocks, i)
		}
	}
	text := shorten(strings.Join(main, "\n"), p.Limits.PropertyBytes)
	return crawl.Property{Name: "body", Value: text, Place: &crawl.Place{
		Blocks: blocks, Limit: p.Limits.PropertyBytes, Bytes: len(text), Sum: crawl.SumOf(text),
	}}
}

// Segments marks the text blocks that are content of a page of which no rule knows the bodies: by their form, or, of a page that lists
// others, by what elements they stand in, for titles are links; nil: none is.
func (p *Page) Segments(lists bool) []bool {
	if p.sellsOne() {
		return p.product()
	}
	l := p.layout()
	marks, any := make([]bool, len(l.segments)), false
	from, to, prose := 0, len(l.segments), l.words[len(l.segments)] < chosenWords
	if lists {
		if r, ok := p.region(); ok {
			from, to = l.blocks(p.Eval.Tree, r)
			prose = prose || 2*(l.main[to]-l.main[from]) > l.words[to]-l.words[from] || p.hasListings(r)
		}
	}
	for i, s := range l.segments {
		if marks[i] = s == Main || s == Comments || lists && i >= from && i < to && l.roles[i] == Main && (prose || l.size(i) >= entryWords); marks[i] {
			any = true
		}
	}
	if !any {
		return nil
	}
	return marks
}

// entryWords is the least of a block that is the title or the teaser of an entry; shorter ones are names, numbers and buttons.
const entryWords = 3

// hasListings reports whether an element has program text or definitions: short blocks are part of what it says then.
func (p *Page) hasListings(r xpath.Ref) bool {
	for id, end := r.ID, p.Eval.Tree.End(r); id < end; id++ {
		switch p.Eval.Tree.At(id).DataAtom {
		case atom.Pre, atom.Code, atom.Dt:
			return true
		}
	}
	return false
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
