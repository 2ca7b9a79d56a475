package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Images that scripts name are speculative: nothing says that a script shows them, or where from.
const (
	maxScripts     = 4 << 20 // bytes of scripts of a response that are searched
	maxSpeculative = 50      // speculative links of a response, by scripts and attributes
	maxLiteral     = 1024    // bytes of a URL that a script names
)

// script takes the images that a text of JavaScript or JSON names.
func (b *builder) script(text []byte, take func(ref string)) {
	text = text[:min(len(text), maxScripts-b.scripted)]
	b.scripted += len(text)
	for i := 0; i < len(text) && b.speculative < maxSpeculative; i++ {
		n := bytes.IndexByte(text[i:], '.')
		if n < 0 {
			return
		}
		i += n
		if end := imageEnd(text, i); end >= 0 && i > 0 && text[i-1] != '/' {
			if ref := literal(text, i, end); ref != "" {
				take(ref)
			}
		}
	}
}

// scriptFile takes the images that a script with a URL of its own names. A relative one is relative to the page that runs it.
func (b *builder) scriptFile(body []byte, via string) {
	if base, err := urls.NewResolver(via); err == nil {
		b.base = base
	}
	b.script(body, func(ref string) {
		b.link(ref, crawl.HopSpeculative, "script/text()", "", "")
	})
}

// imageEnd is the end of the extension of an image that begins at a dot; −1 if there is none.
func imageEnd(text []byte, dot int) int {
	end := dot + 1
	for end < len(text) && end <= dot+len("jpeg") && isLetter(text[end]) {
		end++
	}
	if end-dot <= len("ico") || end < len(text) && isLetter(text[end]) || !imageExtensions[strings.ToLower(string(text[dot+1:end]))] {
		return -1
	}
	return end
}

// literal is the URL around the end of an image's name, if it is a whole string: it begins with a quote, or as the argument of url(), and is
// not joined with other strings.
func literal(text []byte, dot, end int) string {
	if end < len(text) && text[end] == '?' {
		for end < len(text) && end < dot+maxLiteral && inURL[text[end]] {
			end++
		}
		end = dot + len(bytes.TrimRight(text[dot:end], "\\")) // of an escaped quote
	}
	begin := dot
	for begin > 0 && begin > dot-maxLiteral && inURL[text[begin-1]] {
		begin--
	}
	closing := end
	if closing < len(text) && text[closing] == '\\' {
		closing++
	}
	if begin == 0 || begin == dot || closing >= len(text) {
		return ""
	}
	opens, closes := text[begin-1], text[closing]
	before, after := bytes.TrimRight(text[:begin-1], " \t\r\n\\"), bytes.TrimLeft(text[closing+1:], " \t\r\n")
	switch {
	case opens == '(' && closes == ')':
	case !isQuote(opens) || opens != closes || bytes.HasSuffix(before, []byte("+")) || bytes.HasPrefix(after, []byte("+")) || isChoice(before):
		return ""
	}
	ref := unescapeScript(string(text[begin:end]))
	if !plausible(ref) || (!rooted(ref) || ref[0] == '.') && opens != '(' && !isSource(before) {
		return "" // mostly a part of a name, or that of a module
	}
	return ref
}

// isSource reports whether a string is the source of an element, by what is before it: "src =" or "src:".
func isSource(before []byte) bool {
	if len(before) == 0 || before[len(before)-1] != '=' && before[len(before)-1] != ':' {
		return false
	}
	return bytes.HasSuffix(bytes.TrimRight(before[:len(before)-1], " \t\r\n\"'"), []byte("src"))
}

// isChoice reports whether a string stands in "x ? string : string", which is mostly joined with another, by what is before it.
func isChoice(before []byte) bool {
	if colon, is := bytes.CutSuffix(before, []byte(":")); is {
		first := bytes.TrimRight(colon[max(len(colon)-maxLiteral, 0):], " \t\r\n")
		if len(first) < 2 || !isQuote(first[len(first)-1]) {
			return false
		}
		begins := bytes.LastIndexByte(first[:len(first)-1], first[len(first)-1])
		before = bytes.TrimRight(first[:max(begins, 0)], " \t\r\n")
	}
	return bytes.HasSuffix(before, []byte("?"))
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// unescapeScript resolves the escapes that URLs in scripts have.
var unescapeScript = strings.NewReplacer(`\/`, "/", `\u002F`, "/", `\u002f`, "/", `\u0026`, "&", `\x2F`, "/", `\x2f`, "/", "&amp;", "&").Replace

// inURL reports which bytes a URL in a script may have, a backslash for its escapes.
var inURL = func() (in [256]bool) {
	for c := range in {
		in[c] = c > ' ' && c != 0x7f && strings.IndexByte("\"'`()<>{}[]|^*", byte(c)) < 0
	}
	return in
}()

// scriptElement takes what a script of a page names, if it is one that runs, or data for one.
func (w *walker) scriptElement(n *html.Node, text string) {
	switch kind := strings.ToLower(strings.TrimSpace(attr(n, "type"))); {
	case kind == "", kind == "module", kind == "application/json", isScript(kind):
		w.script([]byte(text), func(ref string) { w.linkIn(ref, crawl.HopSpeculative, "script/text()") })
	}
}

// isScript reports whether a media type is that of JavaScript.
func isScript(kind string) bool {
	group, name, _ := strings.Cut(kind, "/")
	switch name {
	case "javascript", "x-javascript", "ecmascript", "x-ecmascript", "jscript":
		return group == "text" || group == "application"
	}
	return false
}
