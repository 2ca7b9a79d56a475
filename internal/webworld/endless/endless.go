// Package endless is a web of sites without end, and of honest sites that look a little like them.
package endless

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// Site is a host of the world, with what it answers.
type Site struct {
	Host   string
	More   []string              // other hosts of its pay-level domain
	Honest bool                  // it ends, and all its pages are wanted
	Worth  int                   // how many pages of a trap are wanted
	wanted func(u *url.URL) bool // which pages of a trap those are; not all traps say so
	answer func(p *pen, u *url.URL) (page, bool)
}

// page is what a site writes of a URL.
type page struct {
	title, text string
	images      []string
	links       []link
}

type link struct{ url, anchor string }

// pen writes what a URL decides by chance.
type pen struct {
	*rand.Rand
	text webworld.Library
}

func (p *pen) sentences(n int) string { return p.text.Paragraph(p.Rand, webworld.TheWorld, n) }

func (p *pen) word() string {
	words := strings.Fields(p.text.Paragraph(p.Rand, webworld.TheWorld, 1))
	return strings.ToLower(strings.Trim(words[p.IntN(len(words))], ".,;:!?'\"()"))
}

func (p *pen) hex() string { return fmt.Sprintf("%016x", p.Uint64()|1<<63) }

// random returns the pen of a thing of a site: the same thing always reads alike.
func (p *pen) random(format string, args ...any) *pen {
	return &pen{webworld.Random(1, fmt.Sprintf(format, args...)), p.text}
}

// New is a world of all sites, each at its own address. The front page of each is a seed.
func New(o webworld.Options) *webworld.World { return Of(o, Sites()) }

// Of is a world of some sites.
func Of(o webworld.Options, sites []Site) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	for _, s := range sites {
		kind := "trap"
		if s.Honest {
			kind = "honest"
		}
		p.Add(s.Host, kind)
		for _, more := range s.More {
			p.AddOn(s.Host, more, kind)
		}
	}
	return webworld.New(o, p.Sites, func(b *webworld.Builder) {
		for _, s := range sites {
			for _, host := range append([]string{s.Host}, s.More...) {
				h := b.ByName[host]
				h.SetRobots(webworld.Rules{}, "")
				h.Dynamic = func(u *url.URL) *webworld.Resource {
					at := *u
					at.Host = host
					write := &pen{webworld.Random(b.Options.Seed, host+u.RequestURI()), b.Text}
					found, ok := s.answer(write, &at)
					if !ok {
						return nil
					}
					res := h.Missing(u.RequestURI())
					res.Status, res.Kind = 200, kindOf(s)
					res.Body = [][]byte{found.html(b.Port)}
					return res
				}
			}
			b.Seeds = append(b.Seeds, b.ByName[s.Host].Base+"/")
		}
		b.Truth = func() []webworld.Page { return nil }
		b.Finish()
	})
}

func kindOf(s Site) string {
	if s.Honest {
		return "page"
	}
	return "trap"
}

func (p page) html(port int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\"><title>%s</title></head><body><h1>%s</h1>\n", html.EscapeString(p.title), html.EscapeString(p.title))
	if p.text != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(p.text))
	}
	for _, image := range p.images {
		fmt.Fprintf(&b, "<img src=\"%s\" alt=\"\">\n", image)
	}
	b.WriteString("<ul>")
	for _, l := range p.links {
		to := l.url
		if rest, other := strings.CutPrefix(to, "//"); other {
			host, path, _ := strings.Cut(rest, "/")
			to = fmt.Sprintf("http://%s:%d/%s", host, port, path)
		}
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(to), html.EscapeString(l.anchor))
	}
	b.WriteString("</ul></body></html>\n")
	return []byte(b.String())
}
