package views

import (
	"context"
	"errors"
	"strings"

	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Captures implements room.Captures by the catalogue, of the crawls that are shown.
func (v *Views) Captures(ctx context.Context, l room.Lookup, fn func(room.Entry) error) error {
	q := catalogue.Query{URL: l.URL, Digest: l.Digest, From: l.From, To: l.To, Closest: l.Near}
	switch {
	case l.Host != "":
		q.URL, q.Match = "http://"+bracketed(l.Host)+"/", catalogue.Domain // of the host at all ports, and of those below it
	case !l.Near.IsZero():
		q.Sort = catalogue.Closest
	case l.Newest:
		q.Sort = catalogue.Reverse
	}
	shown, found, ask := v.Crawls(), 0, v.Catalogue.Query
	if q.Sort != catalogue.Forward {
		ask = v.nearest
	}
	err := ask(ctx, q, func(e catalogue.Entry) error {
		if !served(shown, e.Crawl.Name, e.Crawl.Prefix) || l.Host != "" && urls.HostOf(e.URL) != l.Host {
			return nil
		}
		if err := fn(EntryOf(&e)); err != nil {
			return err
		}
		if found++; found == l.Limit {
			return errEnough
		}
		return nil
	})
	var wrong *catalogue.QueryError
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.As(err, &wrong):
		return room.Wrong(wrong)
	}
	return err
}

// Original implements room.Captures.
func (v *Views) Original(ctx context.Context, revisit *room.Entry, admits func(*room.Entry) bool) (room.Entry, error) {
	of := catalogue.Entry{Indexed: revisit.Indexed, Original: revisit.Original}
	e, err := catalogue.OriginalOf(ctx, &guarded{v.Catalogue, v, func() func(*room.Entry) bool { return admits }}, &of)
	return EntryOf(&e), err
}

func (v *Views) nearest(ctx context.Context, q catalogue.Query, fn func(catalogue.Entry) error) error {
	return catalogue.Nearest(ctx, v.Catalogue, q, fn)
}

var errEnough = errors.New("enough")

func served(shown []room.Crawl, name, prefix string) bool {
	for i := range shown {
		if shown[i].Name == name {
			return shown[i].Prefix == prefix
		}
	}
	return false
}

func bracketed(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// EntryOf is a capture of a catalogue as the room has it.
func EntryOf(e *catalogue.Entry) room.Entry {
	return room.Entry{
		Crawl: e.Crawl.Name, Run: e.Run, Segment: e.Segment, WARC: e.WARC, Indexed: e.Indexed, Title: e.Title, Language: e.Language,
		Original: e.Original,
	}
}

// Guarded is the catalogue behind a door, for handlers that ask a catalogue: they find what readers may see alone.
func (v *Views) Guarded(door *room.Door) catalogue.Catalogue {
	return &guarded{v.Catalogue, v, door.Now}
}

type guarded struct {
	catalogue.Catalogue
	views *Views
	now   func() func(*room.Entry) bool // what readers may see
}

// Query implements catalogue.Catalogue. What readers may not see does not fit: it counts for the bounds of the query.
func (g *guarded) Query(ctx context.Context, q catalogue.Query, fn func(catalogue.Entry) error) error {
	shown, admits, further := g.views.Crawls(), g.now(), q.Admits
	q.Admits = func(e *catalogue.Entry) bool {
		entry := EntryOf(e)
		return served(shown, e.Crawl.Name, e.Crawl.Prefix) && admits(&entry) && (further == nil || further(e))
	}
	return g.Catalogue.Query(ctx, q, fn)
}

// Answers implements catalogue.Catalogue: those of hosts of which readers may see captures of that time. Others count for the bound of the query.
func (g *guarded) Answers(ctx context.Context, q catalogue.AnswerQuery, fn func(catalogue.Answer) error) error {
	shown, admits, further := g.views.Crawls(), g.now(), q.Admits
	q.Admits = func(a *catalogue.Answer) bool {
		at := a.Segment.Crawl
		entry := room.Entry{Crawl: at.Name}
		entry.URL, entry.Date = "http://"+a.Name+"/", a.Date
		return served(shown, at.Name, at.Prefix) && admits(&entry) && (further == nil || further(a))
	}
	return g.Catalogue.Answers(ctx, q, fn)
}

// AddSegments implements catalogue.Catalogue: nothing is written through the door.
func (g *guarded) AddSegments(context.Context, ...catalogue.Segment) error {
	return errors.New("the catalogue behind a door is for reading")
}

// Close implements catalogue.Catalogue: the views close it.
func (g *guarded) Close() error { return nil }
