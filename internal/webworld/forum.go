package webworld

import (
	"fmt"
	"time"
)

// board is a forum of the phpBB site.
type board struct {
	ID          int
	Name, About string
	Topics      []*topic
	relevant    bool
}

// Last is the newest topic.
func (f *board) Last() *topic {
	if len(f.Topics) == 0 {
		return nil
	}
	return f.Topics[len(f.Topics)-1]
}

type topic struct {
	Entry
	Forum   int
	Odd     bool
	Starter member
	Posts   []*post
}

// LastPost is the ID of the topic's last post.
func (t *topic) LastPost() int { return t.Posts[len(t.Posts)-1].ID }

type post struct {
	ID         int
	Odd, First bool
	Author     member
	Date       time.Time
	Text       string
	Quote      *post
	Links      []Entry
}

type member struct {
	ID    int
	Name  string
	Posts int
}

// forumView is what the templates of phpbb.html get.
type forumView struct {
	Title, Section, SID, Message string
	Forum                        *board
	Forums                       []*board
	Topic                        *topic
	Topics                       []*topic
	Posts                        []*post
	Members                      []member
	Pager                        []pageLink
}

type pageLink struct {
	Number  int
	URL     string
	Current bool
}

type forum struct {
	b       *Builder
	s       *Host
	boards  []*board
	topics  []*topic
	members []member
	lastID  int
}

func planForum(b *Builder, s *Host) *forum {
	s.Gzip = true
	s.SetRobots(Rules{Lines: []Rule{Disallow("/ucp.php"), Disallow("/search.php"), Disallow("/memberlist.php?mode=viewprofile")}}, "")
	f := &forum{b: b, s: s, boards: []*board{
		{ID: 2, Name: "Raven and crow watching", About: "Sightings, roosts, calls and corvid behaviour", relevant: true},
		{ID: 3, Name: "Norse myth and sagas", About: "Huginn, Muninn, Odin and the sources", relevant: true},
		{ID: 4, Name: "Kitchen table", About: "Recipes and suppers"},
		{ID: 5, Name: "Everything else", About: "Football, trains, weather"},
	}}
	r := b.Random(s, "members")
	for i, name := range b.Text[People]["user"] {
		f.members = append(f.members, member{ID: 50 + i, Name: name, Posts: 3 + r.IntN(900)})
	}
	for _, e := range b.entries(s, b.scaled(16), b.scaled(11), func(i int, e Entry) string {
		return fmt.Sprintf("/viewtopic.php?f=%d&t=%d", boardOf(e.Subject), i+1)
	}) {
		f.topics = append(f.topics, &topic{Entry: e, Forum: boardOf(e.Subject), Odd: e.ID%2 == 1})
	}
	return f
}

func boardOf(s Subject) int {
	return map[Subject]int{Ravens: 2, Norse: 3, Cooking: 4, TheWorld: 5}[s]
}

// postsPerPage is phpBB's default.
const postsPerPage = 10

func (f *forum) generate() {
	for _, t := range f.topics {
		f.fill(t)
		b := f.boards[t.Forum-2]
		b.Topics = append(b.Topics, t)
	}
	for _, t := range f.topics {
		f.writeTopic(t)
	}
	for _, b := range f.boards {
		f.writeBoard(b)
	}
	index := f.view("Board index", "index", nil)
	index.Forums = f.boards
	res := f.s.AddHTML("/index.php", "list", true, f.b.Render("bb-index", index))
	f.s.alias("/", res)
	f.writeMembers()
	f.message("/ucp.php?mode=login", "login", "You need to log in.")
	f.message("/search.php", "search", "Search is switched off for guests.")
	f.s.add("/feed.php", "feed", false, "application/atom+xml; charset=UTF-8", []byte("<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>The Rookery</title></feed>\n"))
	f.s.add("/styles/prosilver/theme/stylesheet.css?assets_version=7", "style", false, "text/css", []byte(".postbody{float:left}.topictitle{font-weight:bold}\n"))
}

