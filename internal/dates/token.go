package dates

import (
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	number  kind = iota + 1
	letters      // a word, or one sign of Chinese or Japanese
	sign
)

const (
	maxTokens = 160 // of a text of 300 bytes; what comes after is not looked at
	maxWord   = 48  // bytes of a word that is looked up
	maxDigits = 18
)

// token is a number, a word or a sign; spaces are left out.
type token struct {
	value int64 // of a number; of a sign the character
	word        // what the word means
	kind  kind
	width uint8 // digits of a number
	glued bool  // no space stands before it
	upper bool  // the word is in capitals
}

func (t *token) is(c rune) bool {
	return t.kind == sign && t.value == int64(c)
}

func (t *token) has(f flags) bool {
	return t.kind == letters && t.flags&f != 0
}

// isNumber reports whether the token i is a number of at most width digits.
func (r *reader) isNumber(i int, width uint8) bool {
	return i >= 0 && i < r.n && r.toks[i].kind == number && r.toks[i].width <= width
}

func (r *reader) isSign(i int, c rune) bool {
	return i >= 0 && i < r.n && r.toks[i].is(c)
}

func (r *reader) hasFlag(i int, f flags) bool {
	return i >= 0 && i < r.n && r.toks[i].has(f)
}

// glued reports whether the token i is there and no space stands before it.
func (r *reader) glued(i int) bool {
	return i < r.n && r.toks[i].glued
}

// scan cuts a text into tokens. If the text is too long its last word or number may be a part, and is left out.
func (r *reader) scan(text string) {
	whole := len(text) <= maxText
	if !whole {
		text = text[:maxText]
	}
	glued, end := false, 0
	for i := 0; i < len(text) && r.n < maxTokens; end = i {
		c, size := decode(text[i:])
		t := &r.toks[r.n]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			glued = false
			i += size
			continue
		case c == 0:
			i += size
			continue
		case c >= '0' && c <= '9':
			t.kind = number
			r.arabic = r.arabic || text[i] == 0xDB
			for i < len(text) {
				c, size := decode(text[i:])
				if c < '0' || c > '9' {
					break
				}
				if t.width < 255 {
					t.width++
				}
				if t.width <= maxDigits {
					t.value = t.value*10 + int64(c-'0')
				}
				i += size
			}
		case isHan(c):
			t.kind = letters
			n := size
			if next, more := decode(text[i+size:]); isHan(next) {
				if w, ok := words[text[i:i+size+more]]; ok {
					t.word, n = w, size+more
				}
			}
			if n == size {
				t.word = words[text[i:i+size]]
			}
			t.flags |= han
			i += n
		case isLetter(c):
			t.kind = letters
			r.arabic = r.arabic || c >= 0x600 && c < 0x700
			i += r.scanWord(t, text[i:], glued && r.n > 0 && r.toks[r.n-1].kind == number)
		default:
			t.kind, t.value = sign, int64(c)
			i += size
		}
		t.glued = glued
		glued = true
		r.n++
	}
	if !whole && end == len(text) && r.n > 0 && glued && r.toks[r.n-1].kind != sign {
		r.n--
	}
}

// scanWord reads the word that text begins with and returns its length. Of Korean the first syllable after a
// number is a word of its own if the whole is not known.
func (r *reader) scanWord(t *token, text string, afterNumber bool) int {
	var buf [maxWord]byte
	n, i, upper, last := 0, 0, true, rune(0)
	for i < len(text) {
		c, size := decode(text[i:])
		if c == '.' && isThai(last) {
			if next, _ := decode(text[i+size:]); isThai(next) {
				i += size
				continue
			}
		}
		if c != 0 && (!isLetter(c) || isHan(c)) {
			break
		}
		last = c
		upper = upper && c >= 'A' && c <= 'Z'
		if n >= 0 && c != 0 {
			n = appendFold(&buf, n, c)
		}
		i += size
	}
	t.upper = upper
	if n > 0 {
		w, known := words[string(buf[:n])]
		if c, size := utf8.DecodeRuneInString(text); !known && afterNumber && isHangul(c) {
			w, i = words[text[:size]], size
		}
		t.word = w
	}
	return i
}

