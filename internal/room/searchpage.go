package room

import (
	"context"
	"errors"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// What a page of hits has.
const (
	hitsOfPage   = 20
	facetValues  = 8
	barsAtMost   = 36 // months of a histogram; of a longer time it has years
	maxHitsAsked = 100
	maxUnchanged = 100 // later captures of a hit that are counted
)

type startPage struct {
	Query  string     `json:"query"`
	Crawls []crawlRow `json:"crawls"`
}

// start is the first page: the form, and what there is to search.
func (r *Room) start(*http.Request) (view, error) {
	return view{Name: "start", Title: "Reading room", Data: startPage{Crawls: r.crawlRows()}}, nil
}

type searchPage struct {
	Query     string      `json:"query"`
	Fault     *queryFault `json:"error,omitempty"`
	Before    string      `json:"-"` // of the query, up to the fault
	Behind    string      `json:"-"` // and from there on
	Total     int         `json:"total"`
	Page      int         `json:"page"` // from 1
	Hits      []Hit       `json:"hits"`
	Facets    []facet     `json:"facets,omitempty"`
	Histogram []bar       `json:"histogram,omitempty"`
	By        string      `json:"histogram_by,omitempty"` // month or year
	Newer     string      `json:"previous,omitempty"`
	Older     string      `json:"next,omitempty"`
	First     int         `json:"-"`
	Last      int         `json:"-"`
}

// queryFault is what is wrong with a query.
type queryFault struct {
	At      int    `json:"at"` // the character, from 0
	Message string `json:"message"`
}

// Hit is a capture or a web object that was found, as the JSON of searches has it.
type Hit struct {
	Link
	Address     string     `json:"address,omitempty"` // of its page here
	Title       string     `json:"title"`
	Snippet     []Fragment `json:"snippet"`
	Type        string     `json:"type"`
	Object      int        `json:"object"` // its number on the page, −1 of a capture
	Author      string     `json:"author,omitempty"`
	Status      int        `json:"status"`
	MIME        string     `json:"mime,omitempty"`
	Application string     `json:"application,omitempty"`
	Level       string     `json:"level,omitempty"`
	Language    string     `json:"language,omitempty"`
	Score       float64    `json:"score"` // of the page, −1 if there is none
	Rank        float64    `json:"rank"`
	Duplicates  int        `json:"duplicates,omitempty"`
	Unchanged   *unchanged `json:"unchanged,omitempty"`
}

// unchanged are the later captures of a URL that found what it had before: the index does not have them, because their texts would be there as often as a
// crawl is repeated.
type unchanged struct {
	N       int       `json:"captures"` // at most maxUnchanged
	Most    bool      `json:"more"`     // there are more, or so many
	Last    time.Time `json:"last"`
	Address string    `json:"address"` // of the last one
}

// Fragment is a piece of a snippet; marked ones are words of the query.
type Fragment struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked,omitempty"`
}

type facet struct {
	Name   search.Facet `json:"name"`
	Title  string       `json:"-"`
	Values []facetValue `json:"values"`
	Others int          `json:"others,omitempty"`
}

type facetValue struct {
	Value   string `json:"value"`
	N       int    `json:"n"`
	Address string `json:"address"` // of the search that is limited to it
}

// bar is a month or a year of a histogram. Width is in parts of 100.
type bar struct {
	facetValue
	Width int `json:"-"`
}

var facetTitles = map[search.Facet]string{
	search.Domain: "Site", search.Year: "Year", search.Month: "Month", search.App: "Application", search.Level: "Level", search.Type: "Type",
	search.Lang: "Language", search.Relevance: "Relevance from",
}

