package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// authorRank says how surely an element holds the name of the author, by its attributes: 1 is surest, 0 that nothing says so.
func authorRank(n *html.Node) int {
	best := 0
	better := func(rank int) {
		if rank > 0 && (best == 0 || rank < best) {
			best = rank
		}
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "rel":
			if n.DataAtom == atom.A && hasWord(a.Val, "author") {
				return 1
			}
		case "itemprop":
			if a.Val == "author" || a.Val == "creator" {
				better(2)
			}
		case "class":
			better(rankOfNames(a.Val))
		case "href":
			if n.DataAtom == atom.A && leadsToAuthor(a.Val) {
				better(4)
			}
		}
	}
	return best
}

// rankOfNames is the rank of an element by its classes.
func rankOfNames(classes string) int {
	best := 0
	for _, name := range strings.Fields(classes[:min(len(classes), maxNames)]) {
		rank := 0
		switch lower := strings.ToLower(name); lower {
		case "author", "byline", "fn", "p-author":
			rank = 3
		case "username", "poster", "nickname":
			rank = 9
		default:
			if namesAuthor(name) {
				rank = 3
			}
		}
		if rank > 0 && (best == 0 || rank < best) {
			best = rank
		}
	}
	return best
}

// namesAuthor reports whether a class is that of an author's name: it has a word for one, and none for something else of one.
func namesAuthor(class string) bool {
	found := false
	for len(class) > 0 {
		n := 0
		for n < len(class) && class[n] != '-' && class[n] != '_' && (n == 0 || class[n] < 'A' || class[n] > 'Z' || class[n-1] < 'a' || class[n-1] > 'z') {
			n++
		}
		word := strings.ToLower(class[:n])
		if notNames[word] {
			return false
		}
		found = found || authorWords[word]
		class = class[n:]
		if class != "" && (class[0] == '-' || class[0] == '_') {
			class = class[1:]
		}
	}
	return found
}

var (
	authorWords = wordSet("author authors authorname byline bylines autor autoren autores autore auteur auteurs autori writer writers contributor contributors reporter journalist forfatter skribent redacteur verfasser postauthor")
	// notNames are words of classes of what is of an author, and not the name.
	notNames = wordSet("box bio biography image img avatar photo pic picture social about date time timestamp title role job position desc description count follow twitter email mail hidden icon more posts articles info section widget comments related list thumb thumbnail label level badge no has")
)

// leadsToAuthor reports whether a reference is that of the page of an author: /author/ann-corvi.
func leadsToAuthor(ref string) bool {
	if strings.ContainsAny(ref, "?#") {
		ref = ref[:strings.IndexAny(ref, "?#")]
	}
	parts := strings.Split(strings.Trim(ref, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		if i >= len(parts)-3 && authorPaths[strings.ToLower(part)] {
			return true
		}
	}
	return false
}

// authorPaths are the folders of the pages of authors. Those of users and of people are also those of others that an article names.
var authorPaths = wordSet("author authors autor autoren autores autore autori auteur auteurs writer writers contributor contributors reporter reporters journalist journalists byline by columnist columnists redakteur verfasser")

func hasWord(list, word string) bool {
	for _, w := range strings.Fields(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}
