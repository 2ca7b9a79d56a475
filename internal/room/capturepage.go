package room

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/urls"
)

// capturePage is what is known of a capture.
type capturePage struct {
	Link
	Title       string           `json:"title,omitempty"`
	Run         uint32           `json:"run,omitempty"`
	Status      int              `json:"status"`
	MIME        string           `json:"mime"`
	Digest      string           `json:"digest"`
	Language    string           `json:"language,omitempty"`
	Author      string           `json:"author,omitempty"`
	Published   time.Time        `json:"published,omitzero"`
	Application string           `json:"application,omitempty"`
	Level       string           `json:"level,omitempty"`
	Score       float64          `json:"score"` // −1: none
	Host        string           `json:"host"`
	Via         string           `json:"via,omitempty"`      // the page that it was found on
	Path        string           `json:"hop_path,omitempty"` // hop letters from the seed on
	Steps       []string         `json:"-"`
	Robots      string           `json:"robots,omitempty"` // what the page asks of robots
	Undecoded   string           `json:"undecoded,omitempty"`
	Revisit     *Link            `json:"revisit_of,omitempty"` // nil if it is none, or if its original is not here
	Unchanged   bool             `json:"revisit"`
	Record      recordAt         `json:"record"`
	Text        string           `json:"text,omitempty"`
	Objects     []capturedObject `json:"objects,omitempty"`
	Anchors     []anchor         `json:"outlinks,omitempty"`
	Notes       []string         `json:"notes,omitempty"` // what could not be read
	Calendar    string           `json:"calendar"`
	Raw         string           `json:"raw"`
	WARC        string           `json:"warc"`
	Replay      string           `json:"replay,omitempty"`
	Citation    string           `json:"citation,omitempty"` // stays the same as long as the archive does
	Earlier     *Link            `json:"earlier,omitempty"`
	Later       *Link            `json:"later,omitempty"`
	Changes     string           `json:"changes,omitempty"` // since the earlier capture
}

