package extract

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/xpath"
)

const (
	maxTitleWords = 60  // of one of the texts that are compared
	maxHeadings   = 12  // of a page that are looked at
	sharedTitle   = 0.5 // least share of a heading of the first order
	sharedSecond  = 0.9 // and of the second: they are often those of parts
)

// bestTitle is what a page is called: the heading that shares at least half of its words with what the head calls the page; else what the head
// calls it, without the name of the site. If neither helps it is the only heading. Heads reports that a heading agrees with the head.
func (p *Page) bestTitle(end int) (called string, heads bool) {
	list, logo, least := p.headings(end)
	sites := p.siteNames(logo)
	if isFront(p.Doc.URL) { // it is called as the site
		sites = nil
	}
	og, title := withoutSite(p.metadata().Title, sites), withoutSite(p.Doc.Title, sites)
	references := []string{og, title, p.Doc.Title}
	best, share := "", 0.
	for _, h := range list {
		if isSite(h, sites) {
			continue
		}
		for _, r := range references {
			if s := sharedWords(h, r); s >= least && s > share {
				best, share = h, s
			}
		}
	}
	switch {
	case best != "":
		if og != "" && endsIn(best, og) {
			return og, true
		}
		if title != "" && endsIn(best, title) {
			return title, true
		}
		return best, true
	case og != "" && !isSite(og, sites):
		return og, false
	case len(list) == 1 && (title == "" || isSite(title, sites)):
		return list[0], false
	}
	return title, false
}

// endsIn reports whether a heading is a title with a word for what it is before it: "Thread: Ravens".
func endsIn(heading, title string) bool {
	before, found := strings.CutSuffix(heading, title)
	return found && strings.HasSuffix(strings.TrimSpace(before), ":") && countWords(before) <= 2
}

// headings are the texts of the headings of the first order before the end of the text; of the second if there are none. One that leads to
// the front of the host is its logo. Least is the share of their words that must be those of a title.
func (p *Page) headings(end int) (list []string, logo string, least float64) {
	l, tree := p.layout(), p.Eval.Tree
	least = sharedTitle
	for _, order := range []atom.Atom{atom.H1, atom.H2} {
		block := 0
		for id := int32(0); int(id) < tree.Len() && len(list) < maxHeadings; id++ {
			for block < len(l.starts) && l.starts[block] < id {
				block++
			}
			n := tree.At(id)
			if n.DataAtom != order || block >= len(l.starts) || end > 0 && block >= end {
				continue
			}
			if role := l.roles[block]; role == Navigation || role == Comments {
				continue
			}
			switch text := withoutMark(textOf(n, nil, maxHeading)); {
			case text == "" || countWords(text) > maxTitleWords:
			case p.leadsToFront(id, text):
				logo = text
			default:
				list = append(list, text)
			}
		}
		if len(list) > 0 {
			break
		}
		least = sharedSecond
	}
	return list, logo, least
}

// withoutMark takes off the sign of a link to the heading itself, which the programs for documentation put behind it.
func withoutMark(heading string) string {
	for _, mark := range []string{"¶", " #", "🔗"} {
		if rest, found := strings.CutSuffix(heading, mark); found && rest != "" {
			return strings.TrimSpace(rest)
		}
	}
	return heading
}

// leadsToFront reports whether the text of an element is a link to the front of a host.
func (p *Page) leadsToFront(id int32, text string) bool {
	tree := p.Eval.Tree
	for at := id; at < tree.End(xpath.Ref{ID: id, Attr: -1}); at++ {
		if n := tree.At(at); n.DataAtom == atom.A && attr(n, "href") != "" {
			url := p.Doc.Resolve(attr(n, "href"))
			return url != "" && isFront(url) && url != p.Doc.URL && textOf(n, nil, maxHeading) == text
		}
	}
	return false
}

// titleSeparators stand between the title of a page and the name of its site.
var titleSeparators = []string{" | ", " – ", " — ", " - ", " » ", " « ", " · ", " :: ", " • ", " › ", " / ", " ~ ", "｜", ": "}

