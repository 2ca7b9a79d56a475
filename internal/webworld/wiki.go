package webworld

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// wikiView is what the templates of mediawiki.html get.
type wikiView struct {
	Title, Name, Action string
	Namespace           int
	Talk                bool
	Date                time.Time
	Paragraphs          []string
	Headings            []string
	Links               [][]Entry // by paragraph, may be empty
	External            []Entry
	Members             []Entry
	Category            *Term
	Revisions           []int
}

// wiki is a MediaWiki site.
type wiki struct {
	b        *Builder
	s        *Host
	articles []Entry
	cats     []Term
}

func planWiki(b *Builder, s *Host) *wiki {
	s.ETag, s.Gzip = true, true
	s.Dated = time.Date(2024, 7, 2, 14, 0, 0, 0, time.UTC)
	s.SetRobots(Rules{Lines: []Rule{Disallow("/*action=edit"), Disallow("/*oldid="), Disallow("/wiki/Special:"), Allow("/wiki/Special:R")}}, "")
	wk := &wiki{b: b, s: s, cats: []Term{
		{Name: "Corvids", Slug: "Corvids", subject: Ravens}, {Name: "Norse mythology", Slug: "Norse_mythology", subject: Norse},
		{Name: "Cookery", Slug: "Cookery", subject: Cooking}, {Name: "Current affairs", Slug: "Current_affairs", subject: TheWorld},
	}}
	s.Dynamic = wk.editorsAndRevisions
	wk.articles = b.entries(s, b.scaled(20), b.scaled(12), func(_ int, e Entry) string { return "/wiki/" + WikiName(e.Title) })
	return wk
}

// WikiName is a title in the form of the URL of its article.
func WikiName(title string) string {
	return strings.NewReplacer(" ", "_", "?", "", ":", "", "'", "").Replace(title)
}

func (wk *wiki) generate() {
	for _, a := range wk.articles {
		wk.writeArticle(a)
	}
	for i, c := range wk.cats {
		v := wk.view("Category:"+c.Name, "Category:"+c.Slug, 14)
		wk.prose(&v, c.subject, 1)
		v.Members = Keep(wk.articles, func(e Entry) bool { return e.Subject == c.subject })
		wk.s.AddHTML("/wiki/Category:"+c.Slug, "list", c.subject.Relevant(), wk.b.Render("mw-article", v))
		wk.history(v, 7000+i)
	}
	main := wk.view("Main Page", "Main_Page", 0)
	wk.prose(&main, Ravens, 2)
	for _, c := range wk.cats {
		main.Members = append(main.Members, Entry{Title: "Category:" + c.Name, Path: "/wiki/Category:" + c.Slug})
	}
	res := wk.s.AddHTML("/wiki/Main_Page", "list", true, wk.b.Render("mw-article", main))
	wk.s.alias("/index.php?title=Main_Page", res)
	wk.history(main, 8000)
	wk.s.Redirect("/", 301, "/wiki/Main_Page")
	wk.s.Redirect("/wiki/Special:Random", 302, wk.articles[0].URL)
	changes := wk.view("Recent changes", "Special:RecentChanges", -1)
	wk.prose(&changes, People, 0)
	changes.Members = wk.articles
	wk.s.AddHTML("/wiki/Special:RecentChanges", "list", false, wk.b.Render("mw-article", changes))
	wk.history(changes, 9000)
	wk.s.add("/favicon.ico", "image", false, "image/x-icon", picture(wk.b.Random(wk.s, "icon"), 16))
	wk.s.add("/load.php?lang=en&modules=skins.vector.styles&only=styles&skin=vector", "style", false, "text/css", []byte("#firstHeading{font-family:serif}\n"))
}

func (wk *wiki) writeArticle(a Entry) {
	r := wk.b.Random(wk.s, "article %d", a.ID)
	name := strings.TrimPrefix(a.Path, "/wiki/")
	v := wk.view(a.Title, name, 0)
	v.Date, v.Talk = a.Date, a.ID%4 == 0
	wk.prose(&v, a.Subject, 3+r.IntN(4))
	v.External = wk.b.related(r, wk.s, a.Subject, 1+r.IntN(3))
	for i, c := range wk.cats {
		if c.subject == a.Subject {
			v.Category = &wk.cats[i]
		}
	}
	wk.s.AddHTML(a.Path, "article", a.Subject.Relevant(), wk.b.Render("mw-article", v))
	if v.Talk {
		talk := wk.view("Talk:"+a.Title, "Talk:"+name, 1)
		wk.prose(&talk, a.Subject, 2)
		wk.s.AddHTML("/wiki/Talk:"+name, "talk", a.Subject.Relevant(), wk.b.Render("mw-article", talk))
		wk.history(talk, 6000+a.ID*10)
	}
	wk.history(v, 1000+a.ID*10)
}

// history adds the actions on a page: its revisions and its editor.
func (wk *wiki) history(v wikiView, rev int) {
	v.Action, v.Revisions = "history", []int{rev, rev + 1, rev + 2}
	v.Title += ": Revision history"
	path := "/index.php?title=" + url.QueryEscape(v.Name)
	wk.s.AddHTML(path+"&action=history", "history", false, wk.b.Render("mw-history", v))
	wk.s.AddHTML(path+"&action=edit", "edit", false, []byte("<!DOCTYPE html><title>Editing</title><textarea id=\"wpTextbox1\"></textarea>\n"))
}

// prose fills in n paragraphs with headings, each but the first with links to articles of the same kind.
func (wk *wiki) prose(v *wikiView, s Subject, n int) {
	r := wk.b.Random(wk.s, "prose %s", v.Name)
	alike := Keep(wk.articles, func(e Entry) bool { return e.Subject.Relevant() == s.Relevant() && e.Title != v.Title })
	for range n {
		v.Paragraphs = append(v.Paragraphs, wk.b.Text.Paragraph(r, s, 3+r.IntN(4)))
		v.Headings = append(v.Headings, wk.b.Text.Title(r, s))
		v.Links = append(v.Links, []Entry{Pick(r, alike), Pick(r, wk.articles)})
	}
}

func (wk *wiki) view(title, name string, namespace int) wikiView {
	return wikiView{Title: title, Name: name, Namespace: namespace, Action: "view", Date: wk.s.Dated}
}

// editorsAndRevisions answers for sections of the editor and for old revisions, which robots.txt forbids.
func (wk *wiki) editorsAndRevisions(u *url.URL) *Resource {
	q := u.Query()
	if u.Path != "/index.php" || q.Get("oldid") == "" && q.Get("section") == "" {
		return nil
	}
	res := wk.s.Missing(u.RequestURI())
	res.Status, res.Kind = 200, "edit"
	res.Body = [][]byte{fmt.Appendf(nil, "<!DOCTYPE html><title>Revision of %s</title><p>An old revision.</p>\n", q.Get("title"))}
	return res
}
