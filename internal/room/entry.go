package room

import (
	"context"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Crawl is a crawl that the room shows. Its name is the only one of it in the room.
type Crawl struct {
	archive.CrawlAt
	Store archive.Store
}

// Layout makes the keys of the crawl.
func (c *Crawl) Layout() archive.Layout { return archive.Layout{Prefix: c.Prefix, Crawl: c.Name} }

// Entry is a capture, as a catalogue lists it.
type Entry struct {
	Crawl           string // its name
	Run             uint32 // of the crawl; 0: not known
	Segment         string
	WARC            string // the key of the object that has its record
	archive.Indexed        // Date in whole seconds, UTC
	Title, Language string // of the page; empty if they are not known
	// Original is the capture that a revisit refers to; zero if it is none, or if its record does not say.
	Original catalogue.Original
}

// facts are what rules ask for.
func (e *Entry) facts() *query.Facts {
	return &query.Facts{
		Crawl: e.Crawl, URL: e.URL, Date: e.Date, Status: e.Status, MIME: e.MIME, Digest: e.Digest, Score: e.Score,
		Application: e.Application, Type: query.Page, Language: e.Language,
	}
}

// Lookup asks for captures of a URL, of the URLs of a host, or of those with a payload. Captures of a URL are those of all URLs with its key; with Near or Newest those of the
// URL itself come first.
type Lookup struct {
	URL, Host, Digest string    // one of them, or URL and Digest; Digest with its algorithm
	From, To          time.Time // inclusive, in whole seconds; zero: open
	Near              time.Time // of a URL: those that are nearest to it come first
	Newest            bool      // of a URL: the last one comes first
	Limit             int       // 0: all
}

// Captures is the catalogue. Captures come in the order of URLs and times, unless the lookup says otherwise.
type Captures interface {
	// Captures calls fn with each capture. It ends with the first error of fn, which it returns.
	Captures(ctx context.Context, l Lookup, fn func(Entry) error) error
	// Original is the capture whose payload a revisit has, of those that admits lets through (catalogue.OriginalOf).
	Original(ctx context.Context, revisit *Entry, admits func(*Entry) bool) (Entry, error)
}

// Index is the full-text index: search.Index, as far as readers need it.
type Index interface {
	Search(ctx context.Context, q query.Query, o search.Options) (search.Answer, error)
}
