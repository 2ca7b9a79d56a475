package webworld

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
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

// NewManners is a world in which a crawler that is cut off at any moment is easily impolite: sites with a Crawl-delay, slow
// pages, URLs that robots.txt refuses, sites of which the first claims are refused as a whole, hosts that share an
// address, and a robots.txt at another address. Options.Scale multiplies the pages of the sites without a Crawl-delay.
func NewManners(o Options) *World {
	o = o.withDefaults()
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
	p := &planner{next: o.FirstIP}
	for _, s := range plan {
		if s.on == "" {
			p.add(s.host, "manners")
		} else {
			p.addOn(s.on, s.host, "manners")
		}
	}
	return newWorld(o, p.sites, func(b *builder) {
		b.topic = []string{"raven", "ravens", "corvid", "crow"}
		for _, s := range plan {
			writeManners(b, b.sites[s.host], s)
		}
		b.finish()
	})
}

func writeManners(b *builder, s *site, plan mannersSite) {
	rs := rules{delay: plan.delay, lines: []rule{disallow("/refused/")}}
	if plan.lender == "" {
		s.setRobots(rs, "")
	} else {
		s.rules = rs
		s.addRobots("/robots.txt", &resource{
			Page:   Page{Status: http.StatusMovedPermanently},
			header: http.Header{"Location": {b.sites[plan.lender].base + "/robots.txt"}},
			body:   [][]byte{[]byte("elsewhere\n")},
		})
	}
	var links []entry
	for n := range plan.pages {
		links = append(links, entry{Title: "Raven " + strconv.Itoa(n), URL: mannersPath(n)})
	}
	for n := range plan.refused {
		path := fmt.Sprintf("/refused/ravens-%d.html", n)
		links = append(links, entry{Title: "All ravens, corvids and crows " + strconv.Itoa(n), URL: path})
		s.addHTML(path, "page", true, nil)
		b.seeds = append(b.seeds, s.base+path)
	}
	b.seeds = append(b.seeds, s.base+"/")
	for n := range plan.pages {
		r := b.random(s, "page %d", n)
		view := plainView{Title: links[n].Title, Paragraphs: b.lib.paragraphs(r, ravens, 2), Links: links[n : n+1]}
		if n == 0 {
			view.Links = links
		}
		s.addHTML(mannersPath(n), "page", true, b.render("plain", view)).slow = plan.slow
	}
}

func mannersPath(n int) string {
	if n == 0 {
		return "/"
	}
	return "/ravens/" + strconv.Itoa(n) + ".html"
}
