package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
)

const (
	maxNameText  = 200 // bytes of a text that a name is looked for in
	maxNameBytes = 60  // letters of a name, or of several
	maxNameWords = 8   // of several names
	belowText    = 8   // blocks behind a text in which its author may be named
	maxNick      = 30  // letters of a name of one word, which may have digits
	maxNamed     = 64  // names of a page that are compared
)

// named is a name that a reader sees.
type named struct {
	cost, block int
	rank        int // of the element that says so; 0 of a text
	name        string
}

// visibleAuthor is the name of the author that readers see in a window: that of an element that says so, or the one behind a word for "by".
// Several that are marked alike and stand together are joined.
func (p *Page) visibleAuthor(w window) string {
	l, tree := p.layout(), p.Eval.Tree
	var list []named
	consider := func(cost, block, rank int, text string) {
		if found := p.nameIn(text, rank > 0); found != "" && len(list) < maxNamed {
			list = append(list, named{cost, block, rank, found})
		}
	}
	var spans [maxSpans + 1]span
	for i, text := range p.Doc.Blocks {
		distance, ok := w.holds(i)
		if !ok && i >= w.end && i < w.end+belowText {
			distance, ok = 2*belowHeading+i-w.end, true
		}
		if !ok || p.apart(&w, i) {
			continue
		}
		for n := range l.elements(tree, i) {
			if rank := authorRank(n); rank > 0 {
				consider(4*distance+rank, i, rank, briefText(n, maxNameText))
			}
		}
		if len(text) > maxDated {
			continue
		}
		if i > 0 && len(text) <= maxNameBytes && saysBy(p.Doc.Blocks[i-1]) {
			consider(4*distance+4, i, 0, text)
		}
		for k, parts := 0, spansOf(text, spans[:0]); k < len(parts); k++ {
			if parts[k].kind == byAuthor && (k == 0 || leadsToName(parts[k-1])) {
				cost := 4*distance + 6
				if strings.HasPrefix(parts[k].text, ":") || strings.HasPrefix(parts[k].text, "：") {
					cost -= 4
				}
				consider(cost, i, 0, parts[k].text)
			}
		}
		if name := nameInLine(text); name != "" {
			consider(4*distance+12, i, 0, name)
		}
	}
	return joined(list)
}

// saysBy reports whether a text is no more than a word for "by" or "author", which ends it.
func saysBy(text string) bool {
	if len(text) > maxPiece {
		return false
	}
	var buf [maxSpans + 1]span
	list := spansOf(text, buf[:0])
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	return last.kind == byAuthor && strings.Trim(last.text, " :：") == "" && (len(list) == 1 || leadsToName(list[len(list)-2]))
}

// ofSite reports whether a name stands in a notice of copyright below the text: then it is that of the site, and the author may be another.
func (p *Page) ofSite(name string) bool {
	if name == "" {
		return false
	}
	l := p.layout()
	for i := len(p.Doc.Blocks) - 1; i >= 0; i-- {
		if text := p.Doc.Blocks[i]; l.roles[i] != Main && len(text) <= maxNameText && strings.Contains(text, name) && (strings.Contains(text, "©") || strings.Contains(strings.ToLower(text), "copyright")) {
			return true
		}
	}
	return false
}

