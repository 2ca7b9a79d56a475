// Package order holds the orders in which a crawl may visit the web (paper §4.2; Batsakis, Petrakis & Milios 2009).
// An order sees each fetched page once and gives its links priorities.
package order

// Page is what an order sees of a fetched page.
type Page struct {
	URL   string
	Depth int // links from a seed
	Title Terms
	Text  Terms // term frequencies of the whole page, its title among them
	Links []Link
}

// Link is what it sees of a link.
type Link struct {
	URL     string
	Anchor  Terms
	Name    string // the anchor as it is written
	Around  Terms  // of the text block that the link stands in
	TagPath string // of the elements around, the outermost first
}

// Order gives links priorities. It is for one goroutine at a time.
type Order interface {
	// Fetched takes in a page and returns the priorities of its links; higher ones are visited first.
	Fetched(p *Page) []float64
}

// Batched is an order that has several pages fetched before it looks at any.
type Batched interface {
	Order
	Size() int
}

// Learner is an order whose priorities of waiting links change by what is fetched.
type Learner interface {
	Order
	// Outcome tells of a link that led to a fetched page. It comes before Fetched is called with the page. A page
	// that several links lead to is the outcome of each.
	Outcome(from string, link *Link, page *Page)
	// Priority is the present priority of a waiting link of a page.
	Priority(from string, link *Link) float64
}
