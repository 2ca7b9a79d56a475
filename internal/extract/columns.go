package extract

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Bounds of what is looked at for authors and dates of the posts of a thread.
const (
	maxColumnRows  = 200 // posts
	maxColumnNodes = 400 // elements of a post beside its body
	columnShare    = 0.7 // of the posts must have what a column gives
)

// row is a post of a thread: the nodes from one on up to another, and the element of its text within them; of a bare one that is not known.
type row struct {
	from, to int32
	body     xpath.Ref
	bare     bool
}

// column is the first element of one form in each row; −1 where a row has none.
type column struct {
	key string
	at  []int32
}

// columns are the forms of elements that stand beside the texts of most rows, in the order of the rows.
func (p *Page) columns(rows []row) (list []column) {
	tree := p.Eval.Tree
	index := map[string]int{}
	for i, r := range rows {
		left := maxColumnNodes
		for id := r.from; id < r.to && left > 0; id++ {
			if id == r.body.ID {
				id = tree.End(r.body) - 1
				continue
			}
			n := tree.At(id)
			if n.Type != html.ElementNode {
				continue
			}
			left--
			key := formOf(n)
			at, ok := index[key]
			if !ok {
				at = len(list)
				index[key] = at
				list = append(list, column{key, slices.Repeat([]int32{-1}, len(rows))})
			}
			if list[at].at[i] < 0 {
				list[at].at[i] = id
			}
		}
	}
	return slices.DeleteFunc(list, func(c column) bool {
		n := 0
		for _, id := range c.at {
			if id >= 0 {
				n++
			}
		}
		return !most(n, len(rows))
	})
}

// most reports whether so many of the rows are nearly all of them.
func most(n, rows int) bool { return n >= 2 && float64(n) >= columnShare*float64(rows) }

// formOf is what elements at the same place of several rows have in common: names and first classes of the element and of those around it.
func formOf(n *html.Node) string {
	form := ""
	for depth := 0; n != nil && n.Type == html.ElementNode && depth < 3; n, depth = n.Parent, depth+1 {
		form += n.Data
		if class := firstClass(n); !strings.ContainsAny(class, "0123456789") {
			form += "." + class
		}
		if n.DataAtom == atom.Article || n.DataAtom == atom.Li || n.DataAtom == atom.Tr {
			break
		}
		form += "<"
	}
	return form
}

// byline gives the posts that lack them their authors and dates: objects[i] is that of rows[i].
func (p *Page) byline(objects []crawl.Object, rows []row) {
	if len(rows) < 2 || len(rows) > maxColumnRows {
		return
	}
	list := p.columns(rows)
	for i, day := range p.dateColumn(list) {
		sign(&objects[i], day, "")
	}
	for i, name := range p.authorColumn(list) {
		sign(&objects[i], time.Time{}, name)
	}
}

// sign gives a post that lacks them its day and the name of its writer; zero and "" are none.
func sign(o *crawl.Object, day time.Time, name string) {
	if !day.IsZero() && o.Properties.Get("published") == "" {
		o.Properties = append(o.Properties, crawl.Property{Name: "published", Value: day.Format(time.RFC3339)})
	}
	if name != "" && o.Properties.Get("author") == "" {
		o.Properties = append(o.Properties, crawl.Property{Name: "author", Value: name})
	}
}

// dateColumn are the dates of the column that gives most rows one: of several that of which most are not before that of the row above, for
// the days on which members have joined are in no order. Nil: no column does.
func (p *Page) dateColumn(list []column) (best []time.Time) {
	dayFirst, score := p.dayFirst(), 0
	for _, c := range list {
		days := make([]time.Time, len(c.at))
		n, ascending := 0, 0
		var last time.Time
		for i, id := range c.at {
			if id < 0 {
				continue
			}
			if i >= 2 && n == 0 {
				break
			}
			if p.afterForeign(id) {
				continue
			}
			if days[i] = p.dateAt(id, dayFirst); days[i].IsZero() {
				continue
			}
			if n++; !days[i].Before(last) {
				ascending++
			}
			last = days[i]
		}
		if !most(n, len(c.at)) {
			continue
		}
		if s := n + 2*ascending; s > score {
			best, score = days, s
		}
	}
	return best
}

