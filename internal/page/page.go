// Package page parses a response once: text blocks, title, links with what stands around them,
// language and metadata. The parsed tree is handed on to the helper.
package page

import (
	"bytes"
	"cmp"
	"mime"
	"strings"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Limits bound what is taken from one page.
type Limits struct {
	DecodedBytes crawl.Bytes `json:"decoded_bytes"`     // of a body without its encodings; the rest is not looked at
	Markup       int         `json:"markup_per_page"`   // elements and attributes; what follows them is not looked at
	Links        int         `json:"links_per_page"`    // more are not taken
	SitemapLinks int         `json:"links_per_sitemap"` // of a sitemap, in place of Links
	TextBytes    crawl.Bytes `json:"text_bytes"`        // largest size of all text blocks together
	BlockBytes   int         `json:"block_bytes"`       // largest size of a text block; longer ones are split
	AnchorBytes  int         `json:"anchor_bytes"`      // largest size of an anchor's text
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits {
	return Limits{DecodedBytes: 16 << 20, Markup: 500_000, Links: 5000, SitemapLinks: 50_000, TextBytes: 1 << 20, BlockBytes: 4096, AnchorBytes: 512}
}

// Input is a response as FETCH left it, its transfer and content encodings taken off.
type Input struct {
	URL       string
	MIME      string // Content-Type as it came
	RobotsTag string // X-Robots-Tag: a line for each field
	Robot     string // product token of the crawler: what is meant for it alone counts, too; "": nothing is
	Refresh   string // Refresh, which browsers take for the meta element of that name
	Via       string // the page that it was found on, to which the URLs of a script are relative; "" if it is not known
	Link      string // Link fields, joined by commas
	Body      []byte
	Icon      bool // browsers ask for the icon of the host if the page names none: it is no part of another page
	// PDF reads a PDF file, with so many bytes of text at most; what it returns with an error counts. nil: none is read.
	PDF func(file []byte, textBytes int) (Paper, error)
}

// Document is a parsed page. What stands below Page is for the helper, and is set only if the page is HTML
// whose tree could be built.
type Document struct {
	crawl.Page
	Root       *html.Node
	Source     []byte       // in UTF-8; it may share memory with the body
	Generators string       // all generator elements of the head, in lower case, a line each
	Cut        bool         // the page has more markup than is looked at
	Starts     []*html.Node // for each text block the text node that it begins in
	Fault      error        // why not all of a document was read
	links      *builder     // knows the page's base, and what its references lead to
}

// Resolve makes a reference of the page absolute, by its base element if it has one; "" if it leads nowhere. It is
// for pages that have a Root.
func (d *Document) Resolve(ref string) string { return d.links.resolve(ref) }

// Parse never fails: what cannot be understood is left out.
func Parse(in Input, limits Limits) *Document {
	d := &Document{Page: crawl.Page{URL: in.URL}}
	kind, _, err := mime.ParseMediaType(in.MIME)
	if err != nil {
		kind, _, _ = strings.Cut(in.MIME, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if isPacked(kind) || kind == "" {
		if text, inside := unpacked(in.Body, int64(limits.DecodedBytes)); text != nil {
			in.Body, kind = text, inside
		}
	}
	switch {
	case (kind == "" || kind == "application/octet-stream" || kind == "text/plain" || kind == "text/html") && isSitemapOrFeed(in.Body):
		kind = "text/xml"
	case kind == "" || kind == "application/octet-stream" || kind == "text/plain" && looksHTML(in.Body):
		kind = sniff(in.Body)
	case kind == "application/zip" || kind == "application/x-zip-compressed":
		kind = cmp.Or(sniffOffice(in.Body), kind)
	}
	d.MIME = kind
	b := newBuilder(d, in.URL, limits)
	b.robot = strings.ToLower(in.Robot)
	for field := range strings.Lines(in.RobotsTag) {
		b.robotsField(field)
	}
	b.link(refresh(in.Refresh), crawl.HopRedirect, "Refresh", "", "")
	b.linkFields(in.Link)
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		b.html(in.Body, in.MIME)
	case isScript(kind) || vague(kind) && (extension(in.URL) == "js" || extension(in.URL) == "mjs"):
		b.scriptFile(in.Body, in.Via)
	case isManifest(kind, in.URL):
		b.manifest(in.Body)
	case isSheet(kind, in.URL):
		b.sheet(in.Body, in.MIME)
	case isSVG(kind, in.URL, in.Body):
		b.stylesheets(in.Body)
		b.svg(in.Body, in.MIME)
	case kind == "text/xml" || strings.HasSuffix(kind, "/xml") || strings.HasSuffix(kind, "+xml"):
		b.stylesheets(in.Body)
		b.xml(in.Body)
	case kind == "application/pdf" || kind == "application/x-pdf":
		if in.PDF != nil {
			var p Paper
			p, d.Fault = in.PDF(in.Body, int(limits.TextBytes))
			b.paper(p)
		}
	case isOffice(kind):
		d.Fault = b.office(in.Body)
	case isJSONFeed(kind, in.Body):
		b.jsonFeed(in.Body)
	case kind == "text/plain":
		text, _, name := decode(in.Body, in.MIME)
		d.Charset = name
		b.plain(text)
	}
	b.finish()
	if in.Icon && (kind == "text/html" || kind == "application/xhtml+xml") {
		b.impliedIcon(in.URL)
	}
	return d
}

func looksHTML(body []byte) bool { return sniff(body) == "text/html" }

// sniff distinguishes HTML and XML from the rest by their first bytes (WHATWG MIME Sniffing §7.1).
func sniff(body []byte) string {
	head := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], "\xef\xbb\xbf \t\r\n"))
	for _, start := range []string{"<!doctype html", "<html", "<head", "<body", "<!--", "<title", "<h1", "<div", "<p>", "<a ", "<table"} {
		if bytes.HasPrefix(head, []byte(start)) {
			return "text/html"
		}
	}
	if bytes.HasPrefix(head, []byte("<?xml")) {
		if bytes.Contains(head, []byte("<html")) {
			return "application/xhtml+xml"
		}
		return "text/xml"
	}
	if kind := sniffOffice(body); kind != "" {
		return kind
	}
	if bytes.Contains(body[:min(len(body), maxPDFHead)], []byte("%PDF-")) {
		return "application/pdf"
	}
	return "application/octet-stream"
}

// maxPDFHead is within how many bytes a PDF file says that it is one, as readers of such files take it.
const maxPDFHead = 1024
