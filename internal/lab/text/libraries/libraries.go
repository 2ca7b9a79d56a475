// Package libraries wraps the libraries that Muninn's extraction is compared with: go-trafilatura, go-readability and go-htmldate. The
// laboratory alone carries them.
package libraries

import (
	"bytes"
	"net/url"

	"github.com/go-shiori/go-readability"
	"github.com/markusmobius/go-htmldate"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/lab/text"
)

// Systems are the libraries. Each gets the text of a page as Muninn has decoded it, and parses it by itself: they alter the tree.
func Systems() []text.System {
	return []text.System{
		{Name: "trafilatura", Body: true, Title: true, Author: true, Date: true, Extract: ofTrafilatura},
		{Name: "readability", Body: true, Title: true, Author: true, Date: true, Extract: ofReadability},
		{Name: "htmldate-fast", Date: true, Extract: func(p *text.Page) (text.Answer, error) { return ofHTMLDate(p, true) }},
		{Name: "htmldate", Date: true, Extract: func(p *text.Page) (text.Answer, error) { return ofHTMLDate(p, false) }},
	}
}

// parse makes a tree of a page that is the library's own. It is that of a browser without scripts, as Muninn's.
func parse(p *text.Page) (*html.Node, *url.URL, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, nil, err
	}
	root, err := html.ParseWithOptions(bytes.NewReader(p.Source), html.ParseOptionEnableScripting(false))
	return root, u, err
}

// ofTrafilatura asks go-trafilatura, with its fallbacks on, as it recommends. Comments are not in its answer.
func ofTrafilatura(p *text.Page) (a text.Answer, err error) {
	root, u, err := parse(p)
	if err != nil {
		return a, err
	}
	found, err := trafilatura.ExtractDocument(root, trafilatura.Options{EnableFallback: true, OriginalURL: u})
	if err != nil {
		return a, err
	}
	m := found.Metadata
	return text.Answer{Body: found.ContentText, Title: m.Title, Author: m.Author, Published: m.Date}, nil
}

func ofReadability(p *text.Page) (a text.Answer, err error) {
	root, u, err := parse(p)
	if err != nil {
		return a, err
	}
	found, err := readability.FromDocument(root, u)
	if err != nil {
		return a, err
	}
	a = text.Answer{Body: found.TextContent, Title: found.Title, Author: found.Byline}
	if found.PublishedTime != nil {
		a.Published = *found.PublishedTime
	}
	return a, nil
}

// ofHTMLDate asks go-htmldate for the date of the first publication; fast leaves out its search in the text of the page.
func ofHTMLDate(p *text.Page, fast bool) (a text.Answer, err error) {
	root, _, err := parse(p)
	if err != nil {
		return a, err
	}
	found, err := htmldate.FromDocument(root, htmldate.Options{UseOriginalDate: true, SkipExtensiveSearch: fast, URL: p.URL})
	if err != nil {
		return a, err
	}
	return text.Answer{Published: found.DateTime}, nil
}
