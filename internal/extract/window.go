package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// How far a window reaches, in text blocks.
const (
	around       = 3  // before the heading, and after the beginning and the end of the body
	belowHeading = 8  // after the heading
	maxBetween   = 30 // of all that stand between heading and body
)

// window is the part of a page where its date and its author stand: around its heading, where its text begins, and where it ends.
type window struct {
	heading, body, end int // blocks: that of the heading (−1: unknown), the first of the body and the one behind its last
	mainEnd            int // the block behind the last that is main text; computed once, as each block is compared with it
}

// holds reports whether a block stands there, and how far it is from where a date is likeliest.
func (w window) holds(i int) (distance int, ok bool) {
	switch {
	case w.heading >= 0 && i >= w.heading-around && i < w.heading:
		return 2*(w.heading-i) + 2, true
	case w.heading >= 0 && i >= w.heading && i <= w.heading+belowHeading:
		return i - w.heading, true
	case w.heading >= 0 && i > w.heading && i < w.body && w.body-w.heading <= maxBetween:
		return belowHeading, true
	case i >= w.body-around && i < w.body:
		return w.body - i + 1, true
	case i >= w.body && i < min(w.end, w.body+around):
		return i - w.body + 2, true
	case i >= w.end-2 && i < w.end+around:
		return 8 + max(i-w.end, 0), true
	}
	return 0, false
}

// windowOf finds the window of an object; ok is false of a page without text.
func (p *Page) windowOf(o *crawl.Object, located *Located) (w window, ok bool) {
	l := p.layout()
	if len(l.starts) == 0 || len(l.starts) != len(p.Doc.Blocks) {
		return w, false
	}
	w = window{heading: -1, body: -1}
	if located != nil {
		for _, part := range located.Parts {
			if part.Name == "body" && part.At.Attr < 0 {
				w.body, w.end = l.blocks(p.Eval.Tree, part.At)
			}
		}
	}
	main, mainEnd := l.mainBlocks()
	if w.mainEnd = mainEnd; w.body < 0 || w.body == w.end {
		w.body, w.end = main, mainEnd
	}
	w.heading = p.headingBlock(o.Properties.Get("title"), w.end)
	return w, w.body < w.end || w.heading >= 0
}

