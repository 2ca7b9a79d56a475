package webworld

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"time"
)

//go:embed markup/*.html
var markupFiles embed.FS

// Builder writes the sites of a world. The first error sticks and ends the building.
type Builder struct {
	Options Options
	Port    int     // of every host
	Text    Library // what pages are written with
	views   *template.Template
	ByName  map[string]*Host
	Hosts   []*Host       // in the order of the plan
	Seeds   []string      // of World.Seeds, to be filled
	Topic   []string      // of World.Topic, to be filled
	index   []Entry       // of all sites, for links between them
	Truth   func() []Page // makes World.Pages; by default it walks all pages from the seeds
	Err     error         // the first; it ends the building
}

// Entry is an article, thread or recipe: what other pages link to.
type Entry struct {
	site    *Host
	ID      int
	Title   string
	Path    string // with query
	URL     string
	Subject Subject
	Date    time.Time
	Author  string
}

// NewBuilder begins a world with the sites of a plan, without pages.
func NewBuilder(o Options, port int, plan []Site) (*Builder, error) {
	lib, err := loadLibrary()
	if err != nil {
		return nil, err
	}
	views, err := template.ParseFS(markupFiles, "markup/*.html")
	if err != nil {
		return nil, err
	}
	b := &Builder{Options: o, Port: port, Text: lib, views: views, ByName: map[string]*Host{}}
	for _, p := range plan {
		s := &Host{
			Site: p, Base: fmt.Sprintf("http://%s:%d", p.Host, port), Resources: map[string]*Resource{},
			Dated: time.Date(2024, 6, 1, 8, 0, 0, 0, time.UTC), defaults: http.Header{"Server": {"Muninn-webworld"}},
		}
		b.ByName[p.Host] = s
		b.Hosts = append(b.Hosts, s)
	}
	b.Truth = b.walk
	return b, nil
}

// Finish completes all sites.
func (b *Builder) Finish() {
	writer := gzip.NewWriter(nil)
	for _, s := range b.Hosts {
		if err := s.finish(writer); err != nil && b.Err == nil {
			b.Err = err
		}
	}
}

// Random is the generator for one thing of a site.
func (b *Builder) Random(s *Host, format string, args ...any) *rand.Rand {
	return Random(b.Options.Seed, s.Host+" "+fmt.Sprintf(format, args...))
}

// Render executes a template of markup/.
func (b *Builder) Render(view string, data any) []byte {
	var out bytes.Buffer
	if err := b.views.ExecuteTemplate(&out, view, data); err != nil && b.Err == nil {
		b.Err = err
	}
	return out.Bytes()
}

// entries plans n things of a site. The first `about` are on the given subjects in turn, the others on cooking and
// the world. path turns the number and the title into a path. Titles do not repeat.
func (b *Builder) entries(s *Host, n, about int, path func(i int, e Entry) string) []Entry {
	seen := map[string]bool{}
	list := make([]Entry, n)
	order := b.Random(s, "order").Perm(n)
	for i := range list {
		r := b.Random(s, "entry %d", i)
		e := Entry{site: s, ID: i + 1, Subject: subjectOf(order[i], about), Author: b.Text.Name(r)}
		e.Date = time.Date(2024, 1, 3, 7, 0, 0, 0, time.UTC).Add(time.Duration(i*180*24/n)*time.Hour + time.Duration(r.IntN(600))*time.Minute)
		e.Title = b.Text.Title(r, e.Subject)
		for part := 2; seen[Slug(e.Title)]; part++ {
			e.Title = fmt.Sprintf("%s (part %d)", b.Text.Title(r, e.Subject), part)
		}
		seen[Slug(e.Title)] = true
		e.Path = path(i, e)
		e.URL = s.Base + e.Path
		list[i] = e
	}
	b.index = append(b.index, list...)
	return list
}

func subjectOf(rank, about int) Subject {
	switch {
	case rank < about && rank%2 == 0:
		return Ravens
	case rank < about:
		return Norse
	case rank%2 == 0:
		return Cooking
	default:
		return TheWorld
	}
}

// related picks n entries of other sites that a text about s links to: nine in ten are on the topic if the
// text is, one in ten if it is not.
func (b *Builder) related(r *rand.Rand, from *Host, s Subject, n int) []Entry {
	var list []Entry
	for tries := 0; len(list) < n && tries < 1000; tries++ {
		e := Pick(r, b.index)
		alike := e.Subject.Relevant() == s.Relevant()
		if e.site != from && alike == (r.IntN(10) > 0) {
			list = append(list, e)
		}
	}
	return list
}

// scaled multiplies a number of the demo's articles.
func (b *Builder) scaled(n int) int { return n * b.Options.Scale }
