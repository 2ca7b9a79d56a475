package economy

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// economyBlog is a blog of WordPress 6.4 with a classic theme, excerpts in its lists, comments on pages, the widgets
// of a side bar, and the share and like buttons of Jetpack.
type economyBlog struct {
	base     string
	posts    []*ecoArticle // the newest first
	cats     []webworld.Term
	tags     []webworld.Term
	authors  []webworld.Term
	comments int
}

// The numbers of entries a page.
const (
	wpPosts    = 10
	wpComments = 10
)

// ecoArticle is a post of the blog with its comments, the oldest first.
type ecoArticle struct {
	ID         int
	Title      string
	Path       string
	Date       time.Time
	Author     webworld.Term
	Category   webworld.Term
	Tags       []webworld.Term
	Paragraphs []string
	Comments   []*ecoComment
	Before     *ecoArticle
	After      *ecoArticle
}

type ecoComment struct {
	ID      int
	Author  string
	Date    time.Time
	Text    string
	Article *ecoArticle
	Replies bool // to the one before
}

func (a *ecoArticle) object() string { return fmt.Sprintf("article-%d", a.ID) }
func (c *ecoComment) object() string { return fmt.Sprintf("comment-%d", c.ID) }

// Pages is how many pages the comments fill.
func (a *ecoArticle) Pages() int { return max(1, (len(a.Comments)+wpComments-1)/wpComments) }

// Excerpt is what lists show.
func (a *ecoArticle) Excerpt() string {
	words := strings.Fields(a.Paragraphs[0])
	return strings.Join(words[:min(len(words), 20)], " ")
}

func newWordPress(b *webworld.Builder, s *webworld.Host, objects int) (application, []Object) {
	bl := &economyBlog{base: s.Base}
	bl.cats = bl.terms("category", "Ravens and crows", "Norse lore", "From the kitchen", "In the news", "Uncategorised")
	bl.tags = bl.terms("tag", "Huginn and Muninn", "raven roost", "corvid intelligence", "runes", "supper", "trains", "jackdaws", "nesting", "sagas", "photography", "field notes", "bird ringing", "winter", "folklore")
	bl.authors = bl.terms("author", "Astrid Lund", "Hamish Reid", "Kari Moen")
	var list []Object
	for left := objects; left > 0; {
		n := len(bl.posts)
		a := bl.writeArticle(b, s, n, left-1)
		left -= 1 + len(a.Comments)
		if n > 0 {
			a.Before, bl.posts[n-1].After = bl.posts[n-1], a
		}
		bl.posts = append(bl.posts, a)
		list = append(list, Object{ID: a.object(), Kind: "article", URL: s.Base + a.Path, Text: strings.Join(a.Paragraphs, "\n")})
		for _, c := range a.Comments {
			list = append(list, Object{ID: c.object(), Kind: "comment", URL: s.Base + a.Path, Text: c.Text})
		}
	}
	slices.Reverse(bl.posts)
	bl.cats, bl.tags, bl.authors = bl.used(bl.cats), bl.used(bl.tags), bl.used(bl.authors)
	return bl, list
}

func (bl *economyBlog) terms(kind string, names ...string) []webworld.Term {
	var list []webworld.Term
	for _, n := range names {
		list = append(list, webworld.Term{Name: n, Slug: webworld.Slug(n), URL: bl.base + "/" + kind + "/" + webworld.Slug(n) + "/"})
	}
	return list
}

// used keeps the terms that an article has: the others are not there.
func (bl *economyBlog) used(list []webworld.Term) []webworld.Term {
	return webworld.Keep(list, func(t webworld.Term) bool {
		return slices.ContainsFunc(bl.posts, func(a *ecoArticle) bool { return a.in(t) })
	})
}

func (a *ecoArticle) in(t webworld.Term) bool {
	return a.Category.URL == t.URL || a.Author.URL == t.URL || slices.ContainsFunc(a.Tags, func(o webworld.Term) bool { return o.URL == t.URL })
}

