package webworld

import (
	"fmt"
	"strings"
	"time"
)

// blogPost is an entry as WordPress shows it.
type blogPost struct {
	Entry
	AuthorURL      string
	Category       Term
	Tags           []Term
	Image          string // URL without .png
	Paragraphs     []string
	Links          []Entry
	Comments       []comment
	Previous, Next *Entry
}

// Term is a named list of things: a category, a tag, a month, an author.
type Term struct {
	Name, Slug, URL string
	subject         Subject
}

type comment struct {
	ID     int
	Odd    bool
	Author string
	Date   time.Time
	Text   string
}

// blogView is what the templates of wordpress.html get.
type blogView struct {
	Site, Tagline, Host, Base string
	Title, BodyClass          string
	Post                      *blogPost
	Posts                     []*blogPost
	Paragraphs                []string
	Older, Newer              string
	Number                    int
	Side                      blogSide
}

type blogSide struct {
	Recent, Archives, Tags, Categories, Friends []Term
}

// blog is a WordPress site.
type blog struct {
	b     *Builder
	s     *Host
	plan  []Entry
	posts []*blogPost
	side  blogSide
	cats  []Term
	tags  []Term
}

func planBlog(b *Builder, s *Host) *blog {
	s.ETag, s.Gzip = true, true
	s.SetRobots(Rules{Lines: []Rule{
		Disallow("/wp-admin/"), Allow("/wp-admin/admin-ajax.php"), Disallow("/wp-login.php"), Disallow("/*?replytocom="),
	}}, s.Base+"/wp-sitemap.xml")
	bl := &blog{b: b, s: s}
	bl.plan = b.entries(s, b.scaled(20), b.scaled(15), func(_ int, e Entry) string {
		return e.Date.Format("/2006/01/02/") + Slug(e.Title) + "/"
	})
	for i := range bl.plan { // a blog has few authors
		bl.plan[i].Author = []string{"Astrid Lund", "Hamish Reid"}[bl.plan[i].ID%2]
	}
	bl.cats = bl.terms("category", []Term{{Name: "Ravens and crows", subject: Ravens}, {Name: "Norse lore", subject: Norse}, {Name: "From the kitchen", subject: Cooking}, {Name: "In the news", subject: TheWorld}})
	bl.tags = bl.terms("tag", []Term{
		{Name: "Huginn and Muninn", subject: Norse}, {Name: "raven roost", subject: Ravens}, {Name: "corvid intelligence", subject: Ravens},
		{Name: "runes", subject: Norse}, {Name: "supper", subject: Cooking}, {Name: "trains", subject: TheWorld},
	})
	return bl
}

func (bl *blog) terms(taxonomy string, list []Term) []Term {
	for i := range list {
		list[i].Slug = Slug(list[i].Name)
		list[i].URL = bl.s.Base + "/" + taxonomy + "/" + list[i].Slug + "/"
	}
	return list
}

// generate adds all pages; the other sites have been planned by now.
func (bl *blog) generate(friends []Term) {
	for i := range bl.plan {
		bl.posts = append(bl.posts, bl.post(i))
	}
	bl.side = blogSide{Categories: bl.cats, Tags: bl.tags, Friends: friends}
	for i := len(bl.posts) - 1; i >= max(0, len(bl.posts)-5); i-- {
		bl.side.Recent = append(bl.side.Recent, Term{Name: bl.posts[i].Title, URL: bl.posts[i].URL})
	}
	bl.side.Archives = bl.months()
	for _, p := range bl.posts {
		bl.writePost(p)
	}
	bl.writeLists()
	bl.writeOtherPages()
}

func (bl *blog) post(i int) *blogPost {
	e := bl.plan[i]
	r := bl.b.Random(bl.s, "post %d", i)
	p := &blogPost{Entry: e, AuthorURL: bl.s.Base + "/author/" + Slug(e.Author) + "/"}
	for _, c := range bl.cats {
		if c.subject == e.Subject {
			p.Category = c
		}
	}
	for _, t := range bl.tags {
		if t.subject == e.Subject && (len(p.Tags) == 0 || r.IntN(2) == 0) {
			p.Tags = append(p.Tags, t)
		}
	}
	p.Image = fmt.Sprintf("%s/wp-content/uploads/%s/picture-%d", bl.s.Base, e.Date.Format("2006/01"), e.ID)
	p.Paragraphs = bl.b.Text.Paragraphs(r, e.Subject, 4+r.IntN(5))
	p.Links = bl.b.related(r, bl.s, e.Subject, 2+r.IntN(3))
	for c := range r.IntN(4) {
		p.Comments = append(p.Comments, comment{
			ID: e.ID*100 + c, Odd: c%2 == 1, Author: bl.b.Text.Name(r), Date: e.Date.Add(time.Duration(c*7+3) * time.Hour),
			Text: bl.b.Text.Say(r, People, "opening") + " " + bl.b.Text.Paragraph(r, e.Subject, 1+r.IntN(2)),
		})
	}
	if i > 0 {
		p.Previous = &bl.plan[i-1]
	}
	if i+1 < len(bl.plan) {
		p.Next = &bl.plan[i+1]
	}
	return p
}

func (bl *blog) view(title, bodyClass string) blogView {
	return blogView{
		Site: "The Raven Ledger", Tagline: "Notes on corvids and on the old north", Host: bl.s.Host, Base: bl.s.Base,
		Title: title, BodyClass: bodyClass, Side: bl.side,
	}
}

