package export

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/page"
)

// waczPage is a line of pages.jsonl.
type waczPage struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	TS    string `json:"ts"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// maxPageText bounds the text of a page in pages.jsonl, in bytes: the list is loaded whole by players.
const maxPageText = 64 << 10

// writePages writes pages.jsonl: the pages of a part, which are the captures with status 200 that are HTML, are no requisites, and are kept, and not
// exported for another reason. The text of one that a browser has opened is that of the document that the browser made. Of another revisit there is the title alone. n is their number.
func (p *Part) writePages(ctx context.Context, store archive.Store, out io.Writer) (n int, err error) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(struct {
		Format  string `json:"format"`
		ID      string `json:"id"`
		Title   string `json:"title"`
		HasText bool   `json:"hasText"`
	}{"json-pages-1.0", "pages", p.Of.Name, true})
	for i := range p.Groups {
		g := &p.Groups[i]
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return n, err
		}
		if g.Why != WhyKept || g.Capture == nil || g.Capture.Status != 200 || g.Capture.Robots() || !g.Capture.Revisit && !isHTML(g.Capture.MIME) {
			continue
		}
		one, is, errRead := p.page(ctx, store, g)
		if err = errRead; err == nil && is {
			n++
			err = enc.Encode(&one)
		}
	}
	return n, err
}

func isHTML(mime string) bool { return mime == "text/html" || mime == "application/xhtml+xml" }

// page reads a page; false if it is none.
func (p *Part) page(ctx context.Context, store archive.Store, g *PartGroup) (one waczPage, is bool, err error) {
	stamp := g.Capture.Date.UTC().Format(time.RFC3339)
	one = waczPage{ID: hashOf([]byte(stamp + " " + g.Capture.URL))[:hashDigits], URL: g.Capture.URL, TS: stamp}
	raw, err := p.groupBytes(ctx, store, g)
	if err != nil {
		return one, false, err
	}
	is = true
	text, shown := "", false
	err = archive.ReadRecords(bytes.NewReader(raw), func(rec archive.Captured) (bool, error) {
		switch rec.Kind {
		case "response":
			if !shown {
				text = pageText(g.Capture.URL, rec)
			}
		case "resource":
			if rec.URL != derive.DocumentURN+g.Capture.URL {
				break
			}
			shown = true // the page says what a browser has shown of it
			body, err := io.ReadAll(io.LimitReader(rec.Block, int64(page.DefaultLimits().DecodedBytes)))
			if err != nil {
				return false, err
			}
			text = textOf(g.Capture.URL, rec.Type, body)
		case "metadata":
			m, err := readMetadata(rec.Block)
			if err != nil {
				return false, err
			}
			one.Title = m.Title
			is = crawl.ClassOf(m.Path) == crawl.ClassPage
		}
		return true, nil
	})
	if err != nil {
		return one, false, &archive.DamagedError{Err: err}
	}
	if one.Text = strings.ToValidUTF8(text[:min(len(text), maxPageText)], ""); g.Capture.Revisit && one.Title == "" && !shown {
		is = false // what it is, its original says
	}
	return one, is, nil
}

// groupBytes reads the records of a group.
func (p *Part) groupBytes(ctx context.Context, store archive.Store, g *PartGroup) ([]byte, error) {
	var all bytes.Buffer
	alone := Part{Sources: p.Sources, Groups: []PartGroup{*g}}
	err := alone.copyRecords(ctx, store, &all)
	return all.Bytes(), err
}

// pageText is the text of a page: its blocks, joined by line feeds. What cannot be decoded has none.
func pageText(url string, rec archive.Captured) string {
	answer, err := rec.Answer()
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, int64(page.DefaultLimits().DecodedBytes))) // a body that breaks off is read up to there
	return textOf(url, answer.Header.Get("Content-Type"), body)
}

// textOf is the text of an HTML page, as the step text derives it.
func textOf(url, kind string, body []byte) string {
	if parsed, _, err := mime.ParseMediaType(kind); err == nil && !isHTML(parsed) {
		return ""
	}
	return derive.TextOf(page.Parse(page.Input{URL: url, MIME: kind, Body: body}, page.DefaultLimits()))
}
