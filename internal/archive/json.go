package archive

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The lines of sidecars are appended by hand, as encoding/json would write them but for how some characters are escaped, for a
// third of the cost and less.

// appendNumber appends a score; what is no number counts as 0.
func appendNumber(b []byte, name string, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.AppendFloat(append(b, name...), x, 'g', -1, 64)
}

// appendSome appends a string unless it is empty.
func appendSome(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(b, name, s)
}

func appendText(b []byte, name, s string) []byte { return appendString(append(b, name...), s) }

const hexDigits = "0123456789abcdef"

// appendString appends a string in quotes; what is no UTF-8 becomes U+FFFD (RFC 8259, §7).
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendProperties appends an object: of a property that is there several times, a list.
func appendProperties(b []byte, p crawl.Properties) []byte {
	b = append(b, '{')
	for i := range p {
		same := func(o crawl.Property) bool { return o.Name == p[i].Name }
		if slices.ContainsFunc(p[:i], same) {
			continue // written with the first
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, p[i].Name), ':')
		if !slices.ContainsFunc(p[i+1:], same) {
			b = appendString(b, p[i].Value)
			continue
		}
		b = append(b, '[')
		for j := range p[i:] {
			if o := p[i+j]; same(o) {
				if j > 0 {
					b = append(b, ',')
				}
				b = appendString(b, o.Value)
			}
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
