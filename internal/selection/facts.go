package selection

import (
	"time"
)

// Facts are what rules, groups and proposals know of a capture.
type Facts struct {
	URL         string    `json:"url"`            // canonical
	Host        string    `json:"host,omitempty"` // of the URL, without a port
	Site        string    `json:"site,omitempty"` // its pay-level domain
	Crawl       string    `json:"crawl,omitempty"`
	Date        time.Time `json:"date"` // of the capture
	Status      int       `json:"status,omitempty"`
	MIME        string    `json:"mime,omitempty"`
	Score       float64   `json:"score"` // the document score in [0,1]; −1: there is none
	Application string    `json:"application,omitempty"`
	Level       string    `json:"level,omitempty"`
	Types       []string  `json:"types,omitempty"`    // of its web objects, each once
	Language    string    `json:"language,omitempty"` // ISO 639-1
	Author      string    `json:"author,omitempty"`
	Title       string    `json:"title,omitempty"`
	Text        string    `json:"-"` // what the page says, its blocks joined by line feeds
	Anchors     []string  `json:"-"` // texts of links to the page
	// Print is that of the text outside of blocks of links (crawl.Print.Own); 0: there is none, or the page has too few words for one.
	Print uint64 `json:"print,omitempty"`
	// Revisit says that the text is that of another capture.
	Revisit bool `json:"-"`

	ready  *prepared // by a Preparer; nil: each query reads the text by itself
	judged judged    // what rules say, if it was asked while the text was known
}

// judged is what the rules of a selection say of a capture.
type judged struct {
	of   rulesAt
	rule int // the number of the last rule that matches, from 1; 0: none does
}

// Bare is the capture without its text, for those who keep many. What the rules of a state say of it is kept with it, if they were asked
// by Judge: rules may ask for words.
func (f Facts) Bare() Facts {
	f.Text, f.Anchors, f.ready = "", nil, nil
	return f
}

// Matcher is a query that was read: the condition of a rule. It is never changed, so that several goroutines may ask it.
type Matcher interface {
	Match(f *Facts) bool
}

// Parser reads a query. Its error points at the position that is wrong.
type Parser func(query string) (Matcher, error)
