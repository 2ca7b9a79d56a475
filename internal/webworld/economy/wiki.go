package economy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// economyWiki is a wiki of MediaWiki 1.39 with the skin Vector of 2010. Articles are at /wiki/NAME, what one can do
// with them at /index.php?title=NAME.
type economyWiki struct {
	base     string
	articles []*ecoArticlePage // by name
	byName   map[string]*ecoArticlePage
	cats     []*ecoCategory
	users    []string
}

// The numbers of entries a page: of categories, which the wiki has set lower than usual, of lists of all pages, of
// histories.
const (
	mwMembers   = 25
	mwAllPages  = 100
	mwRevisions = 50
)

type ecoArticlePage struct {
	ID, Namespace int
	Title, Name   string
	Sections      []ecoSection
	Categories    []*ecoCategory
	Revisions     []ecoRevision // the newest first
	Discussed     bool          // has a talk page
}

// ecoSection is a paragraph with its heading, the first one of an article without; links stand behind it.
type ecoSection struct {
	Heading, Text string
	Links         []*ecoArticlePage
	Red           string // name of an article that nobody has written
}

type ecoRevision struct {
	ID, Parent int
	User       string
	Date       time.Time
}

type ecoCategory struct {
	Title, Name string
	Parent      *ecoCategory
	Below       []*ecoCategory
	Members     []*ecoArticlePage
}

// economyCategories is the tree of categories: those at the top hold others only, the last one is for maintenance.
var economyCategories = [][]string{
	{"Birds", "Corvids", "Behaviour of birds", "Nests and roosts", "Famous ravens", "Bird watching"},
	{"Myth", "Norse mythology", "Sagas", "Runes", "Ravens in folklore", "Gods"},
	{"People and places", "Observers", "Islands", "Cliffs and towers", "Museums", "Field stations"},
	{"Maintenance", "Articles needing sources"},
}

func (a *ecoArticlePage) object() string { return fmt.Sprintf("article-%d", a.ID) }

// Last is the present revision.
func (a *ecoArticlePage) Last() ecoRevision { return a.Revisions[0] }

var notInNames = regexp.MustCompile(`[^A-Za-z0-9 ]+`)

func newMediaWiki(b *webworld.Builder, s *webworld.Host, objects int) (application, []Object) {
	w := &economyWiki{base: s.Base, byName: map[string]*ecoArticlePage{}}
	for _, u := range b.Text[webworld.People]["user"] {
		w.users = append(w.users, webworld.Capital(u))
	}
	for _, names := range economyCategories {
		var top *ecoCategory
		for i, name := range names {
			c := &ecoCategory{Title: name, Name: webworld.WikiName(name), Parent: top}
			if w.cats = append(w.cats, c); i == 0 {
				top = c
			} else {
				top.Below = append(top.Below, c)
			}
		}
	}
	for i := range objects {
		r := b.Random(s, "article %d", i)
		about := []webworld.Subject{webworld.Ravens, webworld.Norse}[i%2]
		a := &ecoArticlePage{ID: 1000 + i, Title: strings.Join(strings.Fields(notInNames.ReplaceAllString(b.Text.Title(r, about), " ")), " ")}
		for part := 2; w.byName[webworld.WikiName(a.Title)] != nil; part++ {
			a.Title = fmt.Sprintf("%s %d", a.Title, part)
		}
		a.Name = webworld.WikiName(a.Title)
		w.byName[a.Name] = a
		w.articles = append(w.articles, a)
	}
	for i, a := range w.articles { // all have names now, so they can link to each other
		w.writeArticle(b, b.Random(s, "text %d", i), a, []webworld.Subject{webworld.Ravens, webworld.Norse}[i%2])
	}
	slices.SortFunc(w.articles, func(a, b *ecoArticlePage) int { return strings.Compare(a.Name, b.Name) })
	var list []Object
	for _, a := range w.articles {
		var text []string
		for _, p := range a.Sections {
			text = append(text, p.Text)
		}
		for _, c := range a.Categories {
			c.Members = append(c.Members, a)
		}
		list = append(list, Object{ID: a.object(), Kind: "article", URL: s.Base + "/wiki/" + a.Name, Text: strings.Join(text, "\n")})
	}
	return w, list
}

// writeArticle fills in an article: links lead to few of the articles more often than to the others.
func (w *economyWiki) writeArticle(b *webworld.Builder, r *rand.Rand, a *ecoArticlePage, about webworld.Subject) {
	for i := range 2 + r.IntN(4) {
		p := ecoSection{Text: b.Text.Paragraph(r, about, 2+r.IntN(4))}
		if i > 0 {
			p.Heading = webworld.Capital(b.Text.Title(r, about))
		}
		for range r.IntN(4) {
			if to := w.articles[min(r.IntN(len(w.articles)), r.IntN(len(w.articles)))]; to != a && !slices.Contains(p.Links, to) {
				p.Links = append(p.Links, to)
			}
		}
		if r.IntN(5) == 0 {
			p.Red = webworld.WikiName(notInNames.ReplaceAllString(b.Text.Title(r, about), "")) + "_of_old"
		}
		a.Sections = append(a.Sections, p)
	}
	a.Discussed = r.IntN(6) == 0
	leaves := webworld.Keep(w.cats, func(c *ecoCategory) bool { return c.Parent != nil })
	needing := leaves[len(leaves)-1]
	a.Categories = append(a.Categories, webworld.Pick(r, leaves[:len(leaves)-1]))
	if c := webworld.Pick(r, leaves[:len(leaves)-1]); c != a.Categories[0] && r.IntN(2) == 0 {
		a.Categories = append(a.Categories, c)
	}
	if r.IntN(4) == 0 {
		a.Categories = append(a.Categories, needing)
	}
	day := time.Date(2024, 7, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(70*24)) * time.Hour)
	revisions := 2 + r.IntN(8)
	for i := range revisions {
		rev := ecoRevision{ID: a.ID*20 + revisions - i, User: webworld.Pick(r, w.users), Date: day}
		if i < revisions-1 {
			rev.Parent = rev.ID - 1
		}
		a.Revisions = append(a.Revisions, rev)
		day = day.Add(-time.Duration(1+r.IntN(900)) * time.Hour)
	}
}
