package page

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// xml takes the links of sitemaps (sitemaps.org 0.9), RSS and Atom feeds; other XML is left alone.
// A file that breaks in the middle gives what stood before.
func (b *builder) xml(body []byte) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false
	dec.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		b.doc.Charset = strings.ToLower(label)
		return charset.NewReaderLabel(label, in)
	}
	var root, current string
	var space string // namespace of the root
	var text strings.Builder
	depth := 0
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			current = t.Name.Local
			text.Reset()
			if root == "" {
				root, space = current, t.Name.Space
			}
			if current == "link" && root == "feed" {
				b.link(xmlAttr(t, "href"), crawl.HopLink, "feed/link", "", xmlAttr(t, "rel"))
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			b.xmlElement(root, t.Name.Local, strings.TrimSpace(text.String()), t.Name.Space == space)
			text.Reset()
			if depth--; depth == 0 {
				return
			}
		}
	}
}

// xmlElement looks at an element that ends; own reports whether it is of the root's namespace and not of
// an extension's.
func (b *builder) xmlElement(root, name, text string, own bool) {
	switch {
	case text == "":
	case (root == "urlset" || root == "sitemapindex") && name == "loc":
		if own {
			b.link(text, crawl.HopSitemap, "sitemap/loc", "", "")
		} else { // image:loc
			b.link(text, crawl.HopEmbed, "sitemap/image", "", "")
		}
	case (root == "rss" || root == "RDF") && name == "link":
		b.link(text, crawl.HopLink, "feed/link", "", "")
	case root == "rss" || root == "RDF" || root == "feed":
		switch name {
		case "title", "description", "summary", "content":
			if b.doc.Title == "" && name == "title" {
				b.doc.Title = cut(text, 1024)
			}
			b.write(text)
			b.breakBlock()
		}
	}
}

func xmlAttr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// plain takes text paragraph by paragraph.
func (b *builder) plain(text []byte) {
	for part := range bytes.SplitSeq(text, []byte("\n\n")) {
		if b.textSize >= int(b.limits.TextBytes) {
			return
		}
		b.write(string(part))
		b.breakBlock()
	}
}
