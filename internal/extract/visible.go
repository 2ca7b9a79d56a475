package extract

import (
	"iter"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/dates"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// What is looked at for a date or a name that readers see.
const (
	maxDated     = 160 // bytes of a text block with a word that says what its date is
	maxDateAlone = 80  // and of one without
	maxDateWords = 10  // words of the latter
	around       = 3   // blocks before the heading, and after the beginning and the end of the body
	belowHeading = 8   // blocks
)

// window is the part of a page where its date and its author stand: around its heading, where its text begins, and where it ends.
type window struct {
	heading, body, end int // blocks: that of the heading (−1: unknown), the first of the body and the one behind its last
}

// holds reports whether a block stands there, and how far it is from where a date is likeliest.
func (w window) holds(i int) (distance int, ok bool) {
	switch {
	case w.heading >= 0 && i >= w.heading-around && i < w.heading:
		return 2*(w.heading-i) + 2, true
	case w.heading >= 0 && i >= w.heading && i <= w.heading+belowHeading:
		return i - w.heading, true
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
	if w.body < 0 || w.body == w.end {
		w.body, w.end = l.mainBlocks()
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

// dated is a date that a reader sees.
type dated struct {
	at       time.Time
	text     string // RFC 3339
	kind     label
	distance int
	size     int // of the block that it stands in, in bytes; 0 of one that is meant for programs
}

// cost is how unlikely a date is that of the page; the least counts.
func (d *dated) cost() int {
	cost := 4*d.distance + d.size/4
	switch {
	case d.kind == published:
		cost -= 40
	case d.size == 0:
		cost -= 20
	}
	return cost
}

// visibleDates supplies the dates of an object that nothing else gives: from its address, and from what readers see near its heading and its
// text.
func (p *Page) visibleDates(o *crawl.Object, w window) {
	if at := dateOfURL(p.Doc.URL); at != "" {
		set(o, "published", at)
		return
	}
	if isFront(p.Doc.URL) {
		return
	}
	found := p.datesIn(w)
	var best, change *dated
	for i := range found {
		d := &found[i]
		if d.kind == updated {
			if change == nil || d.cost() < change.cost() {
				change = d
			}
		} else if best == nil || d.cost() < best.cost() {
			best = d
		}
	}
	if change != nil {
		p.supply(o, "modified", change.text)
	}
	if best == nil {
		best = p.onlyDate()
	}
	if best == nil || p.descends(found) || later(best.at, o.Properties.Get("modified")) {
		return
	}
	set(o, "published", best.text)
}

// later reports whether a date is more than two days after that of a change.
func later(at time.Time, change string) bool {
	changed, _, ok := dates.Read(change, time.Time{})
	return ok && at.Sub(changed) > 48*time.Hour
}

// descends reports whether three days or more stand there, each before the one above it, as in a list of articles.
func (p *Page) descends(found []dated) bool {
	steps := 0
	for i := 1; i < len(found); i++ {
		switch a, b := found[i-1].at, found[i].at; {
		case found[i].kind == updated || found[i-1].kind == updated || a.Sub(b).Abs() < 24*time.Hour:
		case a.Before(b):
			return false
		default:
			steps++
		}
	}
	return steps >= 2
}

// datesIn are the dates in a window, in the order of the page.
func (p *Page) datesIn(w window) (found []dated) {
	l, tree := p.layout(), p.Eval.Tree
	dayFirst := p.dayFirst()
	var spans [maxSpans + 1]span
	for i, text := range p.Doc.Blocks {
		distance, ok := w.holds(i)
		if !ok || l.roles[i] == Navigation || l.roles[i] == Comments {
			continue
		}
		found = timesIn(found, l.elements(tree, i), distance)
		if len(text) > maxDated || !strings.ContainsAny(text, "0123456789") {
			continue
		}
		found = readDates(found, text, spansOf(text, spans[:0]), distance, dayFirst)
	}
	return found
}

// onlyDate is the date that the short texts of the page say is that of its publication; nil if they say more than one day.
func (p *Page) onlyDate() *dated {
	l, dayFirst := p.layout(), p.dayFirst()
	var only *dated
	var spans [maxSpans + 1]span
	var list [maxSpans + 1]dated
	for i, text := range p.Doc.Blocks {
		if len(text) > maxDateAlone || !strings.ContainsAny(text, "0123456789") || l.roles[i] == Navigation || l.roles[i] == Comments {
			continue
		}
		for _, d := range readDates(list[:0], text, spansOf(text, spans[:0]), 0, dayFirst) {
			if d.kind != published {
				continue
			}
			if only != nil && only.at.Sub(d.at).Abs() >= 24*time.Hour {
				return nil
			}
			if only == nil {
				only = &d
			}
		}
	}
	return only
}

// elements are those with attributes that begin with a block or in it, and do not hold the next.
func (l *layout) elements(tree *xpath.Tree, i int) iter.Seq[*html.Node] {
	from, at, to := int32(0), l.starts[i], int32(tree.Len())
	if i > 0 {
		from = l.starts[i-1] + 1
	}
	if i+1 < len(l.starts) {
		to = l.starts[i+1]
	}
	return func(yield func(*html.Node) bool) {
		for id := from; id < to; id++ {
			n, end := tree.At(id), tree.End(xpath.Ref{ID: id, Attr: -1})
			if n.Type != html.ElementNode || len(n.Attr) == 0 || id < at && end <= at && n.DataAtom != atom.Meta || end > to {
				continue
			}
			if !yield(n) {
				return
			}
		}
	}
}

// timesIn are the dates that elements give programs.
func timesIn(found []dated, elements iter.Seq[*html.Node], distance int) []dated {
	for n := range elements {
		name, value := attr(n, "itemprop"), ""
		switch {
		case n.DataAtom == atom.Time:
			value = attr(n, "datetime")
		case name == "datePublished" || name == "dateModified":
			value = attr(n, "content")
		case n.DataAtom == atom.Abbr:
			value = attr(n, "title")
		}
		if value == "" {
			continue
		}
		kind := noLabel
		switch class := attr(n, "class"); {
		case name == "dateModified" || strings.Contains(class, "updated") && !strings.Contains(class, "published") || strings.Contains(class, "modified"):
			kind = updated
		case name == "datePublished" || strings.Contains(class, "published"):
			kind = published
		}
		found = appendDate(found, value, kind, distance, 0)
	}
	return found
}

// readDates reads the dates of a text that is cut at its labels. Without a label only a short text counts; of a span of time none does.
func readDates(found []dated, text string, spans []span, distance int, dayFirst bool) []dated {
	for k, s := range spans {
		kind := s.kind
		if kind == foreign || strings.Count(s.text, "20")+strings.Count(s.text, "19") > 3 {
			continue
		}
		if kind == noLabel && k+1 < len(spans) && spans[k+1].kind == updated && !strings.ContainsAny(spans[k+1].text, "0123456789") {
			kind = updated // the word comes after the date
		}
		if kind == byAuthor { // a name and a date; a date alone is one until which something is to be done
			if beginsWithDate(s.text) {
				continue
			}
			kind = published
		}
		if kind == noLabel && (len(text) > maxDateAlone || countWords(text) > maxDateWords) {
			continue
		}
		part := s.text
		if dayFirst {
			part = dotted(part)
		}
		found = appendDate(found, part, kind, distance, len(text))
	}
	return found
}

// beginsWithDate reports whether a text begins with a number or the name of a month, or has nothing.
func beginsWithDate(text string) bool {
	text = strings.TrimLeft(text, " :：")
	if text == "" || isDigit(text[0]) {
		return true
	}
	word, _, _ := strings.Cut(text, " ")
	return isMonth(word)
}

// isMonth reports whether a word is the name of a month, or short for one.
func isMonth(word string) bool {
	_, precision, ok := dates.Read(strings.Trim(word, ",.")+" 5, 2020", time.Time{})
	return ok && precision == dates.Day
}

func appendDate(found []dated, text string, kind label, distance, size int) []dated {
	at, precision, ok := dates.Read(text, time.Time{})
	if !ok || precision < dates.Day {
		return found
	}
	return append(found, dated{at: at, text: at.Format(time.RFC3339), kind: kind, distance: distance, size: size})
}

// dayFirst reports whether 5/6/2014 is the fifth of June on a page: not in English, unless it is that of another country than the United
// States and Canada.
func (p *Page) dayFirst() bool {
	tree := p.Eval.Tree
	for id := int32(0); int(id) < min(tree.Len(), 8); id++ {
		if n := tree.At(id); n.DataAtom == atom.Html {
			switch lang := strings.ToLower(attr(n, "lang")); lang {
			case "en-gb", "en-au", "en-nz", "en-ie", "en-in", "en-za", "en_gb", "en_au":
				return true
			}
			break
		}
	}
	return p.Doc.Language != "" && p.Doc.Language != "en"
}

// dotted writes dates of three numbers with slashes, day first, with dots: package dates reads 5/6/2014 as the sixth of May, 5.6.2014 as
// the fifth of June.
func dotted(s string) string {
	at := strings.IndexByte(s, '/')
	if at < 1 || at+1 >= len(s) || !isDigit(s[at-1]) || at >= 3 && isDigit(s[at-2]) && isDigit(s[at-3]) {
		return s
	}
	second := strings.IndexByte(s[at+1:], '/') + at + 1
	if second == at || second-at > 3 || second-at < 2 || second+3 > len(s) {
		return s
	}
	return s[:at] + "." + s[at+1:second] + "." + s[second+1:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isFront reports whether an address is that of the front of a host.
func isFront(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	at := strings.IndexByte(rest, '/')
	return at < 0 || at == len(rest)-1
}

// dateOfURL reads the date in an address that has more behind it: /2014/05/16/ravens, /2014-05-16-ravens, /20140516/ravens. Without more
// behind it, it is that of a list.
func dateOfURL(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	at := strings.IndexByte(rest, '/')
	if at < 0 {
		return ""
	}
	path, _, _ := strings.Cut(rest[at:], "?")
	for segment := range strings.SplitSeq(strings.ToLower(path), "/") {
		switch segment {
		case "event", "events", "calendar", "agenda", "kalender", "termine", "veranstaltungen", "evenements", "eventos", "eventi": // the date of what is to come
			return ""
		}
	}
	for i := 0; i+11 < len(path); i++ {
		if path[i] != '/' || !strings.HasPrefix(path[i+1:], "20") && !strings.HasPrefix(path[i+1:], "19") {
			continue
		}
		if date, end := digitsOfDate(path[i+1:]); date != "" && i+1+end+2 < len(path) {
			if at, precision, ok := dates.Read(date, time.Time{}); ok && precision == dates.Day {
				return at.Format(time.RFC3339)
			}
		}
	}
	return ""
}

// digitsOfDate reads year, month and day with one separator or none between them, and a separator behind them.
func digitsOfDate(s string) (date string, end int) {
	number := func(from, most int) int {
		n := 0
		for n < most && from+n < len(s) && isDigit(s[from+n]) {
			n++
		}
		return n
	}
	if number(0, 5) != 4 && number(0, 9) != 8 {
		return "", 0
	}
	if number(0, 9) == 8 {
		if len(s) > 8 && strings.IndexByte("/_-", s[8]) >= 0 {
			return s[:4] + "-" + s[4:6] + "-" + s[6:8], 8
		}
		return "", 0
	}
	between := s[4]
	if between != '/' && between != '-' && between != '_' {
		return "", 0
	}
	month := number(5, 2)
	if month == 0 || 5+month >= len(s) || s[5+month] != between {
		return "", 0
	}
	at := 6 + month
	day := number(at, 2)
	if day == 0 || at+day >= len(s) || strings.IndexByte("/_-.", s[at+day]) < 0 {
		return "", 0
	}
	two := func(s string) string { return strings.Repeat("0", 2-len(s)) + s }
	return s[:4] + "-" + two(s[5:5+month]) + "-" + two(s[at:at+day]), at + day
}
