// Package manners has webs on which a crawler is easily impolite: hosts with delays, rules and shared addresses.
package manners

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// mannersSite plans a site of the world of manners.
type mannersSite struct {
	host    string
	on      string        // the host whose address it shares; empty: it has its own
	pages   int           // that may be fetched, the front page among them
	refused int           // that robots.txt disallows; seeds are these alone, so that the first claims are all refused
	delay   time.Duration // Crawl-delay
	slow    time.Duration // from the first byte of a page to its last
	lender  string        // the host that its robots.txt is redirected to
}

// The Crawl-delay of the world of manners, and how long its slow pages take.
const (
	mannersDelay = time.Second
	mannersSlow  = 700 * time.Millisecond
)

// New is a world on which a crawler that may be killed at any moment is easily impolite: sites with a Crawl-delay, slow
// pages, URLs that robots.txt disallows, sites whose first claims robots.txt disallows completely, hosts that share an
// address, and a robots.txt at another address. Options.Scale multiplies the pages of the sites without a Crawl-delay.
func New(o webworld.Options) *webworld.World {
	o = o.WithDefaults()
	plan := []mannersSite{
		{host: "plain.test", pages: 14 * o.Scale},
		{host: "slow.test", pages: 8 * o.Scale, slow: mannersSlow},
		{host: "refusing.test", pages: 10 * o.Scale, refused: 12},
		{host: "delayed.test", pages: 8, delay: mannersDelay},
		{host: "norns.test", pages: 6, refused: 14, delay: mannersDelay},
		{host: "slow-norns.test", pages: 5, refused: 4, delay: mannersDelay, slow: mannersSlow},
		{host: "shared-one.test", pages: 8 * o.Scale, refused: 3},
		{host: "shared-two.test", on: "shared-one.test", pages: 5, refused: 5, delay: mannersDelay},
		{host: LenderHost, pages: 8 * o.Scale},
		{host: BorrowerHost, pages: 6, refused: 4, lender: LenderHost},
	}
	p := planOf(o, plan)
	return webworld.New(o, p.Sites, func(b *webworld.Builder) {
		b.Topic = []string{"raven", "ravens", "corvid", "crow"}
		for _, s := range plan {
			writeManners(b, b.ByName[s.host], s)
		}
		b.Finish()
	})
}

func planOf(o webworld.Options, plan []mannersSite) *webworld.Planner {
	p := &webworld.Planner{Next: o.FirstIP}
	for _, s := range plan {
		if s.on == "" {
			p.Add(s.host, "manners")
		} else {
			p.AddOn(s.on, s.host, "manners")
		}
	}
	return p
}

// setRules gives a site its robots.txt.
func setRules(b *webworld.Builder, s *webworld.Host, plan mannersSite) {
	rs := webworld.Rules{Delay: plan.delay, Lines: []webworld.Rule{webworld.Disallow("/refused/")}}
	if plan.lender == "" {
		s.SetRobots(rs, "")
		return
	}
	s.Rules = rs
	s.AddRobots("/robots.txt", &webworld.Resource{
		Page:   webworld.Page{Status: http.StatusMovedPermanently},
		Header: http.Header{"Location": {b.ByName[plan.lender].Base + "/robots.txt"}},
		Body:   [][]byte{[]byte("elsewhere\n")},
	})
}

func refusedPath(n int) string { return fmt.Sprintf("/refused/ravens-%d.html", n) }

func writeManners(b *webworld.Builder, s *webworld.Host, plan mannersSite) {
	setRules(b, s, plan)
	var links []webworld.Entry
	for n := range plan.pages {
		links = append(links, webworld.Entry{Title: "Raven " + strconv.Itoa(n), URL: mannersPath(n)})
	}
	for n := range plan.refused {
		path := refusedPath(n)
		links = append(links, webworld.Entry{Title: "All ravens, corvids and crows " + strconv.Itoa(n), URL: path})
		s.AddHTML(path, "page", true, nil)
		b.Seeds = append(b.Seeds, s.Base+path)
	}
	b.Seeds = append(b.Seeds, s.Base+"/")
	for n := range plan.pages {
		r := b.Random(s, "page %d", n)
		view := webworld.PlainView{Title: links[n].Title, Paragraphs: b.Text.Paragraphs(r, webworld.Ravens, 2), Links: links[n : n+1]}
		if n == 0 {
			view.Links = links
		}
		s.AddHTML(mannersPath(n), "page", true, b.Render("plain", view)).Slow = plan.slow
	}
}

func mannersPath(n int) string {
	if n == 0 {
		return "/"
	}
	return "/ravens/" + strconv.Itoa(n) + ".html"
}
