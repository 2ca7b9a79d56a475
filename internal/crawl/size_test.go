package crawl

import (
	"strings"
	"testing"
)

// The size of a page counts everything that a hostile page can make large.
func TestPageBytes(t *testing.T) {
	const large = 100_000
	of := func(p Page) Judged { return Judged{Parsed: Parsed{Page: p}} }
	text := strings.Repeat("x", large)
	for name, p := range map[string]Judged{
		"text":          of(Page{Blocks: []string{text}}),
		"title":         of(Page{Title: text}),
		"anchor":        of(Page{Links: []Outlink{{Anchor: text}}}),
		"tag path":      of(Page{Links: []Outlink{{TagPath: text}}}),
		"links":         of(Page{Links: make([]Outlink, large/100)}),
		"properties":    {Parsed: Parsed{Findings: Findings{Objects: []Object{{Properties: Properties{{Name: "body", Value: text}}}}}}},
		"prints":        {Parsed: Parsed{Findings: Findings{Prints: []byte(text)}}},
		"page features": {Verdict: Verdict{PageFeatures: []byte(text)}},
		"link features": {Verdict: Verdict{Links: []LinkVerdict{{LinkFeatures: []byte(text)}}}},
		"parts":         {Verdict: Verdict{Links: []LinkVerdict{{Parts: make(Parts, large/24)}}}},
	} {
		if n := p.Bytes(); n < large || n > 3*large {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	if n := (&Judged{}).Bytes(); n < 100 || n > 2000 {
		t.Errorf("an empty page: %d bytes", n)
	}
}
