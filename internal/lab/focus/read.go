package focus

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/lab/webs"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/text"
)

// Open reads a recorded web (see webs.Open) and parses its pages.
func Open(where string) (*Corpus, error) {
	web, err := webs.Open(where)
	if err != nil {
		return nil, err
	}
	c := &Corpus{Name: web.Name, Seeds: web.Seeds, Topics: web.Topics, index: map[string]int{}, web: web}
	for i := range web.Pages {
		p := &web.Pages[i]
		c.index[p.URL] = i
		c.Pages = append(c.Pages, Page{Page: order.Page{URL: p.URL}, Label: p.Label, Group: p.Group})
	}
	analyser := text.NewVocabulary()
	for i := range web.Pages {
		p := &web.Pages[i]
		if p.Location != "" && p.Status >= 300 && p.Status < 400 {
			c.redirect(i, p.Status, p.Location)
		} else if len(p.Body) > 0 {
			c.parse(i, p.Body, analyser)
		}
	}
	if web.Edges != nil {
		c.edges(web.Edges, analyser)
	}
	return c, nil
}

// redirect links a page to where it redirects to.
func (c *Corpus) redirect(i, status int, location string) {
	p, ok := page.Redirect(c.Pages[i].URL, status, location)
	if !ok {
		return
	}
	if to, inside := c.At(p.Links[0].URL); inside {
		c.Pages[i].To, c.Pages[i].Links = []int{to}, []order.Link{{URL: p.Links[0].URL}}
	}
}

// edges replaces the links by those that the recorders list: it drops other links that the parser found, and adds listed ones that it
// did not find.
func (c *Corpus) edges(edges []recorded.Edge, analyser *text.Vocabulary) {
	listed := map[[2]int]bool{}
	for _, e := range edges {
		listed[[2]int{e.From, e.To}] = true
		p := &c.Pages[e.From]
		if slices.Contains(p.To, e.To) {
			continue
		}
		p.Links = append(p.Links, order.Link{URL: c.Pages[e.To].URL, Name: e.Anchor, Anchor: text.NewHashedVector(analyser.Vector(e.Anchor, "en"))})
		p.To = append(p.To, e.To)
	}
	for i := range c.Pages {
		p := &c.Pages[i]
		n := 0
		for k, to := range p.To {
			if listed[[2]int{i, to}] {
				p.To[n], p.Links[n] = to, p.Links[k]
				n++
			}
		}
		p.To, p.Links = p.To[:n], p.Links[:n]
	}
}

// parse reads a page as the crawl would.
func (c *Corpus) parse(i int, body []byte, analyser *text.Vocabulary) {
	p := &c.Pages[i]
	d := page.Parse(page.Input{URL: p.URL, MIME: "text/html", Body: body}, page.DefaultLimits())
	all := analyser.Vector(d.Title, d.Language)
	p.Title = text.NewHashedVector(all)
	blocks := make([]text.HashedVector, len(d.Blocks))
	for j, b := range d.Blocks {
		v := analyser.Vector(b, d.Language)
		blocks[j] = text.NewHashedVector(v)
		for term, n := range v {
			all[term] += n
		}
	}
	p.Text = text.NewHashedVector(all)
	seen := map[int]bool{i: true}
	for k := range d.Links {
		l := &d.Links[k]
		to, inside := c.At(l.URL)
		if !inside || seen[to] {
			continue
		}
		seen[to] = true
		link := order.Link{URL: l.URL, Name: l.Anchor, Anchor: text.NewHashedVector(analyser.Vector(l.Anchor, d.Language)), TagPath: l.TagPath}
		if l.Block >= 0 && l.Block < len(blocks) {
			link.Around = blocks[l.Block]
		}
		p.Links, p.To = append(p.Links, link), append(p.To, to)
	}
}
