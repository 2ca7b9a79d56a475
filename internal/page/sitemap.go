package page

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// sitemapReader reads a sitemap or an index of sitemaps (sitemaps.org 0.9), in any namespace or none, with Google's extensions for images,
// videos and languages.
type sitemapReader struct {
	*builder
	path  []string // the names of the open elements, in lower case
	value []byte   // text of the innermost one
}

func (r *sitemapReader) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	r.address("sitemap") // <sitemap>URL<loc>
	r.path = append(r.path, name)
	r.value = r.value[:0]
	if name == "link" && r.parent() == "url" { // another language's page
		r.link(xmlAttr(t, "href"), crawl.HopSitemap, "sitemap/alternate", "", strings.ToLower(xmlAttr(t, "rel")))
	}
}

func (r *sitemapReader) text(data []byte) {
	if len(r.value)+len(data) <= maxAddress {
		r.value = append(r.value, data...)
	}
}

// maxAddress bounds what is kept of the text of an element, in bytes. No URL that may be asked for is as long.
const maxAddress = 16 << 10

func (r *sitemapReader) end(xml.Name) {
	if len(r.path) == 0 {
		return
	}
	name := r.path[len(r.path)-1]
	switch {
	case name == "loc" && r.parent() == "image":
		r.link(string(r.value), crawl.HopSpeculative, "sitemap/image", "", "")
	case name == "loc":
		r.link(string(r.value), crawl.HopSitemap, "sitemap/loc", "", "")
	case name == "content_loc" || name == "content_segment_loc" || name == "player_loc" || name == "thumbnail_loc":
		r.link(string(r.value), crawl.HopSpeculative, "sitemap/video", "", "")
	}
	r.address("sitemap", "url")
	r.path = r.path[:len(r.path)-1]
	r.value = r.value[:0]
}

// address takes a URL that stands in an element without <loc>.
func (r *sitemapReader) address(elements ...string) {
	if len(r.path) == 0 {
		return
	}
	for _, name := range elements {
		if r.path[len(r.path)-1] == name && absolute(string(bytes.TrimSpace(r.value))) {
			r.link(string(r.value), crawl.HopSitemap, "sitemap/loc", "", "")
		}
	}
}

func (r *sitemapReader) parent() string {
	if len(r.path) < 2 {
		return ""
	}
	return r.path[len(r.path)-2]
}

// rest takes what stands between <loc> and </loc>.
func (r *sitemapReader) rest(data []byte) {
	for {
		_, after, found := bytes.Cut(data, []byte("<loc>"))
		if !found {
			return
		}
		value, rest, found := bytes.Cut(after, []byte("<"))
		if !found {
			return
		}
		if bytes.HasPrefix(rest, []byte("/loc>")) && len(value) <= maxAddress {
			r.link(unescaped.Replace(strings.ToValidUTF8(string(value), "")), crawl.HopSitemap, "sitemap/loc", "", "")
		}
		data = rest
	}
}

var unescaped = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'")

// absolute reports whether a reference is a URL of the web with a host, without blanks.
func absolute(ref string) bool {
	head := strings.ToLower(ref[:min(len(ref), len("https://"))])
	return (strings.HasPrefix(head, "http://") || strings.HasPrefix(head, "https://")) &&
		len(ref) > len("https://") && !strings.ContainsAny(ref, " \t\r\n\"<>")
}

// listLines is how many lines of a text show that it is a list of URLs.
const listLines = 20

// isURLList reports whether a text is a sitemap of one URL a line: each line, of the first ones, is a URL.
func isURLList(text []byte) bool {
	lines := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(line) > maxAddress || !absolute(string(line)) {
			return false
		}
		if lines++; lines == listLines {
			break
		}
	}
	return lines > 0
}

// urlList takes the URLs of a text sitemap; other lines are passed over.
func (b *builder) urlList(text []byte) {
	b.limits.Links = b.limits.SitemapLinks
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); absolute(string(line)) {
			b.link(string(line), crawl.HopSitemap, "sitemap/line", "", "")
		}
	}
}
