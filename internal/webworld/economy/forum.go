package economy

import (
	"fmt"
	"html/template"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// economyNow is the present time of all applications of the economy world.
var economyNow = time.Date(2024, 9, 14, 20, 15, 0, 0, time.UTC)

// discussion is the content of a forum of the economy world, for any application.
type discussion struct {
	base    string
	boards  []*ecoBoard
	threads []*ecoThread // oldest first
	posts   map[int]*ecoPost
	members []*ecoMember
	days    map[string][]*ecoMember // birthdays by month and day, for calendars
}

type ecoBoard struct {
	ID                int
	Name, Slug, About string
	Section           int          // the category that it stands in
	Threads           []*ecoThread // the newest first
	Posts             int
}

// Last is the post that was written last.
func (b *ecoBoard) Last() *ecoPost { return b.Threads[0].Last() }

type ecoThread struct {
	ID, Views   int
	Title, Slug string
	Board       *ecoBoard
	Posts       []*ecoPost
	at          int // its place in the board
}

func (t *ecoThread) First() *ecoPost { return t.Posts[0] }
func (t *ecoThread) Last() *ecoPost  { return t.Posts[len(t.Posts)-1] }
func (t *ecoThread) Replies() int    { return len(t.Posts) - 1 }

// neighbour is the thread n places further in its board, the thread itself at the end.
func (t *ecoThread) neighbour(n int) *ecoThread {
	if at := t.at + n; at >= 0 && at < len(t.Board.Threads) {
		return t.Board.Threads[at]
	}
	return t
}

type ecoPost struct {
	ID, Number int // Number counts in the thread, from 1
	Thread     *ecoThread
	Author     *ecoMember
	Date       time.Time
	Paragraphs []string
	Quote      *ecoPost
}

// Excerpt is what lists of search results show.
func (p *ecoPost) Excerpt() string {
	words := strings.Fields(p.Paragraphs[0])
	return strings.Join(words[:min(len(words), 12)], " ") + " …"
}

func (p *ecoPost) object() string { return fmt.Sprintf("post-%d", p.ID) }

type ecoMember struct {
	ID         int
	Name, Slug string
	Joined     time.Time
	Posts      []*ecoPost
}

// Count is how many posts the member wrote, as profiles say.
func (m *ecoMember) Count() int { return len(m.Posts) }

// planDiscussion makes so many posts, in threads of one to about forty. A few boards have most of the posts, and a few
// members wrote most of them; a third of the members wrote none.
func planDiscussion(b *webworld.Builder, s *webworld.Host, posts int) *discussion {
	d := &discussion{base: s.Base, posts: map[int]*ecoPost{}, days: map[string][]*ecoMember{}}
	d.enrol(b, s, max(6, posts/4))
	names := []struct{ name, about string }{
		{"Raven and crow watching", "Sightings, roosts and calls"}, {"Norse myth and sagas", "Huginn, Muninn, Odin and the sources"},
		{"Young and hand-reared birds", "Found a fledgling? Ask here first"}, {"Runes and picture stones", "Readings, casts and forgeries"},
		{"Kitchen table", "Recipes and suppers"}, {"About this forum", "News, wishes and troubles"},
	}
	for i, n := range names {
		d.boards = append(d.boards, &ecoBoard{ID: i + 2, Name: n.name, Slug: strings.ReplaceAll(n.name, " ", "-"), About: n.about, Section: 1 + i/4})
	}
	about := []webworld.Subject{webworld.Ravens, webworld.Norse, webworld.Ravens, webworld.Norse, webworld.Cooking, webworld.People}
	next := 101
	for left := posts; left > 0; {
		n := len(d.threads)
		r := b.Random(s, "thread %d", n)
		at := n
		if n >= len(d.boards) { // every board has a thread, the first ones have most
			at = min(r.IntN(len(d.boards)), r.IntN(len(d.boards)), r.IntN(len(d.boards)))
		}
		board := d.boards[at]
		t := &ecoThread{ID: n + 11, Views: 40 + r.IntN(4000), Title: b.Text.Title(r, subjectFor(about[at])), Board: board}
		t.Slug = webworld.Slug(t.Title)
		size := min(left, threadSize(r))
		for i := range size {
			t.Posts = append(t.Posts, d.writePost(b, r, t, next, i, subjectFor(about[at]), n))
			next += 1 + r.IntN(3)
		}
		left -= size
		d.threads = append(d.threads, t)
		board.Threads = append(board.Threads, t)
		board.Posts += size
	}
	d.boards = slices.DeleteFunc(d.boards, func(b *ecoBoard) bool { return len(b.Threads) == 0 }) // of a very small forum
	for _, board := range d.boards {
		slices.Reverse(board.Threads)
		for i, t := range board.Threads {
			t.at = i
		}
	}
	return d
}

// subjectFor has a grammar with titles and sentences.
func subjectFor(s webworld.Subject) webworld.Subject {
	if s == webworld.People {
		return webworld.TheWorld
	}
	return s
}

// threadSize is small for most threads; one in six has several pages.
func threadSize(r *rand.Rand) int {
	if r.IntN(6) == 0 {
		return 12 + r.IntN(34)
	}
	return 1 + r.IntN(7)
}

func (d *discussion) enrol(b *webworld.Builder, s *webworld.Host, n int) {
	known := b.Text[webworld.People]["user"]
	for i := range n {
		r := b.Random(s, "member %d", i)
		m := &ecoMember{ID: i + 2, Name: known[i%len(known)], Joined: economyNow.AddDate(0, -r.IntN(60), -r.IntN(28))}
		if i >= len(known) {
			m.Name = fmt.Sprintf("%s%d", m.Name, 10+i/len(known))
		}
		m.Slug = webworld.Slug(m.Name)
		d.members = append(d.members, m)
		day := time.Date(2024, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC).Format("01-02")
		d.days[day] = append(d.days[day], m)
	}
}

// writePost makes the i-th post of a thread, the n-th of the forum.
func (d *discussion) writePost(b *webworld.Builder, r *rand.Rand, t *ecoThread, id, i int, about webworld.Subject, n int) *ecoPost {
	writers := max(2, len(d.members)*2/3)
	p := &ecoPost{ID: id, Number: i + 1, Thread: t, Author: d.members[min(r.IntN(writers), r.IntN(writers))]}
	p.Date = time.Date(2024, 1, 4, 8, 0, 0, 0, time.UTC).Add(time.Duration(n)*31*time.Hour + time.Duration(i*5)*time.Hour + time.Duration(r.IntN(200))*time.Minute)
	p.Paragraphs = append(p.Paragraphs, fmt.Sprintf("%s %s", b.Text.Say(r, webworld.People, "opening"), b.Text.Paragraph(r, about, 1+r.IntN(4))))
	if r.IntN(3) == 0 {
		p.Paragraphs = append(p.Paragraphs, b.Text.Paragraph(r, about, 1+r.IntN(3)))
	}
	if i > 0 && r.IntN(4) == 0 {
		p.Quote = t.Posts[r.IntN(i)]
	}
	d.posts[id] = p
	p.Author.Posts = append(p.Author.Posts, p)
	return p
}

// What templates ask for.
func (d *discussion) Base() string          { return d.base }
func (d *discussion) Boards() []*ecoBoard   { return d.boards }
func (d *discussion) Members() []*ecoMember { return d.members }
func (d *discussion) Latest() []*ecoPost    { return d.latest(10) }
func (d *discussion) ThreadCount() int      { return len(d.threads) }

// objects lists the posts; url is where the thread begins.
func (d *discussion) objects(url func(*ecoThread) string) []Object {
	var list []Object
	for _, t := range d.threads {
		for _, p := range t.Posts {
			list = append(list, Object{ID: p.object(), Kind: "post", URL: url(t), Text: strings.Join(p.Paragraphs, "\n")})
		}
	}
	return list
}

func (d *discussion) board(id int) *ecoBoard {
	return find(d.boards, func(b *ecoBoard) bool { return b.ID == id })
}

func (d *discussion) thread(id int) *ecoThread {
	return find(d.threads, func(t *ecoThread) bool { return t.ID == id })
}

func (d *discussion) member(id int) *ecoMember {
	return find(d.members, func(m *ecoMember) bool { return m.ID == id })
}

func (d *discussion) latest(n int) []*ecoPost {
	var list []*ecoPost
	for _, t := range d.threads {
		list = append(list, t.Posts...)
	}
	slices.SortStableFunc(list, func(a, b *ecoPost) int { return b.Date.Compare(a.Date) })
	return list[:min(n, len(list))]
}

// sorted sorts a list by a key, as sort links ask for.
func sorted[T any](list []T, key func(T) string, down bool) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	if down {
		slices.Reverse(list)
	}
	return list
}

