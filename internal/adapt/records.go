package adapt

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Limits of what counts as a record: one of several things of the same form on a page.
const (
	minRecords    = 2
	maxRecords    = 500
	recordLetters = 25   // of each, on average
	recordShare   = 0.3  // of the page's letters, that all records hold together
	datedShare    = 0.7  // of the records must bear a date
	dateLetters   = 60   // a longer text is no date
	maxDated      = 1000 // nodes of a record in which its date is looked for
)

// records finds the group of similar elements that looks most like posts or comments: much text, and dates.
func (l *learner) records(kind string) []*found {
	tree := l.eval.Tree
	groups := map[string][]int32{}
	var order []string
	for id := range int32(tree.Len()) {
		n := tree.At(id)
		if n.Type != html.ElementNode || l.texts.sums[id].size < recordLetters {
			continue
		}
		l.pay(signatureSteps)
		key := signature(tree, id)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], id)
	}
	whole := l.texts.sums[0].size
	var best []int32
	most := 0.0
	for _, key := range order {
		list := groups[key]
		if len(list) < minRecords || len(list) > maxRecords || l.outOfSteps() {
			continue
		}
		letters, dated := 0, 0
		nested := false
		for i, id := range list {
			if l.outOfSteps() {
				break
			}
			letters += l.texts.sums[id].size
			nested = nested || i > 0 && id < tree.End(xpath.Ref{ID: list[i-1], Attr: -1})
			if _, ok := l.date(id); ok {
				dated++
			}
		}
		share := float64(letters) / float64(max(whole, 1))
		withDate := float64(dated) / float64(len(list))
		if l.outOfSteps() || nested || share < recordShare || withDate < datedShare || letters < recordLetters*len(list) {
			continue
		}
		// more records of the same text are the better ones: the rows, not the halves of the page
		if score := share * withDate * math.Log2(1+float64(min(len(list), 100))); score > most {
			best, most = list, score
		}
	}
	objects := l.objects(kind, best[:min(len(best), MaxPrints)])
	l.chains(objects)
	return objects
}

// signatureSteps is what a signature costs.
const signatureSteps = 32

// signature is what elements of one template have in common: names of the element and of those around it, and
// its classes but those that name one thing.
func signature(tree *xpath.Tree, id int32) string {
	var b strings.Builder
	n := tree.At(id)
	b.WriteString(n.Data)
	for _, a := range n.Attr {
		if a.Key == "class" {
			for class := range strings.FieldsSeq(a.Val) {
				if !numbered(class) {
					b.WriteString("." + class)
					break // the first class names the element, the others are presentation
				}
			}
		}
	}
	at := xpath.Ref{ID: id, Attr: -1}
	for range 2 {
		up, ok := tree.Parent(at)
		if !ok {
			break
		}
		b.WriteString("<" + tree.At(up.ID).Data)
		at = up
	}
	return b.String()
}

// date finds where a record says when it was written.
func (l *learner) date(id int32) (xpath.Ref, bool) {
	tree := l.eval.Tree
	for c := id; c < min(tree.End(xpath.Ref{ID: id, Attr: -1}), id+maxDated); c++ {
		n := tree.At(c)
		l.pay(1 + len(n.Attr))
		if n.Type != html.ElementNode {
			continue
		}
		for i, a := range n.Attr {
			if (a.Key == "datetime" || a.Key == "data-time" || a.Key == "title" || a.Key == "data-timestamp") && namesDay(a.Val) {
				return xpath.Ref{ID: c, Attr: int32(i)}, true
			}
		}
		if n.FirstChild != nil && n.FirstChild.Type == html.TextNode && l.texts.sums[c].size <= dateLetters && namesDay(n.FirstChild.Data) {
			return xpath.Ref{ID: c, Attr: -1}, true
		}
	}
	return xpath.Ref{}, false
}

// author finds a short link beside the body, as a name is.
func (l *learner) author(id, body int32) (xpath.Ref, bool) {
	tree := l.eval.Tree
	for c := id; c < tree.End(xpath.Ref{ID: id, Attr: -1}); c++ {
		if c == body && body != id {
			c = tree.End(xpath.Ref{ID: c, Attr: -1}) - 1
			continue
		}
		l.pay(1)
		n := tree.At(c)
		if size := l.texts.sums[c].size; n.DataAtom != atom.A || size < 2 || size > 30 || n.FirstChild == nil {
			continue
		}
		if text := n.FirstChild.Data; n.FirstChild.Type == html.TextNode && (namesDay(text) || strings.ContainsAny(text, "#0123456789")) {
			continue
		}
		return xpath.Ref{ID: c, Attr: -1}, true
	}
	return xpath.Ref{}, false
}

// namesDay reports whether a text names a day: a year or a time of day beside other digits.
func namesDay(s string) bool {
	if len(s) > 120 {
		return false
	}
	digits, run, year, clock := 0, 0, false, false
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] >= '0' && s[i] <= '9' {
			digits++
			run++
			continue
		}
		if run == 4 && (s[i-4:i-2] == "19" || s[i-4:i-2] == "20") || run == 10 && s[i-10] == '1' {
			year = true
		}
		if i < len(s) && s[i] == ':' && run > 0 {
			clock = true
		}
		run = 0
	}
	return year && digits >= 5 || clock && digits >= 3
}
