package page

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func testData(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("MUNINN_TESTDATA")
	if dir == "" {
		t.Skip("MUNINN_TESTDATA is not set: the folder of real pages is not known")
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// TestRealPages: saved pages of the web give title, text and links in bounded time.
func TestRealPages(t *testing.T) {
	dir := testData(t, "aah")
	pages, bare, slowest := 0, 0, time.Duration(0)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		start := cputime.Used()
		d := Parse(Input{URL: "http://a.test/dir/page", MIME: "text/html", Body: raw}, DefaultLimits())
		slowest = max(slowest, cputime.Used()-start)
		pages++
		if len(d.Links) == 0 || len(d.Blocks) == 0 || d.Title == "" {
			bare++
		}
		for _, l := range d.Links {
			if l.Block < -1 || l.Block >= len(d.Blocks) {
				t.Errorf("%s: block %d of %d", path, l.Block, len(d.Blocks))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages, %d without title, text or links, slowest %s", pages, bare, slowest)
	if pages == 0 || bare*20 > pages || slowest > 5*time.Second {
		t.Errorf("%d pages, %d bare, slowest %s", pages, bare, slowest)
	}
}

// sitemapSamples are the samples of crawler-commons, also broken ones, with the letters of the links that each gives, and how many.
var sitemapSamples = map[string]string{
	"rss/feed.rss": "L5", "rss/xmlRss_pubDate.xml": "L8", "sitemaps/atom.xml": "L4",
	"sitemaps/do-not-visit.txt": "M1", "sitemaps/sitemap-with-bom.txt": "M2", "sitemaps/sitemap.txt": "M2", "sitemaps/sitemap.txt.gz": "M5",
	"sitemaps/sitemap.badns.xml": "M2", "sitemaps/sitemap.index.xml": "M15", "sitemaps/sitemap.ns.xml": "M2", "sitemaps/xmlSitemap.gz": "M5",
	"sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml": "M74X85", "sitemaps/extension/pagemaps-sitemap.xml": "M2",
	"sitemaps/extension/shinpaideshou-news-sitemap.xml": "M3", "sitemaps/extension/sitemap-images.xml": "M1X2",
	"sitemaps/extension/sitemap-links.xml":  "M3", // one page in three languages, each named three times
	"sitemaps/extension/sitemap-mobile.xml": "M3", "sitemaps/extension/sitemap-news.xml": "M2",
	"sitemaps/extension/sitemap-videos-tvshow.xml": "M1X5", "sitemaps/extension/sitemap-videos.xml": "M3X7",
}

// TestRealSitemaps: sitemaps and feeds of all kinds, also broken ones, give all of their links, with the types that servers give them.
func TestRealSitemaps(t *testing.T) {
	dir := testData(t, "conformance", "crawler-commons", "src", "test", "resources")
	for name, want := range sitemapSamples {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		types := []string{"application/xml", "", "text/html", "text/plain"}
		switch filepath.Ext(name) {
		case ".txt":
			types = []string{"text/plain"}
		case ".gz":
			types = []string{"application/gzip", "application/octet-stream", ""}
		}
		for _, mime := range types {
			d := Parse(Input{URL: "http://www.example.com/sitemap.xml", MIME: mime, Body: raw}, DefaultLimits())
			byHop, got := map[crawl.Hop]int{}, ""
			for _, l := range d.Links {
				byHop[l.Hop]++
			}
			for _, hop := range []crawl.Hop{crawl.HopLink, crawl.HopSitemap, crawl.HopEmbed, crawl.HopSpeculative} {
				if byHop[hop] > 0 {
					got += fmt.Sprintf("%s%d", hop, byHop[hop])
				}
			}
			if got != want {
				t.Errorf("%s as %q: links %s, want %s", name, mime, got, want)
			}
		}
	}
}

// ordinary is a page of about 30 KB with 56 links.
func ordinary() []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Ravens</title><link rel="stylesheet" href="/s.css"></head><body class="page"><div class="main">`)
	for i := range 55 {
		fmt.Fprintf(&b, `<div class="item"><h3>Entry %d</h3><p class="text">%s<a href="/year/%d/entry-%d.html?from=list" class="more">read about raven %d</a> and on.</p></div>`,
			i, strings.Repeat("The raven flew over the hills and the sea. ", 9), 2000+i%20, i, i)
		b.WriteByte('\n')
	}
	b.WriteString("</div></body></html>")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	in := Input{URL: "http://a.test/list", MIME: "text/html; charset=utf-8", Body: ordinary()}
	b.ReportAllocs()
	b.SetBytes(int64(len(in.Body)))
	for b.Loop() {
		if d := Parse(in, DefaultLimits()); len(d.Links) != 56 {
			b.Fatalf("%d links", len(d.Links))
		}
	}
}

// BenchmarkStructured is what JSON-LD, Open Graph and broken references cost: of a page that has them, and of one that has none.
func BenchmarkStructured(b *testing.B) {
	const ld = `<meta property="og:url" content="http://a.test/1"><script type="application/ld+json">{"@context":"https://schema.org","@graph":[` +
		`{"@type":"Article","@id":"http://a.test/1#article","headline":"Ravens","datePublished":"2026-11-01","author":{"@id":"http://a.test/#person"},"image":{"@type":"ImageObject","url":"http://a.test/i.png","width":1200}},` +
		`{"@type":"WebPage","@id":"http://a.test/1","url":"http://a.test/1","isPartOf":{"@id":"http://a.test/#site"}},{"@type":"BreadcrumbList","itemListElement":[{"position":1,"item":"http://a.test/"},{"position":2,"name":"Ravens"}]}]}</script></head>`
	plain := ordinary()
	for name, body := range map[string][]byte{"none": plain, "all": []byte(strings.Replace(string(plain), "</head>", ld, 1))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(Input{URL: "http://a.test/list", MIME: "text/html; charset=utf-8", Body: body}, DefaultLimits())
			}
		})
	}
}