func find[T any](list []*T, is func(*T) bool) *T {
	for _, v := range list {
		if is(v) {
			return v
		}
	}
	return nil
}

// cutOut is the page of a list that begins at start, n entries long.
func cutOut[T any](list []T, start, n int) []T {
	start = max(0, min(start, len(list)))
	return list[start:min(len(list), start+n)]
}

func idsOf(posts []*ecoPost) []string {
	ids := make([]string, len(posts))
	for i, p := range posts {
		ids[i] = p.object()
	}
	return ids
}

// ecoPager is the row of page numbers of a list.
type ecoPager struct {
	Total, Pages, At int // entries, pages, number of the page
	Numbers          []ecoNumber
	Previous, Next   template.URL
}

// ecoNumber is a page in such a row; a gap stands before it if pages are left out.
type ecoNumber struct {
	Number  int
	URL     template.URL
	Current bool
	Gap     bool
}

// pagerOf makes the row for a list of total entries, per a page, that is shown from start on. Long rows show the
// first page, the last and those around.
func pagerOf(total, per, start int, url func(page int) template.URL) ecoPager {
	p := ecoPager{Total: total, Pages: max(1, (total+per-1)/per), At: start/per + 1}
	last := 0
	for n := 1; n <= p.Pages; n++ {
		if p.Pages > 7 && n > 1 && n < p.Pages && (n < p.At-2 || n > p.At+2) {
			continue
		}
		p.Numbers = append(p.Numbers, ecoNumber{Number: n, URL: url(n), Current: n == p.At, Gap: n > last+1})
		last = n
	}
	if p.At > 1 {
		p.Previous = url(p.At - 1)
	}
	if p.At < p.Pages {
		p.Next = url(p.At + 1)
	}
	return p
}

