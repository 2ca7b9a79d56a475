package economy

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// economyBB is a board of phpBB 3.2 with the style prosilver. Visitors without cookies get a session ID in every
// link, another one with every page.
type economyBB struct{ *discussion }

// The numbers of entries a page that phpBB comes with.
const (
	bbPosts   = 10
	bbTopics  = 25
	bbMembers = 25
)

func newPHPBB(b *webworld.Builder, s *webworld.Host, objects int) (application, []Object) {
	bb := &economyBB{planDiscussion(b, s, objects)}
	return bb, bb.objects(func(t *ecoThread) string {
		return fmt.Sprintf("%s/viewtopic.php?f=%d&t=%d", s.Base, t.Board.ID, t.ID)
	})
}

// bbView is what the templates of eco-phpbb.html get.
type bbView struct {
	*economyBB
	SID                    string
	Root                   template.URL // of the board, seen from this page
	Title, Section, Script string
	Board                  *ecoBoard
	Thread                 *ecoThread
	Threads                []*ecoThread
	Posts                  []*ecoPost
	List                   []*ecoMember
	Member                 *ecoMember
	Pager                  ecoPager
	Text                   string
	From                   int
	Sort                   map[string]string // of the member list: sort key to the direction that its link asks for
}

// L is a link within the board, with the session ID; a fragment comes last.
func (v bbView) L(format string, args ...any) template.URL {
	uri, fragment, _ := strings.Cut(fmt.Sprintf(format, args...), "#")
	uri += map[bool]string{true: "&", false: "?"}[strings.Contains(uri, "?")] + "sid=" + v.SID
	if fragment != "" {
		uri += "#" + fragment
	}
	return v.Root + template.URL(uri)
}

// Start is the first post of the page that a post stands on.
func (bbView) Start(p *ecoPost) int { return (p.Number - 1) / bbPosts * bbPosts }

// Pages lists the pages of a topic, none if there is but one.
func (v bbView) Pages(t *ecoThread) []ecoNumber {
	if len(t.Posts) <= bbPosts {
		return nil
	}
	return pagerOf(len(t.Posts), bbPosts, 0, v.topicPage(t)).Numbers
}

// Letters are the first letters that the member list can be cut down to.
func (bbView) Letters() []string { return strings.Split("abcdefghijklmnopqrstuvwxyz", "") }

func (v bbView) topicPage(t *ecoThread) func(int) template.URL {
	return func(n int) template.URL {
		if n == 1 {
			return v.L("viewtopic.php?f=%d&t=%d", t.Board.ID, t.ID)
		}
		return v.L("viewtopic.php?f=%d&t=%d&start=%d", t.Board.ID, t.ID, (n-1)*bbPosts)
	}
}

func (bb *economyBB) answer(u *url.URL, s session) *reply {
	q := argumentsOf(u.RawQuery)
	v := bbView{economyBB: bb, SID: s.id(32, 16), From: number(q["start"]), Script: strings.TrimPrefix(u.Path, "/")}
	v.Root = template.URL("./" + strings.Repeat("../", strings.Count(v.Script, "/")))
	switch {
	case u.Path == "/" || u.Path == "/index.php":
		v.Title, v.Section = "Index page", "index"
		return v.reply("list", "p3-index")
	case u.Path == "/viewforum.php":
		return v.forum(bb.board(number(q["f"])))
	case u.Path == "/viewtopic.php":
		return v.topic(q)
	case u.Path == "/memberlist.php":
		return v.memberlist(q)
	case u.Path == "/search.php":
		return v.search(q)
	case u.Path == "/app.php/feed" || strings.HasPrefix(u.Path, "/app.php/feed/"):
		return v.feed(strings.Split(strings.TrimPrefix(u.Path, "/app.php/feed"), "/"))
	}
	texts := map[string]string{
		"/ucp.php": "You need to log in to this board.", "/posting.php": "You need to login in order to post in this forum.",
		"/viewonline.php": "In total there are 3 users online.", "/app.php/help/faq": "Frequently Asked Questions", "/cron.php": "",
		"/mcp.php": "You are not authorised to access this area.",
	}
	v.Text = texts[u.Path]
	if strings.HasPrefix(u.Path, "/app.php/post/") {
		v.Text = "You need to log in to report posts."
	}
	if v.Text == "" {
		return nil
	}
	v.Title, v.Section = "Information", strings.TrimSuffix(v.Script, ".php")
	return v.reply(map[bool]string{true: "reply", false: "info"}[u.Path == "/posting.php"], "p3-message")
}

func (v bbView) reply(kind, view string, objects ...string) *reply {
	return &reply{kind: kind, view: view, data: v, objects: objects}
}

