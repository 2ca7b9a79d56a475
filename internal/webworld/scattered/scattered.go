// Package scattered is a web for comparing orders of crawling: a tenth of its pages, scattered over all sites, is on a topic.
package scattered

import (
	"fmt"
	"math/rand/v2"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// The shape of a scattered world.
const (
	scatteredSections = 5    // of a site
	scatteredPages    = 20   // of a section, its list not counted
	mixedShare        = 0.6  // of the pages of every tenth section are on the topic
	strayShare        = 0.05 // of the pages of all others
	telling           = 0.7  // of the anchors are the title of their page; the others are "more" or "here"
	crossLinks        = 2    // of a page, to other sites
)

// New is a world in which one page in ten is on the topic: sites about everything, with a PLD and an IP each, and with
// sections whose names say nothing. A tenth of the sections has more than half of the pages on the topic; the others are
// scattered over all sections. A page links to its section, to its neighbours and to two pages of other sites. Of the
// links from a page on the topic to other sites, half lead to pages on the topic.
func New(o webworld.Options, sites int) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	for i := range sites {
		p.Add(fmt.Sprintf("site%03d.example", i), "scattered")
	}
	return webworld.New(o, p.Sites, buildScattered)
}

var sectionNames = []string{"Notes", "Archive", "Letters", "Miscellany", "Weekly"}

func buildScattered(b *webworld.Builder) {
	b.Topic = []string{
		"raven", "ravens", "corvid", "corvids", "crow", "rook", "jackdaw", "magpie", "corvus corax", "roost",
		"Huginn", "Muninn", "Odin", "Norse", "Edda", "saga", "runes", "Valhalla", "Yggdrasil", "valkyrie",
	}
	sections := make([][][]webworld.Entry, len(b.Hosts))
	var on, off []webworld.Entry
	for i, s := range b.Hosts {
		s.SetRobots(webworld.Rules{}, "")
		for sec := range scatteredSections {
			share := strayShare
			if (i*scatteredSections+sec)%10 == 3 {
				share = mixedShare
			}
			list := section(b, s, sec, share)
			sections[i] = append(sections[i], list)
			for _, e := range list {
				if e.Subject.Relevant() {
					on = append(on, e)
				} else {
					off = append(off, e)
				}
			}
		}
	}
	for i, s := range b.Hosts {
		front := webworld.PlainView{Title: "Journal " + s.Host, Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), webworld.TheWorld, 2)}
		for sec, list := range sections[i] {
			path := "/" + webworld.Slug(sectionNames[sec]) + "/"
			front.Links = append(front.Links, webworld.Entry{Title: sectionNames[sec], URL: path})
			view := webworld.PlainView{Title: sectionNames[sec], Paragraphs: b.Text.Paragraphs(b.Random(s, "list %d", sec), webworld.TheWorld, 1)}
			for at, e := range list {
				view.Links = append(view.Links, anchored(b.Random(s, "anchor %d %d", sec, at), e))
				writePage(b, s, list, at, path, on, off)
			}
			s.AddHTML(path, "list", false, b.Render("plain", view))
		}
		s.AddHTML("/", "list", false, b.Render("plain", front))
	}
	for i := range min(4, len(b.Hosts)) {
		b.Seeds = append(b.Seeds, b.Hosts[i*len(b.Hosts)/4].Base+"/")
	}
	b.Finish()
}

// section plans the pages of a section. A share of them is on the topic.
func section(b *webworld.Builder, s *webworld.Host, sec int, share float64) []webworld.Entry {
	list, taken := make([]webworld.Entry, scatteredPages), map[string]bool{}
	for i := range list {
		r := b.Random(s, "entry %d %d", sec, i)
		e := webworld.Entry{ID: i, Subject: webworld.Pick(r, []webworld.Subject{webworld.Cooking, webworld.TheWorld})}
		if r.Float64() < share {
			e.Subject = webworld.Pick(r, []webworld.Subject{webworld.Ravens, webworld.Norse})
		}
		for part := 1; e.Title == "" || taken[webworld.Slug(e.Title)]; part++ {
			if e.Title = b.Text.Title(r, e.Subject); part > 1 {
				e.Title = fmt.Sprintf("%s (part %d)", e.Title, part)
			}
		}
		taken[webworld.Slug(e.Title)] = true
		e.Path = fmt.Sprintf("/%s/%d", webworld.Slug(sectionNames[sec]), 1000+r.IntN(9)+i*10)
		e.URL = s.Base + e.Path
		list[i] = e
	}
	return list
}

func writePage(b *webworld.Builder, s *webworld.Host, list []webworld.Entry, at int, section string, on, off []webworld.Entry) {
	e := list[at]
	r := b.Random(s, "page %s", e.Path)
	v := webworld.PlainView{Title: e.Title, Paragraphs: b.Text.Paragraphs(r, e.Subject, 3+r.IntN(4))}
	v.Links = append(v.Links, webworld.Entry{Title: "Overview", URL: section}, webworld.Entry{Title: "Home", URL: "/"})
	for _, near := range []int{at - 1, at + 1} {
		if near >= 0 && near < len(list) {
			v.Links = append(v.Links, anchored(r, list[near]))
		}
	}
	for range crossLinks {
		from := off
		if e.Subject.Relevant() && r.IntN(2) == 0 || r.IntN(10) == 0 {
			from = on
		}
		v.Links = append(v.Links, anchored(r, webworld.Pick(r, from)))
	}
	s.AddHTML(e.Path, "page", e.Subject.Relevant(), b.Render("plain", v))
}

// anchored is a link to an entry, with its title or a meaningless text as anchor.
func anchored(r *rand.Rand, e webworld.Entry) webworld.Entry {
	if r.Float64() >= telling {
		e.Title = webworld.Pick(r, []string{"more", "here", "read on"})
	}
	return webworld.Entry{Title: e.Title, URL: e.URL}
}
