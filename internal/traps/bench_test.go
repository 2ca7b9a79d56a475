package traps_test

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

// BenchmarkPage is what a page costs that is no trap: its print and its shape.
func BenchmarkPage(b *testing.B) {
	body := strings.Repeat("<p>A raven is a large black bird of the genus Corvus, which lives on carrion. <a href=/x>more</a></p>\n", 150)
	d := page.Parse(page.Input{URL: "http://a.example/", MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
	u, err := urls.Parse("http://www.example.org/articles/2026/11/23/some-long-title-of-an-article.html?page=2&sort=asc")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if traps.PrintOf(&d.Page) == nil || !traps.ShapeOf(u).Dated {
			b.Fatal("no print or no date")
		}
	}
}
