// Package single has sites whose pages are empty until their scripts run: client-side routes, an endless list, shadow trees, lists that are fetched, and views behind fragments.
// What a page says and links to when it is shown is known.
package single

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Site is a single-page site.
type Site struct {
	Name  string
	Pages []Page // the first is where it is entered
	serve func(w http.ResponseWriter, path, query string) bool
}

// Page is what one URL of a site shows.
type Page struct {
	Path  string
	Texts []string // sentences
	Links []string // paths of other pages of the site
}

//go:embed sites
var files embed.FS

// ServeHTTP serves the scripts and the data of the site; to any other path it answers with its empty page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if script, err := files.ReadFile("sites" + r.URL.Path); err == nil && strings.HasSuffix(r.URL.Path, ".js") {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
		return
	}
	if s.serve != nil && s.serve(w, r.URL.Path, r.URL.RawQuery) {
		return
	}
	if strings.Contains(r.URL.Path, ".") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><head><title>%s</title></head><body><noscript>You need to enable JavaScript to run this app.</noscript>`+
		`<div id="root"></div><script src="/%s.js"></script></body></html>`, s.Name, s.Name)
}

// Sites are the five sites.
func Sites() []*Site { return []*Site{routes(), endless(), shadow(), lists(), hashes()} }

// sentence is what a part of a site says, and nothing else does.
func sentence(site string, n int) string {
	return fmt.Sprintf("The raven number %d of the %s tower has seen %d winters.", n, site, 3*n+1)
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, value any) bool {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
	return true
}

// item is a part of a list.
type item struct {
	Text string `json:"text"`
	Link string `json:"link"`
}

// routes is a site whose script makes each page by the path of its URL, from what it holds itself.
func routes() *Site {
	s := &Site{Name: "routes"}
	first := Page{Path: "/"}
	for n := 1; n <= 30; n++ {
		first.Links = append(first.Links, fmt.Sprintf("/birds/%d", n))
	}
	first.Texts = []string{sentence(s.Name, 0)}
	s.Pages = []Page{first}
	for n := 1; n <= 30; n++ {
		s.Pages = append(s.Pages, Page{Path: fmt.Sprintf("/birds/%d", n), Texts: []string{sentence(s.Name, n)}, Links: []string{"/", fmt.Sprintf("/birds/%d", n%30+1)}})
	}
	return s
}

// endless is a list that fetches more whenever its end is seen.
func endless() *Site {
	const parts, each = 8, 10
	s := &Site{Name: "endless"}
	first := Page{Path: "/"}
	s.Pages = []Page{first}
	for n := range parts * each {
		s.Pages[0].Texts = append(s.Pages[0].Texts, sentence(s.Name, n))
		s.Pages[0].Links = append(s.Pages[0].Links, fmt.Sprintf("/entry/%d", n))
		if n < 10 { // the others are alike
			s.Pages = append(s.Pages, Page{Path: fmt.Sprintf("/entry/%d", n), Texts: []string{sentence("entry", n)}, Links: []string{"/"}})
		}
	}
	s.serve = func(w http.ResponseWriter, path, query string) bool {
		if n, is := strings.CutPrefix(path, "/api/entry/"); is {
			at, _ := strconv.Atoi(n)
			return answer(w, []item{{sentence("entry", at), "/"}})
		}
		if path != "/api/feed" {
			return false
		}
		part, _ := strconv.Atoi(strings.TrimPrefix(query, "part="))
		list := []item{}
		for n := part * each; n < (part+1)*each && part < parts; n++ {
			list = append(list, item{sentence(s.Name, n), fmt.Sprintf("/entry/%d", n)})
		}
		return answer(w, list)
	}
	return s
}

// shadow is a site of custom elements, one in the other, whose text and links are in shadow trees.
func shadow() *Site {
	s := &Site{Name: "shadow"}
	for n := range 12 {
		p := Page{Path: "/"}
		if n > 0 {
			p.Path = fmt.Sprintf("/card/%d", n)
		}
		for card := range 6 {
			p.Texts = append(p.Texts, sentence(s.Name, 10*n+card))
			if to := (n + card + 1) % 12; to > 0 {
				p.Links = append(p.Links, fmt.Sprintf("/card/%d", to))
			}
		}
		s.Pages = append(s.Pages, p)
	}
	return s
}

// lists is a site that fetches what it shows: first which lists there are, then each of them.
func lists() *Site {
	const groups, each = 4, 6
	s := &Site{Name: "lists"}
	first := Page{Path: "/"}
	for g := range groups {
		for i := range each {
			first.Texts = append(first.Texts, sentence(s.Name, g*each+i))
			first.Links = append(first.Links, fmt.Sprintf("/bird/%d", g*each+i))
		}
	}
	s.Pages = []Page{first}
	for n := range groups * each {
		s.Pages = append(s.Pages, Page{Path: fmt.Sprintf("/bird/%d", n), Texts: []string{sentence("bird", n)}, Links: []string{"/"}})
	}
	s.serve = func(w http.ResponseWriter, path, _ string) bool {
		if path == "/api/groups" {
			return answer(w, []string{"0", "1", "2", "3"})
		}
		if g, is := strings.CutPrefix(path, "/api/group/"); is {
			at, _ := strconv.Atoi(g)
			list := []item{}
			for i := range each {
				list = append(list, item{sentence(s.Name, at*each+i), fmt.Sprintf("/bird/%d", at*each+i)})
			}
			return answer(w, list)
		}
		if n, is := strings.CutPrefix(path, "/api/bird/"); is {
			at, _ := strconv.Atoi(n)
			return answer(w, []item{{sentence("bird", at), "/"}})
		}
		return false
	}
	return s
}

// hashes is a site of one URL, whose views are behind fragments; some link to a page of their own.
func hashes() *Site {
	s := &Site{Name: "hashes"}
	first := Page{Path: "/"}
	for n := range 15 {
		first.Texts = append(first.Texts, sentence(s.Name, n))
		if n > 0 {
			first.Links = append(first.Links, fmt.Sprintf("/paper/%d", n))
		}
	}
	s.Pages = []Page{first}
	for n := 1; n < 15; n++ {
		s.Pages = append(s.Pages, Page{Path: fmt.Sprintf("/paper/%d", n), Texts: []string{sentence("paper", n)}, Links: []string{"/"}})
	}
	return s
}
