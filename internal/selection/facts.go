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
}

// Matcher is a query that was read: the condition of a rule. It is never changed, so that several goroutines may ask it.
type Matcher interface {
	Match(f *Facts) bool
}

// Parser reads a query. Its error points at the position that is wrong.
type Parser func(query string) (Matcher, error)
