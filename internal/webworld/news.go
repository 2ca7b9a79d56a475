package webworld

import "fmt"

// newsView is what the templates of news.html get.
type newsView struct {
	Title, Section string
	Sections       []term
	Article        *entry
	Paragraphs     []string
	Related        []entry
	Teasers        []entry
}

type news struct {
	b        *builder
	s        *site
	articles []entry
	sections []term
}

func planNews(b *builder, s *site) *news {
	s.gzip = true
	s.setRobots(rules{}, s.base+"/sitemap.xml")
	n := &news{b: b, s: s, sections: []term{
		{Name: "Nature", Slug: "nature", subject: ravens}, {Name: "Culture", Slug: "culture", subject: norse},
		{Name: "Life", Slug: "life", subject: cooking}, {Name: "Politics and business", Slug: "politics", subject: world},
	}}
	n.articles = b.entries(s, b.scaled(24), b.scaled(10), func(i int, e entry) string {
		return fmt.Sprintf("/%s%s-%d.html", e.Date.Format("2006/01/02/"), slug(e.Title), 40100+i*7)
	})
	return n
}

func (n *news) write() {
	var urls []string
	for i := range n.articles {
		n.writeArticle(&n.articles[i])
		urls = append(urls, n.articles[i].URL)
	}
	for _, sec := range n.sections {
		v := newsView{Title: sec.Name, Section: sec.Name, Sections: n.sections}
		v.Teasers = keep(n.articles, func(e entry) bool { return e.Subject == sec.subject })
		n.s.addHTML("/"+sec.Slug+"/", "list", sec.subject.relevant(), n.b.render("news-list", v))
	}
	front := newsView{Title: "Front page", Sections: n.sections, Teasers: reversed(n.articles)[:min(12, len(n.articles))]}
	n.s.addHTML("/", "list", false, n.b.render("news-list", front))
	n.s.addHTML("/imprint.html", "page", false, n.b.render("news-list", newsView{Title: "Imprint", Sections: n.sections}))
	n.s.add("/sitemap.xml", "sitemap", false, "application/xml", sitemap(urls))
	n.s.add("/assets/site.css", "style", false, "text/css", []byte(".headline{font-size:2.4rem}\n"))
	n.s.add("/assets/logo.png", "image", false, "image/png", picture(n.b.random(n.s, "logo"), 32))
}

func (n *news) writeArticle(a *entry) {
	r := n.b.random(n.s, "article %d", a.ID)
	v := newsView{Title: a.Title, Sections: n.sections, Article: a}
	for _, sec := range n.sections {
		if sec.subject == a.Subject {
			v.Section = sec.Name
		}
	}
	v.Paragraphs = n.b.lib.paragraphs(r, a.Subject, 4+r.IntN(5))
	v.Related = n.b.related(r, n.s, a.Subject, 2)
	alike := keep(n.articles, func(e entry) bool { return e.Subject.relevant() == a.Subject.relevant() && e.ID != a.ID })
	v.Related = append(v.Related, pick(r, alike), pick(r, alike), pick(r, n.articles))
	n.s.addHTML(a.Path, "article", a.Subject.relevant(), n.b.render("news-article", v))
}
