package order

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// urlFeatures are what the form of a URL says: its words, the shape and kind of its path.
func urlFeatures(url string) (list []uint32) {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut(path, "?")
	add := func(kind, value string) { list = append(list, Hash("u:"+kind+"="+value)) }
	segments := strings.Split(path, "/")
	last := segments[len(segments)-1]
	add("depth", string(rune('0'+min(len(segments), 9))))
	if last == "" {
		add("end", "slash")
	} else {
		name, ext, found := strings.Cut(last, ".")
		add("file", shape(name))
		if found {
			add("ext", strings.ToLower(ext))
		}
	}
	if hasQuery {
		for part := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(part, "=")
			add("param", name)
		}
	}
	whole := make([]string, 0, len(segments))
	for i, s := range segments {
		if s == "" {
			continue
		}
		kind := shape(s)
		if s[0] == '~' {
			kind = "~"
		}
		whole = append(whole, kind)
		if i < len(segments)-1 {
			add("dir", kind)
		}
		for _, w := range words(s) {
			add("word", w)
		}
	}
	if len(whole) > 1 {
		add("begin", whole[0]+"/"+lengths(whole))
	} else {
		add("begin", lengths(whole))
	}
	for _, w := range words(host) {
		add("host", w)
	}
	return list
}

func lengths(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "~" {
			b.WriteString("~")
		} else {
			b.WriteString("x")
		}
	}
	return b.String()
}

// shape writes a part of a path with its digits alike.
func shape(s string) string {
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