// recordAt is where the record lies.
type recordAt struct {
	Segment string `json:"segment"`
	Key     string `json:"key"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
}

// capturedObject is a web object of a capture.
type capturedObject struct {
	derive.Object
	Address string `json:"address"`
}

type anchor struct {
	derive.Anchor
	Address string `json:"address"` // the calendar of its URL
}

// hopWords say what letters of a hop path mean.
var hopWords = map[byte]string{
	'S': "seed", 'L': "link", 'E': "embedded", 'R': "redirect", 'M': "sitemap", 'P': "prerequisite", 'X': "probably embedded", 'N': "next part",
}

// hopSteps are the steps of a hop path in words, from the seed on, whose own letter metadata records leave out.
func hopSteps(path string) (list []string) {
	if !strings.HasPrefix(path, "S") {
		list = append(list, hopWords['S'])
	}
	for i := range len(path) {
		if word, known := hopWords[path[i]]; known {
			list = append(list, word)
		}
	}
	return list
}

func (r *Room) capture(req *http.Request) (view, error) {
	v := req.URL.Query()
	e, err := r.find(req.Context(), v.Get("url"), v.Get("at"), v.Get("crawl"))
	if err != nil {
		return view{}, err
	}
	p, err := r.describe(req.Context(), e)
	if err != nil {
		return view{}, err
	}
	return view{Name: "capture", Title: titled(p.Title, p.URL), Data: p}, nil
}

// dated is the path of a capture as people see it: /web/TIMESTAMP/URL.
var dated = regexp.MustCompile(`^/web/(\d{4,14})(?:[a-z]{2}_)?/(.+)$`)

// ShowDated sends readers of /web/TIMESTAMP/URL to the page of the capture.
func ShowDated(w http.ResponseWriter, req *http.Request) {
	parts := dated.FindStringSubmatch(req.URL.RequestURI())
	if parts == nil {
		http.NotFound(w, req)
		return
	}
	to := parts[2]
	if !strings.Contains(to, "://") { // a proxy has made one slash of two
		to = strings.Replace(to, ":/", "://", 1)
	}
	http.Redirect(w, req, address("/capture", "url", to, "at", parts[1]), http.StatusFound)
}

// describe reads what the archive says of a capture. What cannot be read is a note: the rest is shown.
func (r *Room) describe(ctx context.Context, e Entry) (*capturePage, error) {
	at := e.Date.UTC().Format(stamp)
	p := &capturePage{
		Link: e.link(), Title: e.Title, Run: e.Run, Status: e.Status, MIME: e.MIME, Digest: e.Digest, Language: e.Language, Application: e.Application,
		Score: e.Score, Host: urls.HostOf(e.URL), Unchanged: e.Revisit, Record: recordAt{e.Segment, e.WARC, e.Offset, e.Length},
		Calendar: address("/calendar", "url", e.URL),
		Raw:      address("/raw", "url", e.URL, "at", at, "crawl", e.Crawl),
		WARC:     address("/raw", "url", e.URL, "at", at, "crawl", e.Crawl, "part", "record"),
	}
	if r.Replay != nil {
		p.Replay = address("/replay", "url", e.URL, "at", at, "crawl", e.Crawl)
	}
	of, err := r.store(&e)
	if err != nil {
		return nil, err
	}
	if r.Cite != nil {
		p.Citation = r.Cite(of, &e)
	}
	note := func(err error) {
		if err != nil && ctx.Err() == nil {
			p.Notes = append(p.Notes, r.noted("A part of this capture", err))
		}
	}
	m, err := r.metadata(ctx, &e)
	note(err)
	p.learn(m)
	if e.Revisit {
		if o, err := r.original(ctx, e); err != nil {
			note(err)
		} else {
			link := o.link()
			p.Revisit = &link
		}
	}
	d, err := r.document(ctx, e)
	note(err)
	p.say(d)
	if err := r.neighbours(ctx, e, p); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

func (p *capturePage) learn(m archive.MetadataOf) {
	if m.Title != "" {
		p.Title = m.Title
	}
	if m.Language != "" {
		p.Language = m.Language
	}
	if m.Application != "" {
		p.Application = m.Application
	}
	p.Level, p.Via, p.Path, p.Robots, p.Undecoded = m.Level, m.Via, m.Path, m.Robots, m.Undecoded
	p.Steps = hopSteps(m.Path)
}

// say adds what a document says.
func (p *capturePage) say(d *derive.Document) {
	if d == nil {
		return
	}
	if p.Title == "" {
		p.Title = d.Title
	}
	p.Text, p.Author, p.Published = d.Text, d.Author, d.Published
	if p.Language == "" {
		p.Language = d.Language
	}
	for _, o := range d.Objects {
		p.Objects = append(p.Objects, capturedObject{o, p.object(o.N)})
	}
	for _, a := range d.Anchors {
		p.Anchors = append(p.Anchors, anchor{a, address("/calendar", "url", a.URL)})
	}
}

// neighbours are the captures of the URL before and behind.
func (r *Room) neighbours(ctx context.Context, e Entry, p *capturePage) error {
	one := func(l Lookup) (*Link, error) {
		var link *Link
		err := r.Door.Captures(ctx, l, func(o Entry) error {
			at := o.link()
			link = &at
			return errEnough
		})
		return link, unlessEnough(err)
	}
	var err error
	if p.Earlier, err = one(Lookup{URL: e.URL, To: e.Date.Add(-time.Second), Newest: true}); err != nil {
		return err
	}
	if p.Later, err = one(Lookup{URL: e.URL, From: e.Date.Add(time.Second), Near: e.Date}); err != nil {
		return err
	}
	if p.Earlier != nil {
		p.Changes = compareAddress(*p.Earlier, p.Link)
	}
	return nil
}

// objectPage is a web object.
type objectPage struct {
	Capture Link   `json:"capture"`
	Title   string `json:"page_title"`
	derive.Object
	Previous string `json:"previous,omitempty"`
	Next     string `json:"next,omitempty"`
	Of       int    `json:"of"` // objects of the page
}

func (r *Room) object(req *http.Request) (view, error) {
	v := req.URL.Query()
	e, err := r.find(req.Context(), v.Get("url"), v.Get("at"), v.Get("crawl"))
	if err != nil {
		return view{}, err
	}
	n, err := strconv.Atoi(v.Get("n"))
	if err != nil {
		return view{}, wrong("n is no number: write the number of a web object on its page, from 0")
	}
	d, err := r.document(req.Context(), e)
	if err != nil {
		return view{}, err
	}
	if d != nil {
		for i, o := range d.Objects {
			if o.N != n {
				continue
			}
			p := objectPage{Capture: e.link(), Title: titled(d.Title, e.URL), Object: o, Of: len(d.Objects)}
			if i > 0 {
				p.Previous = p.Capture.object(d.Objects[i-1].N)
			}
			if i+1 < len(d.Objects) {
				p.Next = p.Capture.object(d.Objects[i+1].N)
			}
			return view{Name: "object", Title: titled(o.Title, o.Type+" on "+p.Title), Data: p}, nil
		}
	}
	return view{}, missing("there is no web object %d on this page: `muninn derive` makes them readable", n)
}
