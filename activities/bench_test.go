package activities

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/topic"
	"github.com/muninn-archive/muninn/internal/webworld"
	benchworld "github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/kb"
)

// benchPage is a page of the bench web: about 29 KB with 56 links.
func benchPage(b *testing.B) (string, []byte) {
	w := benchworld.New(webworld.Options{Seed: 1}, 1, 5)
	if err := w.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	site := w.Sites()[0]
	url := w.Seeds()[0]
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Host = req.URL.Host
	req.URL.Host = site.IP.String() + ":" + req.URL.Port()
	res, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || !bytes.Contains(body, []byte("<a ")) {
		b.Fatalf("no page: %v", err)
	}
	return url, body
}

// BenchmarkUnderstand is the cost of a page beyond fetching and archiving, part by part.
func BenchmarkUnderstand(b *testing.B) {
	url, body := benchPage(b)
	base, err := kb.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	in := page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: body}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page.Parse(in, page.DefaultLimits())
		}
	})
	b.Run("helper", func(b *testing.B) {
		b.ReportAllocs()
		helper, d := aah.New(base, aah.DefaultLimits()), page.Parse(in, page.DefaultLimits())
		for b.Loop() {
			helper.Apply(d, aah.Input{})
		}
	})
	b.Run("score", func(b *testing.B) {
		b.ReportAllocs()
		d := crawl.DefaultDefinition()
		d.Topic.Keywords = []string{"raven", "norse mythology", "crow"}
		scorer, err := score.New(d, nil, score.NewDictionary(), topic.Memory{})
		if err != nil {
			b.Fatal(err)
		}
		p := crawl.Parsed{Page: page.Parse(in, page.DefaultLimits()).Page}
		for b.Loop() {
			scorer.Page(&p, score.Context{Inherit: 0.5})
		}
	})
}
