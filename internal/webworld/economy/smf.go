package economy

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// economySimple is a board of SMF 2.0 with the theme Curve. Visitors without cookies get a PHP session ID in every
// link but the canonical one, another one with every page. It has the 26 characters that PHP is set up for today,
// which are no hexadecimal number.
type economySimple struct{ *discussion }

// The numbers of entries a page that SMF comes with, and the years of its calendar.
const (
	smfPosts     = 15
	smfTopics    = 20
	smfMembers   = 30
	smfFirstYear = 2008
	smfLastYear  = 2030
)

func newSMF(b *webworld.Builder, s *webworld.Host, objects int) (application, []Object) {
	m := &economySimple{planDiscussion(b, s, objects)}
	return m, m.objects(func(t *ecoThread) string { return fmt.Sprintf("%s/index.php?topic=%d.0", s.Base, t.ID) })
}

// smfView is what the templates of eco-smf.html get.
type smfView struct {
	*economySimple
	SID       string
	Title     string
	Board     *ecoBoard
	Thread    *ecoThread
	Threads   []*ecoThread
	Posts     []*ecoPost
	List      []*ecoMember
	Member    *ecoMember
	Pager     ecoPager
	Canonical template.URL
	Sorted    map[string]string // sort key to what its link asks for
	Month     ecoMonth
	Text      string
}

// L is a link to the one script there is, with the session ID first.
func (v smfView) L(format string, args ...any) template.URL {
	query := fmt.Sprintf(format, args...)
	if query != "" && query[0] != '#' {
		query = "&" + query
	}
	return href("%s/index.php?PHPSESSID=%s%s", v.base, v.SID, query)
}

// Pages lists the pages of a topic, none if there is but one.
func (v smfView) Pages(t *ecoThread) []ecoNumber {
	if len(t.Posts) <= smfPosts {
		return nil
	}
	return pagerOf(len(t.Posts), smfPosts, 0, v.topicPage(t)).Numbers
}

func (v smfView) topicPage(t *ecoThread) func(int) template.URL {
	return func(n int) template.URL { return v.L("topic=%d.%d", t.ID, (n-1)*smfPosts) }
}

func (m *economySimple) answer(u *url.URL, s session) *reply {
	if u.Path != "/" && u.Path != "/index.php" {
		return nil
	}
	q := argumentsOf(u.RawQuery)
	v := smfView{economySimple: m, SID: s.id(26, 36), Title: "The Raven Nest"}
	topic, at, _ := strings.Cut(q["topic"], ".")
	board, from, _ := strings.Cut(q["board"], ".")
	switch action := q["action"]; {
	case action != "":
		return v.action(action, q, v.thread(number(topic)))
	case topic != "":
		return v.topic(v.thread(number(topic)), at, q)
	case board != "":
		return v.board(v.discussion.board(number(board)), number(from), q)
	}
	v.Canonical = href("%s/index.php", m.base)
	return v.reply("list", map[bool]string{true: "smf-wap", false: "smf-index"}[q.has("wap2")])
}

func (v smfView) reply(kind, view string, objects ...string) *reply {
	return &reply{kind: kind, view: view, data: v, objects: objects}
}

func (v smfView) board(b *ecoBoard, from int, q arguments) *reply {
	if b == nil {
		return nil
	}
	v.Board, v.Title = b, b.Name
	v.Canonical = href("%s/index.php?board=%d.%d", v.base, b.ID, from)
	list, order := b.Threads, ""
	v.Sorted = map[string]string{"subject": "", "starter": "", "replies": "", "views": "", "last_post": ";desc"}
	if by, ok := q["sort"]; ok {
		list = sorted(list, func(t *ecoThread) string { return t.Slug }, q.has("desc"))
		order = ";sort=" + by
		v.Sorted["last_post"] = ""
		if q.has("desc") {
			order += ";desc"
		} else {
			v.Sorted[by] = ";desc"
		}
	}
	v.Threads = cutOut(list, from, smfTopics)
	v.Pager = pagerOf(len(list), smfTopics, from, func(n int) template.URL {
		return v.L("board=%d.%d%s", b.ID, (n-1)*smfTopics, order)
	})
	return v.reply("list", map[bool]string{true: "smf-wap", false: "smf-board"}[q.has("wap2")])
}

// topic shows the page that begins at a number or holds a message.
func (v smfView) topic(t *ecoThread, at string, q arguments) *reply {
	if t == nil {
		return nil
	}
	start := number(at) / smfPosts * smfPosts
	if p := v.posts[number(strings.TrimPrefix(at, "msg"))]; strings.HasPrefix(at, "msg") && p != nil {
		start = (p.Number - 1) / smfPosts * smfPosts
	}
	switch q["prev_next"] {
	case "prev":
		t, start = t.neighbour(-1), 0
	case "next":
		t, start = t.neighbour(1), 0
	}
	v.Thread, v.Board, v.Title = t, t.Board, t.Title
	v.Posts = cutOut(t.Posts, start, smfPosts)
	if q.has("all") {
		v.Posts = t.Posts
	}
	v.Canonical = href("%s/index.php?topic=%d.%d", v.base, t.ID, start)
	v.Pager = pagerOf(len(t.Posts), smfPosts, start, v.topicPage(t))
	return v.reply("thread", map[bool]string{true: "smf-wap", false: "smf-topic"}[q.has("wap2")], idsOf(v.Posts)...)
}

