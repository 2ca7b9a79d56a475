package archive_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// BenchmarkAdd archives a page of 30 kB that came as gzip, with 56 outlinks.
func BenchmarkAdd(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 30_000 {
		fmt.Fprintf(&text, "<p>word%d <a href=\"/page/%d\">link</a></p>\n", random.IntN(4000), random.IntN(1000))
	}
	body := fixture.Gzip(text.String())
	page := &crawl.Judged{Verdict: crawl.Verdict{Score: 0.5}}
	page.Page = crawl.Page{Title: "A page", Language: "en", Blocks: []string{strings.Repeat("a paragraph ", 20)}}
	page.Findings = crawl.Findings{Application: "wordpress", Level: "post"}
	for i := range 56 {
		page.Links = append(page.Links, crawl.Outlink{URL: fmt.Sprintf("http://a.example/page/%d", i), Hop: crawl.HopLink, Context: "a/@href", Anchor: "link", TagPath: "html body p a"})
	}
	s, err := archive.NewSegment(b.TempDir(), label("bench"), epoch, unknown)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := capture(fmt.Sprintf("http://a.example/%d", i), htmlHeader("Content-Encoding: gzip\n", len(body)), body+fmt.Sprint(i))
		c.Encoding, c.Page = "gzip", page
		if _, err := s.Add(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLog writes a line of the crawl log: one a page.
func BenchmarkLog(b *testing.B) {
	s, err := archive.NewSegment(b.TempDir(), label("bench"), epoch, unknown)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c := capture("http://a.example/a/page/of/some/length.html", htmlHeader("", 100), "x")
	c.Via, c.Path, c.IP, c.Claim = "http://a.example/", "SLL", "192.0.2.1", "a.example-1795326915987"
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Log(archive.LoggedExchange(&c.Exchange, 1)); err != nil {
			b.Fatal(err)
		}
	}
}
