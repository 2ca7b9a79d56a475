package webworld

import (
	"fmt"
	"net/http"
)

// recipeView is what the template "recipe" gets.
type recipeView struct {
	Title      string
	Categories []term
	Paragraphs []string
	Links      []entry
	Listing    bool
	Next       string
}

// kitchen is the large site that has nothing to do with the topic: all its links are relative, and it has
// no robots.txt.
type kitchen struct {
	b       *builder
	s       *site
	recipes []entry
	cats    []term
}

func planKitchen(b *builder, s *site) *kitchen {
	s.RobotsCode = http.StatusNotFound
	k := &kitchen{b: b, s: s, cats: []term{{Name: "Soups", Slug: "soups"}, {Name: "Bakes", Slug: "bakes"}, {Name: "Suppers", Slug: "suppers"}}}
	k.recipes = b.entries(s, b.scaled(36), 0, func(i int, e entry) string {
		return fmt.Sprintf("/%s/%s.html", k.cats[i%3].Slug, slug(e.Title))
	})
	return k
}

func (k *kitchen) write(club string) {
	for i, e := range k.recipes {
		r := k.b.random(k.s, "recipe %d", e.ID)
		v := recipeView{Title: e.Title, Categories: k.cats, Paragraphs: k.b.lib.paragraphs(r, e.Subject, 4+r.IntN(4))}
		for range 4 {
			other := pick(r, k.recipes)
			v.Links = append(v.Links, entry{Title: other.Title, URL: ".." + other.Path})
		}
		if i%4 == 0 {
			v.Links = append(v.Links, k.b.related(r, k.s, e.Subject, 1)...)
		}
		k.s.addHTML(e.Path, "recipe", false, k.b.render("recipe", v))
	}
	for i, c := range k.cats {
		k.writeList(i, c)
	}
	front := recipeView{Title: "Kitchen Notes", Categories: k.cats, Paragraphs: k.b.lib.paragraphs(k.b.random(k.s, "front"), cooking, 2)}
	res := k.s.addHTML("/index.html", "list", false, k.b.render("recipe", front))
	k.s.alias("/", res)
	k.s.redirect("/club/calendar.html", 302, club)
	k.s.add("/css/kitchen.css", "style", false, "text/css", []byte(".step{margin:1em}\n"))
}

// writeList adds the pages of a category, eight recipes each.
func (k *kitchen) writeList(i int, c term) {
	var mine []entry
	for j, e := range k.recipes {
		if j%3 == i {
			mine = append(mine, entry{Title: e.Title, URL: ".." + e.Path})
		}
	}
	const perPage = 8
	for n := 0; n*perPage < len(mine); n++ {
		v := recipeView{Title: c.Name, Categories: k.cats, Listing: true, Links: mine[n*perPage : min(len(mine), (n+1)*perPage)]}
		if (n+1)*perPage < len(mine) {
			v.Next = fmt.Sprintf("index-%d.html", n+2)
		}
		path := "/" + c.Slug + "/index.html"
		if n > 0 {
			path = fmt.Sprintf("/%s/index-%d.html", c.Slug, n+1)
		}
		k.s.addHTML(path, "list", false, k.b.render("recipe", v))
	}
}
