package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestLinks: the links of pages are read as they were written, in the present form and in the former one with a line for each link.
func TestLinks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "plain text", "\"quoted\" \\ and\ttabs\nlines", "ünïcödé 東京", "<b>&amp;</b>", "\u2028 \x7f", "\x00", "null"}
	urls := []string{"mailto:a@b.example", "http://a.example", "http://a.example/", "http://a.example/x?y", "http://a.example//x", "http://a.example:80/", "https://a.example/"}
	text := func() string { return texts[random.IntN(len(texts))] }
	url := func() string { return urls[random.IntN(len(urls))] }
	number := func() float64 { return []float64{0, 1, 0.1, 1e-9, 0.123456, 1.23457e+300}[random.IntN(6)] }
	store, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var now, former sidecar
	if err := errors.Join(now.open(), former.open()); err != nil {
		t.Fatal(err)
	}
	w := linkWriter{words: map[string]int{}, blocks: map[int]bool{}}
	var want []Link
	for page := range 2000 {
		p := &crawl.Judged{}
		p.Page = crawl.Page{Language: text(), Blocks: []string{text(), "", text()}, NoFollow: random.IntN(2) == 0}
		p.URL = url()
		c := Capture{Exchange: crawl.Exchange{URL: p.URL, Path: text()}, Page: p}
		alike := random.IntN(3) == 0
		for range 1 + random.IntN(4) {
			l := crawl.Outlink{
				URL: url(), Hop: crawl.Hop("LERM"[random.IntN(4)]), Context: text(), Anchor: text(), Block: random.IntN(5) - 1, TagPath: text(), Rel: text(),
				LinkFindings: crawl.LinkFindings{Level: text(), Prior: number()},
			}
			v := crawl.LinkVerdict{Score: number()}
			for _, name := range crawl.PartNames[:random.IntN(3)] {
				v.Parts = append(v.Parts, crawl.Part{Name: name, Score: number()})
			}
			if alike && len(p.Links) > 0 {
				l, v = p.Links[0], p.Verdict.Links[0]
			}
			p.Links, p.Verdict.Links = append(p.Links, l), append(p.Verdict.Links, v)
			line := LinkOf(p, c.Path, len(p.Links)-1)
			want = append(want, line)
			raw, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			former.line = append(raw, '\n')
			if err := former.put(); err != nil {
				t.Fatal(err)
			}
		}
		now.line = w.append(now.line[:0], c)
		if bytes.IndexByte(now.line, '\n') != len(now.line)-1 || !json.Valid(now.line) {
			t.Fatalf("line %d is not one of JSON: %q", page, now.line)
		}
		if err := now.put(); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]*sidecar{"now": &now, "former": &former} {
		if err := s.zip.Close(); err != nil {
			t.Fatal(err)
		}
		if err := store.Put(t.Context(), name, bytes.NewReader(s.out.Bytes()), int64(s.out.Len())); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := ReadLinks(t.Context(), store, name, func(l Link) error {
			if !reflect.DeepEqual(l, want[n]) {
				t.Fatalf("%s: link %d is\n%+v, not\n%+v", name, n, l, want[n])
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Errorf("%s: %d links of %d, %v", name, n, len(want), err)
		}
	}
}

// TestAppendObject: the hand-written encoder gives the same as encoding/json.
func TestAppendObject(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "plain text", "\"quoted\" \\ and\ttabs\r\nlines", "ünïcödé 東京 \ufffd", "<b>&amp;</b>", "\u2028 \x7f \x1f\b", "a\xffb\xe6\x9d", "\x00"}
	text := func() string { return texts[random.IntN(len(texts))] }
	for range 5000 {
		page := &crawl.Judged{}
		page.Findings = crawl.Findings{Application: text(), Version: text(), Level: text(), Base: text()}
		for range 1 + random.IntN(3) {
			o := crawl.Object{Type: text(), Rule: text(), Confidence: []float64{0, 1, 0.25, 1e-9}[random.IntN(4)], Properties: crawl.Properties{}}
			for range random.IntN(6) {
				o.Properties = append(o.Properties, crawl.Property{Name: []string{"body", "author", "<date>", "\n"}[random.IntN(4)], Value: text() + "."})
			}
			page.Objects = append(page.Objects, o)
		}
		c := Capture{Exchange: crawl.Exchange{URL: text(), Started: time.Date(2026, 3, 4, 5, 6, 7, random.IntN(2)*123456789, time.FixedZone("", 3600))}, Page: page}
		for n := range page.Objects {
			raw, err := json.Marshal(WebObject{
				URL: c.URL, Date: c.Started.UTC(), N: n, Application: page.Application, Version: page.Version, Level: page.Level, Base: page.Base, Object: page.Objects[n],
			})
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			line := appendObject(nil, c, n)
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("%s\nis not\n%s", line, raw)
			}
			if bytes.IndexByte(line, '\n') != len(line)-1 {
				t.Fatalf("%q is not one line", line)
			}
		}
	}
}
