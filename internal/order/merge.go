package order

import "github.com/muninn-archive/muninn/internal/text"

// Merge is batch prioritisation (paper §5.1): the texts of all pages of a batch that cite a URL are summed before its
// links are judged.
type Merge struct{ cited Cited[citation] }

type citation struct {
	by           Order
	page         *Page
	linkFeatures []byte
	link         int
	set          func(link int, j Judged)
}

// NewMerge begins a batch.
func NewMerge() *Merge { return &Merge{} }

// Add takes a judged page; set is called by Apply with the links that are judged again.
func (m *Merge) Add(by Order, p *Page, linkFeatures []byte, set func(link int, j Judged)) {
	for i := range p.Links {
		m.cited.Add(p.Links[i].URL, citation{by, p, linkFeatures, i, set})
	}
}

// Apply judges the links again that several pages have.
func (m *Merge) Apply() {
	for list := range m.cited.Shared() {
		var sum text.HashedVector
		for i, c := range list {
			if i == 0 || c.page != list[i-1].page { // a page counts once, however often it links there
				sum = sum.Add(c.page.Text, 1)
			}
		}
		for _, c := range list {
			p := *c.page
			p.Text, p.Links = sum, p.Links[c.link:c.link+1]
			c.set(c.link, c.by.Judge(&p, c.linkFeatures).Links[0])
		}
	}
}