func (r *Room) search(req *http.Request) (view, error) {
	v := req.URL.Query()
	p := &searchPage{Query: v.Get("q"), Page: 1, Hits: []Hit{}}
	if n, err := strconv.Atoi(v.Get("page")); (err == nil || errors.Is(err, strconv.ErrRange)) && n > 1 {
		p.Page = min(n, search.MaxReach+1) // which is refused below
	}
	hits := hitsOfPage
	if n, err := strconv.Atoi(v.Get("hits")); err == nil && n > 0 {
		hits = min(n, maxHitsAsked)
	}
	shown := view{Name: "search", Title: "Search: " + oneLine(p.Query, titleBytes), Data: p}
	q, err := query.Parse(p.Query)
	var fault *query.Error
	if errors.As(err, &fault) {
		runes := []rune(p.Query)
		at := min(fault.At, len(runes))
		p.Fault = &queryFault{fault.At, fault.Message}
		p.Before, p.Behind = string(runes[:at]), string(runes[at:])
		shown.Status = http.StatusBadRequest
		return shown, nil
	}
	counts := v.Get("counts") != "no" // programs that do not show them need not wait for them
	o := search.Options{Limit: hits, Offset: (p.Page - 1) * hits, Facets: counts, Values: facetValues, Histogram: counts, Fold: v.Get("fold") != "no"}
	if _, err := o.Check(); err != nil {
		return view{}, wrong("%v", err)
	}
	a, err := r.Door.Search(req.Context(), q, o)
	if err != nil {
		return view{}, err
	}
	p.Total = a.Total
	if p.Hits, err = r.hits(req.Context(), q, a.Hits); err != nil {
		return view{}, err
	}
	p.Facets, p.Histogram = facetsOf(q, a), nil
	p.Histogram, p.By = histogram(q, a.Months)
	p.First, p.Last = o.Offset+1, o.Offset+len(p.Hits)
	if p.Page > 1 {
		p.Newer = address("/search", "q", p.Query, "page", strconv.Itoa(p.Page-1), "fold", v.Get("fold"))
	}
	if len(p.Hits) == hits && o.Offset+2*hits <= search.MaxReach {
		p.Older = address("/search", "q", p.Query, "page", strconv.Itoa(p.Page+1), "fold", v.Get("fold"))
	}
	return shown, nil
}

// limited is the address of a search that also asks for a node.
func limited(q query.Query, n query.Node) string {
	return address("/search", "q", q.With(n).String())
}

func facetsOf(q query.Query, a search.Answer) (list []facet) {
	for _, name := range search.Facets {
		counts := a.Facets[name]
		if len(counts.Values) < 2 && counts.Others == 0 || name == search.Month || name == search.Year { // the histogram shows times
			continue
		}
		f := facet{Name: name, Title: facetTitles[name], Others: counts.Others}
		for _, c := range counts.Values {
			n, err := name.Narrow(c.Value)
			if err != nil { // a value that the language has no form for
				continue
			}
			f.Values = append(f.Values, facetValue{c.Value, c.N, limited(q, n)})
		}
		list = append(list, f)
	}
	return list
}

// histogram counts by months, or by years if there are many.
func histogram(q query.Query, months []search.Count) (list []bar, by string) {
	name, counts := search.Month, months
	if len(months) > barsAtMost {
		name, counts = search.Year, years(months)
	}
	most := 1
	for _, c := range counts {
		most = max(most, c.N)
	}
	for _, c := range counts {
		n, err := name.Narrow(c.Value)
		if err != nil {
			continue
		}
		list = append(list, bar{facetValue{c.Value, c.N, limited(q, n)}, max(1, 100*c.N/most)})
	}
	return list, string(name)
}

func years(months []search.Count) (list []search.Count) {
	for _, m := range months {
		year, _, _ := strings.Cut(m.Value, "-")
		if n := len(list); n == 0 || list[n-1].Value != year {
			list = append(list, search.Count{Value: year})
		}
		list[len(list)-1].N += m.N
	}
	return list
}

