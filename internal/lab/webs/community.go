package webs

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/internal/recorded"
)

// community is a synthetic forum whose texts say little of their boards: boards share words with each other, posts quote and end in signatures, users write in several
// boards. What its pages link to says more. The parameters are drawn by the seed.
type community struct {
	board
	users   []member
	written map[int][]int // threads by user

	topical    float64 // of the words of a post, on average
	titled     float64 // of the words of a title
	borrowed   float64 // of a board's words that another board has, too
	wander     float64 // of the posts of a user that are in other boards than their own
	quoting    float64 // posts that quote
	signing    float64 // users with a signature
	crossing   float64 // similar threads of other boards
	menu       bool    // every page links to all boards
	crumbs     bool    // a thread links to its board
	profiles   bool    // a user's page lists threads
	replies    bool    // each thread has a page to reply, which holds nothing
	messages   bool    // each user has a page to write to them, which holds nothing
	latest     int     // threads in the margin of lists
	rows       int     // threads of a page of a list
	members    int     // users whose home is a board
	perProfile int
}

// member is a user.
type member struct {
	home      int // board
	signature string
}

func newCommunity(boards int, seed uint64) *recorded.Web {
	c := &community{board: board{web: recorded.New("community"), random: rand.New(rand.NewPCG(seed, 2))}, written: map[int][]int{}}
	between := func(low, high float64) float64 { return low + (high-low)*c.random.Float64() }
	c.topical, c.titled, c.borrowed = between(.01, .05), between(.05, .25), between(.3, .8)
	c.wander, c.quoting, c.signing, c.crossing = between(.1, .4), between(.1, .4), between(.2, .6), between(.2, .7)
	c.menu, c.crumbs = c.random.IntN(3) > 0, c.random.IntN(4) > 0
	c.profiles, c.replies, c.latest, c.perProfile = c.random.IntN(3) > 0, c.random.IntN(2) == 0, 5*c.random.IntN(3), 5+c.random.IntN(15)
	c.messages, c.rows, c.members = c.random.IntN(2) == 0, 20+c.random.IntN(40), 40+c.random.IntN(120)
	c.common = c.words(commonWords)
	for range boards {
		c.own = append(c.own, c.words(boardWords))
	}
	for i := range c.own {
		for w := 1; w < boardWords; w++ { // the first is the board's name
			if c.random.Float64() < c.borrowed {
				c.own[i][w] = c.own[c.random.IntN(boards)][c.random.IntN(boardWords)]
			}
		}
	}
	for i := range boards {
		n := boardThreads + c.random.IntN(3*boardThreads)
		var list []int
		for range n {
			c.titles, c.of = append(c.titles, c.mixed(i, 3+c.random.IntN(4), c.titled)), append(c.of, i)
			list = append(list, len(c.titles)-1)
		}
		c.threads = append(c.threads, list)
		for range c.members {
			m := member{home: i}
			if c.random.Float64() < c.signing {
				m.signature = c.mixed(c.random.IntN(boards), 4+c.random.IntN(12), .2)
			}
			c.users = append(c.users, m)
		}
	}
	c.index()
	for i := range c.titles {
		c.thread(i)
	}
	for i := range c.threads {
		c.list(i)
	}
	for i := range c.users {
		c.profile(i)
	}
	topicsOfBoards(c.web, boards)
	return c.web
}

func (c *community) name(of int) string { return c.own[of][0] }

func (c *community) page(path, label, title, content string) {
	var nav strings.Builder
	if c.menu {
		for i := range c.threads {
			fmt.Fprintf(&nav, `<li><a href="/viewforum.php?f=%d">%s</a></li>`, 10+i, c.name(i))
		}
	}
	body := fmt.Sprintf(`<html lang="en"><head><title>%s</title></head><body><ul class="nav"><li><a href="/">Home</a></li>%s</ul><div class="content"><h1>%s</h1>%s</div></body></html>`, title, nav.String(), title, content)
	p, _ := recorded.NewPage(forumHost+path, http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte(body))
	p.Label = label
	c.web.Add(p)
}

func (c *community) index() {
	var b strings.Builder
	for i := range c.threads {
		fmt.Fprintf(&b, `<div class="row"><a href="/viewforum.php?f=%d">%s</a> %s</div>`, 10+i, c.name(i), c.mixed(i, 8, c.topical))
	}
	c.page("/", "", "All boards", b.String())
}

// author draws who writes in a board.
func (c *community) author(of int) int {
	if c.random.Float64() < c.wander {
		return c.random.IntN(len(c.users))
	}
	return of*c.members + int(float64(c.members)*c.random.Float64()*c.random.Float64())
}

