package score

import (
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
)

// exampleText is an example page that the definition gives by its text.
type exampleText struct {
	title string // empty for a plain text
	text  string // includes the title
	links []string
}

// exampleTexts are the texts of a topic's examples. A text that begins with a tag is HTML.
func exampleTexts(t crawl.Topic) (list []exampleText) {
	for _, e := range t.Examples {
		switch text := strings.TrimSpace(e.Text); {
		case text == "":
		case text[0] == '<':
			d := page.Parse(page.Input{URL: nowhere, MIME: "text/html", Body: []byte(text)}, page.DefaultLimits())
			list = append(list, exampleText{d.Title, d.Title + "\n" + strings.Join(d.Blocks, "\n"), knownLinks(d)})
		default:
			list = append(list, exampleText{text: text})
		}
	}
	return list
}

// nowhere is the URL of an example that has none.
const nowhere = "http://example.invalid/"

// knownLinks are the links of an example that do not depend on its URL: absolute ones, or all if it has a base.
func knownLinks(p *page.Document) (list []string) {
	for i := range p.Links {
		if url := p.Links[i].URL; !strings.HasPrefix(url, nowhere) {
			list = append(list, url)
		}
	}
	return list
}