// withoutSite cuts the names of the site off the ends of a title.
func withoutSite(title string, sites []string) string {
	title = strings.TrimSpace(title)
	for range 3 {
		cut := false
		for _, separator := range titleSeparators {
			if at := strings.LastIndex(title, separator); at > 0 && isSite(title[at+len(separator):], sites) {
				title, cut = strings.TrimSpace(title[:at]), true
			}
			for from := 0; ; { // the name may hold a separator
				at := strings.Index(title[from:], separator)
				if at < 0 {
					break
				}
				if at += from; at > 0 && isSite(title[:at], sites) {
					title, cut = strings.TrimSpace(title[at+len(separator):]), true
					break
				}
				from = at + len(separator)
			}
		}
		if !cut {
			break
		}
	}
	return title
}

// siteNames are what the site may be called, as letters writes it: as the head and the logo say, by its host, and what themes put there for
// a list of articles.
func (p *Page) siteNames(logo string) []string {
	host := strings.TrimPrefix(urls.HostOf(p.Doc.URL), "www.")
	name, _, _ := strings.Cut(host, ".")
	names := []string{letters(p.metadata().Site), letters(logo), letters(host), letters(name), "blogarchive", "blogarchiv"}
	for i := range p.Doc.Links {
		if l := &p.Doc.Links[i]; l.Anchor != "" && len(l.Anchor) <= maxSiteName && len(names) < maxSiteNames && isFront(l.URL) && urls.HostOf(l.URL) == urls.HostOf(p.Doc.URL) {
			names = append(names, letters(l.Anchor))
		}
	}
	return names
}

// Bounds of the links to the front of a host whose texts count as names of the site.
const (
	maxSiteName  = 60 // bytes
	maxSiteNames = 12
)

// isSite reports whether a text is a name of the site: "The Tower" of www.the-tower.example.
func isSite(text string, sites []string) bool {
	plain := letters(text)
	return plain != "" && slices.Contains(sites, plain)
}

// letters are the letters and digits of a text, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// sharedWords is the share of the words of a heading that are words of a title, lessened where the title has many more; in [0,1].
func sharedWords(heading, title string) float64 {
	a, b := titleWords(heading), titleWords(title)
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := 0
	for _, w := range a {
		for _, v := range b {
			if w == v {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(a)) * (0.75 + 0.25*float64(min(n, len(b)))/float64(len(b)))
}

// titleWords are the words of a text in lower case; of scripts that do not part words each character is one.
func titleWords(s string) (words []string) {
	from := -1
	end := func(at int) {
		if from >= 0 && len(words) < maxTitleWords {
			words = append(words, strings.ToLower(s[from:at]))
		}
		from = -1
	}
	for i, r := range s {
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r):
			end(i)
			if len(words) < maxTitleWords {
				words = append(words, string(r))
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if from < 0 {
				from = i
			}
		default:
			end(i)
		}
	}
	end(len(s))
	return words
}

// setTitle gives an object of the generic layers the page's title. The title of a rule of an application stays, without the name of the
// site, unless it shares no word with what the head calls the page and a heading does.
func (p *Page) setTitle(o *crawl.Object, place *Located, generic bool) {
	has := o.Properties.Get("title")
	m := p.metadata()
	if !generic && has != "" && countWords(has) <= maxTitleWords && (sharedWords(has, p.Doc.Title) > 0 || sharedWords(has, m.Title) > 0 || p.Doc.Title == "") {
		if short := withoutSite(has, p.siteNames("")); short != has && short != "" {
			set(o, "title", short)
		}
		return
	}
	end := 0
	if place != nil {
		for _, part := range place.Parts {
			if part.Name == "body" && part.At.Attr < 0 {
				_, end = p.layout().blocks(p.Eval.Tree, part.At)
			}
		}
	}
	if best, heads := p.bestTitle(end); best != "" && (generic || heads || has == "" || countWords(has) > maxTitleWords) {
		set(o, "title", shorten(best, maxHeading))
	}
}
