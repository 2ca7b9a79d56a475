package illustrated

import (
	"fmt"
	"html"
	"net/url"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// form is what distinguishes documents as a whole.
type form struct {
	charset string // as it is declared; empty: UTF-8
	header  bool   // it is declared in the header, else in the document
	code    encoding.Encoding
	word    string // that can be written in it
	base    bool   // the document names another base than its own URL
	xml     bool
	quirks  bool // it has no document type
	frames  bool // it is a frameset
}

var forms = []form{
	{word: "Übersicht"},
	{charset: "Shift_JIS", header: true, code: japanese.ShiftJIS, word: "これはカラスです"},
	{base: true, word: "Hrafn Óðins"},
	{charset: "windows-1251", code: charmap.Windows1251, word: "Ворон"},
	{charset: "gb2312", code: simplifiedchinese.GBK, word: "渡鸦在山上"},
	{quirks: true, word: "Übersicht"},
	{frames: true, word: "Übersicht"},
	{charset: "iso-8859-1", header: true, code: charmap.Windows1252, word: "Rabenvögel"},
	{charset: "euc-kr", code: korean.EUCKR, word: "까마귀"},
}

// hardForms are those of pages with hard kinds: the player does not show two of them, nor letters in the others.
var hardForms = []form{
	forms[1],
	{xml: true, word: "渡り鴉"},
	forms[3],
	{charset: "utf-16", header: true, code: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), word: "渡り鴉"},
	forms[4], forms[7], forms[8],
}

// pen writes one page.
type pen struct {
	*world
	n       int
	form    form
	whole   bool           // references are whole URLs: for the player, what scripts load on a page with another base is relative to the page
	hard    bool           // it has kinds that players do not show
	host    *webworld.Host // of the page
	base    *webworld.Host // of its base
	sheet   *webworld.Host // of its style sheet
	inline  bool           // the sheet is in the page
	kind    string         // that is being written
	made    int            // of this kind
	ways    int            // of referring
	hosts   int            // chosen
	imports strings.Builder
	rules   strings.Builder
	head    strings.Builder
	body    strings.Builder
}

func (p *pen) say(format string, args ...any)  { fmt.Fprintf(&p.body, format, args...) }
func (p *pen) top(format string, args ...any)  { fmt.Fprintf(&p.head, format, args...) }
func (p *pen) rule(format string, args ...any) { fmt.Fprintf(&p.rules, format+"\n", args...) }

// other is one of the hosts, the next each time.
func (p *pen) other() *webworld.Host {
	p.hosts++
	return p.b.Hosts[(p.n*5+p.hosts)%len(p.b.Hosts)]
}

// name is the path of the next thing that the kind needs.
func (p *pen) name(extension string) string {
	p.made++
	return fmt.Sprintf("/r/%d-%s-%d%s", p.n, p.kind, p.made, extension)
}

// put adds a resource to a host.
func (p *pen) put(on *webworld.Host, path, mime string, body []byte) *webworld.Resource {
	res := on.AddHTML(path, "part", false, body)
	res.Embed = true
	res.Header.Set("Content-Type", mime)
	res.Header.Set("Access-Control-Allow-Origin", "*") // fonts and masks of other hosts are shown only then
	p.truth = append(p.truth, res.Page)
	return res
}

// redirect adds a redirect to a host.
func (p *pen) redirect(on *webworld.Host, path string, status int, location string) {
	res := on.Redirect(path, status, location)
	res.Header.Set("Access-Control-Allow-Origin", "*")
	p.truth = append(p.truth, res.Page)
}

// text is a reference in an attribute.
func text(reference string) string { return html.EscapeString(reference) }

// image adds an image to one of the hosts, and returns how the page refers to it.
func (p *pen) image() string { return text(p.imageFrom(p.base)) }

// cssImage is the same for the page's style sheet.
func (p *pen) cssImage() string { return p.imageFrom(p.sheet) }

func (p *pen) imageFrom(from *webworld.Host) string {
	on, format := p.other(), imageFormats[(p.n+p.made)%len(imageFormats)]
	path := p.name(format.extension)
	p.put(on, path, format.mime, format.draw(on.Host+path))
	return p.reference(from, on, path)
}

// near adds a resource to the page's own host: some things are not shown if they are at another origin.
func (p *pen) near(extension, mime string, body func(name string) []byte) string {
	path := p.name(extension)
	p.put(p.host, path, mime, body(p.host.Host+path))
	return text(p.reference(p.base, p.host, path))
}

// far adds a resource to one of the hosts, and returns that host, too.
func (p *pen) far(extension, mime string, body func(on *webworld.Host, name string) []byte) (reference string) {
	on, path := p.other(), p.name(extension)
	p.put(on, path, mime, body(on, on.Host+path))
	return text(p.reference(p.base, on, path))
}