// dateAt is the date that an element gives programs or readers as the day of a post; zero: none.
func (p *Page) dateAt(id int32, dayFirst bool) time.Time {
	n := p.Eval.Tree.At(id)
	text := strings.Join(strings.Fields(briefText(n, maxDateAlone+1)), " ")
	if len(text) > maxDateAlone {
		return time.Time{}
	}
	var buf [maxSpans + 1]span
	var list [maxSpans + 1]dated
	spans := spansOf(text, buf[:0])
	found := timesIn(list[:0], func(yield func(*html.Node) bool) { yield(n) }, spans, noLabel, 0, dayFirst)
	if len(found) == 0 && mayHoldDate(text) {
		found = readDates(found, text, spans, noLabel, 0, dayFirst)
	}
	for _, d := range found {
		if d.kind != updated && d.kind != foreign {
			return d.at
		}
	}
	return time.Time{}
}

// afterForeign reports whether a label in a cell of its own says that the date of an element is another than that of a post: "Joined", not the
// rank of the writer.
func (p *Page) afterForeign(id int32) bool {
	from, to := p.layout().blocks(p.Eval.Tree, xpath.Ref{ID: id, Attr: -1})
	if from >= to {
		return false
	}
	kind := p.labelBefore(from)
	return kind == updated || kind == foreign && ofJoining(p.Doc.Blocks[from-1])
}

// authorColumn are the names of the column that says that they are those of the writers of the rows; nil: no column does.
func (p *Page) authorColumn(list []column) (best []string) {
	score := 0
	for _, c := range list {
		names := make([]string, len(c.at))
		n, rank := 0, 0
		different := map[string]bool{}
		for i, id := range c.at {
			if id < 0 {
				continue
			}
			if i >= 2 && n == 0 {
				break
			}
			r := p.writerRank(id)
			if r == 0 {
				continue
			}
			if names[i] = p.writerAt(id); names[i] != "" {
				n, rank = n+1, rank+r
				different[names[i]] = true
			}
		}
		if !most(n, len(c.at)) || n > 2 && len(different) < 2 {
			continue
		}
		if rank > score {
			best, score = names, rank
		}
	}
	return best
}

// writerRank says how surely an element beside a text holds the name of its writer: 0 if nothing says so.
func (p *Page) writerRank(id int32) int {
	n, rank := p.Eval.Tree.At(id), 0
	if n.DataAtom == atom.A && leadsToMember(attr(n, "href")) {
		rank += 2
	}
	if itemprop := attr(n, "itemprop"); itemprop == "author" || itemprop == "creator" {
		rank += 2
	}
	for up, depth := n, 0; up != nil && depth < 3; up, depth = up.Parent, depth+1 {
		switch named := namesWriter(attr(up, "class")); {
		case named < 0 && depth == 0:
			return 0
		case named > 0:
			return rank + 4 - depth
		}
	}
	return rank
}

// namesWriter reports what classes say of an element: 1 that it is for the writer of a text, −1 that it is for something else of one.
func namesWriter(classes string) int {
	found := 0
	for _, class := range strings.Fields(classes[:min(len(classes), maxNames)]) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(class), func(r rune) bool { return r == '-' || r == '_' }) {
			switch {
			case notNames[word] || notWriters[word]:
				return -1
			case writerWords[word]:
				found = 1
			}
		}
	}
	return found
}

var (
	writerWords = wordSet("author username user member poster name nickname nick postauthor popupctrl bigusername postername postby postedby creator membername")
	// notWriters are words of classes of what stands beside the name of a member.
	notWriters = wordSet("usertitle quote signature rank reputation score stats joined location group reply button action last editor edit like likes reaction reactions")
)

// leadsToMember reports whether a reference is that of the page of a member of a forum.
func leadsToMember(ref string) bool {
	ref = strings.ToLower(ref)
	for _, word := range []string{"/user", "/member", "member.php", "/profile", "profile.php", "action=profile", "mode=viewprofile", "/u/", "/people/", "/author/", "space-uid", "showuser=", "uid=", "/mitglied", "/benutzer", "/membre"} {
		if at := strings.Index("/"+ref, word); at >= 0 && at+len(word) < len(ref)+1 {
			return true
		}
	}
	return false
}

// writerAt is the name that is all of the text of an element.
func (p *Page) writerAt(id int32) string {
	text := strings.Trim(strings.Join(strings.Fields(briefText(p.Eval.Tree.At(id), maxNameBytes+1)), " "), " ,:|")
	text = withoutBy(text)
	size := utf8.RuneCountInString(text)
	switch {
	case size < 2 || size > maxNick || fields(text) > 4 || !strings.ContainsFunc(text, unicode.IsLetter):
		return ""
	case strings.ContainsAny(text, "#:") || !page.IsAuthor(text, "", ""):
		return ""
	}
	if !p.dateAt(id, false).IsZero() {
		return ""
	}
	return text
}