// hits adds to what the index has found what it does not keep: titles and snippets of the texts.
func (r *Room) hits(ctx context.Context, q query.Query, found []search.Hit) ([]Hit, error) {
	list := make([]Hit, len(found))
	type segment struct{ crawl, name string }
	of := map[segment][]int{}
	for i := range found {
		f := &found[i]
		e := Link{f.URL, f.Date, f.Crawl}
		list[i] = Hit{
			Link: e, Address: e.capture(), Type: f.Type, Object: f.N, Author: f.Author, Status: f.Status, MIME: f.MIME, Application: f.Application,
			Level: f.Level, Language: f.Language, Score: f.Score, Rank: f.Rank, Duplicates: f.Duplicates, Title: f.Title,
		}
		if f.N != search.WholePage {
			list[i].Address = e.object(f.N)
		}
		s := segment{f.Crawl, f.Segment}
		of[s] = append(of[s], i)
	}
	segments := make([]segment, 0, len(of))
	for s := range of {
		segments = append(segments, s)
	}
	sort.Slice(segments, func(i, j int) bool {
		return segments[i].crawl+"\x00"+segments[i].name < segments[j].crawl+"\x00"+segments[j].name
	})
	for _, s := range segments {
		at, err := r.store(&Entry{Crawl: s.crawl})
		if err != nil {
			continue // a crawl that is gone since it was indexed
		}
		asked := map[wanted]bool{}
		for _, i := range of[s] {
			asked[wanted{found[i].URL, found[i].Date.Unix()}] = true
		}
		texts, err := r.documents(ctx, at, s.name, asked)
		if err != nil {
			return nil, err
		}
		for _, i := range of[s] {
			list[i].say(texts[wanted{found[i].URL, found[i].Date.Unix()}], q)
		}
	}
	for i := range list {
		list[i].Title = titled(list[i].Title, list[i].URL)
		var err error
		if list[i].Unchanged, err = r.unchanged(ctx, &found[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// unchanged counts the later captures of a hit that found the same; nil: there are none.
func (r *Room) unchanged(ctx context.Context, f *search.Hit) (*unchanged, error) {
	if f.Digest == "" {
		return nil, nil
	}
	var u *unchanged
	l := Lookup{URL: f.URL, Digest: f.Digest, From: f.Date.Add(time.Second), Newest: true}
	err := r.Door.Captures(ctx, l, func(e Entry) error {
		if !e.Revisit || e.URL != f.URL {
			return nil
		}
		if u == nil {
			u = &unchanged{Last: e.Date, Address: e.link().capture()}
		}
		if u.N++; u.N == maxUnchanged {
			u.Most = true
			return errEnough
		}
		return nil
	})
	return u, unlessEnough(err)
}

// say adds title and snippet of a document; nil: there is none.
func (h *Hit) say(d *derive.Document, q query.Query) {
	if d == nil {
		return
	}
	text, title := d.Text, d.Title
	if h.Object != search.WholePage {
		for _, o := range d.Objects {
			if o.N == h.Object {
				text, title, h.Author = o.Text, o.Title, o.Author
				if title == "" {
					title = d.Title
				}
			}
		}
	} else if h.Author == "" {
		h.Author = d.Author
	}
	if title != "" {
		h.Title = title
	}
	for _, f := range search.Snippet(text, d.Language, q) {
		h.Snippet = append(h.Snippet, Fragment{f.Text, f.Marked})
	}
}

func (l Link) object(n int) string {
	return address("/object", "url", l.URL, "at", l.Date.UTC().Format(stamp), "crawl", l.Crawl, "n", strconv.Itoa(n))
}

// crawlRow is a crawl of a list.
type crawlRow struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Whole   bool   `json:"whole"` // that readers may see all of it
}

// crawlRows are the crawls that readers may see something of.
func (r *Room) crawlRows() []crawlRow {
	list := []crawlRow{}
	for _, c := range r.Crawls() {
		if some, whole := r.Door.Crawl(c.Name); some {
			list = append(list, crawlRow{Name: c.Name, Address: address("/crawl", "name", c.Name), Whole: whole})
		}
	}
	return list
}