// writeArticle makes the n-th article with up to so many comments; one in twenty has more than fit on a page.
func (bl *economyBlog) writeArticle(b *webworld.Builder, s *webworld.Host, n, most int) *ecoArticle {
	r := b.Random(s, "article %d", n)
	about := []webworld.Subject{webworld.Ravens, webworld.Norse, webworld.Cooking, webworld.TheWorld}[r.IntN(4)]
	a := &ecoArticle{ID: 20 + n*7, Title: b.Text.Title(r, about), Author: webworld.Pick(r, bl.authors), Category: webworld.Pick(r, bl.cats), Paragraphs: b.Text.Paragraphs(r, about, 3+r.IntN(4))}
	a.Date = time.Date(2022, 9, 3, 7, 0, 0, 0, time.UTC).Add(time.Duration(n)*150*time.Hour + time.Duration(r.IntN(600))*time.Minute)
	a.Path = a.Date.Format("/2006/01/02/") + webworld.Slug(a.Title) + "/"
	for range 1 + r.IntN(4) {
		if t := webworld.Pick(r, bl.tags); !slices.ContainsFunc(a.Tags, func(o webworld.Term) bool { return o.URL == t.URL }) {
			a.Tags = append(a.Tags, t)
		}
	}
	comments := r.IntN(5)
	if r.IntN(20) == 0 {
		comments = 11 + r.IntN(20)
	}
	for i := range min(comments, most) {
		bl.comments++
		a.Comments = append(a.Comments, &ecoComment{
			ID: 300 + bl.comments, Author: b.Text.Name(r), Date: a.Date.Add(time.Duration(i*7+3) * time.Hour), Article: a, Replies: i > 0 && r.IntN(3) == 0,
			Text: b.Text.Say(r, webworld.People, "opening") + " " + b.Text.Paragraph(r, about, 1+r.IntN(3)),
		})
	}
	return a
}

// wpView is what the templates of eco-wordpress.html get.
type wpView struct {
	*economyBlog
	Title, Class string
	Here         string // path of this page
	Article      *ecoArticle
	Comments     []*ecoComment
	Page         int // of the comments
	List         []*ecoArticle
	Pager        ecoPager
	Month        ecoMonth // the calendar widget
	Feed         string   // path that a feed is of: an author, a category or a tag
	Text         string
}

// What templates ask for.
func (bl *economyBlog) Base() string                { return bl.base }
func (bl *economyBlog) Recent() []*ecoArticle       { return bl.posts[:min(5, len(bl.posts))] }
func (bl *economyBlog) Categories() []webworld.Term { return bl.cats }
func (bl *economyBlog) Tags() []webworld.Term       { return bl.tags }
func (bl *economyBlog) Months() (list []webworld.Term) {
	for _, a := range bl.posts {
		if m := (webworld.Term{Name: a.Date.Format("January 2006"), URL: bl.base + a.Date.Format("/2006/01/")}); len(list) == 0 || list[len(list)-1] != m {
			list = append(list, m)
		}
	}
	return list
}

// Wrote reports whether there is an article of a day.
func (v wpView) Wrote(day time.Time) bool {
	return slices.ContainsFunc(v.posts, func(a *ecoArticle) bool { return a.Date.Format("2006-01-02") == day.Format("2006-01-02") })
}

// Near are the months before and after that of the calendar widget, if they have articles.
func (v wpView) Near(n int) *time.Time {
	to := v.Month.Date.AddDate(0, n, 1-v.Month.Date.Day())
	if slices.ContainsFunc(v.posts, func(a *ecoArticle) bool { return a.Date.Format("2006-01") == to.Format("2006-01") }) {
		return &to
	}
	return nil
}

// CommentPage is where a page of comments is: the last one is that of the article itself.
func (v wpView) CommentPage(n int) template.URL {
	switch {
	case n < 1 || n > v.Article.Pages():
		return ""
	case n == v.Article.Pages():
		return href("%s%s#comments", v.base, v.Article.Path)
	}
	return href("%s%scomment-page-%d/#comments", v.base, v.Article.Path, n)
}

func (wpView) Add(a, b int) int { return a + b }

var (
	wpArticle = regexp.MustCompile(`^(/\d{4}/\d\d/\d\d/[a-z0-9-]+/)(?:comment-page-(\d+)/|(feed|amp|embed)/)?$`)
	wpList    = regexp.MustCompile(`^(/(?:\d{4}/(?:\d\d/)?(?:\d\d/)?|(?:category|tag|author)/[a-z0-9-]+/)?)(?:page/(\d+)/|(feed)/)?$`)
)

