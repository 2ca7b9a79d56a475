package text

import (
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

func stem(word, lang string) string {
	word = strings.ToLower(word)
	if stopWord(word, lang) || len(word) < 2 {
		return ""
	}
	env := snowballstem.NewEnv(word)
	stemmers[lang](env)
	return Fold(env.Current())
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
	for i := 0; i < len(text); {
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
