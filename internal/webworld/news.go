package webworld

import "fmt"

// newsView is what the templates of news.html get.
type newsView struct {
	Title, Section string
	Sections       []Term
	Article        *Entry
	Paragraphs     []string
	Related        []Entry
	Teasers        []Entry
}

type news struct {
	b        *Builder
	s        *Host
	articles []Entry
	sections []Term
}

func planNews(b *Builder, s *Host) *news {
	s.Gzip = true
	s.SetRobots(Rules{}, s.Base+"/sitemap.xml")
	n := &news{b: b, s: s, sections: []Term{
		{Name: "Nature", Slug: "nature", subject: Ravens}, {Name: "Culture", Slug: "culture", subject: Norse},
		{Name: "Life", Slug: "life", subject: Cooking}, {Name: "Politics and business", Slug: "politics", subject: TheWorld},
	}}
	n.articles = b.entries(s, b.scaled(24), b.scaled(10), func(i int, e Entry) string {
		return fmt.Sprintf("/%s%s-%d.html", e.Date.Format("2006/01/02/"), Slug(e.Title), 40100+i*7)
	})
	return n
}

func (n *news) generate() {
	var urls []string
	for i := range n.articles {
		n.writeArticle(&n.articles[i])
		urls = append(urls, n.articles[i].URL)
	}
	for _, sec := range n.sections {
		v := newsView{Title: sec.Name, Section: sec.Name, Sections: n.sections}
		v.Teasers = Keep(n.articles, func(e Entry) bool { return e.Subject == sec.subject })
		n.s.AddHTML("/"+sec.Slug+"/", "list", sec.subject.Relevant(), n.b.Render("news-list", v))
	}
	front := newsView{Title: "Front page", Sections: n.sections, Teasers: reversed(n.articles)[:min(12, len(n.articles))]}
	n.s.AddHTML("/", "list", false, n.b.Render("news-list", front))
	n.s.AddHTML("/imprint.html", "page", false, n.b.Render("news-list", newsView{Title: "Imprint", Sections: n.sections}))
	n.s.add("/sitemap.xml", "sitemap", false, "application/xml", sitemap(urls))
	n.s.add("/assets/site.css", "style", false, "text/css", []byte(".headline{font-size:2.4rem}\n"))
	n.s.add("/assets/logo.png", "image", false, "image/png", picture(n.b.Random(n.s, "logo"), 32))
}

func (n *news) writeArticle(a *Entry) {
	r := n.b.Random(n.s, "article %d", a.ID)
	v := newsView{Title: a.Title, Sections: n.sections, Article: a}
	for _, sec := range n.sections {
		if sec.subject == a.Subject {
			v.Section = sec.Name
		}
	}
	v.Paragraphs = n.b.Text.Paragraphs(r, a.Subject, 4+r.IntN(5))
	v.Related = n.b.related(r, n.s, a.Subject, 2)
	alike := Keep(n.articles, func(e Entry) bool { return e.Subject.Relevant() == a.Subject.Relevant() && e.ID != a.ID })
	v.Related = append(v.Related, Pick(r, alike), Pick(r, alike), Pick(r, n.articles))
	n.s.AddHTML(a.Path, "article", a.Subject.Relevant(), n.b.Render("news-article", v))
}
