package extract

import (
	"slices"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// The texts of rows.
const (
	textShare     = 0.85 // of the words of the largest elements of the rows, which smaller ones must hold to be the texts
	maxTextsForms = 400  // elements of a row that may be its text
)

// texts finds the texts of rows: the smallest elements of one form that hold nearly all words of the rows which elements of one form hold. It
// returns the form.
func (p *Page) texts(rows []row) (form string, ok bool) {
	tree := p.Eval.Tree
	type text struct {
		words, rows int
		at          []int32
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
			}
		}
	}
	var best *text
	for _, key := range order {
		t := forms[key]
		if !most(t.rows, len(rows)) {
			continue
		}
		if best == nil || t.words > best.words || float64(t.words) >= textShare*float64(best.words) && follow(t.at, best.at) {
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
// beside each other. The day belongs to that of the texts which stands to it as those of other rows do to theirs; the others have none.
func (p *Page) apartTexts(rows []row, days []xpath.Ref, form string) ([]row, []xpath.Ref) {
	all, several, before, behind := make([][]int32, len(rows)), 0, 0, 0
	for i, r := range rows {
		all[i] = p.ofForm(r, form)
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

// follow reports whether elements of rows come after others of the same rows, as those within them do.
func follow(inner, outer []int32) bool {
	for i := range inner {
		if inner[i] >= 0 && outer[i] >= 0 && inner[i] < outer[i] {
			return false
		}
	}
	return true
}