// mainBlocks are the blocks from the first to the last that is main text.
func (l *layout) mainBlocks() (from, to int) {
	from = -1
	for i, s := range l.segments {
		if s == Main {
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	return max(from, 0), to
}

// headingBlock is the last block before the end of the body that is the title; −1: none is.
func (p *Page) headingBlock(title string, end int) int {
	title = strings.Join(strings.Fields(title), " ")
	found := -1
	if title == "" {
		return found
	}
	for i, b := range p.Doc.Blocks[:min(end, len(p.Doc.Blocks))] {
		if n := p.Doc.Starts[i].Parent; n != nil && n.DataAtom == atom.Title { // it names the page, and stands nowhere on it
			continue
		}
		if len(b) >= len(title) && len(b) < len(title)+16 && strings.Contains(b, title) && p.layout().roles[i] != Navigation {
			found = i
			if heads(p.Doc.Starts[i]) {
				return i
			}
		}
	}
	return found
}

// heads reports whether a text stands in a heading.
func heads(n *html.Node) bool {
	for depth := 0; n != nil && depth < 4; n, depth = n.Parent, depth+1 {
		switch n.DataAtom {
		case atom.H1, atom.H2, atom.H3:
			return true
		}
	}
	return false
}

// apart reports whether a block belongs to something else than what the window is of: menus, comments, columns beside the text, teasers of other
// pages, and what stands below the text and outside of its article.
func (p *Page) apart(w *window, i int) bool {
	l, tree := p.layout(), p.Eval.Tree
	switch l.roles[i] {
	case Navigation, Comments:
		return true
	case Main:
		// A body may have more than the text: the region of the page.
		return i >= w.body && p.inCard(w, i) || i >= min(w.end, w.mainEnd) && p.belowLink(w, i)
	}
	r, up := xpath.Ref{ID: l.starts[i], Attr: -1}, true
	for depth := 0; up && depth < maxDepth; depth++ {
		switch n := tree.Node(r); {
		case n.DataAtom == atom.Aside || beside(attr(n, "class")) || beside(attr(n, "id")):
			return true
		case n.DataAtom == atom.Article || n.DataAtom == atom.Main || ofArticle(attr(n, "class")):
			return p.inCard(w, i)
		}
		r, up = tree.Parent(r)
	}
	return i >= w.body
}

// belowLink reports whether a block without a label stands just below a link of several words: the date of a teaser below its title.
func (p *Page) belowLink(w *window, i int) bool {
	l := p.layout()
	if i == 0 || len(l.linked) == 0 || !p.isTeaserTitle(i-1) && !p.inTeaserRow(w, i) {
		return false
	}
	var buf [maxSpans + 1]span
	for _, s := range spansOf(p.Doc.Blocks[i][:min(len(p.Doc.Blocks[i]), maxDated)], buf[:0]) {
		if s.kind != noLabel {
			return false
		}
	}
	return true
}

// isTeaserTitle reports whether a block is a link of several words that are not the title of the page, as those of posts are.
func (p *Page) isTeaserTitle(i int) bool {
	l := p.layout()
	return l.size(i) >= leastTeaserTitle && l.linked[i] >= l.size(i) && !strings.Contains(p.Doc.Title, strings.TrimPrefix(p.Doc.Blocks[i], "Re: "))
}

// inTeaserRow reports whether a block stands in a row of a table or a list behind such a link: that of another thread, with the day of its last post.
// A row with the heading or the text of the page is one of a table that makes its layout: a link in it is of a menu.
func (p *Page) inTeaserRow(w *window, i int) bool {
	l, tree := p.layout(), p.Eval.Tree
	r, up := xpath.Ref{ID: l.starts[i], Attr: -1}, true
	for depth := 0; up && depth < maxRowDepth; depth++ {
		if a := tree.Node(r).DataAtom; a == atom.Tr || a == atom.Li {
			from, to := l.blocks(tree, r)
			if from <= w.body && w.body < to || from <= w.heading && w.heading < to {
				return false
			}
			for k := from; k < min(i, from+maxRowBlocks); k++ {
				if l.roles[k] != Navigation && p.isTeaserTitle(k) {
					return true
				}
			}
			return false
		}
		r, up = tree.Parent(r)
	}
	return false
}

// Bounds of the row of another thread.
const (
	maxRowDepth  = 5  // elements between a date and the row that it stands in
	maxRowBlocks = 40 // from its beginning, among which its title is looked for
)

// leastTeaserTitle is how many words the title of a teaser has at least.
const leastTeaserTitle = 4

// ofArticle reports whether classes are those of the foot of an article, and not of the page.
func ofArticle(classes string) bool {
	classes = classes[:min(len(classes), maxNames)]
	for _, word := range []string{"entry-", "post-", "article-", "node-", "post_", "entry_", "article_"} {
		if strings.Contains(classes, word+"foot") || strings.Contains(classes, word+"_foot") || strings.Contains(classes, word+"meta") {
			return true
		}
	}
	return false
}

// maxDepth bounds the elements around a text that are looked at.
const maxDepth = 40

// beside reports whether names say that an element stands beside the text of a page.
func beside(names string) bool {
	if names == "" || roleOfNames(names) != Boilerplate {
		return false
	}
	names = strings.ToLower(names[:min(len(names), maxNames)])
	for _, word := range []string{"sidebar", "related", "newsletter", "promo", "cookie", "advert"} {
		if strings.Contains(names, word) {
			return true
		}
	}
	return false
}

// inCard reports whether a block stands in an article that does not hold the body, or in a link with more than a few words: in a teaser.
func (p *Page) inCard(w *window, i int) bool {
	l, tree := p.layout(), p.Eval.Tree
	r, up := xpath.Ref{ID: l.starts[i], Attr: -1}, true
	for depth := 0; up && depth < maxDepth; depth++ {
		switch tree.Node(r).DataAtom {
		case atom.Article:
			return w.body < len(l.starts) && !tree.Within(xpath.Ref{ID: l.starts[w.body], Attr: -1}, r)
		case atom.A:
			if words, _ := l.below(tree, r); words > maxDateWords {
				return true
			}
		case atom.Body, atom.Main:
			return false
		}
		r, up = tree.Parent(r)
	}
	return false
}

// maxNodes bounds the nodes of a short block.
const maxNodes = 256
