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

// builder writes the sites of a world. The first error sticks and ends the building.
type builder struct {
	opts  Options
	port  int
	lib   library
	views *template.Template
	sites map[string]*site
	order []*site
	seeds []string
	topic []string
	index []entry
	truth func() []Page
	err   error
}

// entry is an article, thread or recipe: what other pages link to.
type entry struct {
	site    *site
	ID      int
	Title   string
	Path    string // with query
	URL     string
	Subject subject
	Date    time.Time
	Author  string
}

func newBuilder(o Options, port int, plan []Site) (*builder, error) {
	lib, err := loadLibrary()
	if err != nil {
		return nil, err
	}
	views, err := template.ParseFS(markupFiles, "markup/*.html")
	if err != nil {
		return nil, err
	}
	b := &builder{opts: o, port: port, lib: lib, views: views, sites: map[string]*site{}}
	for _, p := range plan {
		s := &site{
			Site: p, base: fmt.Sprintf("http://%s:%d", p.Host, port), resources: map[string]*resource{},
			dated: time.Date(2024, 6, 1, 8, 0, 0, 0, time.UTC), defaults: http.Header{"Server": {"Muninn-webworld"}},
		}
		b.sites[p.Host] = s
		b.order = append(b.order, s)
	}
	b.truth = b.walk
	return b, nil
}

// finish completes all sites.
func (b *builder) finish() {
	writer := gzip.NewWriter(nil)
	for _, s := range b.order {
		if err := s.finish(writer); err != nil && b.err == nil {
			b.err = err
		}
	}
}

// random is the generator for one thing of a site.
func (b *builder) random(s *site, format string, args ...any) *rand.Rand {
	return random(b.opts.Seed, s.Host+" "+fmt.Sprintf(format, args...))
}

// render executes a template of markup/.
func (b *builder) render(view string, data any) []byte {
	var out bytes.Buffer
	if err := b.views.ExecuteTemplate(&out, view, data); err != nil && b.err == nil {
		b.err = err
	}
	return out.Bytes()
}

// entries plans n things of a site, of which the first `about` are on the given subjects in turn, the others
// on cooking and the world; path turns the number and the title into a path. Titles do not repeat.
func (b *builder) entries(s *site, n, about int, path func(i int, e entry) string) []entry {
	seen := map[string]bool{}
	list := make([]entry, n)
	order := b.random(s, "order").Perm(n)
	for i := range list {
		r := b.random(s, "entry %d", i)
		e := entry{site: s, ID: i + 1, Subject: subjectOf(order[i], about), Author: b.lib.name(r)}
		e.Date = time.Date(2024, 1, 3, 7, 0, 0, 0, time.UTC).Add(time.Duration(i*180*24/n)*time.Hour + time.Duration(r.IntN(600))*time.Minute)
		e.Title = b.lib.title(r, e.Subject)
		for part := 2; seen[slug(e.Title)]; part++ {
			e.Title = fmt.Sprintf("%s (part %d)", b.lib.title(r, e.Subject), part)
		}
		seen[slug(e.Title)] = true
		e.Path = path(i, e)
		e.URL = s.base + e.Path
		list[i] = e
	}
	b.index = append(b.index, list...)
	return list
}

func subjectOf(rank, about int) subject {
	switch {
	case rank < about && rank%2 == 0:
		return ravens
	case rank < about:
		return norse
	case rank%2 == 0:
		return cooking
	default:
		return world
	}
}

// related picks n entries of other sites to link to from a text about s: nine in ten are on the topic if
// the text is, one in ten if it is not.
func (b *builder) related(r *rand.Rand, from *site, s subject, n int) []entry {
	var list []entry
	for tries := 0; len(list) < n && tries < 1000; tries++ {
		e := pick(r, b.index)
		alike := e.Subject.relevant() == s.relevant()
		if e.site != from && alike == (r.IntN(10) > 0) {
			list = append(list, e)
		}
	}
	return list
}

// scaled multiplies a number of the demo's articles.
func (b *builder) scaled(n int) int { return n * b.opts.Scale }
