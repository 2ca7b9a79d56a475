package page

import "unicode/utf8"

// Fold appends s with runs of white space as one space, none at the beginning. NUL and what is no UTF-8
// is left out.
func Fold(out []byte, s string) []byte {
	space := false
	for i := 0; i < len(s); {
		if end := folded(s, i); end > i {
			if space {
				out = appendSpace(out)
				space = false
			}
			out = append(out, s[i:end]...)
			i = end
			continue
		}
		switch c := s[i]; {
		case c >= utf8.RuneSelf: // folded stopped at it: a no-break space, or no character
			r, n := utf8.DecodeRuneInString(s[i:])
			space = space || r == '\u00a0'
			i += n
			continue
		case c != 0:
			space = true
		}
		i++
	}
	if space {
		out = appendSpace(out)
	}
	return out
}

// folded is the end of the text from start on that Fold takes as it is: most text is folded already.
func folded(s string, start int) int {
	i := start
	for i < len(s) {
		if i > start && i+8 <= len(s) { // what stands before i is no space
			w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
				uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
			if n := foldedOf8(w); n > 0 {
				i += n
				continue
			}
		}
		switch c := s[i]; {
		case plain[c]:
			i++
		case c == ' ' && i > start && i+1 < len(s) && plain[s[i+1]]:
			i += 2
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == '\u00a0' || r == utf8.RuneError {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}

// foldedOf8 reports how many of eight bytes behind a character that is no space are folded, all at once: eight, seven
// if the last one is a space, or none if there is anything but printable ASCII with single spaces.
func foldedOf8(w uint64) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	if w&high != 0 {
		return 0
	}
	low := ^((w | high) - each*0x21) & high // the bytes up to a space
	spaces := ^((w ^ each*0x20) + each*0x7f) & high
	if low != spaces || spaces&(spaces<<8) != 0 {
		return 0
	}
	return 8 - int(spaces>>63)
}

// plain are the ASCII characters that Fold takes as they are.
var plain = func() (t [256]bool) {
	for c := 1; c < utf8.RuneSelf; c++ {
		t[c] = c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f'
	}
	return t
}()

// appendSpace appends a space unless nothing or a space stands before it.
func appendSpace(out []byte) []byte {
	if len(out) > 0 && out[len(out)-1] != ' ' {
		return append(out, ' ')
	}
	return out
}
