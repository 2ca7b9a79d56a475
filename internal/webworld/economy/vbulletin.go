package economy

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// economyVB is a board of vBulletin 4.2 with the addresses that it comes with: the ID and the title behind the
// question mark. Its calendar has no end, and its archive shows all posts a second time.
type economyVB struct{ *discussion }

// The numbers of entries a page that vBulletin comes with.
const (
	vbPosts   = 10
	vbThreads = 20
	vbMembers = 30
)

func newVBulletin(b *webworld.Builder, s *webworld.Host, objects int) (application, []Object) {
	vb := &economyVB{planDiscussion(b, s, objects)}
	return vb, vb.objects(func(t *ecoThread) string { return fmt.Sprintf("%s/showthread.php?%d-%s", s.Base, t.ID, t.Slug) })
}

// vbView is what the templates of eco-vbulletin.html get.
type vbView struct {
	*economyVB
	Title, Path string
	Here        template.URL // this page
	Board       *ecoBoard
	Thread      *ecoThread
	Threads     []*ecoThread
	Posts       []*ecoPost
	List        []*ecoMember
	Member      *ecoMember
	Pager       ecoPager
	Order       string // of the thread list, what the link of its present sort key asks for
	Month       ecoMonth
	Text        string
}

// L is a link relative to the base element.
func (vbView) L(format string, args ...any) template.URL { return href(format, args...) }

func (vbView) T(t *ecoThread) template.URL { return href("showthread.php?%d-%s", t.ID, t.Slug) }
func (vbView) F(b *ecoBoard) template.URL {
	return href("forumdisplay.php?%d-%s", b.ID, b.Slug)
}
func (vbView) M(m *ecoMember) template.URL { return href("member.php?%d-%s", m.ID, m.Slug) }

// P is the permanent link of a post.
func (v vbView) P(p *ecoPost) template.URL {
	return href("%s&p=%d&viewfull=1#post%d", v.T(p.Thread), p.ID, p.ID)
}

// Week is the time at which a week begins, as the links of calendars name it.
func (vbView) Week(w ecoWeek) int64 { return w.First.Unix() }

// Letters are the first letters that the member list can be cut down to.
func (vbView) Letters() []string { return strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "") }

// Pages lists the pages of a thread, none if there is but one.
func (v vbView) Pages(t *ecoThread) []ecoNumber {
	if len(t.Posts) <= vbPosts {
		return nil
	}
	return pagerOf(len(t.Posts), vbPosts, 0, v.threadPage(t)).Numbers
}

func (v vbView) threadPage(t *ecoThread) func(int) template.URL {
	return func(n int) template.URL {
		if n == 1 {
			return v.T(t)
		}
		return href("%s/page%d", v.T(t), n)
	}
}

// vbAddress takes "12-title/page2&p=34&goto=x" apart.
func vbAddress(query string) (id, page int, args arguments) {
	what, rest, _ := strings.Cut(query, "&")
	what, part, _ := strings.Cut(what, "/page")
	first, _, _ := strings.Cut(what, "-")
	if strings.Contains(what, "=") {
		rest = query
	}
	args = argumentsOf(rest)
	if id = number(first); id == 0 {
		id = number(cmp.Or(args["t"], args["f"], args["u"]))
	}
	return id, max(1, number(part), number(args["page"])), args
}

