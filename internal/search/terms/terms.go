package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/muninn-archive/muninn/internal/text"
)

// MaxPositions bounds the words of a text that are indexed; what follows is not found. PostgreSQL has no positions beyond 16,383
// (its manual, 12.11 "Limitations").
const MaxPositions = 16_000

// maxWord is the length in bytes of the longest word that is indexed. Longer ones are data, such as base64.
const maxWord = 64

// maxKnown bounds the words whose terms an analyser remembers; an empty table replaces a full one.
const maxKnown = 100_000

// Term is a term of a text: its position among the words, from 0, and the bytes of the text that it stands for.
type Term struct {
	Text       string
	Position   int
	Start, End int
}

// Class is the language by which words of a language are stemmed: a code of ISO 639-1, or "" if there is no stemmer for it. It takes
// tags of BCP 47, such as "en-GB".
func Class(language string) string {
	code, _, _ := strings.Cut(strings.ToLower(language), "-")
	if code == "no" || code == "nn" {
		code = "nb"
	}
	if !text.Stems(code) {
		return ""
	}
	return code
}

// Classes are the languages with a stemmer, and "".
var Classes = []string{"", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nb", "nl", "pt", "ro", "ru", "sv", "tr"}

// Analyser makes terms. It remembers those of words that it has seen, because stemming costs more than everything else. It is not safe
// for concurrent use.
type Analyser struct{ known map[string]map[string]string }

// New makes an analyser.
func New() *Analyser { return &Analyser{map[string]map[string]string{}} }

// Each calls fn with the terms of a text in a language, in the order of their positions, the first of which is from. It returns the
// position after the last. Positions from MaxPositions on are left out.
func (a *Analyser) Each(s, language string, from int, fn func(Term)) (next int) {
	class := Class(language)
	known := a.known[class]
	if known == nil || len(known) > maxKnown {
		known = map[string]string{}
		a.known[class] = known
	}
	next = from
	for w := range words(s) {
		if next >= MaxPositions {
			break
		}
		t := Term{Position: next, Start: w.start, End: w.end}
		if w.unspaced {
			fn(Term{characters(s[w.start:w.middle]), next, w.start, w.middle})
			if w.end > w.middle {
				t.Text = characters(s[w.start:w.end])
				fn(t)
			}
			next++
			continue
		}
		word := s[w.start:w.end]
		term, ok := known[word]
		if !ok {
			term = of(word, class)
			known[strings.Clone(word)] = term
		}
		if t.Text = term; term != "" {
			fn(t)
			next++
		}
	}
	return next
}

// of is the term of a word in a class.
func of(word, class string) string {
	word = strings.ToLower(norm.NFC.String(word))
	if class == "" || strings.IndexFunc(word, unicode.IsDigit) >= 0 {
		return text.Fold(word)
	}
	stem := text.Fold(text.Stem(word, class))
	if stem == "" {
		return ""
	}
	return class + ":" + stem
}

// characters is the term of characters without blanks between words. Their marks are vowels.
func characters(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// word is a word of a text by its bytes. In a script without blanks it is a character and the one after it, if that is of such a script,
// too; middle is then between them.
type word struct {
	start, middle, end int
	unspaced           bool
}

// words are those of a text that may be indexed.
func words(s string) func(yield func(word) bool) {
	return func(yield func(word) bool) {
		start := -1
		for i := 0; i <= len(s); {
			r, n := utf8.RuneError, 1
			if i < len(s) {
				if r = rune(s[i]); r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(s[i:])
				}
			}
			pair := i < len(s) && unspaced(r)
			if in := i < len(s) && !pair && (isWord(r) || start >= 0 && unicode.Is(unicode.M, r)); in {
				if start < 0 {
					start = i
				}
				i += n
				continue
			}
			if start >= 0 && i-start <= maxWord && !yield(word{start: start, end: i}) {
				return
			}
			start = -1
			if pair {
				end := i + n + marks(s[i+n:]) // a mark after a character belongs to it
				w := word{i, end, end, true}
				if next, m := utf8.DecodeRuneInString(s[end:]); m > 0 && unspaced(next) {
					w.end += m + marks(s[end+m:])
				}
				if !yield(w) {
					return
				}
				n = end - i
			}
			i += n
		}
	}
}

// maxMarks bounds the marks that belong to a character, in bytes: texts may pile them up.
const maxMarks = 16

// marks is the length of the combining marks at the start of a text.
func marks(s string) (n int) {
	for n < maxMarks {
		r, m := utf8.DecodeRuneInString(s[n:])
		if m == 0 || r < 0x300 || !unicode.Is(unicode.M, r) {
			break
		}
		n += m
	}
	return n
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// unspaced reports whether a character is indexed by itself and with the next one. Hangul has blanks, but its words have endings that no
// stemmer here knows.
func unspaced(r rune) bool {
	return r >= 0x0e00 && (text.Unspaced(r) || unicode.Is(unicode.Hangul, r))
}
