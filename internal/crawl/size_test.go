package crawl

import (
	"strings"
	"testing"
)

// The size of a page grows with whatever a hostile page can make large.
func TestPageBytes(t *testing.T) {
	const large = 100_000
	text := strings.Repeat("x", large)
	for name, p := range map[string]Page{
		"text":       {Blocks: []string{text}},
		"title":      {Title: text},
		"anchor":     {Links: []Outlink{{Anchor: text}}},
		"tag path":   {Links: []Outlink{{TagPath: text}}},
		"links":      {Links: make([]Outlink, large/100)},
		"properties": {Objects: []Object{{Properties: Properties{{Name: "body", Value: text}}}}},
		"prints":     {Prints: []byte(text)},
	} {
		if n := p.Bytes(); n < large || n > 3*large {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	if n := (&Page{}).Bytes(); n < 100 || n > 2000 {
		t.Errorf("an empty page: %d bytes", n)
	}
}
