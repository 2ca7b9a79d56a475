package webworld

import (
	"net/http"
	"strconv"
	"time"
)

// The hosts of the world of lent rules: each is a pay-level domain on an IP of its own.
const (
	LenderHost   = "lender.test"
	BorrowerHost = "borrower.test"
)

// NewLent is a world of two sites on an IP each. The robots.txt of the borrower is a redirect to the
// robots.txt of the lender, at the other IP, whose rules so hold for both: both disallow /private/, and
// each front page links to pages in it. Each site has so many pages that may be fetched, its front page
// among them, and half as many that may not. A delay is the rules' Crawl-delay.
func NewLent(o Options, pages int, delay time.Duration) *World {
	o = o.withDefaults()
	p := &planner{next: o.FirstIP}
	p.add(LenderHost, "forbidden")
	p.add(BorrowerHost, "forbidden")
	return newWorld(o, p.sites, func(b *builder) {
		lender, borrower := b.sites[LenderHost], b.sites[BorrowerHost]
		lent := rules{delay: delay, lines: []rule{disallow("/private/")}}
		lender.setRobots(lent, "")
		borrower.rules, borrower.CrawlDelay = lent, delay
		borrower.addRobots("/robots.txt", &resource{
			Page:   Page{Status: http.StatusMovedPermanently},
			header: http.Header{"Location": {lender.base + "/robots.txt"}},
			body:   [][]byte{[]byte("elsewhere\n")},
		})
		for _, s := range b.order {
			writeHalfPrivate(b, s, pages)
			b.seeds = append(b.seeds, s.base+"/")
		}
		b.topic = []string{"raven", "ravens", "corvid", "crow"}
		b.finish()
	})
}

// writeHalfPrivate is a front page with links to all other pages, of which every third lies in /private/.
func writeHalfPrivate(b *builder, s *site, pages int) {
	front := plainView{Title: s.Host, Paragraphs: b.lib.paragraphs(b.random(s, "front"), ravens, 1)}
	add := func(path string) {
		r := b.random(s, "%s", path)
		title := b.lib.title(r, ravens)
		front.Links = append(front.Links, entry{Title: title, URL: path})
		s.addHTML(path, "page", true, b.render("plain", plainView{
			Title: title, Paragraphs: b.lib.paragraphs(r, ravens, 2), Links: []entry{{Title: "Back", URL: "/"}},
		}))
	}
	for n := 1; n < pages; n++ {
		add("/public/" + strconv.Itoa(n) + ".html")
		if n%2 == 1 {
			add("/private/" + strconv.Itoa(n) + ".html")
		}
	}
	s.addHTML("/", "list", true, b.render("plain", front))
}
