package export_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// exchange is a capture of the test's web.
type exchange struct {
	url, via, path string
	after          time.Duration // since epoch
	status         int
	mime, body     string
	location       string
	links          []crawl.Outlink
	loaded         []string
	title          string
	objects        []crawl.Object
	unmodified     *crawl.Visit
	kind           crawl.ExchangeKind
}

func (x exchange) capture() archive.Capture {
	if x.status == 0 {
		x.status = 200
	}
	if x.mime == "" {
		x.mime = "text/html; charset=utf-8"
	}
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\n", x.status, x.mime)
	if x.location != "" {
		head += "Location: " + x.location + "\r\n"
	}
	if x.unmodified == nil {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(x.body))
	}
	head += "\r\n"
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: x.url, IP: "192.0.2.7", Started: epoch.Add(x.after), Elapsed: 42 * time.Millisecond, Status: x.status,
			HeaderBytes: int64(len(head)), MIME: x.mime, Path: x.path, Via: x.via, Location: x.location,
			Outcome: crawl.Outcome{URL: x.url, Kind: crawl.OutcomeDone, Status: x.status},
		},
		Request:  strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
		Response: func() io.Reader { return strings.NewReader(head + x.body) },
		Header:   func() io.Reader { return strings.NewReader(head) },
		Body:     func() io.Reader { return strings.NewReader(x.body) },
	}
	if x.kind != "" {
		c.Kind = x.kind
	}
	if x.unmodified != nil {
		c.Outcome.Kind, c.Outcome.Visit = crawl.OutcomeUnmodified, *x.unmodified
	}
	if x.links != nil || x.loaded != nil || x.title != "" || x.objects != nil {
		c.Page = &crawl.Judged{}
		c.Page.Page = crawl.Page{URL: x.url, Status: x.status, Title: x.title, Links: x.links, Loaded: x.loaded}
		c.Page.Objects = x.objects
		c.Page.Verdict = crawl.Verdict{Score: 0.5, Links: make([]crawl.LinkVerdict, len(x.links))}
	}
	return c
}

func embeds(urls ...string) (list []crawl.Outlink) {
	for _, u := range urls {
		list = append(list, crawl.Outlink{URL: u, Hop: crawl.HopEmbed, Context: "img/@src", Block: -1})
	}
	return list
}

func link(hop crawl.Hop, url string) crawl.Outlink {
	return crawl.Outlink{URL: url, Hop: hop, Context: "a/@href", Block: -1}
}

// batch is a segment of the test's web.
type batch struct {
	crawl, name string
	dns         []string // hosts whose addresses were asked for
	exchanges   []exchange
	shown       string // a page that a browser has opened
	original    func(url, digest string) (crawl.Visit, bool)
}

// commit archives a batch.
func (b batch) commit(t testing.TB, store archive.Store) (recorded []archive.Recorded) {
	t.Helper()
	if b.original == nil {
		b.original = func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false }
	}
	s, err := archive.NewSegment(t.TempDir(), archive.Label{
		Crawl: b.crawl, Batch: b.name, Nonce: "0123456789abcdef", Worker: "w1", Run: 1, Operator: "An Archive", Agent: "Muninn", Software: "Muninn test",
	}, epoch.Add(time.Hour), b.original)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, host := range b.dns {
		c := exchange{url: "dns:" + host, mime: "text/dns"}.capture()
		c.MIME = "text/dns"
		c.Response = func() io.Reader { return strings.NewReader("20260304050607\n" + host + ".\t300\tIN\tA\t192.0.2.7\n") }
		if err := s.Resource(c); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range b.exchanges {
		rec, err := s.Add(x.capture())
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, rec)
		if b.shown == x.url {
			for _, kind := range []crawl.ExchangeKind{crawl.ExchangeOpened, crawl.ExchangeView} {
				c := exchange{url: x.url, body: "<p>as shown", kind: kind}.capture()
				c.Response = func() io.Reader { return strings.NewReader("<p>as shown") }
				if err := s.Show(c, rec.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return recorded
}

// world is an archive of two crawls with all that a closure follows. It returns the original that a revisit of the second segment refers to.
func world(t testing.TB, store archive.Store) {
	t.Helper()
	first := batch{crawl: "c", name: "a.example-1@w1.1", dns: []string{"a.example"}, shown: "http://a.example/page", exchanges: []exchange{
		{url: "http://a.example/robots.txt", path: "SP", mime: "text/plain", body: "User-agent: *\n", kind: crawl.ExchangeRobots},
		{url: "http://a.example/page", path: "S", body: "<p>a page with <img src=p.png>", title: "A page", links: append(embeds("http://a.example/p.png", "http://b.example/s.css", "http://a.example/gone.png"),
			link(crawl.HopLink, "http://a.example/other"), link(crawl.HopSpeculative, "http://a.example/maybe.png")), loaded: []string{"http://a.example/api?x=1"}},
		{url: "http://a.example/p.png", path: "SE", mime: "image/png", body: "\x89PNG\r\n\x1a\n 1", via: "http://a.example/page"},
		{url: "http://a.example/api?x=1", path: "SE", mime: "application/json", body: "{}"},
		{url: "http://a.example/other", path: "SL", body: "<p>not kept", title: "Another one"},
		{url: "http://a.example/old", path: "S", status: 301, location: "/middle", links: []crawl.Outlink{link(crawl.HopRedirect, "http://a.example/middle")}},
		{url: "http://a.example/middle", path: "SR", via: "http://a.example/old", status: 302, location: "/new", links: []crawl.Outlink{link(crawl.HopRedirect, "http://a.example/new")}},
		{url: "http://a.example/new", path: "SRR", via: "http://a.example/middle", body: "<p>new", title: "New"},
	}}.commit(t, store)
	batch{crawl: "c", name: "b.example-2@w1.1", dns: []string{"b.example"}, exchanges: []exchange{
		{url: "http://b.example/s.css", path: "SE", mime: "text/css", body: "body{background:url(bg.png)}", links: embeds("http://b.example/bg.png")},
		{url: "http://b.example/bg.png", path: "SEE", mime: "image/png", body: "\x89PNG\r\n\x1a\n 2"},
		{url: "http://b.example/unneeded", path: "SL", body: "<p>b"},
	}}.commit(t, store)
	page := first[1].Visit
	batch{crawl: "c", name: "a.example-3@w1.1", original: func(url, digest string) (crawl.Visit, bool) {
		return page, digest == first[1].Digest
	}, exchanges: []exchange{
		{url: "http://a.example/page", path: "S", after: 24 * time.Hour, status: 304, unmodified: &page},
		{url: "http://a.example/copy", path: "SL", after: 25 * time.Hour, body: "<p>a page with <img src=p.png>", title: "A copy"},
		{url: "http://a.example/p.png", path: "SE", after: 24 * time.Hour, mime: "image/png", body: "\x89PNG\r\n\x1a\n 3", via: "http://a.example/page"},
	}}.commit(t, store)
	batch{crawl: "d", name: "d.example-1@w1.1", exchanges: []exchange{
		{url: "http://d.example/", path: "S", body: "<p>another crawl", title: "D"},
		{url: "http://d.example/304", path: "S", status: 304, unmodified: &crawl.Visit{URL: "http://d.example/304", Date: epoch.Add(-time.Hour), Digest: "sha1:PAM2EISPGQM5H3SVAXYF6QJEYM47CPHZ"}},
	}}.commit(t, store)
}

func openDir(t testing.TB, dir string) archive.Store {
	t.Helper()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func timeOf(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
