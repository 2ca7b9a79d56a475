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
