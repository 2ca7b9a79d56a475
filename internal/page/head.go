package page

import (
	"bytes"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// The longest metadata that is kept, in bytes.
const (
	maxTitle       = 1024
	maxDescription = 2048
	maxGenerator   = 256
	maxGenerators  = 2048 // of all together
)

// head reads what a page says of itself in its head, before its links are resolved: the base element
// rules those that stand before it too.
func (b *builder) head(doc *goquery.Document) {
	page := doc.ChildrenFiltered("html")
	b.lang = page.AttrOr("lang", "")
	head := page.ChildrenFiltered("head")
	if href := head.Find("base[href]").First().AttrOr("href", ""); href != "" {
		b.setBase(href)
	}
	title := bytes.TrimSpace(Fold(nil, head.Find("title").First().Text()))
	b.doc.Title = cut(string(title), maxTitle)
	head.Find("meta[name]").Each(func(_ int, meta *goquery.Selection) {
		name, content := meta.AttrOr("name", ""), meta.AttrOr("content", "")
		b.named(name, content)
		if strings.EqualFold(name, "generator") && len(b.doc.Generators) < maxGenerators {
			b.doc.Generators += strings.ToLower(cut(content, maxGenerator)) + "\n"
		}
	})
}

// named takes a meta element by its name; the first of a name counts.
func (b *builder) named(name, content string) {
	switch name = strings.ToLower(name); name {
	case "description":
		if b.doc.Description == "" {
			b.doc.Description = cut(content, maxDescription)
		}
	case "generator":
		if b.doc.Generator == "" {
			b.doc.Generator = cut(content, maxGenerator)
		}
	case "robots":
		b.robotsMeta("", content)
	case b.robot:
		if name != "" {
			b.robotsMeta(name, content)
		}
	}
}
