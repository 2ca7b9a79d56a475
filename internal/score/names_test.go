package score

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// TestNames: what is recognised as a name must be one of the topic as a whole; three are enough.
func TestNames(t *testing.T) {
	about := crawl.Topic{
		Entities: []crawl.Entity{{Name: "Washington"}, {Name: "Neil Gaiman", Aliases: []string{"Mr Gaiman"}}, {Name: "Snorri Sturluson"}},
		Examples: []crawl.Example{{Text: "In summer we met Margaret Atwood in Canada."}},
	}
	const city, man = "The old senator lived in Washington.", "In those days George Washington was the president."
	for _, c := range []struct {
		text, lang string
		want       float64
	}{
		{city, "en", 1.0 / 3},
		{man, "en", 0},
		{"the washing is done", "en", 0},
		{"Last year Neil Gaiman met Snorri Sturluson. " + city, "en", 1},
		{"Last year Neil Gaiman met Snorri Sturluson.", "", 2.0 / 3},
		{"She wrote about Margaret Atwood and Canada.", "en", 2.0 / 3}, // names of an example
		{city, "de", silent},
		{"ȺȺȺ's " + city, "en", silent}, // the recogniser panics
		{strings.Repeat("There is nothing to say. ", maxNamed/20) + city, "en", 0}, // too far behind
		{"", "en", 0},
	} {
		p := &crawl.Page{Language: c.lang, Blocks: []string{c.text}, Links: []crawl.Outlink{link("http://a.example/", "here")}}
		scorer(t, about, weigh(t, 1, "names"), nil).Page(p, Context{})
		got, spoke := p.Links[0].Parts.Of("names")
		if !spoke {
			got = silent
		}
		if !near(got, c.want) {
			t.Errorf("%.60q in %q: %g, want %g", c.text, c.lang, got, c.want)
		}
	}
	learned := &topic.Model{Names: []text.Term{{Text: "Margaret Atwood", Weight: 3}}}
	p := &crawl.Page{Language: "en", Title: "We met Margaret Atwood", Links: []crawl.Outlink{link("http://a.example/", "here")}}
	scorer(t, crawl.Topic{Keywords: []string{"raven"}}, weigh(t, 1, "names"), learned).Page(p, Context{})
	if got, _ := p.Links[0].Parts.Of("names"); got != 1 {
		t.Errorf("a name that the reference crawl has taught: %g", got)
	}
	odin := crawl.Topic{Entities: []crawl.Entity{{Name: "Margaret Atwood"}}, Examples: []crawl.Example{{Text: "We met Margaret Atwood."}}}
	scorer(t, odin, weigh(t, 1, "names"), learned).Page(p, Context{})
	if got, _ := p.Links[0].Parts.Of("names"); got != 1 {
		t.Errorf("the only name, given three times: %g", got)
	}
	if a := names(scorer(t, about, crawl.DefaultDefinition().Weights, nil)); a.name != "" {
		t.Error("names are recognised though nobody has asked for it")
	}
	if a := names(scorer(t, ravens, weigh(t, 1, "names"), nil)); a.name != "" {
		t.Error("names are recognised of a topic without any")
	}
}

// BenchmarkNames is what a page costs whose names are recognised.
func BenchmarkNames(b *testing.B) {
	text := strings.Repeat("Last year Neil Gaiman met Snorri Sturluson in London, but nobody took a picture of it. ", 100)[:maxNamed]
	if _, err := named(text); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if found, _ := named(text); len(found) < 2 {
			b.Fatal(found)
		}
	}
}
