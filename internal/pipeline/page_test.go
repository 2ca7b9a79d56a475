package pipeline

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/page"
)

func deflated(text string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.String()
}

// TestBodyWaits: of a page that is large without its encodings little is decoded before there is room for it.
func TestBodyWaits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 8<<20)
	for i := range text {
		text[i] = "abcd"[random.IntN(4)]
	}
	packed := fixture.Gzip(string(text))
	for name, x := range map[string]*Exchange{
		"zipped": {Exchange: crawl.Exchange{Kind: crawl.ExchangePage, Status: 200, MIME: "text/html", Encoding: "gzip"}, Body: reader(packed)},
		"plain":  {Exchange: crawl.Exchange{Kind: crawl.ExchangePage, Status: 200, MIME: "text/html"}, Body: reader(string(text))},
	} {
		e := New(nil, nil, nil, page.DefaultLimits(), time.Now)
		end, err := e.reading.begin(t.Context(), maxReading, func() int { return maxReading }) // another page has all the room
		if err != nil {
			t.Fatal(err)
		}
		x.Header = reader("")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		var out bytes.Buffer
		if _, _, err := e.readBody(gone, x, &out); err == nil || out.Len() > unweighed {
			t.Errorf("%s: %d bytes are decoded without room: %v", name, out.Len(), err)
		}
		end()
		out.Reset()
		if end, _, err = e.readBody(t.Context(), x, &out); err != nil || out.Len() != len(text) || !bytes.Equal(out.Bytes(), text) {
			t.Errorf("%s: %d of %d bytes: %v", name, out.Len(), len(text), err)
		}
		other, err := e.reading.begin(t.Context(), maxReading-len(text), func() int { return 0 }) // it holds the room of its bytes, not of the limit
		if err != nil {
			t.Error(err)
		}
		other()
		end()
		func() { // what panics while it is read holds no room
			defer func() { _ = recover() }()
			_, _ = e.reading.begin(t.Context(), maxReading, func() int { panic("no raven") })
		}()
		if end, err = e.reading.begin(t.Context(), maxReading, func() int { return 0 }); err != nil {
			t.Error(err)
		}
		end()
	}
}

// TestPlainBody: a body that is plain though its header names a coding is read as it is, whatever asks for it, as browsers read it.
func TestPlainBody(t *testing.T) {
	const html, txt = "<title>Ravens</title><p>Two ravens", "Sitemap: http://a.test/map\n"
	e := New(nil, nil, nil, page.DefaultLimits(), time.Now)
	for _, coding := range []string{"", "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "gzip, br"} {
		x := &Exchange{Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: "http://a.test/", Status: 200, MIME: "text/html", Encoding: coding}, Header: reader(""), Body: reader(html)}
		if p, ok, err := e.Understand(t.Context(), x, "", nil); !ok || err != nil || p.Title != "Ravens" || p.Undecoded != "" {
			t.Errorf("%q: a page is %+v, %v", coding, p, err)
		}
		if body, err := DecodedBody(&x.Exchange, strings.NewReader(html), 1<<10); err != nil || string(body) != html {
			t.Errorf("%q: what a browser gets is %q, %v", coding, body, err)
		}
		x.Kind, x.Body = crawl.ExchangeRobots, reader(txt)
		if got := robotsText(x); string(got) != txt {
			t.Errorf("%q: robots.txt is %q", coding, got)
		}
	}
}

func reader(text string) func() io.Reader {
	return func() io.Reader { return strings.NewReader(text) }
}

// pdfReader stands for the reader of PDF files.
type pdfReader struct{}

func (pdfReader) Read(context.Context, []byte, int) (page.Paper, error) {
	return page.Paper{Title: "Paper", Links: []page.PaperLink{{URL: "/x"}}, Pages: []string{"One"}}, errors.New("its second page is broken")
}

