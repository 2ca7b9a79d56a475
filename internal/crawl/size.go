package crawl

import "unsafe"

// Bytes is what a page takes in memory, by its texts and lists. Texts that share memory are counted each.
func (p *Page) Bytes() int {
	n := int(unsafe.Sizeof(*p)) + len(p.URL) + len(p.Title) + len(p.Description) + len(p.Canonical) + len(p.Content) + len(p.Prints) + len(p.Seen)
	for _, text := range p.Blocks {
		n += int(unsafe.Sizeof(text)) + len(text)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		n += int(unsafe.Sizeof(*o))
		for j := range o.Properties {
			n += int(unsafe.Sizeof(o.Properties[j])) + len(o.Properties[j].Value) // the names are those of the knowledge base
		}
	}
	for i := range p.Links {
		l := &p.Links[i]
		n += int(unsafe.Sizeof(*l)) + len(l.URL) + len(l.Anchor) + len(l.TagPath) + len(l.Rel) + len(l.Keep) + len(l.Parts)*int(unsafe.Sizeof(Part{}))
	}
	return n
}
