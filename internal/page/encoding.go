package page

import (
	"bytes"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// How the encoding of a page is found that its header does not name.
const (
	// declaredWithin is how many bytes of a page are searched for a meta element that declares its encoding. The standard lets a browser stop after
	// 1,024 (HTML §13.2.3.2), and has it read the page again when one comes later (§13.2.3.4).
	declaredWithin = 64 << 10
	// prescanned is how many bytes of them are searched whatever stands there: the standard's search does not know where a head ends.
	prescanned = 1024
	// detectedBy is how many bytes of text, without markup, a guess is made by.
	detectedBy = 4 << 10
	// leastHigh is how many bytes above ASCII a guess needs: a name in a text of another language is no evidence.
	leastHigh = 8
	// sure is how sure a guess must be, and surest where texts in a Latin script come near: in Polish once, of manual pages in 12 languages.
	sure, surest = .5, .9
)

// guesses are the encodings that a guess may have, by the name that the detector gives them: those of scripts whose texts are unreadable in
// windows-1252, which browsers take for undeclared text elsewhere.
var guesses = map[string]struct {
	name  string
	least float64
}{
	"shift_jis": {"shift_jis", sure}, "euc-jp": {"euc-jp", sure}, "gb2312": {"gbk", surest}, "gb18030": {"gb18030", surest},
	"big5": {"big5", surest}, "euc-kr": {"euc-kr", surest}, "cp949": {"euc-kr", surest},
	"koi8-r": {"koi8-r", sure}, "windows-1251": {"windows-1251", sure},
	"maccyrillic": {"windows-1251", sure}, // small letters are alike in both, and the web has the latter
}

// decode turns a body into UTF-8 and says from which encoding.
func decode(body []byte, contentType string) (text []byte, from encoding.Encoding, name string) {
	from, name = encodingOf(body, contentType)
	return decodeFrom(body, from, name), from, name
}

// decodeFrom turns a body into UTF-8 from an encoding, without its byte order mark.
func decodeFrom(body []byte, from encoding.Encoding, name string) []byte {
	text := body
	if name != "utf-8" {
		if decoded, err := io.ReadAll(transform.NewReader(bytes.NewReader(body), from.NewDecoder())); err == nil {
			text = decoded
		}
	}
	if !validUTF8(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return bytes.TrimPrefix(text, []byte("\uFEFF"))
}

// encodingOf is the encoding of a page (HTML §13.2.3): by its byte order mark, its header, its meta element, or its bytes.
func encodingOf(body []byte, contentType string) (encoding.Encoding, string) {
	if e, name := labelled(body, contentType); e != nil {
		return e, name
	}
	if e, name := declared(body[:min(len(body), declaredWithin)]); e != nil {
		return e, name
	}
	return lookup(undeclared(body))
}

// labelled is the encoding of a body by its byte order mark or its header; nil if neither names one.
func labelled(body []byte, contentType string) (encoding.Encoding, string) {
	for mark, name := range map[string]string{"\xef\xbb\xbf": "utf-8", "\xfe\xff": "utf-16be", "\xff\xfe": "utf-16le"} {
		if bytes.HasPrefix(body, []byte(mark)) {
			return lookup(name)
		}
	}
	_, params, err := mime.ParseMediaType(contentType)
	label := params["charset"]
	if err != nil { // such as a parameter that stands there twice
		label = charsetIn(contentType)
	}
	return lookup(label)
}

// undeclared names the encoding of a body by its bytes.
func undeclared(body []byte) string {
	if validUTF8(body) {
		return "utf-8"
	}
	return guessed(body)
}

// lookup is the encoding that a label names, with its name; nil if it names none.
func lookup(label string) (encoding.Encoding, string) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return nil, ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return nil, ""
	}
	return e, name
}

// declared is the encoding that a meta element names before the body of the page, or in its first bytes; nil if none does. A page that could be read that far is not in
// UTF-16, whatever it says (HTML §13.2.3.2).
func declared(body []byte) (encoding.Encoding, string) {
	z := html.NewTokenizer(bytes.NewReader(body))
	z.SetMaxBuf(declaredWithin)
	at, inBody := 0, false
	for {
		kind := z.Next()
		if at += len(z.Raw()); inBody && at > prescanned {
			return nil, ""
		}
		switch kind {
		case html.ErrorToken:
			return nil, ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch atom.Lookup(name) {
			case atom.Body:
				inBody = true
			case atom.Meta:
				label := metaCharset(z, more)
				if strings.HasPrefix(strings.ToLower(label), "utf-16") {
					label = "utf-8"
				}
				if e, name := lookup(label); e != nil {
					return e, name
				}
			}
		}
	}
}

// metaCharset is the label of an encoding in the attributes of a meta element; "" if there is none.
func metaCharset(z *html.Tokenizer, more bool) (label string) {
	pragma, content := false, ""
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "charset":
			return strings.TrimSpace(string(value))
		case "http-equiv":
			pragma = strings.EqualFold(strings.TrimSpace(string(value)), "content-type")
		case "content":
			content = string(value)
		}
	}
	if pragma {
		label = charsetIn(content)
	}
	return label
}

// charsetIn extracts an encoding from the content of a meta element (HTML §2.6.6).
func charsetIn(content string) string {
	lower := strings.ToLower(content)
	for {
		at := strings.Index(lower, "charset")
		if at < 0 {
			return ""
		}
		content, lower = content[at+len("charset"):], lower[at+len("charset"):]
		rest, is := strings.CutPrefix(strings.TrimLeft(content, " \t\n\f\r"), "=")
		if !is {
			continue
		}
		rest = strings.TrimLeft(rest, " \t\n\f\r")
		if rest == "" {
			return ""
		}
		if q := rest[0]; q == '"' || q == '\'' {
			label, _, closed := strings.Cut(rest[1:], string(q))
			if !closed {
				return ""
			}
			return label
		}
		if end := strings.IndexAny(rest, "; \t\n\f\r"); end >= 0 {
			rest = rest[:end]
		}
		return rest
	}
}

// guessed is the encoding that the text of a page looks like: windows-1252 if it does not look like one of guesses.
func guessed(body []byte) string {
	text, high := make([]byte, 0, detectedBy), 0
	markup := false
	for _, c := range body {
		switch {
		case c == '<':
			markup = true
		case c == '>':
			markup = false
		case !markup:
			if text = append(text, c); c >= utf8.RuneSelf {
				high++
			}
		}
		if len(text) == detectedBy {
			if high >= leastHigh {
				break
			}
			text, high = text[:0], 0
		}
	}
	if high < leastHigh {
		return "windows-1252"
	}
	found := chardet.Detect(text)
	if guess, ok := guesses[strings.ToLower(found.Encoding)]; ok && found.Confidence >= guess.least {
		return guess.name
	}
	return "windows-1252"
}
