// Package bench is a web for benchmarks, of any size. Its pages cost the server almost nothing.
package bench

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// New is a world for benchmarks: hosts with an IP each and pagesPerHost pages. The front page of each host is a
// seed. A page has a median of 29 KB of HTML (10.7 KB compressed) and 56 links, 6 of them to other hosts; one
// page in forty links to a redirect and one to a 404; a twentieth of the pages are in /private/, which
// every other host disallows. A page is made on request, of paragraphs that were compressed at the start, so that a
// world of any size costs no memory, and a page 0.03 ms of the server's CPU time.
func New(o webworld.Options, hosts, pagesPerHost int) *webworld.World {
	return NewShared(o, hosts, pagesPerHost, 0)
}

// NewShared is the same, but two of three hosts have no IP of their own: they share so many, one after the other. None share any if 0.
func NewShared(o webworld.Options, hosts, pagesPerHost, shared int) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	for h := range hosts {
		n := h - h/3 - 1 // hosts before it that share
		if shared == 0 || h%3 == 0 || n < shared {
			p.Add(benchHost(h), "bench")
			continue
		}
		n %= shared
		p.AddOn(benchHost(n+n/2+1), benchHost(h), "bench")
	}
	return webworld.New(o, p.Sites, func(b *webworld.Builder) { buildBench(b, pagesPerHost) })
}

// benchHost is directly under a top-level domain, so that each host is a pay-level domain of its own.
func benchHost(h int) string { return fmt.Sprintf("site%05d.example", h) }

const (
	benchLinks      = 56 // a page
	benchCrossLinks = 6  // of these, to other hosts
	benchNavigation = 10 // of these, to the first pages of the host
	benchParts      = 11 // median number of blocks a page
	benchSpread     = 0.45
)

// bench makes the pages of a bench world. It is safe for concurrent use.
type bench struct {
	seed   uint64
	port   string
	hosts  int
	pages  int // a host
	titles [2][]benchTitle
	blocks [2][]block // by relevance
	tail   block
}

type benchTitle struct{ text, slug string }

func buildBench(b *webworld.Builder, pages int) {
	be := &bench{seed: b.Options.Seed, port: strconv.Itoa(b.Port), hosts: len(b.Hosts), pages: pages}
	be.prepare(b)
	for h, s := range b.Hosts {
		s.Gzip, s.ETag = true, true
		var rs webworld.Rules
		if h%2 == 0 {
			rs.Lines = []webworld.Rule{webworld.Disallow("/private/")}
		}
		s.SetRobots(rs, "")
		s.Dynamic = func(u *url.URL) *webworld.Resource { return be.answer(s, h, u) }
		b.Seeds = append(b.Seeds, s.Base+"/")
	}
	b.Topic = []string{"raven", "ravens", "corvid", "crow", "Huginn", "Muninn", "Odin", "Norse", "Edda", "runes"}
	b.Truth = func() []webworld.Page { return be.truth(b.Hosts) }
	b.Finish()
}

// relevant decides for four pages in ten.
func (be *bench) relevant(h, n int) bool { return be.dice(h, n, 1)%10 < 4 }

func (be *bench) title(h, n int) benchTitle {
	list := be.titles[index(be.relevant(h, n))]
	return list[be.dice(h, n, 2)%uint64(len(list))]
}

func (be *bench) private(n int) bool { return n%20 == 19 }

// path is where page n of a host lies.
func (be *bench) path(h, n int) string {
	if n == 0 {
		return "/"
	}
	section := []string{"notes", "guide", "archive"}[n%3]
	if be.private(n) {
		section = "private"
	}
	return "/" + section + "/" + strconv.Itoa(n) + "-" + be.title(h, n).slug + ".html"
}

