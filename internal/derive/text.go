package derive

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/dates"
	"github.com/muninn-archive/muninn/internal/page"
)

// Text is the step that says what a page says: its text, its objects, and where it links to. It has a line for each page (2xx) with a text, a title, objects or links. A revisit has none: its text is
// that of its original, of which there is a line in the same crawl or an earlier one. One whose page was opened in a browser has a line, of its own document.
var Text = Step{Name: "text", Version: 1, Of: func(ctx context.Context, c *Capture) (any, error) {
	d, err := documentOf(ctx, c)
	if d == nil || err != nil {
		return nil, err
	}
	return d, nil
}}

// The bounds of a Document. What is beyond them is left out.
const (
	MaxText        = 1 << 20  // bytes of the text of a page
	MaxObjects     = 500      // of a page
	MaxObjectText  = 64 << 10 // bytes of the text of an object
	MaxObjectTexts = 4 << 20  // bytes of the texts of all objects of a page
	MaxAnchors     = 1000     // of a page
	MaxTitle       = 1024     // bytes of a title
	MaxAuthor      = 256      // bytes of an author's name
)

// Document is a line of the step Text. Texts are valid UTF-8, white space folded.
type Document struct {
	URL       string    `json:"url"`
	Date      time.Time `json:"date"` // of the capture
	Title     string    `json:"title,omitempty"`
	Language  string    `json:"language,omitempty"` // ISO 639-1
	Author    string    `json:"author,omitempty"`
	Published time.Time `json:"published,omitzero"` // as the page says
	Text      string    `json:"text,omitempty"`     // what the page says: its blocks, joined by line feeds
	Objects   []Object  `json:"objects,omitempty"`
	Anchors   []Anchor  `json:"anchors,omitempty"`
}

// Object is a web object of a page: an article, a post, a comment.
type Object struct {
	N      int       `json:"n"` // its position among those of the page, from 0: that of the objects sidecar
	Type   string    `json:"type"`
	Title  string    `json:"title,omitempty"`
	Author string    `json:"author,omitempty"`
	Date   time.Time `json:"date,omitzero"` // when it was published
	Text   string    `json:"text,omitempty"`
}

// Anchor is an outlink that readers follow, with the text that they click.
type Anchor struct {
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
}

// documentOf makes the line of a capture; nil: there is none.
func documentOf(ctx context.Context, c *Capture) (*Document, error) {
	if !c.readable() {
		return nil, nil
	}
	p, err := c.Page(ctx)
	if errors.Is(err, ErrRevisit) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := c.Objects(ctx, nil)
	if err != nil {
		return nil, err
	}
	d := &Document{URL: c.URL, Date: c.Date, Title: cut(first(c.Title, p.Title), MaxTitle), Language: first(c.Language, p.Language), Text: textOf(p.Blocks), Anchors: anchorsOf(p)}
	d.Objects = objectsOf(found)
	if d.Text == "" && d.Title == "" && len(d.Objects) == 0 && len(d.Anchors) == 0 {
		return nil, nil
	}
	d.byline(p)
	return d, nil
}

// readable reports whether a capture may say something to a reader.
func (c *Capture) readable() bool {
	if c.Revisit && !c.Shown && c.reader.Originals == nil || c.Robots() {
		return false
	}
	if !c.Revisit && (c.Status < 200 || c.Status > 299) {
		return false
	}
	for _, kind := range []string{"image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript", "application/x-javascript", "application/font", "application/wasm"} {
		if strings.HasPrefix(c.MIME, kind) && c.MIME != "image/svg+xml" {
			return false
		}
	}
	return true
}

// TextOf is what a page says: its blocks, joined by line feeds, MaxText bytes at most.
func TextOf(p *page.Document) string { return textOf(p.Blocks) }

// textOf joins the blocks of a page.
func textOf(blocks []string) string {
	size, n := 0, 0
	for ; n < len(blocks) && size <= MaxText; n++ {
		size += len(blocks[n]) + 1
	}
	return cut(strings.Join(blocks[:n], "\n"), MaxText)
}

// anchorsOf are the outlinks of a page that lead to pages: not what it embeds.
func anchorsOf(p *page.Document) (list []Anchor) {
	for i := range p.Links {
		l := &p.Links[i]
		if l.Hop != crawl.HopLink && l.Hop != crawl.HopPaging {
			continue
		}
		if len(list) == MaxAnchors {
			break
		}
		list = append(list, Anchor{l.URL, l.Anchor})
	}
	return list
}

// objectsOf makes the objects of a document.
func objectsOf(found []archive.WebObject) (list []Object) {
	room := MaxObjectTexts
	for i := range found {
		if len(list) == MaxObjects {
			break
		}
		o := &found[i]
		text := cut(first(o.Properties.Get("body"), o.Properties.Get("summary")), min(MaxObjectText, room))
		room -= len(text)
		list = append(list, Object{
			N: o.N, Type: o.Type, Title: cut(o.Properties.Get("title"), MaxTitle), Author: cut(o.Properties.Get("author"), MaxAuthor),
			Date: dateOf(o.Properties.Get("published")), Text: text,
		})
	}
	return list
}

// byline sets author and date: those of the only article of the page if it has one, else of its only object, else what its head says. A page with
// several articles is a list, and no author of one of them is its own.
func (d *Document) byline(p *page.Document) {
	var of *Object
	articles := 0
	for i := range d.Objects {
		if d.Objects[i].Type == "article" {
			articles++
			of = &d.Objects[i]
		}
	}
	switch {
	case articles > 1:
		of = nil
	case of == nil && len(d.Objects) == 1:
		of = &d.Objects[0]
	}
	if of != nil {
		d.Author, d.Published = of.Author, of.Date
	}
	if d.Author != "" && !d.Published.IsZero() {
		return
	}
	author, published := p.Byline()
	if d.Author == "" {
		d.Author = cut(author, MaxAuthor)
	}
	if d.Published.IsZero() {
		d.Published = dateOf(published)
	}
}

// dateOf reads a date; the zero time if it is none. What is relative to now is none: a second look at the page must say the same.
func dateOf(text string) time.Time {
	at, _, ok := dates.Read(text, time.Time{})
	if !ok {
		return time.Time{}
	}
	return at.UTC()
}

// cut shortens a text to at most n bytes, at the edge of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
