package webs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/internal/recorded"
)

// The shape of a synthetic forum.
const (
	boardThreads = 60   // of the smallest board; the largest has four times as many
	listed       = 25   // threads of a page of a board's list
	threadPosts  = 10   // of a page of a thread, at most
	boardWords   = 80   // that a board has more often than the others
	commonWords  = 3000 // of all boards
	onTopic      = 0.12 // of the words of a post are of its board, on average
	inTitle      = 0.25 // of the words of a title
	forumUsers   = 400
	crossThreads = 0.35 // of the similar threads below a thread are of another board
)

// forum makes a synthetic forum: one host, boards as topics. Its URLs have numbers and no words, every page links to all boards, posts link to their authors, and a
// thread links to threads of other boards. Boards differ by a few words that not every post has.
func forum(boards int, seed uint64) *recorded.Web {
	f := &board{web: recorded.New("forum"), random: rand.New(rand.NewPCG(seed, 1))}
	f.common = f.words(commonWords)
	for range boards {
		f.own = append(f.own, f.words(boardWords))
		n := boardThreads + f.random.IntN(3*boardThreads)
		var list []int
		for range n {
			f.titles = append(f.titles, f.title(len(f.own)-1))
			f.of = append(f.of, len(f.own)-1)
			list = append(list, len(f.titles)-1)
		}
		f.threads = append(f.threads, list)
	}
	f.index()
	for i := range f.threads {
		f.list(i)
	}
	for i := range f.titles {
		f.thread(i)
	}
	for i := range forumUsers {
		f.page(fmt.Sprintf("/u/%d", i), "", fmt.Sprintf("user %d", i), f.text(-1, 12))
	}
	topicsOfBoards(f.web, boards)
	return f.web
}

// topicsOfBoards makes the boards the topics of a forum, and its first page the seed.
func topicsOfBoards(web *recorded.Web, boards int) {
	web.Seeds = []int{0}
	for i := range boards {
		web.Topics = append(web.Topics, fmt.Sprintf("board %d", i))
	}
}

// board is a forum while it is made.
type board struct {
	web     *recorded.Web
	random  *rand.Rand
	common  []string
	own     [][]string // words by board
	threads [][]int    // by board
	titles  []string   // by thread
	of      []int      // board by thread
}

const forumHost = "http://forum.example"

// words invents words.
func (f *board) words(n int) []string {
	const consonants, vowels = "bdfghklmnprstvz", "aeiou"
	list := make([]string, n)
	for i := range list {
		var w strings.Builder
		for range 2 + f.random.IntN(3) {
			w.WriteByte(consonants[f.random.IntN(len(consonants))])
			w.WriteByte(vowels[f.random.IntN(len(vowels))])
		}
		list[i] = w.String() + "k"
	}
	return list
}

// word draws a word, the first ones of a list more often than the last (Zipf).
func (f *board) word(list []string) string {
	return list[min(int(math.Exp(f.random.Float64()*math.Log(float64(len(list)+1))))-1, len(list)-1)]
}

func (f *board) text(of, n int) string { return f.mixed(of, n, onTopic*2*f.random.Float64()) }

func (f *board) title(of int) string { return f.mixed(of, 3+f.random.IntN(4), inTitle) }

func (f *board) mixed(of, n int, share float64) string {
	words := make([]string, n)
	for i := range words {
		if words[i] = f.word(f.common); of >= 0 && f.random.Float64() < share {
			words[i] = f.word(f.own[of])
		}
	}
	return strings.Join(words, " ")
}

func (f *board) page(path, label, title, content string) {
	var nav strings.Builder
	for i := range f.threads {
		fmt.Fprintf(&nav, `<li><a href="/f/%d/1">%s</a></li>`, 10+i, f.own[i][0])
	}
	body := fmt.Sprintf(`<html lang="en"><head><title>%s</title></head><body><ul class="nav"><li><a href="/">Home</a></li>%s</ul><div class="content"><h1>%s</h1>%s</div></body></html>`, title, nav.String(), title, content)
	p, _ := recorded.NewPage(forumHost+path, http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte(body))
	p.Label = label
	f.web.Add(p)
}

func (f *board) index() {
	var b strings.Builder
	for i := range f.threads {
		fmt.Fprintf(&b, `<div class="row"><a href="/f/%d/1">%s</a> %s</div>`, 10+i, f.own[i][0], f.text(i, 8))
	}
	f.page("/", "", "All boards", b.String())
}

func (f *board) list(of int) {
	threads := f.threads[of]
	for n := 0; n*listed < len(threads); n++ {
		var b strings.Builder
		for _, t := range threads[n*listed : min((n+1)*listed, len(threads))] {
			fmt.Fprintf(&b, `<div class="row"><a href="/t/%d/1">%s</a> <a href="/u/%d">%s</a></div>`, t, f.titles[t], f.random.IntN(forumUsers), f.word(f.common))
		}
		if n > 0 {
			fmt.Fprintf(&b, `<a class="page" href="/f/%d/%d">previous</a>`, 10+of, n)
		}
		if (n+1)*listed < len(threads) {
			fmt.Fprintf(&b, `<a class="page" href="/f/%d/%d">next</a>`, 10+of, n+2)
		}
		f.page(fmt.Sprintf("/f/%d/%d", 10+of, n+1), fmt.Sprintf("board %d", of), f.own[of][0], b.String())
	}
}

func (f *board) thread(t int) {
	of, pages := f.of[t], 1
	if f.random.IntN(4) == 0 {
		pages = 2 + f.random.IntN(2)
	}
	for n := 1; n <= pages; n++ {
		var b strings.Builder
		for range 1 + f.random.IntN(threadPosts) {
			fmt.Fprintf(&b, `<div class="post"><a href="/u/%d">%s</a><p>%s</p></div>`, f.random.IntN(forumUsers), f.word(f.common), f.text(of, 10+f.random.IntN(50)))
		}
		for range 4 {
			other := f.threads[of][f.random.IntN(len(f.threads[of]))]
			if f.random.Float64() < crossThreads {
				other = f.random.IntN(len(f.titles))
			}
			fmt.Fprintf(&b, `<div class="similar"><a href="/t/%d/1">%s</a></div>`, other, f.titles[other])
		}
		if n < pages {
			fmt.Fprintf(&b, `<a class="page" href="/t/%d/%d">next</a>`, t, n+1)
		}
		f.page(fmt.Sprintf("/t/%d/%d", t, n), fmt.Sprintf("board %d", of), f.titles[t], b.String())
	}
}
