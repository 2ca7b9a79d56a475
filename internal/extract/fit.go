package extract

import (
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Words counts the words of an element, and those of them that are the text the page is for.
type Words func(at xpath.Ref) (words, main int)

// Words counts for a type of object. Of types other than those of which a page has one, what stands in an element for comments is
// text too. all is the page's main words; long reports that there are enough of them for a comparison with them to mean anything.
func (p *Page) Words(kind string) (of Words, all int, long bool) {
	l, tree := p.layout(), p.Eval.Tree
	main := l.main
	if !singleTypes[kind] {
		main = make([]int, len(l.segments)+1)
		for i, s := range l.segments {
			if main[i+1] = main[i]; s == Main || s == Comments {
				main[i+1] += l.size(i)
			}
		}
	}
	all = main[len(main)-1]
	return func(at xpath.Ref) (int, int) {
		if at.Attr >= 0 {
			return 0, 0
		}
		from, to := l.blocks(tree, at)
		return l.words[to] - l.words[from], main[to] - main[from]
	}, all, all >= chosenWords
}

// Fit is how well the bodies of a type agree together with the page's main text: the F1 measure of their words, in [0,1]. long is false
// if that text has too few words for this to mean anything. A body that is an attribute has no words of the page.
func (p *Page) Fit(located []Located, kind string) (fit float64, long bool) {
	of, all, long := p.Words(kind)
	words, main, covered := 0, 0, int32(-1)
	for _, o := range located {
		for i := range o.Parts {
			part := &o.Parts[i]
			if o.Type != kind || part.Name != "body" || part.At.Attr >= 0 || part.At.ID < covered {
				continue
			}
			covered = p.Eval.Tree.End(part.At)
			w, m := p.countWithout(of, part.At, part.leftOut())
			words, main = words+w, main+m
		}
	}
	if main == 0 {
		return 0, long
	}
	return 2 * float64(main) / float64(words+all), long
}
