package page

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// reader reads the elements of one kind of XML document.
type reader interface {
	start(t xml.StartElement)
	text(data []byte)
	end(name xml.Name)
	// rest gets what stands after a fault; nothing can be read of it as XML.
	rest(data []byte)
}

// xml takes the links and texts of sitemaps and feeds; other XML is left alone. A file that breaks in the middle gives what
// stood before, and a sitemap also the addresses that stand after it.
func (b *builder) xml(body []byte) {
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		body, _, b.doc.Charset = decode(body, "")
	}
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict, dec.Entity = false, xml.HTMLEntity
	same := true // the decoder counts the bytes of the body
	dec.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if b.doc.Charset != "" { // by its byte order mark
			return in, nil
		}
		same, b.doc.Charset = false, strings.ToLower(label)
		return charset.NewReaderLabel(label, in)
	}
	var r reader
	depth, ended := 0, false
	for depth <= maxDepth && !ended {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if r == nil {
				r = b.readerOf(t)
			}
			if r == nil {
				return
			}
			r.start(t)
		case xml.CharData:
			if r != nil {
				r.text(t)
			}
		case xml.EndElement:
			r.end(t.Name)
			depth--
			ended = depth == 0
		}
	}
	if at := dec.InputOffset(); r != nil && !ended && same && at < int64(len(body)) {
		r.rest(body[at:])
	}
	if f, ok := r.(*feedReader); ok {
		f.flush()
	}
}

// readerOf knows a document by its root; nil if nothing is to be found in it.
func (b *builder) readerOf(root xml.StartElement) reader {
	switch strings.ToLower(root.Name.Local) {
	case "urlset", "sitemapindex":
		b.limits.Links = b.limits.SitemapLinks
		return &sitemapReader{builder: b}
	case "rss", "rdf", "feed":
		return &feedReader{builder: b}
	}
	return nil
}

// knownRoots are the roots by which a sitemap or feed is known whose header says that it is something else.
var knownRoots = []string{"urlset", "sitemapindex", "rss", "rdf:rdf", "feed"}

// isSitemapOrFeed knows a sitemap or a feed by its root element, which stands within the first bytes.
func isSitemapOrFeed(body []byte) bool {
	text := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), maxProlog)], "\xef\xbb\xbf \t\r\n"))
	for {
		if !bytes.HasPrefix(text, []byte("<")) {
			return false
		}
		end := []byte(">")
		switch {
		case bytes.HasPrefix(text, []byte("<!--")):
			end = []byte("-->")
		case bytes.HasPrefix(text, []byte("<?")), bytes.HasPrefix(text, []byte("<!doctype")):
		default:
			name := text[1:]
			if at := bytes.IndexAny(name, " \t\r\n/>"); at >= 0 {
				name = name[:at]
			}
			for _, root := range knownRoots {
				if _, local, prefixed := bytes.Cut(name, []byte(":")); string(name) == root || prefixed && string(local) == root {
					return true
				}
			}
			return false
		}
		at := bytes.Index(text, end)
		if at < 0 {
			return false
		}
		text = bytes.TrimLeft(text[at+len(end):], " \t\r\n")
	}
}

// maxProlog is within how many bytes the root of a sitemap or feed must begin if the header does not say XML.
const maxProlog = 2 << 10

// maxDepth is how many elements stand in each other: the decoder keeps each open one.
const maxDepth = 1000

func xmlAttr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if strings.EqualFold(a.Name.Local, name) {
			return a.Value
		}
	}
	return ""
}

// plain takes text paragraph by paragraph; a list of URLs is a sitemap.
func (b *builder) plain(text []byte) {
	if isURLList(text) {
		b.urlList(text)
		return
	}
	for part := range bytes.SplitSeq(text, []byte("\n\n")) {
		if b.textSize >= int(b.limits.TextBytes) {
			return
		}
		b.write(string(part))
		b.breakBlock()
	}
}
