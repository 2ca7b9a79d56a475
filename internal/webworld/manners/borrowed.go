package manners

import (
	"net/http"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// The hosts of the world of borrowed rules: each is a pay-level domain on an IP of its own.
const (
	LenderHost   = "lender.test"
	BorrowerHost = "borrower.test"
)

// NewBorrowed is a world of two sites with an IP each. The robots.txt of the borrower is a redirect to the
// robots.txt of the lender at the other IP, whose rules therefore hold for both: both disallow /private/, and
// each front page links to pages there. Each site has so many allowed pages, including its front page, and half
// as many disallowed ones. delay is the Crawl-delay of the rules.
func NewBorrowed(o webworld.Options, pages int, delay time.Duration) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	p.Add(LenderHost, "forbidden")
	p.Add(BorrowerHost, "forbidden")
	return webworld.New(o, p.Sites, func(b *webworld.Builder) {
		lender, borrower := b.ByName[LenderHost], b.ByName[BorrowerHost]
		rules := webworld.Rules{Delay: delay, Lines: []webworld.Rule{webworld.Disallow("/private/")}}
		lender.SetRobots(rules, "")
		borrower.Rules, borrower.CrawlDelay = rules, delay
		borrower.AddRobots("/robots.txt", &webworld.Resource{
			Page:   webworld.Page{Status: http.StatusMovedPermanently},
			Header: http.Header{"Location": {lender.Base + "/robots.txt"}},
			Body:   [][]byte{[]byte("elsewhere\n")},
		})
		for _, s := range b.Hosts {
			writeHalfPrivate(b, s, pages)
			b.Seeds = append(b.Seeds, s.Base+"/")
		}
		b.Topic = []string{"raven", "ravens", "corvid", "crow"}
		b.Finish()
	})
}

// writeHalfPrivate is a front page with links to all other pages, of which every third lies in /private/.
func writeHalfPrivate(b *webworld.Builder, s *webworld.Host, pages int) {
	front := webworld.PlainView{Title: s.Host, Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), webworld.Ravens, 1)}
	add := func(path string) {
		r := b.Random(s, "%s", path)
		title := b.Text.Title(r, webworld.Ravens)
		front.Links = append(front.Links, webworld.Entry{Title: title, URL: path})
		s.AddHTML(path, "page", true, b.Render("plain", webworld.PlainView{
			Title: title, Paragraphs: b.Text.Paragraphs(r, webworld.Ravens, 2), Links: []webworld.Entry{{Title: "Back", URL: "/"}},
		}))
	}
	for n := 1; n < pages; n++ {
		add("/public/" + strconv.Itoa(n) + ".html")
		if n%2 == 1 {
			add("/private/" + strconv.Itoa(n) + ".html")
		}
	}
	s.AddHTML("/", "list", true, b.Render("plain", front))
}
