// Package faults has webs that can harm a crawler: broken servers (New), and pages that take much memory to parse
// (NewHeavy).
package faults

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// fault is one way for a server to be broken. Its host is <name>.fault.test.
type fault struct {
	name   string
	whole  bool                                    // the answer is a complete HTTP message with status 200
	answer webworld.RawAnswer                      // to /fault
	robots webworld.RawAnswer                      // to /robots.txt, instead of a good one; may be nil
	setup  func(*webworld.Builder, *webworld.Host) // adds more pages; may be nil
	change func(*webworld.Resource)                // of /fault; may be nil
}

// New is a world of broken servers, with a host and an IP for each fault. The front page of a host is a seed. It links to
// /fault, which has the fault, and to /after, a good page, which shows whether the crawler survives. Where robots.txt
// has the fault, /fault is a good page. The faults:
//
//	drip         a body of one byte every 100 ms, forever
//	flood        a body as fast as it can be sent, forever
//	bomb         10 MB of gzip that hold 10 GB
//	bigheader    a response header of 10 MB
//	manylinks    100,000 links
//	loop         redirects in a circle
//	metadata     a redirect to http://169.254.169.254/latest/meta-data
//	reset        the connection is reset in mid-body
//	mute         the request is accepted and never answered
//	short        Content-Length promises more than comes
//	badchunk     a chunk size that is no number
//	garbage      bytes that are no HTTP
//	interim      two 103 Early Hints before a good response
//	hangup       the connection is closed without a byte
//	nothing      Content-Length: 0, and a 204 at /nocontent
//	cutgzip      a gzip stream that breaks off, with the right Content-Length
//	deep         100,000 elements inside each other
//	binary       NUL bytes and broken UTF-8
//	bigrobots    a robots.txt of 5 MB; what its first line disallows is linked
//	robotshops   a robots.txt behind six redirects
//	slowrobots   a robots.txt that takes about ten seconds
//	muterobots   a robots.txt that never comes, so that nothing may be fetched
func New(o webworld.Options) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	faults := allFaults()
	for _, f := range faults {
		p.Add(Host(f.name), "fault")
	}
	return webworld.New(o, p.Sites, func(b *webworld.Builder) {
		for _, f := range faults {
			f.build(b, b.ByName[Host(f.name)])
		}
		b.Finish()
	})
}

func Host(name string) string { return name + ".fault.test" }

func allFaults() []fault {
	return []fault{
		{name: "drip", answer: drip},
		{name: "flood", answer: flood},
		{name: "bomb", whole: true, answer: bomb},
		{name: "bigheader", answer: bigHeader},
		{name: "manylinks", change: func(res *webworld.Resource) {
			res.Body, res.Endless = [][]byte{manyLinks()}, true
		}},
		{name: "loop", setup: loop},
		{name: "metadata", setup: metadata},
		{name: "reset", answer: reset},
		{name: "mute", answer: mute},
		{name: "short", answer: raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<html><p>This is all there is.</p>")},
		{name: "badchunk", answer: raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<html\r\nraven\r\n>\r\n")},
		{name: "garbage", answer: raw("\x00\x16\x03\xff\xfe SSH-2.0-raven\r\n\r\n\x80\x81\x82 200 nothing at all\r\n")},
		{name: "interim", whole: true, answer: interim},
		{name: "hangup", answer: raw("")},
		{name: "nothing", setup: nothing},
		{name: "cutgzip", whole: true, answer: cutGzip},
		{name: "deep", change: html200(deep)},
		{name: "binary", change: html200(binaryBody)},
		{name: "bigrobots", setup: bigRobots},
		{name: "robotshops", setup: robotsHops},
		{name: "slowrobots", robots: slowRobots},
		{name: "muterobots", robots: mute},
	}
}

func (f fault) build(b *webworld.Builder, s *webworld.Host) {
	s.SetRobots(webworld.Rules{Lines: []webworld.Rule{webworld.Disallow("/hidden")}}, "")
	if f.robots != nil {
		s.Resources["/robots.txt"].Raw = f.robots
	}
	if f.name == "muterobots" {
		s.Rules, s.RobotsCode = webworld.Rules{Closed: true}, 0
	}
	front := webworld.PlainView{Title: f.name, Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), webworld.TheWorld, 1), Links: []webworld.Entry{{Title: "Fault", URL: "/fault"}, {Title: "After", URL: "/after"}}}
	if f.setup != nil {
		f.setup(b, s)
	}
	for _, uri := range s.Paths {
		if uri != "/fault" {
			front.Links = append(front.Links, webworld.Entry{Title: "More", URL: uri})
		}
	}
	s.AddHTML("/", "fault", false, b.Render("plain", front))
	after := webworld.PlainView{Title: "After " + f.name, Paragraphs: b.Text.Paragraphs(b.Random(s, "after"), webworld.TheWorld, 2)}
	s.AddHTML("/after", "page", false, b.Render("plain", after))
	b.Seeds = append(b.Seeds, s.Base+"/")
	if s.Resources["/fault"] != nil {
		return
	}
	res := s.AddHTML("/fault", "fault", false, []byte("<title>No fault here</title><p>The fault is in robots.txt.</p>\n"))
	res.Raw = f.answer
	if f.answer != nil && !f.whole {
		res.Status = 0
	}
	if f.change != nil {
		f.change(res)
	}
}

