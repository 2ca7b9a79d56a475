package pdf

import (
	"fmt"
	"strings"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/muninn-archive/muninn/internal/page"
)

// file is one that is read.
type file struct {
	pdfium.Pdfium
	document references.FPDF_DOCUMENT
	paper    page.Paper
	room     int // bytes of text that may still come
}

func (f *file) read(data []byte) (err error) {
	defer func() {
		if r := recover(); r != nil { // of the library, whose instance has ended
			err = fmt.Errorf("read a PDF file: %v", r)
		}
	}()
	opened, err := f.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return fmt.Errorf("read a PDF file: %w", err)
	}
	f.document = opened.Document
	if title, err := f.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: f.document, Tag: "Title"}); err == nil {
		f.paper.Title = clean(title.Value)
	}
	pages, err := f.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: f.document})
	if err != nil {
		return fmt.Errorf("read a PDF file: %w", err)
	}
	var failed error // of a page whose object is broken; the others may be sound
	for i := range min(pages.PageCount, maxPages) {
		if f.room <= 0 || len(f.paper.Links) >= maxLinks {
			break
		}
		err := f.page(i)
		switch {
		case err == nil:
		case strings.HasPrefix(err.Error(), "wasm error"): // PDFium has aborted: what is in its memory does not count any more
			reason, _, _ := strings.Cut(err.Error(), "\n")
			return fmt.Errorf("read page %d of a PDF file: %s", i+1, reason)
		case failed == nil:
			failed = fmt.Errorf("read page %d of a PDF file: %w", i+1, err)
		}
	}
	return failed
}

// page reads a page: its text, the links of its annotations, and the URLs that stand in its text.
func (f *file) page(index int) error {
	at := requests.Page{ByIndex: &requests.PageByIndex{Document: f.document, Index: index}}
	text, err := f.GetPageText(&requests.GetPageText{Page: at})
	if err != nil {
		return err
	}
	s := clean(text.Text)
	f.paper.Pages = append(f.paper.Pages, s[:min(len(s), f.room)])
	f.room -= len(s)
	for next := 0; len(f.paper.Links) < maxLinks; {
		link, err := f.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: at, StartPos: next})
		if err != nil {
			return err
		}
		if link.Link == nil || *link.NextStartPos <= next {
			break
		}
		next = *link.NextStartPos
		f.annotation(index, *link.Link)
	}
	return f.written(index, at)
}

// annotation takes the URL of a link, if it leads to one.
func (f *file) annotation(index int, link references.FPDF_LINK) {
	action, err := f.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: link})
	if err != nil || action.Action == nil {
		return
	}
	to, err := f.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: f.document, Action: *action.Action})
	if err == nil && to.URIPath != nil {
		f.paper.Links = append(f.paper.Links, page.PaperLink{URL: clean(*to.URIPath), Page: index, Annotation: true})
	}
}

// written takes the URLs that stand in the text of a page.
func (f *file) written(index int, at requests.Page) error {
	text, err := f.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at})
	if err != nil {
		return err
	}
	defer func() { _, _ = f.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	found, err := f.FPDFLink_LoadWebLinks(&requests.FPDFLink_LoadWebLinks{TextPage: text.TextPage})
	if err != nil {
		return err
	}
	defer func() { _, _ = f.FPDFLink_CloseWebLinks(&requests.FPDFLink_CloseWebLinks{PageLink: found.PageLink}) }()
	n, err := f.FPDFLink_CountWebLinks(&requests.FPDFLink_CountWebLinks{PageLink: found.PageLink})
	if err != nil {
		return err
	}
	for i := range n.Count {
		if len(f.paper.Links) >= maxLinks {
			break
		}
		to, err := f.FPDFLink_GetURL(&requests.FPDFLink_GetURL{PageLink: found.PageLink, Index: i})
		if err != nil {
			return err
		}
		if url := clean(to.URL); strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") { // and mailto:
			f.paper.Links = append(f.paper.Links, page.PaperLink{URL: url, Page: index})
		}
	}
	return nil
}

// clean is a text in UTF-8 without control characters but line breaks. PDFium ends strings with NUL, and writes U+FFFE for a hyphen at which a
// word is divided.
func clean(s string) string {
	s = strings.NewReplacer("\ufffe\r\n", "", "\ufffe\n", "", "\ufffe", "", "\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, ""))
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
