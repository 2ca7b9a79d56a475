package archive_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/webworld"
	benchworld "github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/kb"
)

// understood is a page as the ARCHIVE step gets it, with its decoded body.
type understood struct {
	url, mime string
	body      []byte
	page      *crawl.Judged
}

// capture is the page as it came, compressed as most servers send it.
func (u *understood) capture(t testing.TB) archive.Capture {
	body := fixture.Gzip(string(u.body))
	c := capture(u.url, htmlHeader("Content-Encoding: gzip\n", len(body)), body)
	c.Encoding, c.Page, c.MIME = "gzip", u.page, u.mime
	return c
}

// reader returns a function that parses pages, applies the built-in knowledge base and scores them.
func reader(t testing.TB, topic []string) func(url, mime string, body []byte) understood {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	d := crawl.DefaultDefinition()
	d.Topic.Keywords = topic
	judge, err := score.NewJudge(d, nil, score.NewDictionary(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	helper := aah.New(base, aah.DefaultLimits())
	learner := order.NewFused(nil, order.DefaultSettings())
	return func(url, mime string, body []byte) understood {
		doc := page.Parse(page.Input{URL: url, MIME: mime, Body: body}, page.DefaultLimits())
		found := helper.Apply(doc, aah.Input{})
		p := &crawl.Judged{Parsed: crawl.Parsed{Page: doc.Page, Findings: found}}
		var err error
		if p.Verdict, _, err = judge.Batch(learner).Page(&p.Parsed, score.Context{Inherit: 0.5}, nil); err != nil {
			t.Fatal(err)
		}
		return understood{url, mime, body, p}
	}
}

// benchWeb are n pages of the web that `make bench` crawls, of all its hosts.
func benchWeb(t testing.TB, n int) (list []understood) {
	w := benchworld.New(webworld.Options{Seed: 1}, 500, 40)
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	read := reader(t, w.Topic())
	all := w.Pages()
	random := rand.New(rand.NewPCG(1, 2))
	for len(list) < n {
		p := all[random.IntN(len(all))]
		if status, header, body, found := w.Answer(p.URL); found && status == 200 {
			list = append(list, read(p.URL, header.Get("Content-Type"), body))
		}
	}
	return list
}

// savedWeb are the saved pages of web applications in MUNINN_TESTDATA; none where it is not set.
func savedWeb(t testing.TB) (list []understood) {
	dir := os.Getenv("MUNINN_TESTDATA")
	if dir == "" {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, "aah", "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	read := reader(t, []string{"forum", "software", "news"})
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l struct{ File, URL string }
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, "aah", filepath.FromSlash(l.File)))
		if err != nil {
			t.Fatal(err)
		}
		if u, err := url.Parse(l.URL); err != nil || !strings.HasPrefix(u.Scheme, "http") {
			continue
		}
		list = append(list, read(l.URL, "text/html", body))
	}
	return list
}
