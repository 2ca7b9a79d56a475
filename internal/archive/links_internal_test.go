package archive

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestAppendLink: what is written by hand reads as what encoding/json writes.
func TestAppendLink(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "plain text", "\"quoted\" \\ and\ttabs\nlines", "ünïcödé 東京", "<b>&amp;</b>", "\u2028 \x7f", "a\xffb", "\x00"}
	text := func() string { return texts[random.IntN(len(texts))] }
	number := func() float64 { return []float64{0, -1, 1, 0.1, 1e-9, 1e300, random.Float64()}[random.IntN(7)] }
	for range 5000 {
		page := &crawl.Page{Language: text(), Blocks: []string{text()}, NoFollow: random.IntN(2) == 0}
		l := crawl.Outlink{
			URL: text(), Hop: "LERM"[random.IntN(4)], Context: text(), Anchor: text(), Block: random.IntN(2) - 1, TagPath: text(), Rel: text(),
			Level: text(), Prior: number(), Score: number(),
		}
		if random.IntN(2) == 0 {
			for _, name := range crawl.PartNames[:random.IntN(len(crawl.PartNames)+1)] {
				l.Parts = append(l.Parts, crawl.Part{Name: name, Score: number()})
			}
		}
		c := Capture{Exchange: crawl.Exchange{URL: text(), Path: text()}, Page: page}
		want := Link{Source: c.URL, Path: c.Path, Outlink: l, HopLetter: string(rune(l.Hop)), Language: page.Language, NoFollow: page.NoFollow}
		var paragraph []byte
		if l.Block >= 0 {
			want.Paragraph = page.Blocks[l.Block]
			paragraph = appendText(nil, ",\"paragraph\":", want.Paragraph)
		}
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var a, b map[string]any
		line := appendLink(nil, c, &l, paragraph)
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		if b["paragraph"] == nil {
			delete(a, "paragraph") // an empty one may be written
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s\nis not\n%s", line, raw)
		}
	}
}

// TestAppendObject: what is written by hand reads as what encoding/json writes.
func TestAppendObject(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "plain text", "\"quoted\" \\ and\ttabs\r\nlines", "ünïcödé 東京 \ufffd", "<b>&amp;</b>", "\u2028 \x7f \x1f\b", "a\xffb\xe6\x9d", "\x00"}
	text := func() string { return texts[random.IntN(len(texts))] }
	for range 5000 {
		page := &crawl.Page{Application: text(), Version: text(), Level: text(), Base: text()}
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
