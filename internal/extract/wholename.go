package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isWhole reports whether a word may be the whole name of somebody: two to five signs of a script that does not part names.
func isWhole(word string) bool {
	n := 0
	for _, r := range word {
		if n++; r < 0x2E80 || !unicode.IsLetter(r) {
			return false
		}
	}
	return n >= 2 && n <= 5
}

// isClause reports whether a word of a script that does not part words is a part of a sentence and not a name, as "记者" ("journalist") begins both
// a byline and the first sentence of a text. Names are short; longer ones are spelled in Hangul or Katakana, or stand behind a colon.
func isClause(word string, colon bool) bool {
	if r, _ := utf8.DecodeRuneInString(word); r < 0x2E80 {
		return false
	}
	long := false
	for _, name := range strings.FieldsFunc(word, func(r rune) bool { return r == '、' || r == '/' || r == '／' }) {
		long = long || !isWhole(name)
	}
	if !long {
		return false
	}
	spelled := !strings.ContainsFunc(word, func(r rune) bool { return !unicode.In(r, unicode.Hangul, unicode.Katakana) && r != '・' && r != 'ー' })
	return strings.ContainsAny(word, "，。！？；：…「」“”") || !spelled && !colon || utf8.RuneCountInString(word) > maxNick
}
