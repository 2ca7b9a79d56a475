package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// The text of a page that sells one thing.
const (
	manyCards    = 4   // alike elements with links beside each other are other products, not parts of this one
	manyReviews  = 2   // alike elements with a date, or called reviews, are what buyers wrote
	cardWords    = 60  // words: a longer element is no card
	remarkWords  = 4   // words: shorter blocks outside tables are prices, codes and labels
	maxCard      = 300 // nodes: an element with more is no card
	productKept  = 0.8 // of the marked words, which the element around heading and text has
	productWords = 12  // words: of fewer the page has no text of its product
)

// product marks the blocks that are the text of the page's only product; nil if the page is not for one, or has no such text.
func (p *Page) product() []bool {
	if !p.soldKnown {
		p.soldKnown = true
		p.sold = p.productBlocks()
	}
	return p.sold
}

// sellsOne reports whether a page is for one product: its own data say so, or below its heading, outside of cards, there is a button or two that
// put something into the basket.
func (p *Page) sellsOne() bool {
	return p.product() != nil && (p.saysProduct || p.baskets >= 1 && p.baskets <= maxBaskets)
}

// maxBaskets is how many such buttons a page for one product has: some show it again at the edge of the window.
const maxBaskets = 2

// productBlocks marks what stands below the heading: texts, lists and tables, without other products, reviews and forms, in the smallest element
// around the heading that has most of them.
func (p *Page) productBlocks() []bool {
	l, tree := p.layout(), p.Eval.Tree
	if len(l.starts) == 0 {
		return nil
	}
	c := p.productParts()
	p.baskets = c.baskets
	marks, sum, all := make([]bool, len(l.starts)), make([]int, len(l.starts)+1), 0
	for i, id := range l.starts {
		marks[i] = c.heading >= 0 && id > c.heading && c.own(l, i)
		if sum[i+1] = sum[i]; marks[i] {
			sum[i+1] += l.size(i)
		}
	}
	if all = sum[len(l.starts)]; all < productWords {
		return nil
	}
	for i := len(marks) - 2; i >= 0; i-- { // a short heading belongs to what follows it
		marks[i] = marks[i] || marks[i+1] && l.starts[i] >= c.heading && c.ownHeading(l, tree, i)
	}
	for r, up := (xpath.Ref{ID: c.heading, Attr: -1}), true; up; r, up = tree.Parent(r) {
		from, to := l.blocks(tree, r)
		if float64(sum[to]-sum[from]) < productKept*float64(all) {
			continue
		}
		for i := range marks {
			marks[i] = marks[i] && i >= from && i < to
		}
		return marks
	}
	return marks
}

// productParts are the parts of a page that sells something.
type productParts struct {
	heading int32  // the number of the element; −1 if there is none
	baskets int    // buttons below it, outside of cards, that put something into the basket
	apart   []bool // of each block: it stands in cards, reviews or forms
	table   []bool // of each block: it stands in a table or a list of definitions
}

// own reports whether a block may be text of the product.
func (c *productParts) own(l *layout, i int) bool {
	n := l.size(i)
	return l.roles[i] == Main && !c.apart[i] && 2*l.linked[i] <= n && (n >= remarkWords || c.table[i])
}

// ownHeading reports whether a block is a heading below the first order that may be of the product's text.
func (c *productParts) ownHeading(l *layout, tree *xpath.Tree, i int) bool {
	if above, ok := tree.Parent(xpath.Ref{ID: l.starts[i], Attr: -1}); ok {
		switch tree.Node(above).DataAtom {
		case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			return l.roles[i] == Main && !c.apart[i] && 2*l.linked[i] <= l.size(i)
		}
	}
	return false
}

func (p *Page) productParts() *productParts {
	l, tree := p.layout(), p.Eval.Tree
	c := &productParts{heading: -1, apart: make([]bool, len(l.starts)), table: make([]bool, len(l.starts))}
	cover := func(marks []bool, r xpath.Ref) {
		for i, to := l.blocks(tree, r); i < to; i++ {
			marks[i] = true
		}
	}
	for id := int32(0); int(id) < tree.Len() && c.heading < 0; id++ {
		if from, to := l.blocks(tree, xpath.Ref{ID: id, Attr: -1}); tree.At(id).DataAtom == atom.H1 && to > from {
			c.heading = id
		}
	}
	if c.heading < 0 {
		return c
	}
	heads := func(r xpath.Ref) bool { return r.ID <= c.heading && c.heading < tree.End(r) }
	for id := int32(0); int(id) < tree.Len(); id++ {
		r, n := xpath.Ref{ID: id, Attr: -1}, tree.At(id)
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.DataAtom == atom.Table || n.DataAtom == atom.Dl:
			cover(c.table, r)
		case n.DataAtom == atom.Form:
			if id > c.heading && p.hasBasket(r) {
				c.baskets++
			}
			if !heads(r) {
				cover(c.apart, r)
			}
		case n.DataAtom == atom.Button || n.DataAtom == atom.Input:
			if id > c.heading && isBasket(n) {
				c.baskets++
			}
		case ofBuyers(n) && !heads(r):
			cover(c.apart, r)
			id = tree.End(r) - 1
		}
		if n.DataAtom == atom.Table || n.DataAtom == atom.Tbody || n.DataAtom == atom.Dl {
			continue
		}
		if p.hasCards(n) {
			cover(c.apart, r)
			id = max(id, tree.End(r)-1)
		}
	}
	return c
}

