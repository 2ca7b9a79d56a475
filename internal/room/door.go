package room

import (
	"context"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Door is the one way by which captures come to readers: it wraps the catalogue and the index, so that nothing is found that the rules
// close. Its rules are one node of the query language: the index gets it with each query, so that totals and facets do not count what is
// closed, and captures of the catalogue are matched with it.
type Door struct {
	rules    Rules
	captures Captures
	index    Index
	now      func() time.Time
}

// NewDoor makes a door before a catalogue and an index.
func NewDoor(rules Rules, captures Captures, index Index, now func() time.Time) *Door {
	return &Door{rules, captures, index, now}
}

// part is a condition of a rule.
type part struct{ field, value string }

func (p part) text() string {
	return p.field + `:"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.value) + `"`
}

func (r *Rule) parts() (list []part) {
	for _, p := range []part{{"crawl", r.Crawl}, {"host", r.Host}, {"site", r.Site}} {
		if p.value != "" {
			list = append(list, p)
		}
	}
	return list
}

// node is what a query asks for: nil asks for everything.
func node(text string) query.Node {
	q, err := query.Parse(text)
	if err != nil {
		return nothing // rules are checked when they are read
	}
	return q.Root
}

// nothing is a node that no capture fits: each has the name of a crawl.
var nothing query.Node = query.Is{Field: query.Crawl, Value: ""}

func all(nodes ...query.Node) query.Node {
	q := query.Query{}
	for _, n := range nodes {
		if n != nil {
			q = q.With(n)
		}
	}
	return q.Root
}

func (a Access) node() query.Node {
	if a == Closed {
		return nothing
	}
	return nil
}

// fits is the node of the captures that a rule is about.
func (r *Rule) fits() query.Node {
	var list []query.Node
	for _, p := range r.parts() {
		list = append(list, node(p.text()))
	}
	return all(list...)
}

// admits is the node of those that it lets readers see.
func (r *Rule) admits(now time.Time) query.Node {
	switch {
	case r.Access == Closed, now.Before(r.from):
		return nothing
	case r.embargo > 0:
		last := now.Add(-r.embargo - day).UTC() // the last day that is past whole
		return node("date:.." + last.Format(time.DateOnly))
	}
	return nil
}

// Node is what readers may see, as of now; nil: everything.
func (d *Door) Node() query.Node {
	n, now := d.rules.Otherwise.node(), d.now()
	for i := len(d.rules.List) - 1; i >= 0; i-- {
		rule := &d.rules.List[i]
		fits, admits := rule.fits(), rule.admits(now)
		switch {
		case fits == nil:
			n = admits
		case n == nil && admits == nil:
		case admits == nil:
			n = query.Or{fits, n}
		case n == nil:
			n = query.Or{admits, query.Not{Of: fits}}
		default:
			n = query.Or{all(fits, admits), all(query.Not{Of: fits}, n)}
		}
	}
	return n
}

// Now returns a function that reports whether readers may see a capture, as of now.
func (d *Door) Now() func(*Entry) bool {
	q := query.Query{Root: d.Node()}
	return func(e *Entry) bool { return q.Match(e.facts()) }
}

// Selects is what a desk asks which captures readers may see; nil: the rules close nothing.
func (d *Door) Selects() func() func(crawl, url string, date time.Time) bool {
	if d.rules.Otherwise != Closed && len(d.rules.List) == 0 {
		return nil
	}
	return func() func(crawl, url string, date time.Time) bool {
		shown := d.Now()
		return func(crawl, url string, date time.Time) bool {
			return shown(&Entry{Crawl: crawl, Indexed: archive.Indexed{URL: url, Date: date}})
		}
	}
}

// Captures is what the catalogue has, as far as readers may see it.
func (d *Door) Captures(ctx context.Context, l Lookup, fn func(Entry) error) error {
	q, limit, found := query.Query{Root: d.Node()}, l.Limit, 0
	if q.Root != nil {
		l.Limit = 0
	}
	err := d.captures.Captures(ctx, l, func(e Entry) error {
		if !q.Match(e.facts()) {
			return nil
		}
		if err := fn(e); err != nil {
			return err
		}
		if found++; found == limit {
			return errEnough
		}
		return nil
	})
	return unlessEnough(err)
}

// Original is the capture whose payload a revisit has, if readers may see it; catalogue.ErrNoOriginal if there is none.
func (d *Door) Original(ctx context.Context, revisit *Entry) (Entry, error) {
	return d.captures.Original(ctx, revisit, d.Now())
}

// Search answers a query of what readers may see.
func (d *Door) Search(ctx context.Context, q query.Query, o search.Options) (search.Answer, error) {
	if n := d.Node(); n != nil {
		q = q.With(n)
	}
	return d.index.Search(ctx, q, o)
}

// Crawl reports whether readers may see anything of a crawl, and whether all of it: what describes the crawl as a whole, such as its
// log, is for those who may see all.
func (d *Door) Crawl(name string) (some, whole bool) {
	now := d.now()
	some, whole = false, true
	for i := range d.rules.List {
		rule := &d.rules.List[i]
		if rule.Crawl != "" && rule.Crawl != name {
			continue
		}
		admits := rule.admits(now)
		some = some || admits != nothing
		whole = whole && admits == nil
		if rule.Host+rule.Site == "" {
			return some, whole
		}
	}
	return some || d.rules.Otherwise != Closed, whole && d.rules.Otherwise != Closed
}
