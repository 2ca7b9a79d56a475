package selection

import "github.com/muninn-archive/muninn/internal/search/query"

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

// Match reports whether the query asks for the page or for a web object of one of its types. The texts of objects are that of the page.
func (m queryMatcher) Match(f *Facts) bool {
	facts := query.Facts{
		Crawl: f.Crawl, URL: f.URL, Date: f.Date, Status: f.Status, MIME: f.MIME, Score: f.Score, Application: f.Application, Level: f.Level,
		Type: query.Page, Language: f.Language, Author: f.Author, Title: f.Title, Text: f.Text,
	}
	if m.query.Match(&facts) {
		return true
	}
	for _, facts.Type = range f.Types {
		if m.query.Match(&facts) {
			return true
		}
	}
	return false
}
