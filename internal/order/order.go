// Package order holds the orders in which a crawl may visit the web (paper §4.2; Batsakis, Petrakis & Milios 2009).
// An order judges the links of each fetched page. It returns what it must know of a link later (LinkFeatures), and the caller stores
// it with the link. What it learns of the crawl as a whole it learns from visits.
package order

import "github.com/muninn-archive/muninn/internal/text"

// Page is what an order sees of a fetched page.
type Page struct {
	URL   string
	Depth int // links from a seed
	Title text.HashedVector
	Text  text.HashedVector // term frequencies of the whole page, its title among them
	Score float64           // the document score, −1 if there is none
	Links []Link
}

// Link is what it sees of a link.
type Link struct {
	URL     string
	Anchor  text.HashedVector
	Name    string            // the anchor as it is written
	Around  text.HashedVector // of the text block that the link stands in
	TagPath string            // of the elements around, the outermost first
	Hints   []Hint            // what others say of it, each once
}

// Hint is what somebody says of a link, such as a part of the score.
type Hint struct {
	Name  string
	Value float64 // in [−1,1]; 0 is neutral
}

// Judged is what an order makes of a link.
type Judged struct {
	Priority     float64 // higher ones are visited first; in [0,1] but for the oracles of a laboratory
	LinkFeatures []byte  // what the order needs again when the link is followed; may be nil
}

// Judgement is what an order makes of a page.
type Judgement struct {
	Links        []Judged
	Worth        float64 // of the page for the topic, in [0,1]; of learners alone
	PageFeatures []byte  // what a learner learns of the page
}

// Order judges links.
type Order interface {
	// Judge judges the links of a fetched page. kept is what was kept with the link that led to it, nil of a seed.
	// It is safe for concurrent use, and changes nothing.
	Judge(p *Page, linkFeatures []byte) Judgement
}

// Visit is what an order learns of, if it learns: a page that was judged, and how it was found.
type Visit struct {
	PageFeatures []byte   `cbor:"1,keyasint,omitempty"` // of its judgement
	Worth        float64  `cbor:"2,keyasint"`
	Promise      float64  `cbor:"3,keyasint,omitempty"`
	LinkFeatures [][]byte `cbor:"4,keyasint,omitempty"` // with links that led to it
	Score        float64  `cbor:"5,keyasint,omitempty"` // the document score; 0 or below: it says nothing
	Host         uint32   `cbor:"6,keyasint,omitempty"` // of the page, by HostOf; 0: of a version that kept none
}
