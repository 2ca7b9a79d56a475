package webs

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/internal/recorded"
)

// The shape of a web with traps.
const (
	trapHosts   = 10 // irrelevant hosts for each relevant one
	trapDays    = 80 // pages of a calendar, a link away from the page before it
	topicPages  = 60 // of a relevant host
	otherPages  = 40 // of an irrelevant host, its calendar not counted
	listedPages = 10 // on a page of a host's list
)

// traps makes a web of relevant hosts, with ten irrelevant ones for each: each of those has a long calendar. Pages of the topic name its words.
// From each second page links lead to other hosts.
func traps(relevant int, seed uint64) *recorded.Web {
	w, random := recorded.New("traps"), rand.New(rand.NewPCG(seed, 2))
	f := &board{random: random}
	f.common = f.words(500)
	host := func(i int) string { return fmt.Sprintf("http://h%03d.example", i) }
	hosts := relevant * (1 + trapHosts)
	about := func(i int) bool { return i%(1+trapHosts) == 0 }
	add := func(i int, path, title, links string, is bool) {
		words := f.mixed(-1, 60, 0)
		if is {
			words += " raven roost raven " + f.mixed(-1, 10, 0)
		}
		body := fmt.Sprintf(`<html lang="en"><head><title>%s</title></head><body><p>%s</p>%s</body></html>`, title, words, links)
		p, _ := recorded.NewPage(host(i)+path, http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte(body))
		if p.Group = host(i); is {
			p.Label = Relevant
		}
		w.Add(p)
	}
	for i := range hosts {
		n := otherPages
		if about(i) {
			n = topicPages
		}
		for page := 0; page*listedPages < n; page++ {
			var links strings.Builder
			for k := page * listedPages; k < min((page+1)*listedPages, n); k++ {
				fmt.Fprintf(&links, `<li><a href="/p/%d">%s</a></li>`, k, f.mixed(-1, 3, 0))
			}
			fmt.Fprintf(&links, `<a href="/list/%d">more</a> <a href="/day/0">calendar</a>`, page+1)
			path := fmt.Sprintf("/list/%d", page)
			if page == 0 {
				path = "/"
			}
			add(i, path, f.mixed(-1, 3, 0), links.String(), about(i))
		}
		for k := range n {
			var links strings.Builder
			if k%2 == 0 {
				to := random.IntN(hosts)
				if about(i) && random.IntN(3) == 0 {
					to -= to % (1 + trapHosts)
				}
				fmt.Fprintf(&links, `<a href="%s/">%s</a>`, host(to), f.mixed(-1, 2, 0))
			}
			add(i, fmt.Sprintf("/p/%d", k), f.mixed(-1, 3, 0), links.String(), about(i))
		}
		for d := range trapDays {
			if !about(i) {
				add(i, fmt.Sprintf("/day/%d", d), "calendar", fmt.Sprintf(`<a href="/day/%d">next</a> <a href="/day/%d">next week</a>`, d+1, d+7), false)
			}
		}
	}
	first, _ := w.At(host(0) + "/")
	w.Seeds, w.Topics = []int{first}, []string{Relevant}
	return w
}
