package extract

import "strings"

// What a page must have to be an article though its text is short.
const (
	shortWords = 25  // main words
	shortShare = 0.1 // of the words of the page
	// shortAuthored is the share where an author, and no date, stands near the heading: entries of lists have one, too.
	shortAuthored = 0.25
)

// saysArticle reports whether a page with a short text is an article nevertheless: its head says when it was published, or what the
// head calls it stands above the text, and a date or an author near that.
func (p *Page) saysArticle() bool {
	l := p.layout()
	main, all := l.main[len(l.main)-1], l.words[len(l.words)-1]
	if isFront(p.Doc.URL) || isList(p.Doc.URL) || main < shortWords || float64(main) < shortShare*float64(all) {
		return false
	}
	if dateTime(dashed(p.metadata().Published)) != "" || dateTime(p.linked().about.Get("published")) != "" {
		return true
	}
	title, heads := p.bestTitle(0)
	w := window{body: -1}
	w.body, w.end = l.mainBlocks()
	if len(l.starts) != len(p.Doc.Blocks) {
		return false
	}
	if w.heading = p.headingBlock(title, w.end); w.heading < 0 {
		return false
	}
	found := p.datesIn(&w)
	if len(found) == 0 {
		return heads && float64(main) >= shortAuthored*float64(all) && p.visibleAuthor(w) != ""
	}
	return len(found) <= maxShortDates && !p.descends(found)
}

// isList reports whether an address is that of a list by the names of its folders.
func isList(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	for i, part := range strings.Split(strings.ToLower(path), "/") {
		if i > 0 && listPaths[part] {
			return true
		}
	}
	return false
}

var listPaths = wordSet("page tag tags category categories kategorie kategorien categorie etiqueta archive archives archiv search suche author authors label labels topics")

// maxShortDates bounds the dates near the heading of a short article; lists have more.
const maxShortDates = 6
