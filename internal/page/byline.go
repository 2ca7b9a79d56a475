package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The names of meta elements that name an author or a date of publication, best first: those of Open Graph, of schema.org, of HTML, Dublin Core, Google Scholar and Parsely.
var (
	authorNames    = []string{"author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "sailthru.author", "byl"}
	publishedNames = []string{"article:published_time", "datepublished", "og:published_time", "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date", "dcterms.created", "citation_publication_date", "parsely-pub-date", "sailthru.date", "pubdate", "date"}
)

// maxByline bounds what Byline returns, in bytes each.
const maxByline = 512

// Byline is what the meta elements of a page say of its author and of the date of its publication, as they stand there; empty of a page that does not say so, or has no tree. A value that is a URL is no author.
func (d *Document) Byline() (author, published string) {
	if d.Root == nil {
		return "", ""
	}
	bestAuthor, bestPublished := len(authorNames), len(publishedNames)
	for n := range d.Root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Meta {
			continue
		}
		value := string(bytes.TrimSpace(Fold(nil, cut(attr(n, "content"), maxByline))))
		if value == "" {
			continue
		}
		for _, attribute := range []string{"name", "property", "itemprop"} {
			name := strings.ToLower(attr(n, attribute))
			if at := position(authorNames, name, bestAuthor); at < bestAuthor && !strings.Contains(value, "://") {
				author, bestAuthor = value, at
			}
			if at := position(publishedNames, name, bestPublished); at < bestPublished {
				published, bestPublished = value, at
			}
		}
	}
	return author, published
}

// position is that of a name among the first n of a list; n if it is not there.
func position(list []string, name string, n int) int {
	for i, known := range list[:n] {
		if known == name {
			return i
		}
	}
	return n
}
