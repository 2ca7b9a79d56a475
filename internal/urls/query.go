package urls

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
)

// In is the resolver of a document in an encoding: what is not ASCII in the queries of its references is escaped in that encoding, as browsers
// do, and servers of such sites expect (URL standard, §4.4, query state). It is UTF-8 for a document in UTF-8 or UTF-16.
func (r Resolver) In(e encoding.Encoding) Resolver {
	r.coded = nil
	switch name, err := htmlindex.Name(e); {
	case err != nil, name == "utf-8", name == "utf-16le", name == "utf-16be", name == "replacement":
		return r
	}
	r.coded = e
	return r
}

// Encoding is that of In; nil: UTF-8.
func (r Resolver) Encoding() encoding.Encoding { return r.coded }

// encodeQuery escapes what is not ASCII in the query of a reference, if the document is not in UTF-8.
func (r Resolver) encodeQuery(ref string) string {
	if r.coded == nil {
		return ref
	}
	rest, fragment, _ := strings.Cut(ref, "#")
	path, query, has := strings.Cut(rest, "?")
	if !has || isASCII(query) {
		return ref
	}
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('?')
	for query != "" {
		n := strings.IndexFunc(query, func(c rune) bool { return c >= utf8.RuneSelf })
		if n < 0 {
			n = len(query)
		}
		b.WriteString(query[:n])
		query = query[n:]
		n = strings.IndexFunc(query, func(c rune) bool { return c < utf8.RuneSelf })
		if n < 0 {
			n = len(query)
		}
		writeEncoded(&b, r.coded, query[:n])
		query = query[n:]
	}
	if fragment != "" {
		b.WriteByte('#')
		b.WriteString(fragment)
	}
	return b.String()
}

// writeEncoded writes text in an encoding, escaped. A character that the encoding does not have becomes a reference in HTML, as in browsers.
func writeEncoded(b *strings.Builder, in encoding.Encoding, text string) {
	switch in {
	case japanese.ShiftJIS, japanese.EUCJP, japanese.ISO2022JP:
		text = strings.ReplaceAll(text, "\u2212", "\uff0d") // the minus sign, which they have at full width (Encoding standard, §12)
	}
	if coded, err := in.NewEncoder().String(text); err == nil {
		writeBytes(b, coded)
		return
	}
	for _, c := range text {
		if coded, err := in.NewEncoder().String(string(c)); err == nil {
			writeBytes(b, coded)
		} else {
			b.WriteString("%26%23" + strconv.Itoa(int(c)) + "%3B")
		}
	}
}

// writeBytes escapes bytes that are not ASCII, and those of ASCII that end a query or are escaped in one: the second byte of a character may be
// one.
func writeBytes(b *strings.Builder, coded string) {
	const hex = "0123456789ABCDEF"
	for i := range len(coded) {
		if c := coded[i]; c > ' ' && c < 0x7f && !strings.ContainsRune(`"#<>'`, rune(c)) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// EscapeBytes escapes all bytes of a reference that are not ASCII, as they are: it came in a header, which has no encoding.
func EscapeBytes(ref string) string {
	if isASCII(ref) {
		return ref
	}
	var b strings.Builder
	for i := range len(ref) {
		if ref[i] < utf8.RuneSelf {
			b.WriteByte(ref[i])
		} else {
			writeBytes(&b, ref[i:i+1])
		}
	}
	return b.String()
}
