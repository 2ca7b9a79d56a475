package extract

import (
	"iter"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// elements are those with attributes that begin with a block or in it, and do not hold the next.
func (l *layout) elements(tree *xpath.Tree, i int) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for id := range l.elementIDs(tree, i) {
			if !yield(tree.At(id)) {
				return
			}
		}
	}
}

// elementIDs are the numbers of elements.
func (l *layout) elementIDs(tree *xpath.Tree, i int) iter.Seq[int32] {
	from, at, to := int32(0), l.starts[i], int32(tree.Len())
	if i > 0 {
		from = l.starts[i-1] + 1
	}
	if i+1 < len(l.starts) {
		to = l.starts[i+1]
	}
	return func(yield func(int32) bool) {
		for id := from; id < min(to, at+maxNodes); id++ {
			n, end := tree.At(id), tree.End(xpath.Ref{ID: id, Attr: -1})
			if n.Type != html.ElementNode || len(n.Attr) == 0 || id < at && end <= at && n.DataAtom != atom.Meta || end > to {
				continue
			}
			if !yield(id) {
				return
			}
		}
	}
}

// timesIn are the dates that elements give programs. Spans are those of the text that they stand in, before is what the text before that says.
func timesIn(found []dated, elements iter.Seq[*html.Node], spans []span, before label, distance int, dayFirst bool) []dated {
	for n := range elements {
		value := valueOfTime(n)
		if value == "" {
			found = ownText(found, n, before, distance, dayFirst)
			continue
		}
		kind := kindOfNames(n)
		if kind == noLabel {
			kind = kindWithin(spans, briefText(n, maxDated), before)
		}
		if kind != foreign {
			found = appendDate(found, value, kind, distance, 0)
		}
	}
	return found
}

// ownText reads the date in the text of an element that is for a date by its names.
func ownText(found []dated, n *html.Node, before label, distance int, dayFirst bool) []dated {
	if n.DataAtom != atom.Time && !namesDate(attr(n, "class")) {
		return found
	}
	kind := kindOfNames(n)
	if kind == noLabel {
		kind = before
	}
	text := strings.Join(strings.Fields(briefText(n, maxDated)), " ")
	if kind == foreign || len(text) > maxDateAlone || !mayHoldDate(text) {
		return found
	}
	var buf [maxSpans + 1]span
	at := len(found)
	found = readDates(found, text, spansOf(text, buf[:0]), kind, distance, dayFirst)
	for i := at; i < len(found); i++ {
		found[i].size = 0
	}
	return found
}

// kindWithin is what the word before a part of a text says of it.
func kindWithin(spans []span, part string, before label) label {
	for k, s := range spans {
		if !strings.Contains(s.text, part) {
			continue
		}
		switch {
		case k == 0 && s.kind == noLabel:
			return before
		case s.kind == byAuthor:
			return published
		}
		return s.kind
	}
	return before
}

// valueOfTime is the date that an element gives programs, as it stands there; empty: none.
func valueOfTime(n *html.Node) string {
	if n.DataAtom == atom.Time {
		if value := attr(n, "datetime"); value != "" {
			return value
		}
	}
	dated, title := false, ""
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "itemprop":
			if strings.HasPrefix(a.Val, "date") {
				if value := attr(n, "content"); value != "" {
					return value
				}
				dated = true
			}
		case "property":
			if value := attr(n, "content"); value != "" && (strings.Contains(a.Val, "datePublished") || strings.Contains(a.Val, "dc:created") || strings.Contains(a.Val, "dc:date") || strings.Contains(a.Val, "dateCreated")) {
				return value
			}
		case "class":
			dated = dated || namesDate(a.Val)
		case "title":
			title = a.Val
		case "data-datetime", "data-date", "data-time", "data-timestamp", "data-seconds", "data-ts", "data-utime", "data-epoch", "data-published", "data-publish-date", "data-pubdate", "data-unixtime":
			if len(a.Val) <= maxDateAlone && strings.ContainsAny(a.Val, "0123456789") {
				return a.Val
			}
		}
	}
	if title != "" && len(title) <= maxDateAlone && (dated || n.DataAtom == atom.Abbr || title[0] >= '1' && title[0] <= '2') {
		return title
	}
	return ""
}

// namesDate reports whether a list of classes, or an ID, names a date.
func namesDate(names string) bool {
	names = strings.ToLower(names[:min(len(names), maxNames)])
	for _, word := range dateNames {
		if strings.Contains(names, word) {
			return true
		}
	}
	return false
}

var dateNames = []string{"date", "datum", "fecha", "publish", "pubtime", "pub-time", "posted", "timestamp", "time-stamp", "post-time", "created", "submitted"}

// kindOfNames is what the names of an element say of the date in it.
func kindOfNames(n *html.Node) label {
	if strings.HasPrefix(attr(n, "itemprop"), "date") {
		if strings.HasPrefix(attr(n, "itemprop"), "dateModified") {
			return updated
		}
		return published
	}
	class := strings.ToLower(attr(n, "class"))
	switch {
	case strings.Contains(class, "publish"):
		return published
	case strings.Contains(class, "update") || strings.Contains(class, "modified"):
		return updated
	case strings.Contains(class, "event") || strings.Contains(class, "expire") || strings.Contains(class, "deadline") || strings.Contains(class, "countdown"):
		return foreign
	}
	return noLabel
}

// markedDate is the date of the first text, outside of the window too, that stands in an element whose names say that it is one; nil if there
// is none, or if there are as many as in a list.
func (p *Page) markedDate(w *window) *dated {
	l, tree, dayFirst := p.layout(), p.Eval.Tree, p.dayFirst()
	var list []dated
	var spans [maxSpans + 1]span
	for i, text := range p.Doc.Blocks {
		if len(text) > maxDated || len(list) > maxMarked || p.apart(w, i) {
			continue
		}
		for n := range l.elements(tree, i) {
			if n.DataAtom != atom.Time && !namesDate(attr(n, "class")) && !namesDate(attr(n, "id")) && !strings.HasPrefix(attr(n, "itemprop"), "date") {
				continue
			}
			own := kindOfNames(n)
			if own == noLabel {
				own = kindWithin(spansOf(text, spans[:0]), briefText(n, maxDated), p.labelBefore(i))
			}
			if own == updated || own == foreign {
				continue
			}
			at := len(list)
			list = appendDate(list, valueOfTime(n), published, 0, 0)
			if len(list) == at {
				list = ownText(list, n, p.labelBefore(i), 0, dayFirst)
			}
			if len(list) == at && mayHoldDate(text) {
				list = readDates(list, text, spansOf(text, spans[:0]), p.labelBefore(i), 0, dayFirst)
			}
			break
		}
	}
	var first *dated
	days := 0
	for i := range list {
		if d := &list[i]; d.kind != updated && (first == nil || d.at.Sub(first.at).Abs() >= 24*time.Hour) {
			if days++; first == nil {
				first = d
			}
		}
	}
	if days > maxDays {
		return nil
	}
	return first
}

// Bounds of the marked dates of a page.
const (
	maxMarked = 40
	maxDays   = 2 // different ones; of more the page is a list
)
