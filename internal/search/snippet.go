package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// Fragment is a piece of a snippet. It is plain text, valid UTF-8 without control characters. It is not escaped for any medium.
type Fragment struct {
	Text   string
	Marked bool // that it is a word of the query
}

// snippetBytes is the length of a snippet, in bytes.
const snippetBytes = 240

// Snippet returns the passage of a text in which most of a query's words stand, with the words marked; the start of the text if it has none of
// them. language is that of the page, by which words were stemmed.
func Snippet(text, language string, q query.Query) []Fragment {
	wanted := wantedTerms(q)
	var found []terms.Term
	last := -1
	terms.New().Each(text, language, 0, func(t terms.Term) {
		if !wanted[t.Text] {
			return
		}
		if t.Position == last { // a character and its pair
			found[len(found)-1] = t
			return
		}
		found, last = append(found, t), t.Position
	})
	from, to := passage(text, found)
	return fragments(text, from, to, found)
}

// wantedTerms are the terms of the words that a query asks for.
func wantedTerms(q query.Query) map[string]bool {
	wanted := map[string]bool{}
	a := terms.New()
	q.Walk(func(n query.Node, denied bool) {
		w, ok := n.(query.Words)
		if !ok || denied {
			return
		}
		for _, slot := range a.Phrase(w.Text, terms.Classes) {
			for _, t := range slot {
				wanted[t] = true
			}
		}
	})
	return wanted
}

// passage is the part of the text that is shown, in bytes. Different terms count more than the same again.
func passage(text string, found []terms.Term) (from, to int) {
	best, first := 0, 0
	counts := map[string]int{}
	begin := 0
	for i, t := range found {
		counts[t.Text]++
		for t.End-found[begin].Start > snippetBytes*3/4 && begin < i {
			if counts[found[begin].Text]--; counts[found[begin].Text] == 0 {
				delete(counts, found[begin].Text)
			}
			begin++
		}
		if worth := len(counts)*8 + min(i-begin, 7); worth > best {
			best, first = worth, found[begin].Start
		}
	}
	from = edge(text, first-snippetBytes/4)
	return from, edge(text, from+snippetBytes)
}

// edge is the next place from a byte on at which a word may be cut: a blank, or a character after a few words without one.
func edge(text string, at int) int {
	if at <= 0 {
		return 0
	}
	if at >= len(text) {
		return len(text)
	}
	const far = 24
	for i := at; i < len(text) && i < at+far; i++ {
		if text[i] == ' ' || text[i] == '\n' {
			return i
		}
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

func fragments(text string, from, to int, found []terms.Term) (list []Fragment) {
	add := func(s string, marked bool) {
		if s = clean(s); s != "" {
			list = append(list, Fragment{s, marked})
		}
	}
	if from > 0 {
		list = append(list, Fragment{Text: "… "})
	}
	at := from
	for _, t := range found {
		if t.Start < at || t.End > to {
			continue
		}
		add(text[at:t.Start], false)
		add(text[t.Start:t.End], true)
		at = t.End
	}
	add(text[at:to], false)
	if to < len(text) {
		list = append(list, Fragment{Text: " …"})
	}
	return list
}

// clean makes a passage one line. It takes characters out that control what is around them, such as the direction of writing.
func clean(s string) string {
	var b strings.Builder
	blank := false
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != 0x200c && r != 0x200d: // joiners are parts of words
			continue
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}
