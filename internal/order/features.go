package order

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/fnv"
)

// The beginnings of features, hashed: what follows is added to them.
var (
	ofDepth, ofEnd, ofFile, ofExt = fnv.Sum32("u:depth="), fnv.Sum32("u:end="), fnv.Sum32("u:file="), fnv.Sum32("u:ext=")
	ofDir, ofWord, ofBegin        = fnv.Sum32("u:dir="), fnv.Sum32("u:word="), fnv.Sum32("u:begin=")
	ofHost, ofParam               = fnv.Sum32("u:host="), fnv.Sum32("u:param=")
)

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
	list = append(list, fnv.Add(ofDepth, string(rune('0'+min(count, 9)))))
	if last == "" {
		list = append(list, fnv.Add(ofEnd, "slash"))
	} else {
		name, ext, found := strings.Cut(last, ".")
		list = append(list, fnv.Add(ofFile, shape(name)))
		if found {
			list = append(list, fnv.Add(ofExt, strings.ToLower(ext)))
		}
	}
	if hasQuery {
		for part := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(part, "=")
			list = append(list, fnv.Add(ofParam, name))
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
			list = append(list, fnv.Add(ofDir, kind))
		}
		list = hashWords(list, ofWord, s)
	}
	begin := ofBegin
	if len(form) > 1 {
		begin = fnv.AddByte(fnv.Add(begin, first), '/')
	}
	list = append(list, fnv.Add(begin, string(form)))
	return hashWords(list, ofHost, host)
}

// hashWords adds the hashes of the words of a text, in small letters, of two letters and more.
func hashWords(list []uint32, of uint32, text string) []uint32 {
	h, n := of, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf: // seldom
			for _, w := range letterWords(text[i-n:]) {
				list = append(list, fnv.Add(of, w))
			}
			return list
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			fallthrough
		case c >= 'a' && c <= 'z':
			h, n = fnv.AddByte(h, c), n+1
			continue
		case n > 1:
			list = append(list, h)
		}
		h, n = of, 0
	}
	if n > 1 {
		list = append(list, h)
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

// letterWords are the runs of letters of a text, in lower case.
func letterWords(s string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if utf8.RuneCountInString(w) > 1 {
			list = append(list, w)
		}
	}
	return list
}

// nameShape reports how an anchor is written: "Xx Xx" is mostly a person, "x" a word of a sentence.
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
