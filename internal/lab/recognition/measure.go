package recognition

import (
	"os"
	"path/filepath"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// Seen is the result of the helper on one page.
type Seen struct {
	Labelled
	Found   string         `json:"found"` // application
	Version string         `json:"version,omitempty"`
	Level   string         `json:"found_level"`
	Rule    string         `json:"rule,omitempty"`
	By      string         `json:"level_rule,omitempty"`
	Content bool           `json:"terminal"`
	Objects map[string]int `json:"objects,omitempty"` // by type
	Bodies  int            `json:"bodies"`            // objects with a body
	Other   string         `json:"other,omitempty"`   // what the recogniser beside ours says
	Parse   time.Duration  `json:"parse_ns"`
	Took    time.Duration  `json:"helper_ns"`
}

// Recogniser is another program that names the applications of a page, for comparison.
type Recogniser func(headers map[string][]string, body []byte) []string

// Measure applies a base to all pages one after the other, as in a crawl.
func Measure(dir string, list []Labelled, base *kb.Base, other Recogniser) ([]Seen, error) {
	h := aah.New(base, aah.DefaultLimits())
	out := make([]Seen, 0, len(list))
	for _, l := range list {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File)))
		if err != nil {
			return nil, err
		}
		url := l.URL
		if url == "" {
			url = "http://unknown.invalid/page"
		}
		start := time.Now()
		document := page.Parse(page.Input{URL: url, MIME: "text/html", Body: body}, page.DefaultLimits())
		parsed := time.Now()
		d := h.Apply(document, aah.Input{})
		s := Seen{
			Labelled: l, Found: d.Application, Version: d.Version, Level: d.Level, Rule: d.Rule, By: d.LevelRule,
			Content: d.Terminal, Objects: map[string]int{}, Parse: parsed.Sub(start), Took: time.Since(parsed),
		}
		for _, o := range d.Objects {
			s.Objects[o.Type]++
			if o.Properties.Get("body") != "" {
				s.Bodies++
			}
		}
		if other != nil {
			s.Other = theirs(other(map[string][]string{}, body), l)
		}
		out = append(out, s)
	}
	return out, nil
}
