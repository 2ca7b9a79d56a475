package text

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem,
	"fr": french.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nb": norwegian.Stem, "nl": dutch.Stem,
	"no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem,
	"tr": turkish.Stem,
}

// Stems reports whether a language (ISO 639-1) has a stemmer. Words of other languages are stemmed as English ones.
func Stems(lang string) bool { return stemmers[lang] != nil }

// Stem returns the stem of a word in lower case, in a language that Stems knows. Unlike a term it has its accents, and a stop word has one.
func Stem(word, lang string) string {
	env := snowballstem.NewEnv(word)
	stemmers[lang](env)
	return env.Current()
}

func stem(word, lang string) string {
	word = strings.ToLower(word)
	if stopWord(word, lang) || len(word) < 2 {
		return ""
	}
	return Fold(Stem(word, lang))
}

// Fold strips the accents of letters.
func Fold(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	var out strings.Builder
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) || r == 0x3099 || r == 0x309a { // the marks of kana make other letters
			out.WriteRune(r)
		}
	}
	return norm.NFC.String(out.String())
}

// maxWord is the length in bytes of the longest word that counts. Longer ones are data, such as base64; without a bound they would
// fill the memory, which keeps each word.
const maxWord = 64

// words calls yield with each word of a text, unchanged. Scripts without spaces between words give their pairs of characters.
func words(text string, yield func(string)) {
	start, previous := -1, -1
	next := 0 // from where on many letters are read at a time
	for i := 0; i < len(text); {
		if i >= next {
			if mask, n := wordMask(text, i); n > 0 {
				edges := mask << 1 // where a word begins or ends
				if start >= 0 {
					edges |= 1
				}
				for edges = (edges ^ mask) & (1<<n - 1); edges != 0; edges &= edges - 1 {
					at := i + bits.TrailingZeros64(edges)
					if start < 0 {
						start = at
						continue
					}
					if at-start <= maxWord {
						yield(text[start:at])
					}
					start = -1
				}
				previous = -1
				i += n
				continue
			}
			next = i + 64
		}
		if c := text[i]; c < utf8.RuneSelf { // fast path for ASCII
			switch {
			case !wordByte[c]:
				if start >= 0 && i-start <= maxWord {
					yield(text[start:i])
				}
				start = -1
			case start < 0:
				start = i
			}
			previous = -1
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case Unspaced(r):
			if start >= 0 && i-start <= maxWord {
				yield(text[start:i])
			}
			if previous >= 0 {
				yield(text[previous : i+n])
			}
			start, previous = -1, i
		case isWord(r):
			if start < 0 {
				start = i
			}
			previous = -1
		default:
			if start >= 0 && i-start <= maxWord {
				yield(text[start:i])
			}
			start, previous = -1, -1
		}
		i += n
	}
	if start >= 0 && len(text)-start <= maxWord {
		yield(text[start:])
	}
}

// wordMask has a bit for each of n bytes of a text, at most 64, that is of a word; n is 0 if there are others than ASCII among them,
// or if the text is short. To look at one byte after the other costs a branch at the ends of each word that no processor foresees.
func wordMask(text string, from int) (mask uint64, n int) {
	if len(text) < 8 {
		return 0, 0
	}
	n = min(len(text)-from, 64)
	for i := 0; i < n; i += 8 {
		at := from + i
		eight := eightOf(text, min(at, len(text)-8))
		if beyond := at - (len(text) - 8); beyond > 0 { // the last ones; those before them are known
			eight >>= 8 * beyond
		}
		if eight&(each*0x80) != 0 {
			return 0, 0
		}
		letters := within(eight|each*' ', 'a', 'z')
		mask |= bitsOf(letters|within(eight, '0', '9')) << i
	}
	return mask, n
}

const each = 0x0101010101010101

// within has the highest bit of each of eight bytes that is from first to last. All are ASCII.
func within(eight uint64, first, last uint64) uint64 {
	return (eight + each*(0x80-first)) &^ (eight + each*(0x7f-last)) & (each * 0x80)
}

// bitsOf brings the highest bits of eight bytes together.
func bitsOf(eight uint64) uint64 { return eight >> 7 * 0x0102040810204080 >> 56 }

func eightOf(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

var wordByte = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = isWord(rune(c))
	}
	return t
}()

func isWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// Unspaced reports whether a letter is of a script that is written without spaces between words.
func Unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
