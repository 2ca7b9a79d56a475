package webworld

import (
	"fmt"
	"math/rand/v2"
)

// The shape of a scattered world.
const (
	scatteredSections = 5    // of a site
	scatteredPages    = 20   // of a section, its list not counted
	mixedShare        = 0.6  // of the pages of every tenth section are on the topic
	strayShare        = 0.05 // of the pages of all others
	telling           = 0.7  // of the anchors say the title of their page; the others "more" or "here"
	crossLinks        = 2    // of a page, to other sites
)

// NewScattered is a world in which one page in ten is on the topic: sites about everything, a PLD and an IP each, with
// sections whose names tell nothing. More than half of the pages on the topic stand together in a tenth of the sections,
// the others are strewn over all. A page links to its section, to its neighbours and to two pages of other sites; half of
// the links from a page on the topic to other sites lead to others on it.
func NewScattered(o Options, sites int) *World {
	o = o.withDefaults()
	p := &planner{next: o.FirstIP}
	for i := range sites {
		p.add(fmt.Sprintf("site%03d.example", i), "scattered")
	}
	return newWorld(o, p.sites, buildScattered)
}

var sectionNames = []string{"Notes", "Archive", "Letters", "Miscellany", "Weekly"}

func buildScattered(b *builder) {
	b.topic = []string{
		"raven", "ravens", "corvid", "corvids", "crow", "rook", "jackdaw", "magpie", "corvus corax", "roost",
		"Huginn", "Muninn", "Odin", "Norse", "Edda", "saga", "runes", "Valhalla", "Yggdrasil", "valkyrie",
	}
	sections := make([][][]entry, len(b.order))
	var on, off []entry
	for i, s := range b.order {
		s.setRobots(rules{}, "")
		for sec := range scatteredSections {
			share := strayShare
			if (i*scatteredSections+sec)%10 == 3 {
				share = mixedShare
			}
			list := b.section(s, sec, share)
			sections[i] = append(sections[i], list)
			for _, e := range list {
				if e.Subject.relevant() {
					on = append(on, e)
				} else {
					off = append(off, e)
				}
			}
		}
	}
	for i, s := range b.order {
		front := plainView{Title: "Journal " + s.Host, Paragraphs: b.lib.paragraphs(b.random(s, "front"), world, 2)}
		for sec, list := range sections[i] {
			path := "/" + slug(sectionNames[sec]) + "/"
			front.Links = append(front.Links, entry{Title: sectionNames[sec], URL: path})
			view := plainView{Title: sectionNames[sec], Paragraphs: b.lib.paragraphs(b.random(s, "list %d", sec), world, 1)}
			for at, e := range list {
				view.Links = append(view.Links, anchored(b.random(s, "anchor %d %d", sec, at), e))
				b.writeScattered(s, list, at, path, on, off)
			}
			s.addHTML(path, "list", false, b.render("plain", view))
		}
		s.addHTML("/", "list", false, b.render("plain", front))
	}
	for i := range min(4, len(b.order)) {
		b.seeds = append(b.seeds, b.order[i*len(b.order)/4].base+"/")
	}
	b.finish()
}

// section plans the pages of a section, a share of which is on the topic.
func (b *builder) section(s *site, sec int, share float64) []entry {
	list, taken := make([]entry, scatteredPages), map[string]bool{}
	for i := range list {
		r := b.random(s, "entry %d %d", sec, i)
		e := entry{site: s, ID: i, Subject: pick(r, []subject{cooking, world})}
		if r.Float64() < share {
			e.Subject = pick(r, []subject{ravens, norse})
		}
		for part := 1; e.Title == "" || taken[slug(e.Title)]; part++ {
			if e.Title = b.lib.title(r, e.Subject); part > 1 {
				e.Title = fmt.Sprintf("%s (part %d)", e.Title, part)
			}
		}
		taken[slug(e.Title)] = true
		e.Path = fmt.Sprintf("/%s/%d", slug(sectionNames[sec]), 1000+r.IntN(9)+i*10)
		e.URL = s.base + e.Path
		list[i] = e
	}
	return list
}

func (b *builder) writeScattered(s *site, list []entry, at int, section string, on, off []entry) {
	e := list[at]
	r := b.random(s, "page %s", e.Path)
	v := plainView{Title: e.Title, Paragraphs: b.lib.paragraphs(r, e.Subject, 3+r.IntN(4))}
	v.Links = append(v.Links, entry{Title: "Overview", URL: section}, entry{Title: "Home", URL: "/"})
	for _, near := range []int{at - 1, at + 1} {
		if near >= 0 && near < len(list) {
			v.Links = append(v.Links, anchored(r, list[near]))
		}
	}
	for range crossLinks {
		from := off
		if e.Subject.relevant() && r.IntN(2) == 0 || r.IntN(10) == 0 {
			from = on
		}
		v.Links = append(v.Links, anchored(r, pick(r, from)))
	}
	s.addHTML(e.Path, "page", e.Subject.relevant(), b.render("plain", v))
}

// anchored is a link to an entry, whose anchor may tell nothing.
func anchored(r *rand.Rand, e entry) entry {
	if r.Float64() >= telling {
		e.Title = pick(r, []string{"more", "here", "read on"})
	}
	return entry{Title: e.Title, URL: e.URL}
}
