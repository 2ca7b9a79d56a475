// Package illustrated is a web whose pages need much to be shown: images, style sheets, fonts, drawings, frames, sounds, and scripts that
// load images, on their own host and on others, behind redirects and in several encodings. Every page has some of the Kinds, and every
// kind is on many pages. What a page needs is its own, and looks different from all else, so that a copy of the web that lacks
// something, or has it in another place, looks different too.
package illustrated

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// PerPage is the number of kinds that a page has.
const PerPage = 9

// The hosts of pages, and those that have only what pages need.
var (
	pageHosts = []string{"gallery.example", "museum.example", "atlas.test"}
	partHosts = []string{"static.gallery.example", "cdn.example.net"}
)

// HardPage is the kind of pages with ways to refer to things that are archived, but that ReplayWeb.page does not show. Every tenth page is one; the
// others are of the kind "page".
const HardPage = "hard page"

const everyHard = 10

// Kinds are the names of the ways in which pages refer to what they need. They are parts of the paths of what is needed.
func Kinds() (names []string) {
	for _, k := range slices.Concat(kinds(), hardKinds) {
		names = append(names, k.name)
	}
	return names
}

// kind is a way in which a page refers to something.
type kind struct {
	name  string
	write func(*pen)
	html  bool // it does not work in XHTML
}

func kinds() []kind {
	return slices.Concat(htmlKinds, frameKinds, cssKinds, svgKinds, scriptKinds, otherKinds)
}

// New is a world of so many pages. The front pages of its hosts are the seeds; each page is linked from one other.
func New(o webworld.Options, pages int) *webworld.World {
	o = o.WithDefaults()
	plan := &webworld.Planner{Next: o.FirstIP}
	for _, host := range pageHosts {
		plan.Add(host, "illustrated")
	}
	plan.AddOn(pageHosts[0], "images.example.org", "illustrated") // several hosts at one address
	for _, host := range partHosts {
		plan.Add(host, "illustrated")
	}
	return webworld.New(o, plan.Sites, func(b *webworld.Builder) { build(b, pages) })
}

func build(b *webworld.Builder, pages int) {
	w := &world{b: b, all: kinds()}
	for _, s := range b.Hosts {
		s.SetRobots(webworld.Rules{}, "")
	}
	b.ByName[pageHosts[1]].Gzip = true
	for n := range pages {
		w.page(n, pages)
	}
	b.Topic = []string{"raven", "ravens"}
	slices.SortFunc(w.truth, webworld.ByURL)
	b.Truth = func() []webworld.Page { return w.truth }
	b.Finish()
}

// world is what is shared by the pages while they are written.
type world struct {
	b     *webworld.Builder
	all   []kind
	truth []webworld.Page
}

// hostOf is the host of a page. Pages go around the hosts, and the first of each host is its front page.
func (w *world) hostOf(n int) *webworld.Host { return w.b.ByName[pageHosts[n%len(pageHosts)]] }

func pathOf(n int) string {
	if n < len(pageHosts) {
		return "/"
	}
	return fmt.Sprintf("/pages/%d.html", n)
}

func (w *world) page(n, pages int) {
	all, form := w.all, forms[n%len(forms)]
	hard := n%everyHard == everyHard-1
	if hard {
		all, form = hardKinds, hardForms[n/everyHard%len(hardForms)]
	}
	p := &pen{world: w, n: n, host: w.hostOf(n), form: form, hard: hard}
	p.base, p.sheet = p.host, p.host
	if form.base {
		p.base = w.b.Hosts[(n+1)%len(w.b.Hosts)]
	}
	if n%3 > 0 {
		p.sheet = p.other()
	} else {
		p.inline = true
		p.sheet = p.base
	}
	for i := range PerPage {
		k := all[(n*PerPage+i)%len(all)]
		if form.frames || k.html && form.xml {
			continue
		}
		p.kind, p.made = k.name, 0
		p.whole = form.base && slices.ContainsFunc(scriptKinds, func(s kind) bool { return s.name == k.name })
		p.say("<h3>%s</h3>", k.name)
		k.write(p)
		p.say("\n")
	}
	for child := n*children + len(pageHosts); child < (n+1)*children+len(pageHosts) && child < pages; child++ {
		target := w.hostOf(child)
		p.say("<p><a href=\"%s\">More ravens: page %d</a></p>\n", p.reference(p.base, target, pathOf(child)), child)
	}
	if n < len(pageHosts) {
		w.b.Seeds = append(w.b.Seeds, p.host.Base+"/")
	}
	p.finish()
}

// children is how many pages a page links to.
const children = 4

// reference is how a document on one host refers to a path of another, or of its own, in one of several ways.
func (p *pen) reference(from, to *webworld.Host, path string) string {
	p.ways++
	switch {
	case p.ways%4 == 0 || p.whole:
		return to.Base + path
	case p.ways%4 == 1 || from != to:
		return strings.TrimPrefix(to.Base, "http:") + path
	case p.ways%4 == 2:
		return path
	default:
		return ".." + path
	}
}