// joined is the likeliest name, with those beside it that are marked as it is.
func joined(list []named) string {
	best := -1
	for i := range list {
		if best < 0 || list[i].cost < list[best].cost {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	names := list[best].name
	if b := list[best]; b.rank > 0 {
		for _, other := range list[best+1:] {
			if other.rank == b.rank && other.block-b.block <= maxAuthorsApart && !strings.Contains(strings.ToLower(names), strings.ToLower(other.name)) && len(names)+len(other.name) < maxNameText {
				names += ", " + other.name
				b.block = other.block
			}
		}
	}
	return names
}

// maxAuthorsApart is how many blocks the name of an author may stand behind that of another.
const maxAuthorsApart = 1

// nameInLine is the last part of a line with a date and the time that it takes to read: "5 March 2021 · 4 min · Ann Corvi".
func nameInLine(text string) string {
	if len(text) > maxDated || !strings.Contains(text, " min") {
		return ""
	}
	at, size := -1, 0
	for _, sign := range []string{"·", "|", "•"} {
		if i := strings.LastIndex(text, sign); i > at {
			at, size = i, len(sign)
		}
	}
	if at < 0 || !strings.Contains(text[:at], " min") {
		return ""
	}
	return strings.TrimSpace(strings.TrimLeft(text[at+size:], " \u00a0"))
}

// leadsToName reports whether a name may come after a part of a text and a word for "by": "Written by" and "1 May by" lead to one, "Powered
// by" and "a book by" do not.
func leadsToName(s span) bool {
	return (s.kind == published || s.kind == byAuthor) && fields(s.text) == 0 || strings.ContainsAny(s.text, "0123456789") && fields(s.text) <= maxDateWords
}

// nameIn is the name that a text begins with, behind words such as "by". Of a text that no element marks as a name each word must begin with
// a capital, or join names.
func (p *Page) nameIn(text string, marked bool) string {
	colon := strings.HasPrefix(text, ":") || strings.HasPrefix(text, "：")
	text = withoutBy(strings.Join(strings.Fields(text), " "))
	words := strings.Fields(text)
	if r, _ := utf8.DecodeRuneInString(text); marked && len(words) == 1 && unicode.IsLetter(r) && utf8.RuneCountInString(text) <= maxNick && page.IsAuthor(text, p.metadata().Site, urls.HostOf(p.Doc.URL)) {
		return strings.Trim(text, ",.:;|") // hugo17 is a name, too
	}
	n := 0
	for n < len(words) && n <= maxNameWords && !p.endsName(words, n) {
		n++
		if last := words[n-1]; !marked && strings.HasSuffix(last, ".") && utf8.RuneCountInString(last) > 4 {
			break // of a sentence
		}
	}
	if n < len(words) && roles[strings.ToLower(strings.Trim(words[n], ",.:"))] { // "Ann Corvi, Birds Editor"
		for k := n - 1; k >= 0; k-- {
			if strings.HasSuffix(words[k], ",") {
				n = k + 1
				break
			}
		}
	}
	for n > 0 && joining[strings.ToLower(strings.Trim(words[n-1], ","))] {
		n--
	}
	name := strings.Trim(strings.Join(words[:n], " "), " ,.:;|-–—•·/()[]\"'")
	if at := strings.LastIndexByte(name, ','); at > 0 && isSite(name[at+1:], []string{letters(p.metadata().Site)}) {
		name = name[:at]
	}
	switch {
	case n == 0 || n > maxNameWords || utf8.RuneCountInString(name) > maxNameBytes || utf8.RuneCountInString(name) < 2:
		return ""
	case !marked && (n < len(words) && n == 1 && words[1] != "|" && !isWhole(words[0]) || !capitals(words[:n])):
		return ""
	case !marked && n == 1 && isClause(name, colon):
		return ""
	case !page.IsAuthor(name, p.metadata().Site, urls.HostOf(p.Doc.URL)):
		return ""
	}
	return name
}

// withoutBy takes the words for "by" and "author" from the beginning of a text.
func withoutBy(text string) string {
	for range 3 {
		word, rest, _ := strings.Cut(text, " ")
		plain := strings.ToLower(strings.Trim(word, ":："))
		kind := labels[plain]
		if rest == "" || kind != byAuthor && (kind != published || !followedByBy(rest)) && (!strings.HasSuffix(word, ":") || kind == updated || len(plain) > 12) {
			break
		}
		text = strings.TrimLeft(rest, " :：")
	}
	return strings.TrimLeft(text, " :：")
}

func followedByBy(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return labels[strings.ToLower(strings.Trim(word, ":"))] == byAuthor
}

// endsName reports whether the word n of a text is no part of the name before it.
func (p *Page) endsName(words []string, n int) bool {
	w := words[n]
	if strings.ContainsAny(w, "0123456789|•·—–»›→©") || w == "-" || w == "/" || strings.HasPrefix(w, "(") {
		return true
	}
	lower := strings.ToLower(strings.Trim(w, ",:."))
	if n > 0 {
		kind := labels[lower]
		if untilWords[lower] {
			kind = labelAt(lower, strings.Join(words[n+1:min(n+1+maxBeforeDate, len(words))], " "))
		}
		if ending[lower] || kind == published || kind == updated || kind == foreign {
			return true
		}
	}
	return (n+1 < len(words) && strings.ContainsAny(words[n+1], "0123456789") || strings.HasSuffix(w, ".")) && isMonth(w)
}

// joining are words within names and between them that have no capital; they end none.
var joining = wordSet("and und et y e i och og en ja und & de da di do dos das del della der den van von vom zu zur la le du al el bin ibn ten ter y of the")

// articles are those of joining that begin no name.
var articles = wordSet("and und et y e i och og en ja & the den le la du al")

// ending are words that follow a name.
var ending = wordSet("on in at for with from am um im in le les op den på dia il em w dnia about is has was staff editor senior contributor contributing correspondent reporter columnist who lives works writes wrote qui follow email share updated view all more mehr weitere alle tous toutes todos tutti ver voir zum posts comments comment reply")

// roles are those of ending that say what somebody is.
var roles = wordSet("editor contributor correspondent reporter columnist writer staff")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// capitals reports whether each word begins with a capital, or with a letter of a script that has none, or joins names.
func capitals(words []string) bool {
	some := false
	for i, w := range words {
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, "\"'(“„«"))
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r) || r >= 0x0590 && unicode.IsLetter(r) && !unicode.IsLower(r):
			some = true
		case joining[strings.ToLower(strings.Trim(w, ","))] && (i > 0 || !articles[w]):
		default:
			return false
		}
	}
	return some
}

// beginsName reports whether the word for "by" that a text begins with may be a part of the name: "von der Leyen", "Di Stefano, Mario", "Af Klint" — but not "von Karl Meier".
func beginsName(text string) bool {
	word, rest, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "von", "di", "af", "av", "por", "par":
		r, _ := utf8.DecodeRuneInString(rest)
		return strings.Contains(rest, ",") || fields(rest) < 2 || unicode.IsLower(r)
	}
	return false
}

// cleanAuthor takes the word for "by" off the names that an object has.
func cleanAuthor(o *crawl.Object) {
	for i := range o.Properties {
		if q := &o.Properties[i]; q.Name == "author" && q.Place == nil {
			if name := withoutBy(q.Value); name != "" && !beginsName(q.Value) {
				q.Value = name
			}
		}
	}
}