// hasCards reports whether an element has many alike ones, each short and with a link or each a review, and hardly anything else.
func (p *Page) hasCards(n *html.Node) bool {
	var list []*html.Node
	for child := range n.ChildNodes() {
		if child.Type == html.ElementNode && child.DataAtom != atom.Script && child.DataAtom != atom.Style {
			list = append(list, child)
		}
	}
	if len(list) < manyReviews {
		return false
	}
	cards, reviews, like := 0, 0, list[len(list)/2] // a heading may stand before the cards, and a link behind them
	for _, child := range list {
		if child.Data != like.Data || firstClass(child) != firstClass(like) {
			continue
		}
		switch linked, dated := cardOf(child); {
		case linked:
			cards++
		case dated:
			reviews++
		}
	}
	return cards >= manyCards && 4*cards >= 3*len(list) || reviews >= manyReviews && 3*reviews >= 2*len(list)
}

// cardOf reports what an element has: a link that leads to another page, and few words; or the day of a review.
func cardOf(n *html.Node) (linked, dated bool) {
	words, nodes := 0, 0
	for d := range n.Descendants() {
		if nodes++; nodes > maxCard {
			return false, false
		}
		switch {
		case d.Type == html.TextNode:
			words += countWords(d.Data)
		case d.DataAtom == atom.H1:
			return false, false
		case d.DataAtom == atom.Time:
			dated = true
		case d.DataAtom == atom.A:
			href := attr(d, "href")
			linked = linked || href != "" && !strings.HasPrefix(href, "#") && !strings.HasPrefix(href, "javascript:")
		}
	}
	return linked && !dated && words <= cardWords, dated
}

// ofBuyers reports whether an element is called after what buyers wrote, or says so in microdata.
func ofBuyers(n *html.Node) bool {
	if strings.HasPrefix(attr(n, "itemprop"), "review") {
		return true
	}
	for _, names := range []string{attr(n, "class"), attr(n, "id")} {
		for word := range strings.FieldsFuncSeq(strings.ToLower(names), func(r rune) bool { return r == ' ' || r == '-' || r == '_' }) {
			if buyers[word] {
				return true
			}
		}
	}
	return false
}

var buyers = wordSet("review reviews reviewslist testimonial testimonials bewertungen avis opiniones opinie recensioni")

// hasBasket reports whether a form puts something into the basket.
func (p *Page) hasBasket(r xpath.Ref) bool {
	action := strings.ToLower(attr(p.Eval.Tree.Node(r), "action"))
	return strings.Contains(action, "cart/add") || strings.Contains(action, "add-to-cart") || strings.Contains(action, "addtocart")
}

// isBasket reports whether a button puts something into the basket, by its name or by its text.
func isBasket(n *html.Node) bool {
	for _, said := range []string{attr(n, "class"), attr(n, "id"), attr(n, "name"), attr(n, "value"), textOf(n, nil, maxName)} {
		said = letters(strings.ToLower(said))
		for _, name := range baskets {
			if strings.Contains(said, name) {
				return true
			}
		}
	}
	return false
}

// baskets are what buttons are called that put something into the basket, without what stands between the words.
var baskets = strings.Fields("addtocart addtobasket addtobag buynow tothecart inwarenkorb indenwarenkorb ajouteraupanier añadiralcarrito dokoszyka aggiungialcarrello")

// maxName bounds the text of a button, in bytes.
const maxName = 64

// supplyProduct gives a product its text where it has none, or less than half of it. It reports whether the page has one.
func (p *Page) supplyProduct(o *crawl.Object) bool {
	marks, n := p.product(), 0
	for i, m := range marks {
		if m {
			n += p.layout().size(i)
		}
	}
	p.saysProduct = n > 0
	if n == 0 || 2*countWords(o.Properties.Get("body")) >= n {
		return false
	}
	text := p.blocksText(marks)
	if text.Value == "" {
		return false
	}
	kept := slices.DeleteFunc(slices.Clone(o.Properties), func(q crawl.Property) bool { return q.Name == "body" || q.Name == crawl.Markup })
	o.Properties = append(kept, text)
	return true
}