func (bl *economyBlog) answer(u *url.URL, _ session) *reply {
	q := argumentsOf(u.RawQuery)
	v := wpView{economyBlog: bl, Here: u.Path, Month: new(discussion).month(economyNow, false)}
	if u.Path == "/" {
		if id := number(cmp.Or(q["p"], q["page_id"])); id > 0 {
			if a := find(bl.posts, func(a *ecoArticle) bool { return a.ID == id }); a != nil {
				return redirectTo(bl.base + a.Path)
			}
			return nil
		}
		if q.has("s") {
			v.Title, v.Class, v.List = "Search results", "search search-results", bl.posts[:min(3, len(bl.posts))]
			v.Pager = pagerOf(len(v.List), wpPosts, 0, func(int) template.URL { return href("%s/?s=", bl.base) })
			return v.reply("search", "ewp-list")
		}
	}
	texts := map[string]string{"/wp-login.php": "Log In", "/xmlrpc.php": "XML-RPC server accepts POST requests only.", "/about/": "About this blog"}
	switch m, l := wpArticle.FindStringSubmatch(u.Path), wpList.FindStringSubmatch(u.Path); {
	case m != nil:
		return v.article(m[1], m[2], m[3], q)
	case u.Path == "/comments/feed/":
		return v.commentFeed(nil)
	case l != nil:
		return v.list(l[1], max(1, number(l[2])), l[3])
	case strings.HasPrefix(u.Path, "/wp-json/"):
		return &reply{kind: "api", view: "ewp-json", data: v, mime: "application/json; charset=UTF-8"}
	case texts[u.Path] != "":
		v.Title, v.Text = texts[u.Path], texts[u.Path]
		return v.reply(map[string]string{"/wp-login.php": "login", "/about/": "page"}[u.Path], "ewp-message")
	}
	return nil
}

func (v wpView) reply(kind, view string, objects ...string) *reply {
	return &reply{kind: cmp.Or(kind, "info"), view: view, data: v, objects: objects}
}

// article shows an article with a page of its comments; what is shared leads to the other site, which is here a
// page of its own.
func (v wpView) article(path, page, what string, q arguments) *reply {
	a := find(v.posts, func(a *ecoArticle) bool { return a.Path == path })
	switch {
	case a == nil:
		return nil
	case what == "feed":
		return v.commentFeed(a)
	case q.has("share"):
		v.Title, v.Text = "Share this", "You are about to share "+a.Title
		return v.reply("share", "ewp-message")
	}
	v.Article, v.Title = a, a.Title
	v.Class = fmt.Sprintf("post-template-default single single-post postid-%d single-format-standard", a.ID)
	v.Month = new(discussion).month(a.Date, false)
	if v.Page = number(page); v.Page == 0 {
		v.Page = a.Pages()
	}
	v.Comments = cutOut(a.Comments, (v.Page-1)*wpComments, wpComments)
	kind := "article"
	if q.has("replytocom") {
		kind = "reply"
	}
	objects := []string{a.object()}
	for _, c := range v.Comments {
		objects = append(objects, c.object())
	}
	return v.reply(kind, "ewp-article", objects...)
}

// list shows the articles of a day, a month, a year, an author, a category, a tag, or all.
func (v wpView) list(path string, page int, feed string) *reply {
	url := v.base + path
	list := slices.Clone(v.posts)
	v.Title, v.Class = "The Raven Ledger", "home blog"
	if name := strings.Trim(path, "/"); name != "" {
		list = slices.DeleteFunc(list, func(a *ecoArticle) bool {
			return !strings.HasPrefix(a.Path, path) && !a.in(webworld.Term{URL: url})
		})
		kind, _, _ := strings.Cut(name, "/")
		v.Feed = path
		if _, err := strconv.Atoi(kind); err == nil {
			kind, v.Feed = "date", ""
			if day, err := time.Parse("2006/01", name[:min(7, len(name))]); err == nil {
				v.Month = new(discussion).month(day, false)
			}
		}
		v.Title, v.Class = strings.ReplaceAll(name, "-", " "), "archive "+kind
	}
	if len(list) == 0 || (page-1)*wpPosts >= len(list) {
		return nil
	}
	v.Pager = pagerOf(len(list), wpPosts, (page-1)*wpPosts, func(n int) template.URL {
		if n == 1 {
			return template.URL(url)
		}
		return href("%spage/%d/", url, n)
	})
	v.List = cutOut(list, (page-1)*wpPosts, wpPosts)
	if feed != "" {
		r := v.reply("feed", "ewp-feed")
		r.mime = "application/rss+xml; charset=UTF-8"
		return r
	}
	return v.reply("list", "ewp-list")
}

// commentFeed holds the last comments as a whole, of one article or of all.
func (v wpView) commentFeed(of *ecoArticle) *reply {
	v.Title = "Comments for The Raven Ledger"
	for _, a := range v.posts {
		if of == nil || a == of {
			v.Comments = append(v.Comments, a.Comments...)
		}
	}
	slices.SortStableFunc(v.Comments, func(a, b *ecoComment) int { return b.Date.Compare(a.Date) })
	v.Comments = v.Comments[:min(10, len(v.Comments))]
	var objects []string
	for _, c := range v.Comments {
		objects = append(objects, c.object())
	}
	r := v.reply("feed", "ewp-comments", objects...)
	r.mime = "application/rss+xml; charset=UTF-8"
	return r
}
