package selecting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/lab/webs"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Collection are pages that are selected from, with what they are.
type Collection struct {
	Name   string
	Facts  []selection.Facts
	Labels []string
}

// The collections of WebKB. No host has pages in both.
const (
	// Chosen is the one by which parameters were chosen: Cornell, Texas, and half of the hosts of the other universities.
	Chosen = "chosen"
	// Judged is the one that results are of: Washington, Wisconsin, and the other half.
	Judged = "judged"
)

// collectionOf is the collection that a page belongs to, by its university and its pay-level domain.
func collectionOf(university, host string) string {
	switch university {
	case "cornell", "texas":
		return Chosen
	case "washington", "wisconsin":
		return Judged
	}
	if site := urls.PLD(host); fnv.Sum32(site)%2 == 0 {
		return Chosen
	}
	return Judged
}

// Open reads a recorded web (see webs.Open) and divides its pages into the two collections. Links count within a collection.
func Open(where string) (map[string]*Collection, error) {
	web, err := webs.Open(where)
	if err != nil {
		return nil, err
	}
	out := map[string]*Collection{Chosen: {Name: Chosen}, Judged: {Name: Judged}}
	anchors := make([][]string, len(web.Pages))
	parts := make([]string, len(web.Pages))
	for i := range web.Pages {
		parts[i] = collectionOf(web.Pages[i].Group, urls.HostOf(web.Pages[i].URL))
	}
	for _, e := range web.Edges {
		if parts[e.From] == parts[e.To] && e.Anchor != "" {
			anchors[e.To] = append(anchors[e.To], e.Anchor)
		}
	}
	for i := range web.Pages {
		p := &web.Pages[i]
		if len(p.Body) == 0 {
			continue
		}
		f := factsOf(p.URL, p.Body)
		f.Anchors = anchors[i]
		c := out[parts[i]]
		c.Facts, c.Labels = append(c.Facts, f), append(c.Labels, p.Label)
	}
	return out, nil
}

// factsOf reads a page as a selection knows it.
func factsOf(url string, body []byte) selection.Facts {
	d := page.Parse(page.Input{URL: url, MIME: "text/html", Body: body}, page.DefaultLimits())
	host := urls.HostOf(url)
	text := strings.Join(d.Blocks, "\n")
	return selection.Facts{
		URL: url, Host: host, Site: urls.PLD(host), Status: 200, MIME: "text/html", Score: -1,
		Language: d.Language, Title: d.Title, Text: text, Print: selection.PrintOf(text),
	}
}

// Mind is what an archivist keeps: pages with some labels.
type Mind struct {
	Name   string   `json:"name"`
	Labels []string `json:"labels"`
}

// Minds are those of WebKB: its four topics that crawls are compared by, and the home pages of people.
var Minds = []Mind{
	{"course", []string{"course"}}, {"faculty", []string{"faculty"}}, {"student", []string{"student"}}, {"project", []string{"project"}},
	{"people", []string{"student", "faculty", "staff"}},
}

// keeps are the pages of a collection that a mind keeps.
func (c *Collection) keeps(m Mind) (keep []bool, n int, err error) {
	keep = make([]bool, len(c.Facts))
	for i, label := range c.Labels {
		if keep[i] = slices.Contains(m.Labels, label); keep[i] {
			n++
		}
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("no page of the collection %s has a label of %q", c.Name, m.Labels)
	}
	return keep, n, nil
}
