package order

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/text"
)

// The kinds of what the form of a URL says, hashed.
var (
	ofDepth, ofEnd, ofFile, ofExt = hashed(text.Hash("u:depth=")), hashed(text.Hash("u:end=")), hashed(text.Hash("u:file=")), hashed(text.Hash("u:ext="))
	ofDir, ofWord, ofBegin        = hashed(text.Hash("u:dir=")), hashed(text.Hash("u:word=")), hashed(text.Hash("u:begin="))
	ofHost, ofParam               = hashed(text.Hash("u:host=")), hashed(text.Hash("u:param="))
)

// hashed is the Hash of the begin of a text.
type hashed uint32

// and is the Hash of the text that goes on with s.
func (h hashed) and(s string) uint32 {
	for i := range len(s) {
		h = (h ^ hashed(s[i])) * 16777619
	}
	return uint32(h)
}

// urlFeatures are what the form of a URL says: its words, the shape and kind of its path.
func urlFeatures(url string) []uint32 {
	list := make([]uint32, 0, 24)
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut(path, "?")
	last, count := path, 1
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		last, count = path[at+1:], 1+strings.Count(path, "/")
	}
	list = append(list, ofDepth.and(string(rune('0'+min(count, 9)))))
	if last == "" {
		list = append(list, ofEnd.and("slash"))
	} else {
		name, ext, found := strings.Cut(last, ".")
		list = append(list, ofFile.and(shape(name)))
		if found {
			list = append(list, ofExt.and(strings.ToLower(ext)))
		}
	}
	if hasQuery {
		for part := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(part, "=")
			list = append(list, ofParam.and(name))
		}
	}
	first, form, n := "", make([]byte, 0, 16), 0
	for s := range strings.SplitSeq(path, "/") {
		if n++; s == "" {
			continue
		}
		kind, letter := "~", byte('~')
		if s[0] != '~' {
			kind, letter = shape(s), 'x'
		}
		if len(form) == 0 {
			first = kind
		}
		form = append(form, letter)
		if n < count {
			list = append(list, ofDir.and(kind))
		}
		list = hashWords(list, ofWord, s)
	}
	begin := ofBegin
	if len(form) > 1 {
		begin = hashed(hashed(begin.and(first)).and("/"))
	}
	list = append(list, begin.and(string(form)))
	return hashWords(list, ofHost, host)
}

// hashWords adds the hashes of the words of a text, in small letters, of two letters and more.
func hashWords(list []uint32, of hashed, text string) []uint32 {
	h, n := of, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf: // seldom
			for _, w := range words(text[i-n:]) {
				list = append(list, of.and(w))
			}
			return list
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			fallthrough
		case c >= 'a' && c <= 'z':
			h, n = (h^hashed(c))*16777619, n+1
			continue
		case n > 1:
			list = append(list, uint32(h))
		}
		h, n = of, 0
	}
	if n > 1 {
		list = append(list, uint32(h))
	}
	return list
}

// shape writes a part of a path with its digits alike.
func shape(s string) string {
	plain := true
	for i := range len(s) {
		c := s[i]
		plain = plain && c < utf8.RuneSelf && (c < '0' || c > '9') && (c < 'A' || c > 'Z')
	}
	if plain {
		return s
	}
	var b strings.Builder
	digit := false
	for _, r := range strings.ToLower(s) {
		if r >= '0' && r <= '9' {
			if !digit {
				b.WriteByte('0')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}

// words are the runs of letters of a text, in lower case.
func words(s string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if utf8.RuneCountInString(w) > 1 {
			list = append(list, w)
		}
	}
	return list
}

// nameShape tells how an anchor is written: "Xx Xx" is mostly a person, "x" a word of a sentence.
func nameShape(s string) string {
	var b strings.Builder
	fields := strings.Fields(s)
	for i, f := range fields {
		if i == 5 {
			b.WriteString("…")
			break
		}
		r, n := utf8.DecodeRuneInString(f)
		switch {
		case unicode.IsUpper(r) && strings.ToUpper(f) == f && len(f) > n:
			b.WriteByte('X')
		case unicode.IsUpper(r):
			b.WriteByte('C')
		case unicode.IsDigit(r):
			b.WriteByte('0')
		case unicode.IsLetter(r):
			b.WriteByte('c')
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// directory is a URL up to its last part.
func directory(url string) string {
	at := strings.LastIndexByte(strings.TrimSuffix(url, "/"), '/')
	return url[:at+1]
}

// pathShape has the parts of a path alike that differ from page to page.
func pathShape(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case strings.HasPrefix(p, "~"):
			parts[i] = "~"
		case i == len(parts)-1 && p != "":
			_, ext, _ := strings.Cut(p, ".")
			parts[i] = "f." + ext
		default:
			parts[i] = shape(p)
		}
	}
	return strings.Join(parts, "/")
}
