package query

import (
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/search/terms"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Facts is what is known of a capture, or of a web object in it, as far as queries ask for it.
type Facts struct {
	Crawl       string
	URL         string // canonical, of the capture
	Date        time.Time
	Status      int
	MIME        string
	Digest      string
	Score       float64 // the document score, −1 if there is none
	Application string
	Level       string
	Type        string // of the web object; Page of a capture
	Language    string
	Author      string
	Title, Text string
}

// Page is the type of a capture among those of web objects.
const Page = "page"

// Host is the host of the URL.
func (f *Facts) Host() string { return urls.HostOf(f.URL) }

// Site is the pay-level domain of the URL.
func (f *Facts) Site() string { return urls.PLD(f.Host()) }

// Value is the value of a field that Is asks for, as an index has it; not that of Author.
func (f *Facts) Value(field Field) string {
	switch field {
	case Site:
		return f.Site()
	case Host:
		return f.Host()
	case Crawl:
		return f.Crawl
	case Lang:
		return Language(f.Language)
	case Type:
		return strings.ToLower(f.Type)
	case App:
		return strings.ToLower(f.Application)
	case Level:
		return strings.ToLower(f.Level)
	}
	return ""
}

// Media is the MIME type as an index has it.
func (f *Facts) Media() string { return strings.ToLower(f.MIME) }

// IsMedia reports whether a value of Type is a MIME type.
func IsMedia(value string) bool { return strings.Contains(value, "/") }

// Gap is the number of positions between title and text: a phrase does not go from the one to the other.
const Gap = 10

// Terms calls fn with the terms of title and text, as an index has them. Offsets are those in the title, then those in the text.
func (f *Facts) Terms(a *terms.Analyser, fn func(terms.Term)) {
	next := a.Each(f.Title, f.Language, 0, fn)
	if next > 0 {
		next += Gap
	}
	a.Each(f.Text, f.Language, next, fn)
}

// Match reports whether the query asks for a document. It is safe for concurrent use.
func (q Query) Match(f *Facts) bool { return Prepare(f, terms.New()).Match(q) }

// Prepared is a document that several queries are asked about: its text is split once, when the first of them has words. It is not safe
// for concurrent use.
type Prepared struct{ m matcher }

// Prepare makes a document ready. The analyser may serve many documents, one after the other: it remembers the terms of words.
func Prepare(f *Facts, a *terms.Analyser) *Prepared { return &Prepared{matcher{facts: f, analyser: a}} }

// Match reports whether a query asks for the document.
func (p *Prepared) Match(q Query) bool { return q.Root == nil || p.m.match(q.Root) }

type matcher struct {
	facts    *Facts
	analyser *terms.Analyser
	at       map[string][]int // positions of the terms of the text; nil before they are asked for
}

func (m *matcher) match(n Node) bool {
	switch n := n.(type) {
	case And:
		for _, of := range n {
			if !m.match(of) {
				return false
			}
		}
		return true
	case Or:
		return slices.ContainsFunc(n, m.match)
	case Not:
		return !m.match(n.Of)
	case Words:
		return m.words(n.Text)
	case Is:
		return m.is(n)
	case Range:
		return n.Contains(m.number(n.Field))
	}
	return false
}

func (m *matcher) number(f Field) float64 {
	switch f {
	case Date:
		return float64(m.facts.Date.Unix())
	case Status:
		return float64(m.facts.Status)
	}
	return m.facts.Score
}

func (m *matcher) is(n Is) bool {
	switch {
	case n.Field == Author:
		return inOrder(names(m.facts.Author), names(n.Value))
	case n.Field == Type && IsMedia(n.Value):
		return m.facts.Media() == n.Value
	}
	return m.facts.Value(n.Field) == n.Value
}

func (m *matcher) words(text string) bool {
	if m.at == nil {
		m.at = map[string][]int{}
		m.facts.Terms(m.analyser, func(t terms.Term) { m.at[t.Text] = append(m.at[t.Text], t.Position) })
	}
	slots := m.analyser.Phrase(text, terms.Classes)
	for _, first := range slots[0] {
		for _, from := range m.at[first] {
			if m.follows(slots[1:], from+1) {
				return true
			}
		}
	}
	return false
}

// follows reports whether slots are filled from a position on.
func (m *matcher) follows(slots []terms.Slot, from int) bool {
	for i, slot := range slots {
		if !slices.ContainsFunc(slot, func(t string) bool {
			_, found := slices.BinarySearch(m.at[t], from+i)
			return found
		}) {
			return false
		}
	}
	return true
}

// names are the words of a name.
func names(s string) []string { return terms.New().Names(s) }

// inOrder reports whether words stand one after the other in a list.
func inOrder(list, words []string) bool {
	for i := range len(list) - len(words) + 1 {
		if slices.Equal(list[i:i+len(words)], words) {
			return true
		}
	}
	return false
}
