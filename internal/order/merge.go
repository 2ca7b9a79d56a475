package order

import "github.com/muninn-archive/muninn/internal/text"

// Merge is batch prioritisation (paper §5.1): the texts of all pages of a batch that cite a URL are summed before its
// links are judged.
type Merge struct {
	cited map[string][]citation
	urls  []string // in the order that they were met
}

type citation struct {
	by   Order
	page *Page
	kept []byte
	link int
	set  func(link int, j Judged)
}

// NewMerge begins a batch.
func NewMerge() *Merge { return &Merge{cited: map[string][]citation{}} }

// Add takes a judged page; set is called by Apply with the links that are judged anew.
func (m *Merge) Add(by Order, p *Page, kept []byte, set func(link int, j Judged)) {
	for i := range p.Links {
		url := p.Links[i].URL
		if m.cited[url] == nil {
			m.urls = append(m.urls, url)
		}
		m.cited[url] = append(m.cited[url], citation{by, p, kept, i, set})
	}
}

// Apply judges the links anew that several pages have.
func (m *Merge) Apply() {
	for _, url := range m.urls {
		list := m.cited[url]
		if len(list) < 2 {
			continue
		}
		var sum text.HashedVector
		for i, c := range list {
			if i == 0 || c.page != list[i-1].page { // a page counts once, however often it links there
				sum = sum.Add(c.page.Text, 1)
			}
		}
		for _, c := range list {
			p := *c.page
			p.Text, p.Links = sum, p.Links[c.link:c.link+1]
			c.set(c.link, c.by.Judge(&p, c.kept).Links[0])
		}
	}
}