// TestUnderstand: a response becomes a page if it can be parsed. If the parser panics on a page, that is an error, and does not end the
// program.
func TestUnderstand(t *testing.T) {
	const html = `<title>Ravens</title><p>Two ravens <a href="/x">x</a></p>`
	limits := page.DefaultLimits()
	limits.DecodedBytes = 1 << 10
	e := New(nil, nil, nil, limits, time.Now)
	e.PDF = pdfReader{}
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(html), html)
	for name, c := range map[string]struct {
		x      crawl.Exchange
		header string
		body   func() io.Reader
		ok     bool
		title  string
		links  int
		err    bool
	}{
		"a page":           {x: crawl.Exchange{Status: 200, MIME: "text/html"}, body: reader(html), ok: true, title: "Ravens", links: 1},
		"zipped":           {x: crawl.Exchange{Status: 200, MIME: "text/html", Encoding: "gzip"}, body: reader(fixture.Gzip(html)), ok: true, title: "Ravens", links: 1},
		"deflated":         {x: crawl.Exchange{Status: 200, MIME: "text/html", Encoding: "deflate"}, body: reader(deflated(html)), ok: true, title: "Ravens", links: 1},
		"unknown encoding": {x: crawl.Exchange{Status: 200, MIME: "text/html", Encoding: "raven"}, body: reader("\x01\x02"), ok: true},
		"in chunks":        {x: crawl.Exchange{Status: 200, MIME: "text/html", Chunked: true}, body: reader(chunked), ok: true, title: "Ravens", links: 1},
		"not zipped":       {x: crawl.Exchange{Status: 200, MIME: "text/html", Encoding: "gzip"}, body: reader(html), ok: true, title: "Ravens", links: 1},
		"breaks off":       {x: crawl.Exchange{Status: 200, MIME: "text/html", Encoding: "gzip"}, body: reader(fixture.Gzip(html + strings.Repeat("x", 9999))[:60]), ok: true, title: "Ravens"},
		"a bomb":           {x: crawl.Exchange{Status: 200, MIME: "text/html", Encoding: "gzip"}, body: reader(fixture.Gzip(strings.Repeat(" ", 1<<12) + html)), ok: true},
		"a redirect":       {x: crawl.Exchange{Status: 301, Location: "/y"}, ok: true, links: 1},
		"to nowhere":       {x: crawl.Exchange{Status: 301}},
		"an error":         {x: crawl.Exchange{Status: 404, MIME: "text/html"}, body: reader(html)},
		"no answer":        {x: crawl.Exchange{}},
		"failed":           {x: crawl.Exchange{Status: 200, Outcome: crawl.Outcome{Kind: crawl.OutcomeFailed}}, body: reader(html)},
		"robots.txt":       {x: crawl.Exchange{Kind: crawl.ExchangeRobots, Status: 200, MIME: "text/html"}, body: reader(html)},
		"it breaks":        {x: crawl.Exchange{Status: 200, MIME: "text/html"}, body: func() io.Reader { panic("no raven") }, err: true},
		"with a refresh":   {x: crawl.Exchange{Status: 200, MIME: "text/html", Refresh: "0; url=/z"}, body: reader(html), ok: true, title: "Ravens", links: 2},
		"a PDF file":       {x: crawl.Exchange{Status: 200, MIME: "application/pdf"}, body: reader("%PDF-1.7"), ok: true, title: "Paper", links: 1},
		"with Link fields": {x: crawl.Exchange{Status: 200, MIME: "text/html"}, header: "HTTP/1.1 200 OK\r\nlink: </n>; rel=next\r\nLinks: </no>; rel=next\r\nLINK: </p>; rel=prev\r\n\r\n", body: reader(html), ok: true, title: "Ravens", links: 3},
		"an icon":          {x: crawl.Exchange{URL: "http://a.test/favicon.ico", Path: "SLE", Status: 200, MIME: "text/html"}, body: reader(html)},
		"not to be read":   {x: crawl.Exchange{Status: 200, MIME: "image/png"}, body: reader("\x89PNG"), ok: true},
	} {
		c.x.URL = cmp.Or(c.x.URL, "http://a.test/")
		if c.x.Kind == "" {
			c.x.Kind = crawl.ExchangePage
		}
		p, ok, err := e.Understand(t.Context(), &Exchange{Exchange: c.x, Header: reader(c.header), Body: c.body}, "", nil)
		if ok != c.ok || p.Title != c.title || c.err != (err != nil) {
			t.Errorf("%s: %v, %q, %v", name, ok, p.Title, err)
		}
		if c.ok && (p.Status != c.x.Status || p.URL != c.x.URL) {
			t.Errorf("%s: %+v", name, p)
		}
		icon := slices.ContainsFunc(p.Links, func(l crawl.Outlink) bool {
			return l.URL == "http://a.test/favicon.ico" && l.Hop == crawl.HopEmbed
		})
		if html := ok && strings.Contains(p.MIME, "html") && c.x.Status == 200; icon != html {
			t.Errorf("%s: the icon of its host is its requisite: %t", name, icon)
		} else if html {
			c.links++
		}
		if len(p.Links) != c.links && c.title != "" {
			t.Errorf("%s has %d links", name, len(p.Links))
		}
		if c.x.Path = "SE"; icon {
			if p, _, _ := e.Understand(t.Context(), &Exchange{Exchange: c.x, Header: reader(c.header), Body: c.body}, "", nil); len(p.Links) >= c.links && p.Links[len(p.Links)-1].Context == crawl.ContextIcon {
				t.Errorf("%s: a frame has the icon of its host", name)
			}
		}
		if html := strings.Contains(p.MIME, "html") && c.x.Status == 200; (p.Print != nil) != (html && len(p.Blocks)+len(p.Links) > 1) {
			t.Errorf("%s has the print %+v", name, p.Print)
		}
	}
}