func (vb *economyVB) answer(u *url.URL, _ session) *reply {
	id, page, q := vbAddress(u.RawQuery)
	v := vbView{economyVB: vb, Title: "The Perch", Path: strings.TrimPrefix(u.Path, "/"), Here: template.URL(strings.TrimPrefix(u.RequestURI(), "/"))}
	switch v.Path {
	case "", "forum.php", "index.php":
		return v.reply("list", "vb-index")
	case "forumdisplay.php":
		return v.forum(vb.board(id), page, q)
	case "showthread.php":
		return v.thread(vb.discussion.thread(id), page, q)
	case "printthread.php":
		return v.print(vb.discussion.thread(id), page)
	case "member.php":
		return v.member(vb.discussion.member(id))
	case "memberlist.php":
		return v.memberlist(page, q)
	case "calendar.php":
		return v.calendar(q)
	case "search.php":
		return v.search(page, q)
	case "external.php":
		v.Posts = vb.latest(15)
		r := v.reply("feed", "vb-feed")
		r.mime = "application/xml; charset=UTF-8"
		return r
	}
	if rest, ok := strings.CutPrefix(v.Path, "archive/index.php"); ok {
		return v.archive(strings.Trim(rest, "/"))
	}
	kind, ok := map[string]string{
		"newreply.php": "reply", "newthread.php": "reply", "report.php": "report", "sendmessage.php": "email", "subscription.php": "login",
		"private.php": "login", "register.php": "login", "login.php": "login", "usercp.php": "login", "faq.php": "info", "online.php": "info",
		"showgroups.php": "members", "misc.php": "info", "threadrate.php": "info", "profile.php": "login", "postings.php": "login", "album.php": "profile", "blog.php": "info",
	}[v.Path]
	if !ok {
		return nil
	}
	v.Title = "vBulletin Message"
	v.Text = "You are not logged in or you do not have permission to access this page."
	return v.reply(kind, "vb-message")
}

func (v vbView) reply(kind, view string, objects ...string) *reply {
	return &reply{kind: kind, view: view, data: v, objects: objects}
}

func (v vbView) forum(b *ecoBoard, page int, q arguments) *reply {
	if b == nil {
		if q["do"] == "markread" {
			v.Text = "Forums are marked as read."
			return v.reply("info", "vb-message")
		}
		return nil
	}
	v.Board, v.Title = b, b.Name
	list, order := b.Threads, ""
	v.Order = "asc"
	if q["sort"] != "" || q["order"] != "" {
		list = sorted(list, func(t *ecoThread) string { return t.Slug }, q["order"] == "desc")
		order = "&sort=" + url.QueryEscape(q["sort"]) + "&order=" + url.QueryEscape(q["order"])
		v.Order = map[bool]string{true: "desc", false: "asc"}[q["order"] == "asc"]
	}
	v.Threads = cutOut(list, (page-1)*vbThreads, vbThreads)
	v.Pager = pagerOf(len(list), vbThreads, (page-1)*vbThreads, func(n int) template.URL {
		if n == 1 {
			return v.F(b) + template.URL(order)
		}
		return href("%s/page%d%s", v.F(b), n, order)
	})
	return v.reply("list", "vb-forum")
}

// thread shows a page, or that of a post, or what is next in the forum. The hybrid and the threaded mode show one
// post as a whole and the others by their titles.
func (v vbView) thread(t *ecoThread, page int, q arguments) *reply {
	if p := v.posts[number(q["p"])]; p != nil {
		t, page = p.Thread, (p.Number-1)/vbPosts+1
	}
	if t == nil {
		return nil
	}
	switch q["goto"] {
	case "nextoldest":
		t = t.neighbour(1)
	case "nextnewest":
		t = t.neighbour(-1)
	case "newpost", "lastpost":
		page = (len(t.Posts)-1)/vbPosts + 1
	}
	v.Thread, v.Board, v.Title = t, t.Board, t.Title
	v.Pager = pagerOf(len(t.Posts), vbPosts, (page-1)*vbPosts, v.threadPage(t))
	v.Posts = cutOut(t.Posts, (page-1)*vbPosts, vbPosts)
	if q["mode"] == "threaded" || q["mode"] == "hybrid" {
		v.Posts = v.Posts[:min(1, len(v.Posts))]
	}
	return v.reply("thread", "vb-thread", idsOf(v.Posts)...)
}