// parse is the reverse of path.
func (be *bench) parse(h int, u *url.URL) (n int, ok bool) {
	if u.Path == "/" || u.Path == "" {
		return 0, true
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	number, _, _ := strings.Cut(name, "-")
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0 && n < be.pages && u.Path == be.path(h, n)
}

// redirects and losing pages link to a redirect and to nothing.
func (be *bench) redirects(n int) bool { return n%40 == 3 }
func (be *bench) loses(n int) bool     { return n%40 == 7 }

func (be *bench) answer(s *webworld.Host, h int, u *url.URL) *webworld.Resource {
	if number, ok := strings.CutPrefix(u.Path, "/old/"); ok {
		if n, err := strconv.Atoi(number); err == nil && n < be.pages && be.redirects(n) {
			return be.redirect(s, h, n)
		}
		return nil
	}
	n, ok := be.parse(h, u)
	if !ok {
		return nil
	}
	head, blocks := be.compose(h, n)
	return &webworld.Resource{
		URI: be.path(h, n), Page: be.page(s, h, n),
		Header: http.Header{
			"Content-Type":  {"text/html; charset=utf-8"},
			"ETag":          {fmt.Sprintf(`"%016x"`, be.dice(h, n, 3))},
			"Last-Modified": {s.Dated.UTC().Format(http.TimeFormat)},
		},
		Body: plain(head, blocks),
		Zip:  func() [][]byte { return zipped(head, blocks) },
	}
}

func (be *bench) page(s *webworld.Host, h, n int) webworld.Page {
	path := be.path(h, n)
	return webworld.Page{URL: s.Base + path, Host: s.Host, Kind: "bench", Relevant: be.relevant(h, n), Allowed: s.Rules.Allows(path), Status: http.StatusOK}
}

func (be *bench) redirect(s *webworld.Host, h, n int) *webworld.Resource {
	p := webworld.Page{
		URL: s.Base + "/old/" + strconv.Itoa(n), Host: s.Host, Kind: "redirect", Allowed: true, Status: http.StatusMovedPermanently,
		Location: s.Base + be.path(h, (n+1)%be.pages),
	}
	return &webworld.Resource{Page: p, Header: http.Header{"Location": {p.Location}, "Content-Type": {"text/plain"}}, Body: [][]byte{[]byte("moved\n")}}
}

// truth lists all pages, redirects and 404s. All can be reached, because each page links to the next two and private
// pages are never neighbours. Depth is not set.
func (be *bench) truth(sites []*webworld.Host) []webworld.Page {
	var pages []webworld.Page
	for h, s := range sites {
		for n := range be.pages {
			pages = append(pages, be.page(s, h, n))
			if be.private(n) {
				continue
			}
			if be.redirects(n) {
				pages = append(pages, be.redirect(s, h, n).Page)
			}
			if be.loses(n) {
				pages = append(pages, s.Missing("/lost/"+strconv.Itoa(n)).Page)
			}
		}
	}
	slices.SortFunc(pages, webworld.ByURL)
	return pages
}

// compose writes what only this page has, and picks its blocks.
func (be *bench) compose(h, n int) (head []byte, blocks []block) {
	t := be.title(h, n)
	head = make([]byte, 0, 9<<10)
	head = append(head, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<link rel=\"icon\" href=\"data:,\">\n<title>"...)
	head = append(head, t.text...)
	head = append(head, "</title>\n</head>\n<body>\n<nav><ul class=\"menu\">\n"...)
	for i := range benchLinks {
		if i == benchNavigation {
			head = append(head, "</ul></nav>\n<aside class=\"related\"><ul>\n"...)
		}
		head = be.link(head, h, n, i)
	}
	head = append(head, "</ul></aside>\n<article>\n<h1 class=\"title\">"...)
	head = append(head, t.text...)
	head = append(head, "</h1>\n"...)

	pool := be.blocks[index(be.relevant(h, n))]
	for i := range be.parts(h, n) {
		blocks = append(blocks, pool[be.dice(h, n, 1000+i)%uint64(len(pool))])
	}
	return head, append(blocks, be.tail)
}

// parts is the number of blocks of a page: log-normal, so that a few pages are many times the median.
func (be *bench) parts(h, n int) int {
	u := (float64(be.dice(h, n, 4)>>11) + 0.5) / (1 << 53)
	v := float64(be.dice(h, n, 5)>>11) / (1 << 53)
	normal := math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
	return max(1, int(math.Round(benchParts*math.Exp(benchSpread*normal))))
}

// link appends the i-th link of a page.
func (be *bench) link(out []byte, h, n, i int) []byte {
	out = append(out, `<li class="item"><a href="`...)
	toHost, to := h, 0
	switch {
	case i < benchNavigation:
		to = i % be.pages
	case i == benchNavigation && be.redirects(n):
		out = append(out, "/old/"...)
		out = strconv.AppendInt(out, int64(n), 10)
		return append(out, "\">An old address</a></li>\n"...)
	case i == benchNavigation && be.loses(n):
		out = append(out, "/lost/"...)
		out = strconv.AppendInt(out, int64(n), 10)
		return append(out, "\">A lost page</a></li>\n"...)
	case i <= benchNavigation+2:
		to = (n + i - benchNavigation) % be.pages
	case i >= benchLinks-benchCrossLinks:
		toHost, to = be.neighbour(h, n, i)
		out = append(append(append(out, "http://"...), benchHost(toHost)...), ":"+be.port...)
	default:
		to = int(be.dice(h, n, 100+i) % uint64(be.pages))
	}
	out = append(append(out, be.path(toHost, to)...), `">`...)
	return append(append(out, be.title(toHost, to).text...), "</a></li>\n"...)
}

// neighbour picks a page of another host, more often than not one with the same subject.
func (be *bench) neighbour(h, n, i int) (toHost, to int) {
	for try := range 3 {
		d := be.dice(h, n, 200+i*8+try)
		toHost, to = int(d>>32)%be.hosts, int(d&math.MaxUint32)%be.pages
		if be.relevant(toHost, to) == be.relevant(h, n) {
			break
		}
	}
	return toHost, to
}

// dice is a number that depends on the seed, the page and the use k alone (splitmix64).
func (be *bench) dice(h, n, k int) uint64 {
	z := be.seed + uint64(h)*0x9e3779b97f4a7c15 + uint64(n)*0xd1342543de82ef95 + uint64(k)*0xa0761d6478bd642f
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	return z ^ z>>27
}

func index(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
