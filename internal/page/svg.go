package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// openSVG takes the links of an element of an SVG drawing; it returns the index of an anchor's link, else −1.
func (w *walker) openSVG(n *html.Node) int {
	name, ref := "href", attr(n, "href")
	if ref == "" { // of SVG 1.1; without a tree its name holds the prefix
		name, ref = "xlink:href", attrIn(n, "xlink", "href")
	}
	switch n.Data {
	case "a":
		return w.link(n, name, ref, crawl.HopLink, "")
	case "image", "use", "feImage", "feimage", "script":
		w.link(n, name, ref, crawl.HopEmbed, "")
	}
	for i := range n.Attr { // fill, filter, mask and others
		if value := strings.TrimLeft(n.Attr[i].Val, " \t\r\n"); len(value) > 4 && n.Attr[i].Key != "style" && strings.EqualFold(value[:4], "url(") {
			w.declarations(n, value)
		}
	}
	return -1
}

func attrIn(n *html.Node, space, key string) string {
	for _, a := range n.Attr {
		if a.Namespace == space && a.Key == key || a.Namespace == "" && a.Key == space+":"+key {
			return a.Val
		}
	}
	return ""
}

// svg takes the links of an SVG document, which is read like a drawing in a page.
func (b *builder) svg(body []byte, contentType string) {
	text, from, name := decode(body, contentType)
	b.doc.Charset, b.base = name, b.base.In(from)
	b.mute++
	defer func() { b.mute-- }()
	if root, read, _ := b.tree(text); root != nil {
		w := walker{builder: b}
		w.walk(root)
	} else {
		b.tokens(read)
	}
}

// isSVG reports whether a response is a drawing: by its type, its root, or its name if the type says nothing.
func isSVG(kind, url string, body []byte) bool {
	switch kind {
	case "image/svg+xml":
		return true
	case "text/xml", "application/xml":
		return bytes.HasPrefix(prolog(body, nil), []byte("<svg"))
	}
	return vague(kind) && extension(url) == "svg"
}

// stylesheets takes the style sheets that an XML document names before its root (xml-stylesheet 1.0).
func (b *builder) stylesheets(body []byte) {
	prolog(body, func(instruction string) {
		if in, is := strings.CutPrefix(instruction, "xml-stylesheet"); is {
			b.link(html.UnescapeString(pseudoAttribute(in, "href")), crawl.HopEmbed, "xml-stylesheet/@href", "", "stylesheet")
		}
	})
}

// prolog reads what stands before the root of an XML document, and returns the rest. take, if it is not nil, is given the processing
// instructions.
func prolog(body []byte, take func(instruction string)) []byte {
	for {
		at := bytes.IndexByte(body, '<')
		if at < 0 || at+1 == len(body) {
			return nil
		}
		body = body[at:]
		end := ">"
		switch {
		case bytes.HasPrefix(body, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(body, []byte("<!--")):
			end = "-->"
		case body[1] != '!':
			return body
		}
		n := bytes.Index(body, []byte(end))
		if n < 0 {
			return nil
		}
		if end == "?>" && take != nil {
			take(string(body[len("<?"):n]))
		}
		body = body[n+len(end):]
	}
}

// pseudoAttribute is the value of what stands like an attribute in a processing instruction.
func pseudoAttribute(in, name string) string {
	for {
		_, rest, is := strings.Cut(in, name)
		if !is {
			return ""
		}
		in = rest
		if value, is := strings.CutPrefix(strings.TrimLeft(in, " \t\r\n"), "="); is {
			if value = strings.TrimLeft(value, " \t\r\n"); value != "" && (value[0] == '"' || value[0] == '\'') {
				value, _, _ = strings.Cut(value[1:], value[:1])
				return value
			}
		}
	}
}