func (v smfView) action(action string, q arguments, t *ecoThread) *reply {
	switch action {
	case "printpage":
		if t == nil {
			return nil
		}
		v.Thread, v.Title, v.Posts = t, t.Title, t.Posts
		v.Canonical = href("%s/index.php?topic=%d.0", v.base, t.ID)
		return v.reply("print", "smf-print", idsOf(v.Posts)...)
	case "profile":
		return v.profile(q)
	case "mlist":
		return v.memberlist(q)
	case "recent":
		from, posts := number(q["start"]), v.latest(100)
		v.Title, v.Posts = "Recent Posts", cutOut(posts, from, 10)
		v.Pager = pagerOf(len(posts), 10, from, func(n int) template.URL { return v.L("action=recent;start=%d", (n-1)*10) })
		return v.reply("recent", "smf-recent", idsOf(v.Posts)...)
	case "calendar":
		return v.calendar(q)
	case ".xml":
		v.Posts = v.latest(15)
		r := v.reply("feed", "smf-feed")
		r.mime = "application/rss+xml; charset=UTF-8"
		return r
	}
	text, known := map[string]string{
		"post": "Post reply", "reporttm": "Report to moderator", "emailuser": "Send this topic", "login": "Log in", "register": "Registration Agreement",
		"help": "SMF User Help", "search": "Set Search Parameters", "stats": "Forum Statistics", "who": "Who's Online",
		"collapse": "Board index", "notify": "Only registered members are allowed to access this section.", "credits": "Credits",
		"markasread": "Only registered members are allowed to access this section.", "reminder": "Authentication reminder", "pm": "Only registered members are allowed to access this section.",
		"unread": "Only registered members are allowed to access this section.", "verificationcode": "",
	}[action]
	if !known {
		return nil
	}
	v.Title, v.Text = text, text
	kind := map[string]string{"post": "reply", "reporttm": "report", "emailuser": "email", "search": "search", "login": "login", "register": "login", "collapse": "list"}[action]
	if kind == "" {
		kind = "info"
	}
	return v.reply(kind, "smf-message")
}

// profile shows a member, or what the member wrote, which stands there as a whole.
func (v smfView) profile(q arguments) *reply {
	v.Member = v.member(number(q["u"]))
	if v.Member == nil {
		return nil
	}
	v.Title = "Profile of " + v.Member.Name
	if q["area"] == "" || q["area"] == "summary" {
		return v.reply("profile", "smf-profile")
	}
	posts, from := slices.Clone(v.Member.Posts), number(q["start"])
	slices.Reverse(posts)
	v.Posts = cutOut(posts, from, smfPosts)
	what := q["area"]
	if q["sa"] != "" {
		what += ";sa=" + url.QueryEscape(q["sa"])
	}
	v.Pager = pagerOf(len(posts), smfPosts, from, func(n int) template.URL {
		return v.L("action=profile;u=%d;area=%s;start=%d", v.Member.ID, what, (n-1)*smfPosts)
	})
	if q["area"] != "showposts" || q["sa"] == "topics" || q["sa"] == "attach" {
		v.Posts = nil
		return v.reply("profile", "smf-profile")
	}
	return v.reply("profile", "smf-recent", idsOf(v.Posts)...)
}

func (v smfView) memberlist(q arguments) *reply {
	v.Title = "Members List"
	by, from := q["sort"], number(q["start"])
	if by == "" {
		by = "real_name"
	}
	if q["sa"] == "search" {
		v.Text = "Search for members"
		return v.reply("members", "smf-message")
	}
	v.Sorted = map[string]string{"is_online": "", "real_name": "", "email_address": "", "website_url": "", "id_group": "", "registered": "", "posts": ""}
	order := ""
	if q.has("desc") {
		order = ";desc"
	} else if _, ok := v.Sorted[by]; ok {
		v.Sorted[by] = ";desc"
	}
	list := sorted(v.members, func(m *ecoMember) string { return m.Slug }, q.has("desc"))
	v.Pager = pagerOf(len(list), smfMembers, from, func(n int) template.URL {
		return v.L("action=mlist;sort=%s;start=%d%s", by, (n-1)*smfMembers, order)
	})
	v.List = cutOut(list, from, smfMembers)
	return v.reply("members", "smf-members")
}

// calendar shows a month or the week of a day, of the years that SMF comes with.
func (v smfView) calendar(q arguments) *reply {
	day := economyNow
	if y, m := number(q["year"]), number(q["month"]); y > 0 && m > 0 {
		day = time.Date(y, time.Month(m), max(1, number(q["day"])), 0, 0, 0, 0, time.UTC)
	}
	if day.Year() < smfFirstYear || day.Year() > smfLastYear {
		v.Title, v.Text = "An Error Has Occurred!", "Invalid year value."
		return v.reply("calendar", "smf-message")
	}
	v.Title, v.Month = "Calendar", v.month(day, q.has("viewweek"))
	return v.reply("calendar", "smf-calendar")
}
