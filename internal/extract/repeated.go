package extract

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// The posts of a page that repeats them, each with its day.
const (
	leastRows    = 2    // posts
	rowsShare    = 0.65 // of the words of the page but its menus, which the texts of all posts hold together
	rowWords     = 3    // of a post, on average
	maxDateForms = 12   // forms of elements with dates that are looked at
)

// Thread finds the posts of a page of which nothing else is known than the form of its text: elements with days that repeat, with the names of
// their writers and most of the page's words beside them. It puts them in the place of an article that was made of all of them, and reports
// whether there are any.
func (p *Page) Thread(set *Set) bool {
	l := p.layout()
	if len(l.starts) == 0 || slices.ContainsFunc(set.Objects, func(o crawl.Object) bool { return o.Type != "article" }) {
		return false
	}
	var best []row
	var marked []xpath.Ref
	words := 0
	for _, repeated := range p.dayElements() {
		at, days := p.withAlike(repeated)
		rows := p.framesOf(at)
		if rows == nil {
			continue
		}
		day := formOf(p.Eval.Tree.Node(repeated[0]))
		form, ok := p.texts(rows, day)
		if !ok {
			continue
		}
		rows, days = p.apartTexts(rows, days, form, day)
		here := 0
		for _, r := range rows {
			if !r.bare {
				here += p.unlinked(r.body)
			}
		}
		if here > words && !p.listed(rows) && !p.areComments(rows, len(set.Objects) > 1) {
			best, words, marked = rows, here, days
		}
	}
	if best == nil || words < rowWords*len(best) || float64(words) < rowsShare*float64(p.shown()) {
		return false
	}
	list := p.columns(best)
	days, names := p.dateColumn(list), p.authorColumn(list)
	if days == nil || names == nil {
		return false
	}
	p.fill(days, marked)
	var named crawl.Object
	p.setTitle(&named, nil, true)
	title := named.Properties.Get("title")
	if len(set.Objects) > 0 && set.Objects[0].Properties.Get("title") != "" {
		title = set.Objects[0].Properties.Get("title")
	}
	var out Set
	for i, r := range best[:min(len(best), p.Limits.Objects)] {
		o := crawl.Object{Type: "post", Rule: BySegments, Confidence: unsure}
		if r.bare {
			continue
		}
		if title != "" {
			o.Properties = append(o.Properties, crawl.Property{Name: "title", Value: title})
		}
		if part, ok := p.property(&kb.Property{Name: "body"}, r.body, false, &o, &crawl.Properties{}); ok {
			sign(&o, days[i], names[i])
			out.Objects = append(out.Objects, o)
			out.Located = append(out.Located, Located{Type: o.Type, At: r.body, Parts: []Part{part}})
		}
	}
	if len(out.Objects) < leastRows {
		return false
	}
	*set = out
	return true
}

// fill gives posts that a column has no day of those of the elements that the rows were found by, if these agree with a day of the column.
func (p *Page) fill(days []time.Time, marked []xpath.Ref) {
	dayFirst, agree := p.dayFirst(), false
	at := make([]time.Time, len(marked))
	for i, r := range marked {
		if r.ID < 0 {
			continue
		}
		at[i] = p.dateAt(r.ID, dayFirst)
		agree = agree || !days[i].IsZero() && days[i].Equal(at[i])
	}
	for i := range days {
		if agree && days[i].IsZero() {
			days[i] = at[i]
		}
	}
}

// areComments reports whether rows stand below a text that they are on, or in elements that are for comments; of several things that rules
// have found alike the latter does not count.
func (p *Page) areComments(rows []row, several bool) bool {
	l, above, comments := p.layout(), 0, 0
	for i, at := range l.starts {
		if at < rows[0].from && l.segments[i] == Main && 2*l.linked[i] <= l.size(i) {
			above += l.size(i)
		}
	}
	for _, r := range rows {
		if from, to := l.blocks(p.Eval.Tree, r.body); from < to && l.roles[from] == Comments {
			comments++
		}
	}
	return above > maxAbove || !several && 2*comments > len(rows)
}

