package page

import (
	"bytes"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Paper is what a reader of PDF files finds in one.
type Paper struct {
	Title string
	Pages []string // their texts
	Links []PaperLink
}

// PaperLink is a URL on a page of a Paper.
type PaperLink struct {
	URL        string
	Page       int
	Annotation bool // a link to be clicked, else a URL in the text
}

// paper takes title, text and links of a PDF file. The links stand in the first block of text of their page.
func (b *builder) paper(p Paper) {
	b.doc.Title = cut(string(bytes.TrimSpace(Fold(nil, p.Title))), maxTitle)
	next := 0
	for i, text := range p.Pages {
		for ; next < len(p.Links) && p.Links[next].Page <= i; next++ {
			context := "pdf/text"
			if p.Links[next].Annotation {
				context = "pdf/annotation"
			}
			b.link(p.Links[next].URL, crawl.HopLink, context, "", "")
		}
		for part := range strings.SplitSeq(text, "\n\n") {
			b.write(part)
			b.breakBlock()
		}
		b.breakBlock()
	}
}