func (c *community) link(t int) string {
	return fmt.Sprintf(`<a href="/viewtopic.php?t=%d">%s</a>`, t, c.titles[t])
}

func (c *community) list(of int) {
	threads := c.threads[of]
	for n := 0; n*c.rows < len(threads); n++ {
		var b strings.Builder
		for _, t := range threads[n*c.rows : min((n+1)*c.rows, len(threads))] {
			fmt.Fprintf(&b, `<div class="row">%s <a href="/member.php?u=%d">%s</a></div>`, c.link(t), c.author(of), c.word(c.common))
		}
		if n > 0 {
			fmt.Fprintf(&b, `<a class="page" href="%s">previous</a>`, c.listPath(of, n-1))
		}
		if (n+1)*c.rows < len(threads) {
			fmt.Fprintf(&b, `<a class="page" href="%s">next</a>`, c.listPath(of, n+1))
		}
		for range c.latest {
			fmt.Fprintf(&b, `<div class="latest">%s</div>`, c.link(c.random.IntN(len(c.titles))))
		}
		c.page(c.listPath(of, n), fmt.Sprintf("board %d", of), c.name(of), b.String())
	}
}

func (c *community) listPath(of, n int) string {
	if n == 0 {
		return fmt.Sprintf("/viewforum.php?f=%d", 10+of)
	}
	return fmt.Sprintf("/viewforum.php?f=%d&start=%d", 10+of, n*c.rows)
}

func (c *community) thread(t int) {
	of, pages := c.of[t], 1
	if c.random.IntN(4) == 0 {
		pages = 2 + c.random.IntN(2)
	}
	label, last := fmt.Sprintf("board %d", of), ""
	for n := range pages {
		var b strings.Builder
		if c.crumbs {
			fmt.Fprintf(&b, `<div class="crumbs"><a href="/viewforum.php?f=%d">%s</a></div>`, 10+of, c.name(of))
		}
		for range 1 + c.random.IntN(threadPosts) {
			by := c.author(of)
			c.written[by] = append(c.written[by], t)
			fmt.Fprintf(&b, `<div class="post"><a href="/member.php?u=%d">%s</a>`, by, c.word(c.common))
			if last != "" && c.random.Float64() < c.quoting {
				fmt.Fprintf(&b, `<blockquote>%s</blockquote>`, last)
			}
			last = c.mixed(of, 10+c.random.IntN(50), c.topical*2*c.random.Float64())
			fmt.Fprintf(&b, `<p>%s</p><p class="signature">%s</p></div>`, last, c.users[by].signature)
		}
		for range 4 {
			other := c.threads[of][c.random.IntN(len(c.threads[of]))]
			if c.random.Float64() < c.crossing {
				other = c.random.IntN(len(c.titles))
			}
			fmt.Fprintf(&b, `<div class="similar">%s</div>`, c.link(other))
		}
		if c.replies {
			fmt.Fprintf(&b, `<a class="reply" href="/posting.php?mode=reply&amp;t=%d">reply</a>`, t)
		}
		path := fmt.Sprintf("/viewtopic.php?t=%d", t)
		if n+1 < pages {
			fmt.Fprintf(&b, `<a class="page" href="%s&amp;start=%d">next</a>`, path, (n+1)*threadPosts)
		}
		if n > 0 {
			path = fmt.Sprintf("%s&start=%d", path, n*threadPosts)
		}
		c.page(path, label, c.titles[t], b.String())
	}
	if c.replies {
		c.page(fmt.Sprintf("/posting.php?mode=reply&t=%d", t), "", "Reply", c.titles[t]+" "+c.mixed(-1, 6, 0))
	}
}

func (c *community) profile(u int) {
	var b strings.Builder
	b.WriteString(c.mixed(-1, 12, 0))
	if threads := c.written[u]; c.profiles && len(threads) > 0 {
		for range c.perProfile {
			fmt.Fprintf(&b, `<div class="row">%s</div>`, c.link(threads[c.random.IntN(len(threads))]))
		}
	}
	if c.messages {
		path := fmt.Sprintf("/private.php?do=newpm&u=%d", u)
		fmt.Fprintf(&b, `<a href="%s">message</a>`, path)
		c.page(path, "", "Message", c.mixed(-1, 6, 0))
	}
	c.page(fmt.Sprintf("/member.php?u=%d", u), "", fmt.Sprintf("user %d", u), b.String())
}