// decode is the next character of a text and its length, 0 and 0 at the end. Wide digits and signs are given as plain
// ones, all sorts of space as a space, and 0 is what is passed over: accents that are characters of their own
// and marks that are not seen.
func decode(text string) (rune, int) {
	if text == "" {
		return 0, 0
	}
	if text[0] < utf8.RuneSelf {
		if text[0] == 0 {
			return ' ', 1
		}
		return rune(text[0]), 1
	}
	c, size := utf8.DecodeRuneInString(text)
	switch {
	case c == 0xA0 || c == 0x202F || c == 0x3000 || c >= 0x2000 && c <= 0x200A:
		c = ' '
	case c >= 0x300 && c <= 0x36F || c >= 0x200B && c <= 0x200F || c == 0xAD || c == 0xFEFF || c >= 0x2066 && c <= 0x2069:
		c = 0
	case c == 0x2010 || c == 0x2011:
		c = '-'
	case c == 0x2212:
		c = '-'
	case c == 0x2018 || c == 0x2019 || c == 0x2BC:
		c = '\''
	case c >= 0xFF01 && c <= 0xFF5E:
		c -= 0xFEE0
	case c >= 0x660:
		c = digitOf(c)
	case c >= 0x64B && c <= 0x652: // vowels of Arabic
		c = 0
	}
	return c, size
}

// zeros are the digits 0 of scripts that write numbers with their own.
var zeros = [...]rune{0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50}

// digitOf gives a digit of another script as a plain one, and 0 for the signs below and above letters that are written or not: vowels of Arabic,
// the dot of Hindi and Bengali. Others are as they are.
func digitOf(c rune) rune {
	if c == 0x93C || c == 0x9BC {
		return 0
	}
	if c > zeros[len(zeros)-1]+9 {
		return c
	}
	for _, zero := range zeros {
		if c >= zero && c <= zero+9 {
			return '0' + c - zero
		}
	}
	return c
}

func isLetter(c rune) bool {
	if c < utf8.RuneSelf {
		return c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	return c != 'º' && c != 'ª' && (unicode.IsLetter(c) || c >= 0x900 && c < 0xE50 && unicode.IsMark(c))
}

// isThai: a letter of a language whose short words have dots within.
func isThai(c rune) bool { return c >= 0xE01 && c <= 0xE4E }

// isHan: a sign of Chinese or Japanese, which is a token of its own.
func isHan(c rune) bool {
	return c >= 0x3400 && c <= 0x9FFF || c >= 0x3005 && c <= 0x3007 || c >= 0x3040 && c <= 0x30FF
}

func isHangul(c rune) bool {
	return c >= 0xAC00 && c <= 0xD7A3
}

// latin holds the letters from U+00C0 to U+017F without their accents, in small letters.
const latin = "aaaaaaaceeeeiiiidnooooo-ouuuuyts" + "aaaaaaaceeeeiiiidnooooo-ouuuuyty" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// appendFold adds a letter to the word in buf as a small one without accents. It returns the new length, -1 if
// the word is too long.
func appendFold(buf *[maxWord]byte, n int, c rune) int {
	switch {
	case c >= 'A' && c <= 'Z':
		c += 'a' - 'A'
	case c < utf8.RuneSelf:
	case c >= 0xC0 && c <= 0x17F:
		c = rune(latin[c-0xC0])
	case c >= 0x370 && c <= 0x3FF:
		c = foldGreek(c)
	case c >= 0x400 && c <= 0x45F:
		c = foldCyrillic(c)
	case c >= 0x622 && c <= 0x6CC:
		c = foldArabic(c)
	case c == 0x95E:
		c = 0x92B
	case c == 0x9DF:
		c = 0x9AF
	default:
		c = unicode.ToLower(c)
	}
	if n+utf8.RuneLen(c) > maxWord {
		return -1
	}
	return n + utf8.EncodeRune(buf[n:], c)
}

func foldGreek(c rune) rune {
	switch c = unicode.ToLower(c); c {
	case 'ά':
		return 'α'
	case 'έ':
		return 'ε'
	case 'ή':
		return 'η'
	case 'ί', 'ϊ', 'ΐ':
		return 'ι'
	case 'ό':
		return 'ο'
	case 'ύ', 'ϋ', 'ΰ':
		return 'υ'
	case 'ώ':
		return 'ω'
	case 'ς':
		return 'σ'
	}
	return c
}

// foldArabic gives the letters that Arabic and Persian write in more than one way in one.
func foldArabic(c rune) rune {
	switch c {
	case 'أ', 'إ', 'آ':
		return 'ا'
	case 'ى', 'ی':
		return 'ي'
	case 'ة':
		return 'ه'
	case 'ک':
		return 'ك'
	}
	return c
}

func foldCyrillic(c rune) rune {
	switch {
	case c < 0x410:
		c += 0x50
	case c < 0x430:
		c += 0x20
	}
	switch c {
	case 'й':
		return 'и'
	case 'ё':
		return 'е'
	case 'ї':
		return 'і'
	}
	return c
}