// Many reports whether there is more than one page.
func (p ecoPager) Many() bool { return p.Pages > 1 }

// ecoMonth is the sheet of a calendar: a month, or a week of it.
type ecoMonth struct {
	Date, Before, After time.Time // days of this month, the one before and the one after
	Weeks               []ecoWeek
}

type ecoWeek struct {
	First time.Time
	Days  []ecoDay
}

type ecoDay struct {
	Date    time.Time
	Members []*ecoMember // whose birthday it is
}

// month makes the sheet of the month that a day lies in; only its week if one asks for that.
func (d *discussion) month(day time.Time, week bool) ecoMonth {
	first := day.AddDate(0, 0, 1-day.Day())
	m := ecoMonth{Date: day, Before: first.AddDate(0, -1, 0), After: first.AddDate(0, 1, 0)}
	from, to := first, m.After
	if week {
		from = day.AddDate(0, 0, -int(day.Weekday()))
		to = from.AddDate(0, 0, 7)
	}
	for from = from.AddDate(0, 0, -int(from.Weekday())); from.Before(to); from = from.AddDate(0, 0, 7) {
		w := ecoWeek{First: from}
		for i := range 7 {
			date := from.AddDate(0, 0, i)
			w.Days = append(w.Days, ecoDay{Date: date, Members: d.days[date.Format("01-02")]})
		}
		m.Weeks = append(m.Weeks, w)
	}
	return m
}