// fill writes the posts of a topic: some topics have two pages, some three.
func (f *forum) fill(t *topic) {
	r := f.b.Random(f.s, "topic %d", t.ID)
	n := 3 + r.IntN(postsPerPage-2)
	if t.ID%3 == 0 {
		n += postsPerPage
	}
	if t.ID%8 == 0 {
		n += postsPerPage
	}
	for i := range n {
		f.lastID++
		p := &post{ID: f.lastID, Odd: i%2 == 1, First: i == 0, Author: Pick(r, f.members)}
		p.Date = t.Date.Add(time.Duration(i*5) * time.Hour)
		p.Text = f.b.Text.Say(r, People, "opening") + " " + f.b.Text.Paragraph(r, t.Subject, 1+r.IntN(4)) + " " + f.b.Text.Say(r, People, "closing")
		if i > 0 && r.IntN(4) == 0 {
			p.Quote = t.Posts[r.IntN(i)]
		}
		if r.IntN(4) == 0 {
			p.Links = f.b.related(r, f.s, t.Subject, 1)
		}
		t.Posts = append(t.Posts, p)
	}
	t.Starter = t.Posts[0].Author
}

func (f *forum) writeTopic(t *topic) {
	pages := (len(t.Posts) + postsPerPage - 1) / postsPerPage
	for n := range pages {
		v := f.view(t.Title, "viewtopic", f.boards[t.Forum-2])
		v.Topic = t
		v.Posts = t.Posts[n*postsPerPage : min(len(t.Posts), (n+1)*postsPerPage)]
		for m := range pages {
			v.Pager = append(v.Pager, pageLink{Number: m + 1, URL: "." + start(t.Path, m), Current: m == n})
		}
		res := f.s.AddHTML(start(t.Path, n), "topic", t.Subject.Relevant(), f.b.Render("bb-topic", v))
		if n == pages-1 {
			f.s.alias(fmt.Sprintf("/viewtopic.php?p=%d", t.LastPost()), res)
		}
	}
	f.message(fmt.Sprintf("/posting.php?mode=reply&f=%d&t=%d", t.Forum, t.ID), "posting", "The requested forum is read only for guests.")
}

func start(path string, page int) string {
	if page == 0 {
		return path
	}
	return fmt.Sprintf("%s&start=%d", path, page*postsPerPage)
}

func (f *forum) writeBoard(b *board) {
	v := f.view(b.Name, "viewforum", b)
	v.Topics = b.Topics
	path := fmt.Sprintf("/viewforum.php?f=%d", b.ID)
	f.s.AddHTML(path, "list", b.relevant, f.b.Render("bb-forum", v))
	for _, order := range []string{"&st=0&sk=a&sd=d", "&st=0&sk=s&sd=a"} {
		v.Topics = reversed(v.Topics)
		f.s.AddHTML(path+order, "sorted", false, f.b.Render("bb-forum", v))
	}
	f.message(fmt.Sprintf("/posting.php?mode=post&f=%d", b.ID), "posting", "The requested forum is read only for guests.")
}

func (f *forum) writeMembers() {
	v := f.view("Members", "memberlist", nil)
	v.Members = f.members
	f.s.AddHTML("/memberlist.php", "members", false, f.b.Render("bb-members", v))
	for _, m := range f.members {
		v.Members = []member{m}
		f.s.AddHTML(fmt.Sprintf("/memberlist.php?mode=viewprofile&u=%d", m.ID), "profile", false, f.b.Render("bb-profile", v))
	}
}

func (f *forum) message(path, kind, text string) {
	v := f.view("Information", "posting", nil)
	v.Message = text
	f.s.AddHTML(path, kind, false, f.b.Render("bb-message", v))
}

// view has a session id of its own for every page, as a board gives to a visitor without cookies.
func (f *forum) view(title, section string, b *board) forumView {
	r := f.b.Random(f.s, "sid %s", title)
	return forumView{Title: title, Section: section, Forum: b, SID: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())}
}

func reversed[T any](list []T) []T {
	out := make([]T, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}
