package webworld

import (
	"fmt"
	"net/http"
)

// recipeView is what the template "recipe" gets.
type recipeView struct {
	Title      string
	Categories []Term
	Paragraphs []string
	Links      []Entry
	Listing    bool
	Next       string
}

// kitchen is the large off-topic site. All its links are relative, and it has no robots.txt.
type kitchen struct {
	b       *Builder
	s       *Host
	recipes []Entry
	cats    []Term
}

func planKitchen(b *Builder, s *Host) *kitchen {
	s.RobotsCode = http.StatusNotFound
	k := &kitchen{b: b, s: s, cats: []Term{{Name: "Soups", Slug: "soups"}, {Name: "Bakes", Slug: "bakes"}, {Name: "Suppers", Slug: "suppers"}}}
	k.recipes = b.entries(s, b.scaled(36), 0, func(i int, e Entry) string {
		return fmt.Sprintf("/%s/%s.html", k.cats[i%3].Slug, Slug(e.Title))
	})
	return k
}

func (k *kitchen) generate(club string) {
	for i, e := range k.recipes {
		r := k.b.Random(k.s, "recipe %d", e.ID)
		v := recipeView{Title: e.Title, Categories: k.cats, Paragraphs: k.b.Text.Paragraphs(r, e.Subject, 4+r.IntN(4))}
		for range 4 {
			other := Pick(r, k.recipes)
			v.Links = append(v.Links, Entry{Title: other.Title, URL: ".." + other.Path})
		}
		if i%4 == 0 {
			v.Links = append(v.Links, k.b.related(r, k.s, e.Subject, 1)...)
		}
		k.s.AddHTML(e.Path, "recipe", false, k.b.Render("recipe", v))
	}
	for i, c := range k.cats {
		k.writeList(i, c)
	}
	front := recipeView{Title: "Kitchen Notes", Categories: k.cats, Paragraphs: k.b.Text.Paragraphs(k.b.Random(k.s, "front"), Cooking, 2)}
	res := k.s.AddHTML("/index.html", "list", false, k.b.Render("recipe", front))
	k.s.alias("/", res)
	k.s.Redirect("/club/calendar.html", 302, club)
	k.s.add("/css/kitchen.css", "style", false, "text/css", []byte(".step{margin:1em}\n"))
}

// writeList adds the pages of a category, eight recipes each.
func (k *kitchen) writeList(i int, c Term) {
	var mine []Entry
	for j, e := range k.recipes {
		if j%3 == i {
			mine = append(mine, Entry{Title: e.Title, URL: ".." + e.Path})
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
		k.s.AddHTML(path, "list", false, k.b.Render("recipe", v))
	}
}
