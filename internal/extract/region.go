package extract

import (
	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// The region of a page that is not written in long paragraphs: lists of titles, reference documentation, catalogues.
const (
	shortLink  = 4   // words: linked blocks of fewer lead elsewhere, longer ones are titles
	regionKept = 0.9 // of the best sum, which a smaller element must have to be the region
)

// region is the smallest element that has nearly all text which may belong to what the page shows. Text in no role counts for an element;
// short links and what has another role count against it. It is found in menus, footers and sidebars alone only if there is nothing else.
func (p *Page) region() (best xpath.Ref, ok bool) {
	l, tree := p.layout(), p.Eval.Tree
	if len(l.starts) == 0 {
		return best, false
	}
	sum, plus := make([]int, len(l.roles)+1), make([]int, len(l.roles)+1)
	for i := range l.roles {
		g := l.gain(i)
		sum[i+1], plus[i+1] = sum[i]+g, plus[i]+max(g, 0)
	}
	most := 0
	over := func(least int, f func(r xpath.Ref, sum int)) {
		for id := int32(0); int(id) < tree.Len(); id++ {
			r := xpath.Ref{ID: id, Attr: -1}
			n := tree.At(id)
			if n.Type == html.DocumentNode {
				continue
			}
			from, to := l.blocks(tree, r)
			if n.Type != html.ElementNode || plus[to]-plus[from] <= max(least, most) {
				id = tree.End(r) - 1
				continue
			}
			f(r, sum[to]-sum[from])
		}
	}
	over(0, func(_ xpath.Ref, s int) { most = max(most, s) })
	if 2*most <= plus[len(plus)-1] { // what it shows stands in several places
		return best, false
	}
	least := int(regionKept * float64(most))
	most = 0
	over(least, func(r xpath.Ref, s int) {
		if s > least {
			best, ok = r, true
		}
	})
	return best, ok
}

// wholeRegion is the region of a page, if it has so much of the main text that it may be the body.
func (p *Page) wholeRegion() (r xpath.Ref, ok bool) {
	if r, ok = p.region(); !ok {
		return r, false
	}
	l := p.layout()
	_, main := l.below(p.Eval.Tree, r)
	return r, float64(main) >= supplyFit*float64(l.main[len(l.main)-1])
}

// gain is how many words of a block speak for an element that it stands in to be the region. Of short links only those of menus speak
// against it, of which several follow each other: between other blocks they are names, dates and tags.
func (l *layout) gain(i int) int {
	n := l.size(i)
	switch {
	case l.roles[i] != Main:
		return -n
	case !l.isShortLink(i):
		return n
	case l.isShortLink(i-1) && l.isShortLink(i+1), l.isShortLink(i-1) && l.isShortLink(i-2), l.isShortLink(i+1) && l.isShortLink(i+2):
		return -n
	}
	return 0
}

// gained sums what blocks gain, without those that speak against an element: the words of what a page shows.
func (l *layout) gained(from, to int) (n int) {
	for i := from; i < to; i++ {
		n += max(l.gain(i), 0)
	}
	return n
}

func (l *layout) isShortLink(i int) bool {
	n := l.size(i)
	return n > 0 && n < shortLink && 2*l.linked[i] > n && l.roles[i] == Main
}
