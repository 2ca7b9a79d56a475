// Package tree is a web on which a crawler that loses a link loses pages: one link leads to each page, often from another host. Pages have requisites.
package tree

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// Groups is the number of groups of hosts. Links do not leave a group, so that crawls of some groups each know what they must find.
const Groups = 3

// The shape of a tree.
const (
	children    = 4  // of a page, before it is known on which hosts they are
	delayed     = 7  // every so many hosts one has a Crawl-delay, and a fifth of the pages
	slow        = 5  // one has pages that take slowTime
	sharing     = 3  // one lies at the address of the host before it, which is of another group
	refused     = 10 // one page links to a page that robots.txt disallows
	crawlDelay  = time.Second
	slowTime    = 300 * time.Millisecond
	delayedPart = 5
	pictured    = 8  // one page has an image of its own
	borrowing   = 16 // one has an image at another host
)

// New is a world of hosts with so many pages each, the front page among them. Each host is a pay-level domain; a third of them have no
// address of their own. The front pages are the seeds. Every other page is linked once: half of them from their own host, half from
// another host of the group. Some hosts have a Crawl-delay, some slow pages, and some pages link to what robots.txt disallows.
//
// Each host has some pages to which nothing leads, which are not among World.Pages: see Unlinked.
//
// All pages of a host share a style sheet, which leads to another one and to images; some have images of their own, at their host or at another one of the
// group. Those of a group have one image in common.
func New(o webworld.Options, hosts, pages int) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	for h := range hosts {
		if h%sharing == sharing-1 {
			p.AddOn(hostName(h-1), hostName(h), "tree")
		} else {
			p.Add(hostName(h), "tree")
		}
	}
	return webworld.New(o, p.Sites, func(b *webworld.Builder) { build(b, pages) })
}

func hostName(h int) string { return fmt.Sprintf("tree%03d.example", h) }

// Group is the group of a host by its place in World.Sites.
func Group(host int) int { return host % Groups }

func pagesOf(h, pages int) int {
	if h%delayed == delayed-1 {
		return max(1, pages/delayedPart)
	}
	return pages
}

func build(b *webworld.Builder, pages int) {
	links := make([][][]webworld.Entry, len(b.Hosts)) // by host and page
	for h := range b.Hosts {
		links[h] = make([][]webworld.Entry, pagesOf(h, pages))
	}
	for h, s := range b.Hosts {
		for n := 1; n < pagesOf(h, pages); n++ {
			from, up := h, (n-1)/children
			if n%2 == 0 {
				from = other(h, n, up, pages, len(b.Hosts))
			}
			links[from][up] = append(links[from][up], webworld.Entry{Title: "Raven " + strconv.Itoa(n) + " of " + s.Host, URL: s.Base + path(n)})
		}
	}
	heads := make([]string, len(b.Hosts)) // of pages, with what all of a host share
	var truth []webworld.Page
	for h, s := range b.Hosts {
		rules := webworld.Rules{Lines: []webworld.Rule{webworld.Disallow("/private/")}}
		if h%delayed == delayed-1 {
			rules.Delay = crawlDelay
		}
		s.SetRobots(rules, "")
		b.Seeds = append(b.Seeds, s.Base+"/")
		truth = append(truth, look(s, h)...)
		heads[h] = fmt.Sprintf("<link rel=\"stylesheet\" href='/look/ravens.css'><link rel=\"icon\" href='%s'>", b.Hosts[Group(h)].Base+emblem)
	}
	for h, s := range b.Hosts {
		for n := range pagesOf(h, pages) {
			r := b.Random(s, "page %d", n)
			view := webworld.PlainView{Title: "Raven " + strconv.Itoa(n), Paragraphs: b.Text.Paragraphs(r, webworld.Ravens, 2), Links: links[h][n]}
			view.Head, view.Extra = template.HTML(heads[h]), template.HTML("")
			for _, image := range images(b, h, n) {
				truth = append(truth, image.Page)
				view.Extra += template.HTML("<img src='" + image.URL + "'>")
			}
			if n%refused == refused-1 {
				secret := &webworld.Resource{Page: webworld.Page{URL: s.Base + "/private" + path(n), Host: s.Host, Kind: "page", Status: http.StatusOK}}
				view.Links = append(view.Links, webworld.Entry{Title: "All ravens and crows", URL: secret.URL})
				truth = append(truth, secret.Page)
			}
			res := s.AddHTML(path(n), "page", true, b.Render("plain", view))
			if h%slow == slow-1 {
				res.Slow = slowTime
			}
			truth = append(truth, res.Page)
		}
	}
	for h, s := range b.Hosts {
		for n := range unlinked {
			view := webworld.PlainView{Title: "Hidden raven " + strconv.Itoa(n), Paragraphs: b.Text.Paragraphs(b.Random(s, "hidden %d", n), webworld.Ravens, 2), Head: template.HTML(heads[h])}
			s.AddHTML(hidden(n), "page", true, b.Render("plain", view))
		}
	}
	b.Topic = []string{"raven", "ravens", "corvid", "crow"}
	slices.SortFunc(truth, webworld.ByURL)
	b.Truth = func() []webworld.Page { return truth }
	b.Finish()
}

