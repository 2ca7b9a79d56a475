package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
)

const (
	maxNameText  = 200 // bytes of a text that a name is looked for in
	maxNameBytes = 60  // letters of a name, or of several
	maxNameWords = 8   // of several names
)

// visibleAuthor is the name of the author that readers see in a window: that of an element that says so, or the one behind a word for "by".
func (p *Page) visibleAuthor(w window) string {
	l, tree := p.layout(), p.Eval.Tree
	best, name := 1<<30, ""
	consider := func(cost int, text string, marked bool) {
		if cost >= best {
			return
		}
		if found := p.nameIn(text, marked); found != "" {
			best, name = cost, found
		}
	}
	var spans [maxSpans + 1]span
	for i, text := range p.Doc.Blocks {
		distance, ok := w.holds(i)
		if !ok || l.roles[i] == Navigation || l.roles[i] == Comments {
			continue
		}
		for n := range l.elements(tree, i) {
			if rank := authorRank(n); rank > 0 {
				consider(4*distance+rank, textOf(n, nil, maxNameText), true)
			}
		}
		if len(text) > maxDated {
			continue
		}
		for k, list := 0, spansOf(text, spans[:0]); k < len(list); k++ {
			if list[k].kind == byAuthor && (k == 0 || leadsToName(list[k-1])) {
				cost := 4*distance + 6
				if strings.HasPrefix(list[k].text, ":") || strings.HasPrefix(list[k].text, "：") {
					cost -= 4
				}
				consider(cost, list[k].text, false)
			}
		}
	}
	return name
}

// leadsToName reports whether a name may come after a part of a text and a word for "by": "Written by" and "1 May by" lead to one, "Powered
// by" and "a book by" do not.
func leadsToName(s span) bool {
	return (s.kind == published || s.kind == byAuthor) && countWords(s.text) == 0 || strings.ContainsAny(s.text, "0123456789") && countWords(s.text) <= maxDateWords
}

// authorRank says how surely an element holds the name of the author, by its attributes: 1 is surest, 0 that nothing says so.
func authorRank(n *html.Node) int {
	class := ""
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "rel":
			if n.DataAtom == atom.A && hasWord(a.Val, "author") {
				return 1
			}
		case "itemprop":
			if a.Val == "author" || a.Val == "creator" {
				return 2
			}
		case "class":
			class = a.Val
		}
	}
	for _, name := range strings.Fields(class[:min(len(class), maxNames)]) {
		switch strings.ToLower(name) {
		case "author", "byline", "fn", "author-name", "authorname", "author_name", "byline-name", "byline__name", "byline__author", "post-author", "entry-author", "article-author", "autor",
			"auteur", "autore", "writer", "post_author", "article__author", "post__author", "author-link", "author__name", "p-author", "postauthor", "article-byline", "entry-byline":
			return 3
		case "username", "poster", "nickname":
			return 9
		}
	}
	return 0
}

func hasWord(list, word string) bool {
	for _, w := range strings.Fields(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// nameIn is the name that a text begins with, behind words such as "by". Of a text that no element marks as a name each word must begin with
// a capital, or join names.
func (p *Page) nameIn(text string, marked bool) string {
	text = withoutBy(strings.Join(strings.Fields(text), " "))
	words := strings.Fields(text)
	n := 0
	for n < len(words) && n <= maxNameWords && !p.endsName(words, n) {
		n++
		if last := words[n-1]; !marked && strings.HasSuffix(last, ".") && utf8.RuneCountInString(last) > 4 {
			break // of a sentence
		}
	}
	for n > 0 && joining[strings.ToLower(strings.Trim(words[n-1], ","))] {
		n--
	}
	name := strings.Trim(strings.Join(words[:n], " "), " ,.:;|-–—•·/()[]\"'")
	switch {
	case n == 0 || n > maxNameWords || utf8.RuneCountInString(name) > maxNameBytes || utf8.RuneCountInString(name) < 2:
		return ""
	case !marked && (n < len(words) && n == 1 && words[1] != "|" || !capitals(words[:n])):
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
	if n > 0 && (ending[lower] || labels[lower] == published || labels[lower] == updated || labels[lower] == foreign) {
		return true
	}
	return (n+1 < len(words) && strings.ContainsAny(words[n+1], "0123456789") || strings.HasSuffix(w, ".")) && isMonth(w)
}

// joining are words within names and between them that have no capital; they end none.
var joining = wordSet("and und et y e i och og en ja und & de da di do dos das del della der den van von vom zu zur la le du al el bin ibn ten ter y of the")

// articles are those of joining that begin no name.
var articles = wordSet("and und et y e i och og en ja & the den le la du al")

// ending are words that follow a name.
var ending = wordSet("on in at for with from am um im in le les op den på dia il em w dnia about is has was staff editor contributor correspondent reporter follow email share updated view all more mehr weitere alle tous toutes todos tutti ver voir zum posts comments comment reply")

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
		return strings.Contains(rest, ",") || countWords(rest) < 2 || unicode.IsLower(r)
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
