package starter

import (
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/selection"
)

// ruleQuery is the condition of a rule in the language of searches.
type ruleQuery struct{ query query.Query }

// parseRule is the selection.Parser of the product.
func parseRule(text string) (selection.Matcher, error) {
	q, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	return ruleQuery{q}, nil
}

// Match reports whether the query asks for the page or for a web object of one of its types. The texts of objects are that of the page.
func (r ruleQuery) Match(f *selection.Facts) bool {
	facts := query.Facts{
		Crawl: f.Crawl, URL: f.URL, Date: f.Date, Status: f.Status, MIME: f.MIME, Score: f.Score, Application: f.Application, Level: f.Level,
		Type: query.Page, Language: f.Language, Author: f.Author, Title: f.Title, Text: f.Text,
	}
	if r.query.Match(&facts) {
		return true
	}
	for _, facts.Type = range f.Types {
		if r.query.Match(&facts) {
			return true
		}
	}
	return false
}