// maxAbove is how many words may stand above the posts of a thread.
const maxAbove = 60

// unlinked counts the words of an element outside of links.
func (p *Page) unlinked(r xpath.Ref) (n int) {
	l := p.layout()
	from, to := l.blocks(p.Eval.Tree, r)
	for i := from; i < to; i++ {
		n += max(l.size(i)-l.linked[i], 0)
	}
	return n
}

// shown counts the words of the page but its menus.
func (p *Page) shown() (n int) {
	l := p.layout()
	for i, role := range l.roles {
		if (role == Main || role == Comments) && 2*l.linked[i] <= l.size(i) {
			n += l.size(i)
		}
	}
	return n
}

// dayElements are the elements with a day, of each form those of all rows in the order of the page.
func (p *Page) dayElements() (lists [][]xpath.Ref) {
	l, tree, dayFirst := p.layout(), p.Eval.Tree, p.dayFirst()
	index := map[string]int{}
	for i, text := range p.Doc.Blocks {
		if l.roles[i] == Navigation || len(text) > maxDated {
			continue
		}
		for id := range l.elementIDs(tree, i) {
			n := tree.At(id)
			if !mayHoldDate(text) && valueOfTime(n) == "" || p.dateAt(id, dayFirst).IsZero() {
				continue
			}
			key := formOf(n)
			at, ok := index[key]
			if !ok {
				if len(lists) == maxDateForms {
					continue
				}
				at = len(lists)
				index[key], lists = at, append(lists, nil)
			}
			if list := lists[at]; len(list) < maxColumnRows && (len(list) == 0 || list[len(list)-1].ID != id) {
				lists[at] = append(list, xpath.Ref{ID: id, Attr: -1})
			}
		}
	}
	return slices.DeleteFunc(lists, func(list []xpath.Ref) bool { return len(list) < leastRows })
}

// listed reports whether most rows have headings of several words that lead elsewhere, each another: those of a list. Those of a thread repeat
// its title, or are the names of its writers.
func (p *Page) listed(rows []row) bool {
	if !p.titled(rows, nil) {
		return false
	}
	names := p.authorColumn(p.columns(rows))
	return names == nil || p.titled(rows, names)
}

// titled reports whether most rows have such headings, those aside that are the name of the row's writer.
func (p *Page) titled(rows []row, names []string) bool {
	tree, titles := p.Eval.Tree, map[string]bool{}
	for i, r := range rows {
		for id := r.from; id < r.to; id++ {
			t := tree.At(id)
			if t.Type != html.TextNode {
				continue
			}
			words := countWords(t.Data)
			if words < leastRowTitle || names != nil && words < sureRowTitle && sameName(t.Data, names[i]) || !heads(t) || !p.leads(id) {
				continue
			}
			titles[strings.TrimSpace(t.Data)] = true
			break
		}
	}
	return 2*len(titles) > len(rows)
}

// Words of the title of an entry of a list.
const (
	leastRowTitle = 2 // one may be the name of a writer
	sureRowTitle  = 4 // fewer may be, too
)

// sameName reports whether two texts have the same letters and digits, as a name and the user name made of it have.
func sameName(a, b string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	a = plain(a)
	return a != "" && a == plain(b)
}

// leads reports whether a text stands in a link to another page that is none of a member's.
func (p *Page) leads(id int32) bool {
	n := p.Eval.Tree.At(id)
	for depth := 0; n != nil && depth < 4; n, depth = n.Parent, depth+1 {
		if n.Data == "a" {
			ref := attr(n, "href")
			return ref != "" && !strings.Contains(ref, "#") && !leadsToMember(ref) && !strings.Contains(attr(n, "rel"), "author")
		}
	}
	return false
}