func (v vbView) print(t *ecoThread, page int) *reply {
	if t == nil {
		return nil
	}
	v.Thread, v.Board, v.Title = t, t.Board, t.Title
	v.Posts = cutOut(t.Posts, (page-1)*vbPosts, vbPosts)
	v.Pager = pagerOf(len(t.Posts), vbPosts, (page-1)*vbPosts, func(n int) template.URL {
		return href("printthread.php?t=%d&pp=%d&page=%d", t.ID, vbPosts, n)
	})
	return v.reply("print", "vb-print", idsOf(v.Posts)...)
}

func (v vbView) member(m *ecoMember) *reply {
	if m == nil {
		return nil
	}
	v.Member, v.Title = m, "View Profile: "+m.Name
	return v.reply("profile", "vb-member")
}

func (v vbView) memberlist(page int, q arguments) *reply {
	v.Title = "Members List"
	list := slices.Clone(v.members)
	if c := q["ltr"]; c != "" {
		list = slices.DeleteFunc(list, func(m *ecoMember) bool { return !strings.HasPrefix(strings.ToUpper(m.Slug), c) })
	}
	by := cmp.Or(q["sort"], "username")
	list = sorted(list, func(m *ecoMember) string { return m.Slug }, q["order"] == "desc")
	v.Order = map[bool]string{true: "desc", false: "asc"}[q["order"] != "desc"]
	v.Pager = pagerOf(len(list), vbMembers, (page-1)*vbMembers, func(n int) template.URL {
		return href("memberlist.php?&order=%s&sort=%s&pp=%d&ltr=%s&page=%d", cmp.Or(q["order"], "asc"), url.QueryEscape(by), vbMembers, url.QueryEscape(q["ltr"]), n)
	})
	v.List = cutOut(list, (page-1)*vbMembers, vbMembers)
	return v.reply("members", "vb-members")
}

// calendar shows a month, a week or a day of any year.
func (v vbView) calendar(q arguments) *reply {
	v.Title = "Calendar"
	day := economyNow
	if y, m := number(q["year"]), number(q["month"]); y > 0 && m > 0 {
		day = time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC)
	}
	if w := number(q["week"]); w != 0 {
		day = time.Unix(int64(w), 0).UTC()
	}
	if d, err := time.Parse("2006-1-2", q["day"]); err == nil {
		v.Text = "Birthdays on " + d.Format("January 2, 2006")
		v.List = v.days[d.Format("01-02")]
		return v.reply("calendar", "vb-message")
	}
	v.Month = v.month(day, q["do"] == "displayweek")
	return v.reply("calendar", "vb-calendar")
}

func (v vbView) search(page int, q arguments) *reply {
	v.Title = "Advanced Search"
	posts, by := v.latest(40), q["do"]
	switch m := v.discussion.member(number(q["userid"])); {
	case q["do"] == "finduser" && m != nil:
		posts, by = m.Posts, fmt.Sprintf("finduser&userid=%d", m.ID)
	case q["do"] != "getdaily" && q["do"] != "getnew":
		return v.reply("search", "vb-message")
	}
	v.Pager = pagerOf(len(posts), vbPosts, (page-1)*vbPosts, func(n int) template.URL {
		return href("search.php?do=%s&contenttype=vBForum_Post&pp=&page=%d", by, n)
	})
	v.Posts = cutOut(posts, (page-1)*vbPosts, vbPosts)
	return v.reply("search", "vb-search")
}

// archive is the board without its looks: forums and whole threads.
func (v vbView) archive(name string) *reply {
	kind, rest, _ := strings.Cut(strings.TrimSuffix(name, ".html"), "-")
	switch id := number(rest); kind {
	case "":
		return v.reply("list", "vb-archive")
	case "f":
		if v.Board = v.board(id); v.Board == nil {
			return nil
		}
		v.Title, v.Threads = v.Board.Name, v.Board.Threads
		return v.reply("list", "vb-archive")
	case "t":
		if v.Thread = v.discussion.thread(id); v.Thread == nil {
			return nil
		}
		v.Board, v.Title, v.Posts = v.Thread.Board, v.Thread.Title, v.Thread.Posts
		return v.reply("archive", "vb-archive", idsOf(v.Posts)...)
	}
	return nil
}