// box is an element that a rule of the style sheet is about.
func (p *pen) box(content string) (selector string) {
	p.made++
	class := fmt.Sprintf("%s-%d", p.kind, p.made)
	p.say(`<div class="box %s">%s</div>`, class, content)
	return "." + class
}

const ordinary = `body { font-family: "DejaVu Sans", sans-serif; font-size: 14px; background-color: #fafaf5; color: #222; margin: 12px }
h3 { font-size: 11px; margin: 4px 0 } .box { display: inline-block; width: 90px; height: 30px; border: 1px solid #bbb } p { margin: 4px 0 }
`

// finish adds the page, and its style sheet.
func (p *pen) finish() {
	css := p.imports.String() + ordinary + p.rules.String()
	if p.inline {
		p.top("<style type=\"text/css\">\n%s</style>\n", css)
	} else {
		path := fmt.Sprintf("/css/%d.css", p.n)
		p.put(p.sheet, path, "text/css", []byte(css))
		p.top("<link rel=\"stylesheet\" type=\"text/css\" href=\"%s\"/>\n", text(p.reference(p.base, p.sheet, path)))
	}
	var page strings.Builder
	mime := "text/html"
	switch {
	case p.form.xml:
		mime = "application/xhtml+xml"
		page.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\">\n")
	case p.form.quirks:
		page.WriteString("<html>\n")
	default:
		page.WriteString("<!DOCTYPE html>\n<html>\n")
	}
	page.WriteString("<head>\n")
	switch {
	case p.form.header:
		mime += "; charset=" + p.form.charset
	case p.form.charset != "":
		fmt.Fprintf(&page, "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=%s\"/>\n", p.form.charset)
	default:
		page.WriteString("<meta charset=\"utf-8\"/>\n")
	}
	if p.form.base {
		fmt.Fprintf(&page, "<base href=\"%s/elsewhere/index.html\"/>\n", p.base.Base)
	}
	fmt.Fprintf(&page, "<title>%s %d</title>\n%s</head>\n", p.form.word, p.n, p.head.String())
	if p.form.frames {
		p.frameset(&page)
	} else {
		r := p.b.Random(p.host, "page %d", p.n)
		fmt.Fprintf(&page, "<body>\n<h1>%s: raven %d</h1>\n<p>%s</p>\n%s</body>\n", p.form.word, p.n, html.EscapeString(p.b.Text.Paragraph(r, webworld.Ravens, 3)), p.body.String())
	}
	page.WriteString("</html>\n")
	kind := "page"
	if p.hard {
		kind = HardPage
	}
	res := p.host.AddHTML(pathOf(p.n), kind, true, p.encoded(page.String()))
	res.Header.Set("Content-Type", mime)
	p.truth = append(p.truth, res.Page)
}

// frameset writes a page that is made of two frames; the second has the links.
func (p *pen) frameset(page *strings.Builder) {
	p.kind, p.made = "frameset", 0
	first := p.document(p.other(), "a raven in a frame")
	path := p.name(".html")
	p.put(p.host, path, "text/html; charset=utf-8", []byte("<!DOCTYPE html><html><head><title>Links</title></head><body>"+p.body.String()+"</body></html>\n"))
	fmt.Fprintf(page, "<frameset cols=\"50%%,50%%\"><frame src=\"%s\"/><frame src=\"%s\"/></frameset>\n", first, text(p.reference(p.base, p.host, path)))
}

// document adds a document with an image to a host, and returns how the page refers to it.
func (p *pen) document(on *webworld.Host, says string) string {
	path := p.name(".html")
	p.put(on, path, "text/html; charset=utf-8", fmt.Appendf(nil, "<!DOCTYPE html><html><head><title>Part</title></head><body><p>%s of page %d</p><img src=\"%s\"></body></html>\n",
		says, p.n, text(p.imageFrom(on))))
	return text(p.reference(p.base, on, path))
}

// encoded is a text in the encoding of the page.
func (p *pen) encoded(s string) []byte {
	if p.form.code == nil {
		return []byte(s)
	}
	raw, err := encoding.HTMLEscapeUnsupported(p.form.code.NewEncoder()).Bytes([]byte(s))
	if err != nil && p.b.Err == nil {
		p.b.Err = fmt.Errorf("page %d as %s: %w", p.n, p.form.charset, err)
	}
	return raw
}

// query is a text as browsers write it into a query of the page: in its encoding, but never in UTF-16.
func (p *pen) query(s string) string {
	if p.form.code == nil || p.form.charset == "utf-16" {
		return url.QueryEscape(s)
	}
	return url.QueryEscape(string(p.encoded(s)))
}
