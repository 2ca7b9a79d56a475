package page

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Bounds of office documents.
const (
	maxParts         = 5000    // parts of a document
	maxRelations     = 20_000  // targets of a part's links
	maxRelationBytes = 4 << 20 // of the list of them
	maxFormula       = 4 << 10 // bytes of a field or formula that is searched for an address
	maxLinkText      = 4 << 10 // bytes of the text of a link
	zipEntry         = "PK\x01\x02"
)

// isOffice knows Office Open XML (ECMA-376) and OpenDocument (ISO 26300) by their types.
func isOffice(kind string) bool {
	kind = strings.TrimPrefix(kind, "application/vnd.")
	return strings.HasPrefix(kind, "openxmlformats-officedocument.") || strings.HasPrefix(kind, "oasis.opendocument.") ||
		strings.HasPrefix(kind, "ms-") && strings.HasSuffix(kind, ".macroenabled.12")
}

// sniffOffice is the type of an office document by its parts; empty if it is none.
func sniffOffice(body []byte) string {
	switch {
	case !bytes.HasPrefix(body, []byte("PK\x03\x04")):
		return ""
	case bytes.Contains(body[:min(len(body), 100)], []byte("mimetypeapplication/vnd.oasis.opendocument.")):
		return "application/vnd.oasis.opendocument"
	case bytes.Contains(body, []byte("word/document.xml")):
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case bytes.Contains(body, []byte("ppt/presentation.xml")):
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	case bytes.Contains(body, []byte("xl/workbook.xml")):
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	return ""
}

// readParts are the parts of documents that have text, in the order in which they are read; parts with a number come in its order.
var readParts = []*regexp.Regexp{
	regexp.MustCompile(`^content\.xml$`), // OpenDocument
	regexp.MustCompile(`^word/document\.xml$`), regexp.MustCompile(`^word/(footnotes|endnotes|comments)\.xml$`), regexp.MustCompile(`^word/(header|footer)(\d+)\.xml$`),
	regexp.MustCompile(`^ppt/slides/slide(\d+)\.xml$`), regexp.MustCompile(`^ppt/notesSlides/notesSlide(\d+)\.xml$`),
	regexp.MustCompile(`^xl/sharedStrings\.xml$`), regexp.MustCompile(`^xl/worksheets/sheet(\d+)\.xml$`),
}

// office takes title, text and links of an office document. With an error, what was read before counts.
func (b *builder) office(body []byte) error {
	if n := bytes.Count(body, []byte(zipEntry)); n > maxParts {
		return fmt.Errorf("an office document has more than %d parts", maxParts)
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return fmt.Errorf("open an office document: %w", err)
	}
	o := &officeFile{builder: b, left: int64(b.limits.DecodedBytes), parts: map[string]*zip.File{}}
	type numbered struct {
		name         string
		kind, number int
	}
	var list []numbered
	for _, f := range z.File {
		o.parts[f.Name] = f
		for kind, form := range readParts {
			if m := form.FindStringSubmatch(f.Name); m != nil {
				number, _ := strconv.Atoi(m[len(m)-1])
				list = append(list, numbered{f.Name, kind, number})
			}
		}
	}
	slices.SortFunc(list, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	for _, name := range []string{"docProps/core.xml", "meta.xml"} {
		if o.parts[name] != nil {
			err = errors.Join(err, o.title(name))
		}
	}
	for _, part := range list {
		if err != nil || o.left <= 0 || b.textSize >= int(b.limits.TextBytes) {
			break
		}
		err = o.part(part.name)
	}
	return err
}

// officeFile is a document that is read.
type officeFile struct {
	*builder
	parts map[string]*zip.File
	left  int64 // bytes that may still be decoded
}

// tokens reads the XML of a part. What breaks off gives what stood before.
func (o *officeFile) tokens(name string, limit int64, each func(xml.Token)) error {
	r, err := o.parts[name].Open()
	if err != nil {
		return fmt.Errorf("open %s of an office document: %w", name, err)
	}
	defer func() { _ = r.Close() }()
	in := &io.LimitedReader{R: r, N: min(o.left, limit)}
	defer func(n int64) { o.left -= n - in.N }(in.N)
	dec := xml.NewDecoder(in)
	dec.Strict = false
	for depth := 0; depth <= maxDepth; {
		t, err := dec.Token()
		if err != nil {
			if in.N <= 0 || errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read %s of an office document: %w", name, err)
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		each(t)
	}
	return fmt.Errorf("read %s of an office document: more than %d elements in each other", name, maxDepth)
}

// title reads what a document says of itself.
func (o *officeFile) title(name string) error {
	in := false
	return o.tokens(name, maxRelationBytes, func(t xml.Token) {
		switch t := t.(type) {
		case xml.StartElement:
			in = t.Name.Local == "title"
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in && o.doc.Title == "" {
				o.doc.Title = cut(string(bytes.TrimSpace(Fold(nil, string(t)))), maxTitle)
			}
		}
	})
}

// relations are the targets of the links of a part that lead out of the document, by their names in it.
func (o *officeFile) relations(name string) (map[string]string, error) {
	list := path.Join(path.Dir(name), "_rels", path.Base(name)+".rels")
	if o.parts[list] == nil {
		return nil, nil
	}
	to := map[string]string{}
	err := o.tokens(list, maxRelationBytes, func(t xml.Token) {
		e, ok := t.(xml.StartElement)
		if ok && e.Name.Local == "Relationship" && strings.EqualFold(xmlAttr(e, "TargetMode"), "External") &&
			strings.HasSuffix(xmlAttr(e, "Type"), "/hyperlink") && len(to) < maxRelations {
			to[xmlAttr(e, "Id")] = xmlAttr(e, "Target")
		}
	})
	return to, err
}

// part takes text and links of a part.
func (o *officeFile) part(name string) error {
	to, err := o.relations(name)
	if err != nil {
		return err
	}
	p := &officePart{officeFile: o, to: to, open: -1, odf: name == "content.xml"}
	err = o.tokens(name, o.left, func(t xml.Token) {
		switch t := t.(type) {
		case xml.StartElement:
			p.start(t)
		case xml.CharData:
			p.data(t)
		case xml.EndElement:
			p.end(t.Name.Local)
		}
	})
	o.breakBlock()
	return err
}

// officePart is a part of a document that is read.
type officePart struct {
	*officeFile
	to        map[string]string // targets by name
	odf       bool              // OpenDocument: all that stands in a paragraph is text
	paragraph int               // depth of paragraphs
	text      bool              // in an element of text
	field     bool              // in a field or formula, which may have an address
	formula   []byte
	open      int // the link that is open, −1 if none is
	opened    string
	anchored  []byte // its text
}

func (p *officePart) start(t xml.StartElement) {
	switch name := t.Name.Local; name {
	case "p", "h", "si", "is":
		if p.paragraph++; p.paragraph == 1 {
			p.breakBlock()
		}
	case "t":
		p.text = !p.odf
	case "tab", "br", "s", "line-break", "cr":
		p.put(" ")
	case "instrText", "f":
		p.field = true
	case "hyperlink", "hlinkClick", "hlinkHover":
		p.hyperlink(name, p.to[relationOf(t)])
	case "a":
		if p.odf {
			p.hyperlink(name, xmlAttr(t, "href"))
		}
	}
}

// relationOf is the name of a link's target.
func relationOf(t xml.StartElement) string {
	for _, a := range t.Attr {
		if a.Name.Local == "id" && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}

// hyperlink takes a link. The text of one that encloses it is its anchor.
func (p *officePart) hyperlink(name, target string) {
	if !absolute(target) { // a file beside the document, or a place in it
		return
	}
	at := p.link(target, crawl.HopLink, "office/"+name, "", "")
	if name == "hyperlink" || name == "a" {
		p.open, p.opened, p.anchored = at, name, p.anchored[:0]
	}
}

func (p *officePart) data(data []byte) {
	switch {
	case p.field && len(p.formula)+len(data) <= maxFormula:
		p.formula = append(p.formula, data...)
	case p.text || p.odf && p.paragraph > 0:
		p.put(string(data))
	}
}

func (p *officePart) put(s string) {
	p.write(s)
	if p.open >= 0 && len(p.anchored)+len(s) <= maxLinkText {
		p.anchored = append(p.anchored, s...)
	}
}

// addressed finds the address in HYPERLINK "…" of a field, and in HYPERLINK("…") of a formula.
var addressed = regexp.MustCompile(`HYPERLINK\s*\(?\s*"([^"]+)"`)

func (p *officePart) end(name string) {
	switch name {
	case "p", "h", "si", "is":
		if p.paragraph--; p.paragraph == 0 {
			p.breakBlock()
		}
	case "t":
		p.text = false
	case "instrText", "f":
		if m := addressed.FindSubmatch(p.formula); m != nil && absolute(string(m[1])) {
			p.link(string(m[1]), crawl.HopLink, "office/field", "", "")
		}
		p.field, p.formula = false, p.formula[:0]
	case p.opened:
		if p.open >= 0 {
			p.anchor(p.open, string(p.anchored))
		}
		p.open, p.opened = -1, ""
	}
}
