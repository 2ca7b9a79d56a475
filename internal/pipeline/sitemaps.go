package pipeline

import (
	"bytes"
	"cmp"
	"io"
	"net/http/httputil"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/coding"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// robotsOf is the URL of a batch for which a robots.txt was fetched: one of its origin; of several, that with the fewest hops. nil: no URL of the batch is of
// that origin, as when another host's file redirects there.
func robotsOf(targets map[string]crawl.Target, robotsURL string) (of *crawl.Target) {
	at, err := urls.Trusted(robotsURL)
	if err != nil {
		return nil
	}
	before := func(a, b *crawl.Target) bool {
		return cmp.Or(cmp.Compare(scope.Hops(a.Path), scope.Hops(b.Path)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.URL, b.URL)) < 0
	}
	for url := range targets {
		u, err := urls.Trusted(url)
		if err != nil || u.Origin() != at.Origin() {
			continue
		}
		if t := targets[url]; of == nil || before(&t, of) {
			of = &t
		}
	}
	return of
}

// sitemapsIn makes a page of a robots.txt: its links are the sitemaps that it names. of is the URL for which it was fetched. false if there are none.
func sitemapsIn(x *Exchange, targets map[string]crawl.Target) (p crawl.Parsed, of *crawl.Target, ok bool) {
	if x.Kind != crawl.ExchangeRobots || x.Status < 200 || x.Status >= 300 {
		return p, nil, false
	}
	if of = robotsOf(targets, x.URL); of == nil {
		return p, nil, false
	}
	base, err := urls.NewResolver(x.URL)
	if err != nil {
		return p, nil, false
	}
	p.URL, p.Status, p.MIME = x.URL, x.Status, "text/plain"
	for _, ref := range robots.Sitemaps(robotsText(x)) {
		if u, err := base.Resolve(ref); err == nil {
			p.Links = append(p.Links, crawl.Outlink{URL: u.String(), Hop: crawl.HopSitemap, Context: "robots.txt/sitemap", Block: -1})
		}
	}
	return p, of, len(p.Links) > 0
}

// robotsText is the text of a robots.txt, without its encodings, or what of it can be read.
func robotsText(x *Exchange) []byte {
	decoded, err := decodedReader(&x.Exchange, x.Body())
	if err != nil {
		return nil
	}
	defer func() { _ = decoded.Close() }()
	var out bytes.Buffer
	_, _ = out.ReadFrom(io.LimitReader(decoded, robots.MaxBytes))
	return out.Bytes()
}

// decodedReader takes the transfer and content encodings off a body.
func decodedReader(x *crawl.Exchange, body io.Reader) (io.ReadCloser, error) {
	return coding.NewReader(unchunked(x, body), x.Encoding)
}

// unchunked takes the transfer encoding off a body.
func unchunked(x *crawl.Exchange, body io.Reader) io.Reader {
	if x.Chunked {
		return httputil.NewChunkedReader(body)
	}
	return body
}

// judgeSitemaps is the verdict of a robots.txt: the sitemaps of a host have the priority of the URL for which it was fetched.
func judgeSitemaps(p *crawl.Parsed, priority float64) crawl.Verdict {
	v := crawl.Verdict{Score: -1, Links: make([]crawl.LinkVerdict, len(p.Links))}
	for i := range v.Links {
		v.Links[i].Score = priority
	}
	return v
}

// maxSitemapsInRow is how many sitemaps in a row name each other. The protocol has two, an index and what it names; a server can make any number.
const maxSitemapsInRow = 5

// cutSitemaps drops what a sitemap names that too many others have led to; path are the hop letters of it.
func cutSitemaps(p *crawl.Parsed, path string) {
	if !strings.HasSuffix(path, strings.Repeat(crawl.HopSitemap.String(), maxSitemapsInRow)) {
		return
	}
	p.Links = slices.DeleteFunc(p.Links, func(l crawl.Outlink) bool { return l.Hop == crawl.HopSitemap })
}