// html200 makes a strange page with a correct response.
func html200(body func() []byte) func(*webworld.Resource) {
	return func(res *webworld.Resource) { res.Body = [][]byte{body()} }
}

func manyLinks() []byte {
	var b strings.Builder
	b.WriteString("<html><head><title>Many links</title></head><body>\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "<a href=\"/link/%d\">%d</a>\n", i, i)
	}
	b.WriteString("</body></html>\n")
	return []byte(b.String())
}

func deep() []byte {
	const levels = 100_000
	return []byte("<html><head><title>Deep</title></head><body>" + strings.Repeat("<div>", levels) +
		`<a href="/after">the bottom</a>` + strings.Repeat("</div>", levels) + "</body></html>\n")
}

func binaryBody() []byte {
	return []byte("<html><head><title>Bin\x00ary \xff\xfe</title></head><body>\x00\x00<p>broken \xc3\x28 \xe2\x82 \xf0\x9f text\x80</p>" +
		"<a href=\"/af\x00ter\">nul</a> <a href=\"/\xff\xc0\">bytes</a> <a href=\"/after\">after</a></body></html>\n\x00")
}

func loop(_ *webworld.Builder, s *webworld.Host) {
	s.Redirect("/fault", http.StatusFound, "/fault/2")
	s.Redirect("/fault/2", http.StatusMovedPermanently, "/fault/3")
	s.Redirect("/fault/3", http.StatusTemporaryRedirect, "/fault")
}

func metadata(_ *webworld.Builder, s *webworld.Host) {
	s.Redirect("/fault", http.StatusFound, "http://169.254.169.254/latest/meta-data")
}

func nothing(_ *webworld.Builder, s *webworld.Host) {
	s.AddHTML("/fault", "fault", false, nil)
	s.AddHTML("/nocontent", "fault", false, nil).Status = http.StatusNoContent
}

// bigRobots disallows /hidden in its first rule and, beyond the 500 KiB that RFC 9309 §2.5 demands to be
// read, nothing that exists.
func bigRobots(_ *webworld.Builder, s *webworld.Host) {
	s.AddHTML("/hidden", "page", false, []byte("<title>Hidden</title>\n"))
	var b strings.Builder
	b.WriteString(s.Robots)
	for i := 0; b.Len() < 5<<20; i++ {
		fmt.Fprintf(&b, "Disallow: /nowhere/%d/%s\n", i, strings.Repeat("x", 60))
	}
	s.Resources["/robots.txt"].Body = [][]byte{[]byte(b.String())}
}

// robotsHops needs one redirect more than the five that RFC 9309 §2.3.1.2 asks crawlers to follow.
func robotsHops(_ *webworld.Builder, s *webworld.Host) {
	const hops = 6
	final := s.Resources["/robots.txt"]
	for i := range hops {
		path := "/robots.txt"
		if i > 0 {
			path = fmt.Sprintf("/robots-%d.txt", i)
		}
		s.AddRobots(path, &webworld.Resource{
			Page:   webworld.Page{Status: http.StatusFound},
			Header: http.Header{"Location": {fmt.Sprintf("/robots-%d.txt", i+1)}},
			Body:   [][]byte{[]byte("elsewhere\n")},
		})
	}
	s.AddRobots(fmt.Sprintf("/robots-%d.txt", hops), final)
}
