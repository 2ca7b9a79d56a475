package selection

import (
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// queryMatcher is a query in the language of searches.
type queryMatcher struct{ query query.Query }

// ParseQuery is the Parser of the language of searches. Its errors are of type *query.Error.
func ParseQuery(text string) (Matcher, error) {
	q, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	return queryMatcher{q}, nil
}

// prepared is a capture that several queries are asked about: its text is split once, for all of them.
type prepared struct {
	facts query.Facts
	text  *query.Prepared
}

// Preparer makes captures ready for queries, one after the other. It remembers the terms of words, which cost more than all else. It is
// for one goroutine.
type Preparer struct{ analyser *terms.Analyser }

// NewPreparer makes one that has seen no word.
func NewPreparer() *Preparer { return &Preparer{terms.New()} }

// Prepare makes a capture ready: queries split its text once, however many they are, until it is given up by Bare. It can be asked about
// by one goroutine from then on, and its fields must not be changed.
func (p *Preparer) Prepare(f *Facts) { f.ready = p.prepare(f) }

func (p *Preparer) prepare(f *Facts) *prepared {
	r := &prepared{facts: query.Facts{
		Crawl: f.Crawl, URL: f.URL, Date: f.Date, Status: f.Status, MIME: f.MIME, Score: f.Score, Application: f.Application, Level: f.Level,
		Language: f.Language, Author: f.Author, Title: f.Title, Text: f.Text,
	}}
	r.text = query.Prepare(&r.facts, p.analyser)
	return r
}

// Match reports whether the query asks for the page or for a web object of one of its types. The texts of objects are that of the page.
func (m queryMatcher) Match(f *Facts) bool {
	r := f.ready
	if r == nil {
		r = NewPreparer().prepare(f)
	}
	r.facts.Type = query.Page
	if r.text.Match(m.query) {
		return true
	}
	for _, r.facts.Type = range f.Types {
		if r.text.Match(m.query) {
			return true
		}
	}
	return false
}