func (v bbView) forum(b *ecoBoard) *reply {
	if b == nil {
		return nil
	}
	v.Board, v.Title, v.Section = b, b.Name, "viewforum"
	v.Threads = cutOut(b.Threads, v.From, bbTopics)
	v.Pager = pagerOf(len(b.Threads), bbTopics, v.From, func(n int) template.URL {
		if n == 1 {
			return v.L("viewforum.php?f=%d", b.ID)
		}
		return v.L("viewforum.php?f=%d&start=%d", b.ID, (n-1)*bbTopics)
	})
	return v.reply("list", "p3-forum")
}

// topic shows the page that was asked for by a post or by a number, or that of the next topic.
func (v bbView) topic(q arguments) *reply {
	t := v.thread(number(q["t"]))
	if p := v.posts[number(q["p"])]; p != nil {
		t, v.From = p.Thread, v.Start(p)
	}
	if t == nil {
		return nil
	}
	switch q["view"] {
	case "next":
		t = t.neighbour(-1)
	case "previous":
		t = t.neighbour(1)
	}
	v.Thread, v.Board, v.Title, v.Section = t, t.Board, t.Title, "viewtopic"
	v.Posts = cutOut(t.Posts, v.From, bbPosts)
	v.Pager = pagerOf(len(t.Posts), bbPosts, v.From, v.topicPage(t))
	if q["view"] == "print" {
		return v.reply("print", "p3-print", idsOf(v.Posts)...)
	}
	return v.reply("thread", "p3-topic", idsOf(v.Posts)...)
}

func (v bbView) memberlist(q arguments) *reply {
	v.Section = "memberlist"
	switch q["mode"] {
	case "viewprofile":
		if v.Member = v.member(number(q["u"])); v.Member == nil {
			return nil
		}
		v.Title = "User profile - " + v.Member.Name
		return v.reply("profile", "p3-profile")
	case "email", "contactadmin", "searchuser":
		v.Title, v.Text = "Information", "You need to log in to send e-mail."
		return v.reply("email", "p3-message")
	case "team", "group":
		v.Title, v.List = "The team", v.members[:3]
		return v.reply("members", "p3-members")
	}
	v.Title = "Members"
	list := v.members
	if c := q["first_char"]; c != "" {
		list = slices.DeleteFunc(slices.Clone(list), func(m *ecoMember) bool { return !strings.HasPrefix(m.Slug, c) })
	}
	order, down := cmp.Or(q["sk"], "c"), q["sd"] == "d"
	list = sorted(list, func(m *ecoMember) string {
		if order == "d" {
			return fmt.Sprintf("%06d", len(m.Posts))
		}
		return m.Slug
	}, down)
	v.Sort = map[string]string{"a": "a", "c": "a", "d": "d", "f": "a", "l": "d"}
	if asked, ok := v.Sort[order]; ok && (asked == "d") == down {
		v.Sort[order] = map[bool]string{true: "a", false: "d"}[down]
	}
	cut := ""
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if name == "first_char" || name == "sk" || name == "sd" {
			cut += "&" + name + "=" + url.QueryEscape(q[name])
		}
	}
	v.Pager = pagerOf(len(list), bbMembers, v.From, func(n int) template.URL {
		return v.L("memberlist.php?start=%d%s", (n-1)*bbMembers, cut)
	})
	v.List = cutOut(list, v.From, bbMembers)
	return v.reply("members", "p3-members")
}

// search shows a form, or what some member or the last days brought.
func (v bbView) search(q arguments) *reply {
	v.Title, v.Section = "Search", "search"
	posts := v.latest(40)
	by := "search_id=" + url.QueryEscape(q["search_id"])
	if m := v.member(number(q["author_id"])); m != nil {
		posts, by = m.Posts, "author_id="+strconv.Itoa(m.ID)
	} else if q["search_id"] == "" {
		v.Text = "Search query"
		return v.reply("search", "p3-message")
	}
	v.Pager = pagerOf(len(posts), bbPosts, v.From, func(n int) template.URL {
		return v.L("search.php?st=0&sk=t&sd=d&sr=posts&%s&start=%d", by, (n-1)*bbPosts)
	})
	v.Posts = cutOut(posts, v.From, bbPosts)
	return v.reply("search", "p3-search")
}

// feed holds the latest posts of the board, of a forum or of a topic as a whole.
func (v bbView) feed(path []string) *reply {
	v.Title, v.Posts = "The Rookery", v.latest(15)
	if len(path) == 3 {
		id := number(path[2])
		switch b, t := v.board(id), v.thread(id); {
		case path[1] == "forum" && b != nil:
			v.Posts = slices.DeleteFunc(v.latest(1<<20), func(p *ecoPost) bool { return p.Thread.Board != b })
		case path[1] == "topic" && t != nil:
			v.Posts = t.Posts
		default:
			return nil
		}
		v.Posts = v.Posts[:min(15, len(v.Posts))]
	}
	r := v.reply("feed", "p3-feed", idsOf(v.Posts)...)
	r.mime = "application/atom+xml; charset=UTF-8"
	return r
}

// number reads a parameter, 0 if it is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