// unlinked is the number of pages of a host to which nothing leads.
const unlinked = 4

func hidden(n int) string { return "/hidden/" + strconv.Itoa(n) + ".html" }

// Unlinked are the URLs of the pages of a host to which nothing leads: a crawl has them if they are submitted. What they need other pages need, too.
func Unlinked(w *webworld.World, host string) (list []string) {
	for n := range unlinked {
		list = append(list, w.Host(host).Base+hidden(n))
	}
	return list
}

// Leaves are the URLs of pages of a host, in a world of hosts with so many pages each, that lead to nothing which other pages do not lead to: a crawl that lacks one lacks nothing else.
func Leaves(w *webworld.World, host string, pages int) (list []string) {
	for _, p := range w.Pages() {
		var n int
		if p.Host != host || p.Embed || !p.Allowed {
			continue
		}
		if _, err := fmt.Sscanf(p.URL, w.Host(host).Base+"/ravens/%d.html", &n); err != nil {
			continue
		}
		if children*n+1 >= pages && n%pictured != 1 && n%borrowing != 3 && n%refused != refused-1 {
			list = append(list, p.URL)
		}
	}
	return list
}

// emblem is the image that all pages of a group have, at its first host.
const emblem = "/look/emblem.png"

// look adds the requisites that all pages of a host share.
func look(s *webworld.Host, h int) (truth []webworld.Page) {
	for _, r := range []struct{ uri, kind, body string }{
		{"/look/ravens.css", "text/css", "@import 'base.css'; h1 { background: url(nest.png) }"},
		{"/look/base.css", "text/css", "body { background: url('/look/moved.png') }"},
		{"/look/nest.png", "image/png", "the nest at " + s.Host},
		{"/look/sky.png", "image/png", "the sky over " + s.Host},
	} {
		truth = append(truth, add(s, r.uri, r.kind, r.body).Page)
	}
	truth = append(truth, embedded(s.Redirect("/look/moved.png", http.StatusFound, "/look/sky.png")).Page)
	if h < Groups {
		truth = append(truth, add(s, emblem, "image/png", "the emblem of the group").Page)
	}
	return truth
}

// images adds the images that a page alone has.
func images(b *webworld.Builder, h, n int) (list []*webworld.Resource) {
	s := b.Hosts[h]
	if n%pictured == 1 {
		list = append(list, add(s, fmt.Sprintf("/ravens/%d.png", n), "image/png", fmt.Sprint("raven ", n, " of ", s.Host)))
	}
	if n%borrowing == 3 {
		to := b.Hosts[Group(h)+(h/Groups+1)%inGroup(h, len(b.Hosts))*Groups]
		list = append(list, add(to, fmt.Sprintf("/of/%s/%d.png", s.Host, n), "image/png", fmt.Sprint("raven ", n, " seen from ", s.Host)))
	}
	return list
}

// add adds a requisite.
func add(s *webworld.Host, uri, contentType, body string) *webworld.Resource {
	res := embedded(s.AddHTML(uri, "requisite", false, []byte(body)))
	res.Header.Set("Content-Type", contentType)
	return res
}

func embedded(res *webworld.Resource) *webworld.Resource {
	res.Embed = true
	return res
}

// inGroup is the number of hosts in the group of a host.
func inGroup(h, hosts int) int { return (hosts - Group(h) + Groups - 1) / Groups }

// other is a host of the group of h, if there is one, that has the page up.
func other(h, n, up, pages, hosts int) int {
	of := inGroup(h, hosts)
	for step := 1 + n%7; ; step++ {
		if to := Group(h) + (h/Groups+step)%of*Groups; up < pagesOf(to, pages) {
			return to
		}
	}
}

func path(n int) string {
	if n == 0 {
		return "/"
	}
	return "/ravens/" + strconv.Itoa(n) + ".html"
}
