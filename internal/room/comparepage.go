package room

import (
	"context"
	"net/http"
	"time"

	"github.com/muninn-archive/muninn/internal/derive"
)

// linesAround is how many unchanged lines are shown around a change.
const linesAround = 2

type comparePage struct {
	Before  comparedCapture  `json:"before"`
	After   comparedCapture  `json:"after"`
	Same    bool             `json:"same_payload"`
	Lines   []Line           `json:"lines"`
	Added   int              `json:"lines_added"`
	Removed int              `json:"lines_removed"`
	Cut     bool             `json:"cut,omitempty"` // texts are longer than what is compared
	Objects []comparedObject `json:"objects,omitempty"`
	All     string           `json:"-"` // the address with all lines
	Fields  []fieldChange    `json:"fields,omitempty"`
}

type comparedCapture struct {
	Link
	Address string `json:"address"`
	Title   string `json:"title,omitempty"`
	Status  int    `json:"status"`
	Digest  string `json:"digest"`
}

type fieldChange struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// comparedObject is a web object that one of two captures has, or that both have with different texts.
type comparedObject struct {
	Change Change        `json:"change"` // Kept: its text has changed
	Object derive.Object `json:"object"`
	Lines  []Line        `json:"lines,omitempty"`
}

func compareAddress(before, after Link) string {
	return address("/compare", "url", before.URL, "before", before.Date.UTC().Format(stamp), "before-crawl", before.Crawl,
		"after", after.Date.UTC().Format(stamp), "after-crawl", after.Crawl)
}

func (r *Room) compare(req *http.Request) (view, error) {
	v, ctx := req.URL.Query(), req.Context()
	before, err := r.find(ctx, v.Get("url"), v.Get("before"), v.Get("before-crawl"))
	if err != nil {
		return view{}, err
	}
	after, err := r.find(ctx, v.Get("url"), v.Get("after"), v.Get("after-crawl"))
	if err != nil {
		return view{}, err
	}
	if after.Date.Before(before.Date) {
		before, after = after, before
	}
	was, err := r.words(ctx, before)
	if err != nil {
		return view{}, err
	}
	now, err := r.words(ctx, after)
	if err != nil {
		return view{}, err
	}
	p := &comparePage{Before: compared(before, was), After: compared(after, now), Same: before.Digest == after.Digest && before.Digest != ""}
	p.Lines, p.Cut = diff(was.Text, now.Text)
	p.count()
	if v.Get("lines") != "all" {
		p.Lines = nearby(p.Lines, linesAround)
		p.All = compareAddress(before.link(), after.link()) + "&lines=all"
	}
	if p.Objects, err = compareObjects(ctx, was.Objects, now.Objects); err != nil {
		return view{}, err
	}
	for _, f := range []fieldChange{
		{"title", was.Title, now.Title}, {"author", was.Author, now.Author}, {"language", was.Language, now.Language},
		{"published", dateText(was.Published), dateText(now.Published)}, {"type", before.MIME, after.MIME}, {"application", before.Application, after.Application},
	} {
		if f.Before != f.After && !(f.Field == "type" && (before.Revisit || after.Revisit)) {
			p.Fields = append(p.Fields, f)
		}
	}
	return view{Name: "compare", Title: "Changes of " + oneLine(before.URL, urlBytes), Data: p}, nil
}

func (p *comparePage) count() {
	for _, l := range p.Lines {
		switch l.Change {
		case Added:
			p.Added++
		case Removed:
			p.Removed++
		}
	}
}

// words are what a capture says; an empty document if it says nothing, or its original is not here.
func (r *Room) words(ctx context.Context, e Entry) (*derive.Document, error) {
	d, err := r.document(ctx, e)
	if d == nil {
		d = &derive.Document{}
	}
	return d, err
}

func compared(e Entry, d *derive.Document) comparedCapture {
	return comparedCapture{e.link(), e.link().capture(), titled(d.Title, e.Title), e.Status, e.Digest}
}

func dateText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// maxObjectsCompared bounds the changes of web objects that are shown.
const maxObjectsCompared = 100

// compareObjects compares the web objects of two captures. They are the same object if type, author, date and title are; of several that are, the
// first with the first, and so on.
func compareObjects(ctx context.Context, before, after []derive.Object) (list []comparedObject, err error) {
	type key struct {
		kind, author, title string
		date                int64
	}
	of := func(o derive.Object) key { return key{o.Type, o.Author, o.Title, o.Date.Unix()} }
	left, cells := map[key][]derive.Object{}, maxCells
	for _, o := range before {
		left[of(o)] = append(left[of(o)], o)
	}
	for _, o := range after {
		if err := ctx.Err(); err != nil || len(list) == maxObjectsCompared {
			return list, err
		}
		was, known := left[of(o)], false
		if known = len(was) > 0; known {
			left[of(o)] = was[1:]
		}
		switch {
		case !known:
			list = append(list, comparedObject{Change: Added, Object: o})
		case was[0].Text != o.Text:
			changes, _ := diffWithin(&cells, was[0].Text, o.Text)
			list = append(list, comparedObject{Change: Kept, Object: o, Lines: nearby(changes, linesAround)})
		}
	}
	for _, o := range before {
		if rest := left[of(o)]; len(rest) > 0 && rest[0].N == o.N {
			left[of(o)] = rest[1:]
			list = append(list, comparedObject{Change: Removed, Object: o})
		}
	}
	return list[:min(len(list), maxObjectsCompared)], nil
}
