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

// appendURLFeatures appends what the form of a URL says: its words, the shape and kind of its path.
func appendURLFeatures(list []uint32, url string) []uint32 {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut(path, "?")
	last, count := path, 1
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		last, count = path[at+1:], 1+strings.Count(path, "/")
	}
	list = append(list, fnv.AddByte(ofDepth, byte('0'+min(count, 9))))
	if last == "" {
		list = append(list, fnv.Add(ofEnd, "slash"))
	} else {
		name, ext, found := strings.Cut(last, ".")
		list = append(list, addShape(ofFile, name))
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
	first, form, n := ofBegin, make([]byte, 0, 16), 0
	for s := range strings.SplitSeq(path, "/") {
		if n++; s == "" {
			continue
		}
		letter := byte('x')
		if s[0] == '~' {
			letter = '~'
		}
		if len(form) == 0 {
			first = fnv.AddByte(addKind(ofBegin, s), '/')
		}
		form = append(form, letter)
		if n < count {
			list = append(list, addKind(ofDir, s))
		}
		list = hashWords(list, ofWord, s)
	}
	begin := ofBegin
	if len(form) > 1 {
		begin = first
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

// addKind adds the kind of a part of a path to a hash: "~" of all homes, else its shape.
func addKind(hash uint32, part string) uint32 {
	if part[0] == '~' {
		return fnv.AddByte(hash, '~')
	}
	return addShape(hash, part)
}

// addShape adds a part of a path to a hash, in small letters and with a 0 for each run of digits.
func addShape(hash uint32, s string) uint32 {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf { // seldom
			return addDigitsAlike(hash, strings.ToLower(s))
		}
	}
	return addDigitsAlike(hash, s)
}

// addDigitsAlike adds a text to a hash with a 0 for each run of digits, and with ASCII letters in lower case.
func addDigitsAlike(hash uint32, s string) uint32 {
	digit := false
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			if !digit {
				hash = fnv.AddByte(hash, '0')
			}
			digit = true
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		digit = false
		hash = fnv.AddByte(hash, c)
	}
	return hash
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

// addNameShape adds to a hash how an anchor is written: "CC" is mostly a person, "c" a word of a sentence.
func addNameShape(hash uint32, name string) uint32 {
	n := 0
	for f := range strings.FieldsSeq(name) {
		if n++; n > 5 {
			return fnv.Add(hash, "…")
		}
		hash = fnv.AddByte(hash, wordShape(f))
	}
	return hash
}

// wordShape is X of a word in capitals, C of one that begins with a capital, c of others, 0 of a number, and a dot of what
// does not begin with a letter or digit.
func wordShape(word string) byte {
	r, n := utf8.DecodeRuneInString(word)
	switch {
	case unicode.IsUpper(r) && len(word) > n && inCapitals(word):
		return 'X'
	case unicode.IsUpper(r):
		return 'C'
	case unicode.IsDigit(r):
		return '0'
	case unicode.IsLetter(r):
		return 'c'
	}
	return '.'
}

// inCapitals reports whether a word has no small letters.
func inCapitals(word string) bool {
	for i := range len(word) {
		switch c := word[i]; {
		case c >= utf8.RuneSelf:
			return strings.ToUpper(word) == word
		case c >= 'a' && c <= 'z':
			return false
		}
	}
	return true
}

// directory is a URL up to its last part.
func directory(url string) string {
	at := strings.LastIndexByte(strings.TrimSuffix(url, "/"), '/')
	return url[:at+1]
}

// addPathShape adds the path of a URL to a hash, the parts alike that differ from page to page: those of digits, the names of
// files, those of homes.
func addPathShape(hash uint32, url string) uint32 {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	for more := true; more; {
		var part string
		part, path, more = strings.Cut(path, "/")
		switch {
		case strings.HasPrefix(part, "~"):
			hash = fnv.AddByte(hash, '~')
		case !more && part != "":
			_, ext, _ := strings.Cut(part, ".")
			hash = fnv.Add(fnv.Add(hash, "f."), ext)
		default:
			hash = addShape(hash, part)
		}
		if more {
			hash = fnv.AddByte(hash, '/')
		}
	}
	return hash
}
