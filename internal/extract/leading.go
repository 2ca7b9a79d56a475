package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the line that a text begins with: "LONDON, March 5, 2015 (AP) – …".
const (
	maxLead      = 110 // bytes
	maxLeadWords = 9
)

// leadingDate is the date that one of the first two texts of the body begins with, behind a place or nothing; nil if none does.
func (p *Page) leadingDate(w *window) *dated {
	dayFirst := p.dayFirst()
	for i := w.body; i < min(w.body+2, w.end, len(p.Doc.Blocks)); i++ {
		lead := leadOf(p.Doc.Blocks[i])
		if lead == "" || p.apart(w, i) {
			continue
		}
		if dayFirst {
			lead = dotted(lead)
		}
		if list := appendDate(nil, lead, noLabel, 0, len(lead)); len(list) > 0 {
			return &list[0]
		}
	}
	return nil
}

// leadOf is the beginning of a text up to its first year, if what stands before and behind it makes it a line of place and date: names in
// capitals before it, a dash, a bracket or a slash behind it; or nothing before it and a full stop behind it.
func leadOf(text string) string {
	end := 0
	for at := 0; at+4 <= min(len(text), maxLead); at++ {
		if s := text[at : at+4]; (s[:2] == "20" || s[:2] == "19") && isDigit(s[2]) && isDigit(s[3]) && (at == 0 || !isDigit(text[at-1])) && (at+4 == len(text) || !isDigit(text[at+4])) {
			end = at + 4
			break
		}
	}
	if end == 0 || end == len(text) {
		return ""
	}
	lead, rest := text[:end], strings.TrimLeft(text[end:], " ,\u00a0")
	next, _ := utf8.DecodeRuneInString(rest)
	words := strings.Fields(lead)
	if len(words) > maxLeadWords {
		return ""
	}
	switch {
	case strings.ContainsRune("–—―-/(|:", next):
		for k, word := range words {
			if !leadsToDate(word) || k > 0 && beginsWithDate(strings.Join(words[k:], " ")) && !beginsWithDate(words[k-1]) && !endsPlace(words[k-1]) {
				return ""
			}
		}
		return lead
	case next == '.' && len(words) <= 4 && (isDigit(lead[0]) || isMonth(words[0])):
		return lead
	}
	return ""
}

// endsPlace reports whether a word may stand before the date of such a line: the end of a place or of an agency, not "Since".
func endsPlace(word string) bool {
	return strings.HasSuffix(word, ",") || !strings.ContainsFunc(word, unicode.IsLower) || strings.EqualFold(word, "den") || strings.EqualFold(word, "le")
}

// leadsToDate reports whether a word may stand in a line of place and date: a name, a number, a sign, the name of a month or a short word.
func leadsToDate(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return !unicode.IsLetter(r) || !unicode.IsLower(r) || utf8.RuneCountInString(word) <= 3 || isMonth(word)
}
