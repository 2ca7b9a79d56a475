package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// The texts of rows.
const (
	textShare     = 0.85 // of the words of the largest elements of the rows, which smaller ones must hold to be the texts
	maxTextsForms = 400  // elements of a row that may be its text
)

// texts finds the texts of rows: the smallest elements of one form that hold nearly all words of the rows which elements of one form hold, but not
// those of which several stand side by side in a row, as paragraphs do. It returns the form. Days of the rows are elements of the form day.
func (p *Page) texts(rows []row, day string) (form string, ok bool) {
	tree := p.Eval.Tree
	type text struct {
		words, rows int
		at          []int32
		beside      bool // some row has several side by side
	}
	forms, order := map[string]*text{}, []string(nil)
	for i, r := range rows {
		left := maxTextsForms
		for id := r.from; id < r.to && left > 0; id++ {
			n := tree.At(id)
			if n.Type != html.ElementNode || tree.Within(r.body, xpath.Ref{ID: id, Attr: -1}) {
				continue
			}
			left--
			words := p.unlinked(xpath.Ref{ID: id, Attr: -1})
			if words == 0 {
				id = max(tree.End(xpath.Ref{ID: id, Attr: -1})-1, id)
				continue
			}
			key := formOf(n)
			t := forms[key]
			if t == nil {
				t = &text{at: slices.Repeat([]int32{-1}, len(rows))}
				forms[key], order = t, append(order, key)
			}
			if t.at[i] < 0 {
				t.at[i], t.words, t.rows = id, t.words+words, t.rows+1
			} else if !t.beside && n.Parent == tree.At(t.at[i]).Parent {
				_, t.beside = p.around(r, t.at[i], id, day)
			}
		}
	}
	var best *text
	for _, key := range order {
		t := forms[key]
		if !most(t.rows, len(rows)) {
			continue
		}
		if best == nil || t.words > best.words || !t.beside && float64(t.words) >= textShare*float64(best.words) && follow(t.at, best.at) {
			best, form = t, key
		}
	}
	if best == nil {
		return "", false
	}
	for i := range rows {
		if rows[i].bare = best.at[i] < 0; !rows[i].bare {
			rows[i].body = xpath.Ref{ID: best.at[i], Attr: -1}
		}
	}
	return form, true
}

// apartTexts makes rows of their own of texts that stand with another in one row, as where the day of a post cannot be read and rows are no elements
// beside each other. The day belongs to that of the texts which stands to it as those of other rows do to theirs; the others have none. Elements of
// the form of texts with no writer and no day between them are parts of one text.
func (p *Page) apartTexts(rows []row, days []xpath.Ref, form, day string) ([]row, []xpath.Ref) {
	all, several, before, behind := make([][]int32, len(rows)), 0, 0, 0
	for i, r := range rows {
		var last int32
		if all[i], last = p.headed(p.ofForm(r, form), day); len(all[i]) == 1 && last > all[i][0] {
			if whole, ok := p.around(r, all[i][0], last, day); ok {
				rows[i].body, r.body, all[i][0] = whole, whole, whole.ID
			}
		}
		switch {
		case len(all[i]) > 1:
			several++
		case days[i].ID < 0: // it has none
		case days[i].ID < r.body.ID:
			before++
		default:
			behind++
		}
	}
	if several == 0 || !most(len(rows)-several, len(rows)) {
		return rows, days
	}
	above := before > behind // days stand before their texts
	var apart []row
	var of []xpath.Ref
	for i, r := range rows {
		if len(all[i]) < 2 {
			apart, of = append(apart, r), append(of, days[i])
			continue
		}
		own, from := 0, r.from
		for k, id := range all[i] {
			if above && all[i][own] < days[i].ID || !above && id < days[i].ID {
				own = k
			}
		}
		for k, id := range all[i] {
			part, day := row{from: from, to: p.Eval.Tree.End(xpath.Ref{ID: id, Attr: -1}), body: xpath.Ref{ID: id, Attr: -1}}, xpath.Ref{ID: -1, Attr: -1}
			if k == own {
				day = days[i]
			}
			switch {
			case k == len(all[i])-1:
				part.to = r.to
			case !above: // what stands below the text belongs to it
				part.to = p.frameOf([]xpath.Ref{part.body, {ID: all[i][k+1], Attr: -1}}, 1).ID
			}
			from = part.to
			apart, of = append(apart, part), append(of, day)
		}
	}
	return apart, of
}

// ofForm are the outermost elements of a form in a row that have words outside of links.
func (p *Page) ofForm(r row, form string) (list []int32) {
	tree, left := p.Eval.Tree, maxTextsForms
	for id := r.from; id < r.to && left > 0; id++ {
		if n := tree.At(id); n.Type == html.ElementNode {
			left--
			if at := (xpath.Ref{ID: id, Attr: -1}); formOf(n) == form && p.unlinked(at) > 0 {
				list = append(list, id)
				id = tree.End(at) - 1
			}
		}
	}
	return list
}

// headed are those of the elements of a row which begin a text: the first, and each with a head between it and the one above it; last is the last
// element.
func (p *Page) headed(list []int32, day string) (first []int32, last int32) {
	for i, id := range list {
		if i == 0 || p.holdsHead(p.Eval.Tree.End(xpath.Ref{ID: last, Attr: -1}), id, day) {
			first = append(first, id)
		}
		last = id
	}
	return first, last
}

// around is the innermost element around two of a row, if it stands in the row and has no head.
func (p *Page) around(r row, first, last int32, day string) (whole xpath.Ref, ok bool) {
	tree := p.Eval.Tree
	end := tree.End(xpath.Ref{ID: last, Attr: -1})
	for whole, ok = tree.Parent(xpath.Ref{ID: first, Attr: -1}); ok && tree.End(whole) < end; whole, ok = tree.Parent(whole) {
	}
	if !ok || whole.ID < r.from || tree.End(whole) > r.to {
		return whole, false
	}
	return whole, !p.holdsHead(whole.ID, first, day) && !p.holdsHead(tree.End(xpath.Ref{ID: first, Attr: -1}), last, day) && !p.holdsHead(end, tree.End(whole), day)
}

// holdsHead reports whether one of the elements from one up to another is the day of a post, by its form, or the name of its writer; quotations, which
// have such, are not looked at.
func (p *Page) holdsHead(from, to int32, day string) bool {
	tree, left := p.Eval.Tree, maxColumnNodes
	for id := from; id < to && left > 0; id++ {
		n := tree.At(id)
		if n.Type != html.ElementNode {
			continue
		}
		left--
		if n.DataAtom == atom.Blockquote || strings.Contains(strings.ToLower(attr(n, "class")), "quote") {
			id = max(tree.End(xpath.Ref{ID: id, Attr: -1})-1, id)
		} else if formOf(n) == day || p.writerRank(id) > 0 {
			return true
		}
	}
	return false
}

// follow reports whether elements of rows come after others of the same rows, as those within them do.
func follow(inner, outer []int32) bool {
	for i := range inner {
		if inner[i] >= 0 && outer[i] >= 0 && inner[i] < outer[i] {
			return false
		}
	}
	return true
}