func (bl *blog) writePost(p *blogPost) {
	v := bl.view(p.Title, fmt.Sprintf("post-template-default single single-post postid-%d single-format-standard", p.ID))
	v.Post = p
	res := bl.s.AddHTML(p.Path, "post", p.Subject.Relevant(), bl.b.Render("wp-post", v))
	for _, c := range p.Comments {
		bl.s.alias(fmt.Sprintf("%s?replytocom=%d", p.Path, c.ID), res)
	}
	r := bl.b.Random(bl.s, "picture %d", p.ID)
	image := strings.TrimPrefix(p.Image, bl.s.Base)
	bl.s.add(image+".png", "image", false, "image/png", picture(r, 48))
	bl.s.add(image+"-300x225.png", "image", false, "image/png", picture(r, 24))
}

func (bl *blog) writeLists() {
	newest := make([]*blogPost, 0, len(bl.posts))
	for i := len(bl.posts) - 1; i >= 0; i-- {
		newest = append(newest, bl.posts[i])
	}
	bl.list(Term{Name: "Latest posts", URL: bl.s.Base + "/", subject: Ravens}, "home blog", newest)
	for _, c := range bl.cats {
		bl.list(c, "archive category", Keep(newest, func(p *blogPost) bool { return p.Category.URL == c.URL }))
	}
	for _, t := range bl.tags {
		bl.list(t, "archive tag", Keep(newest, func(p *blogPost) bool {
			return len(Keep(p.Tags, func(o Term) bool { return o.URL == t.URL })) > 0
		}))
	}
	for _, m := range bl.months() {
		bl.list(m, "archive date", Keep(newest, func(p *blogPost) bool { return p.Date.Format("2006/01") == m.Slug }))
	}
	seen := map[string]bool{}
	for _, p := range bl.posts {
		if !seen[p.AuthorURL] {
			seen[p.AuthorURL] = true
			author := Term{Name: "Author: " + p.Author, URL: p.AuthorURL, subject: People}
			bl.list(author, "archive author", Keep(newest, func(o *blogPost) bool { return o.Author == p.Author }))
		}
	}
}

// list writes the pages of a list, ten posts each.
func (bl *blog) list(t Term, class string, posts []*blogPost) {
	const perPage = 7
	pages := max(1, (len(posts)+perPage-1)/perPage)
	page := func(n int) string {
		switch {
		case n < 1 || n > pages:
			return ""
		case n == 1:
			return t.URL
		}
		return fmt.Sprintf("%spage/%d/", t.URL, n)
	}
	for n := 1; n <= pages; n++ {
		v := bl.view(t.Name, class+" hfeed")
		v.Posts = posts[(n-1)*perPage : min(len(posts), n*perPage)]
		v.Number, v.Newer, v.Older = n, page(n-1), page(n+1)
		bl.s.AddHTML(strings.TrimPrefix(page(n), bl.s.Base), "list", t.subject.Relevant(), bl.b.Render("wp-list", v))
	}
}

// writeOtherPages adds what every WordPress has beside posts.
func (bl *blog) writeOtherPages() {
	v := bl.view("About this blog", "page-template-default page page-id-2")
	v.Paragraphs = bl.b.Text.Paragraphs(bl.b.Random(bl.s, "about"), Ravens, 3)
	bl.s.AddHTML("/about/", "page", true, bl.b.Render("wp-page", v))
	v.Posts = bl.posts[max(0, len(bl.posts)-10):]
	const rss = "application/rss+xml; charset=UTF-8"
	bl.s.add("/feed/", "feed", false, rss, bl.xml("rss", v))
	v.Posts = nil
	bl.s.add("/comments/feed/", "feed", false, rss, bl.xml("rss", v))
	bl.s.add("/xmlrpc.php?rsd", "feed", false, "text/xml; charset=UTF-8", []byte("<?xml version=\"1.0\"?><rsd version=\"1.0\"></rsd>\n"))
	bl.s.AddHTML("/wp-login.php", "login", false, []byte("<!DOCTYPE html><title>Log In</title><form id=\"loginform\"></form>\n"))
	bl.s.add("/wp-content/themes/twentytwentyone/style.css?ver=1.9", "style", false, "text/css", []byte("body{font-family:serif;max-width:48rem}.entry-title{font-size:2rem}\n"))
	bl.s.add("/wp-includes/js/comment-reply.min.js?ver=6.4.3", "script", false, "text/javascript", []byte("window.addComment=function(){return{init:function(){}}}();\n"))
	var urls []string
	for _, p := range bl.posts {
		urls = append(urls, p.URL)
	}
	bl.s.add("/wp-sitemap.xml", "sitemap", false, "application/xml; charset=UTF-8", sitemap(urls))
}

func (bl *blog) xml(view string, v blogView) []byte {
	return append([]byte(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"), bl.b.Render(view, v)...)
}

func (bl *blog) months() []Term {
	var list []Term
	for _, e := range bl.plan {
		m := e.Date.Format("2006/01")
		if len(list) == 0 || list[len(list)-1].Slug != m {
			list = append(list, Term{Name: e.Date.Format("January 2006"), Slug: m, URL: bl.s.Base + "/" + m + "/", subject: People})
		}
	}
	return list
}

func sitemap(urls []string) []byte {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for _, u := range urls {
		fmt.Fprintf(&b, "<url><loc>%s</loc></url>\n", strings.ReplaceAll(u, "&", "&amp;"))
	}
	b.WriteString("</urlset>\n")
	return []byte(b.String())
}

// Keep is the part of a list that is wanted.
func Keep[T any](list []T, want func(T) bool) []T {
	var out []T
	for _, v := range list {
		if want(v) {
			out = append(out, v)
		}
	}
	return out
}
