package crawl

import "unsafe"

// Bytes is what a page takes in memory, by its texts and lists. Texts that share memory are counted each.
func (p *Parsed) Bytes() int {
	n := int(unsafe.Sizeof(*p)) + len(p.URL) + len(p.Title) + len(p.Description) + len(p.Canonical) + len(p.Content) + len(p.Prints)
	for _, text := range p.Blocks {
		n += int(unsafe.Sizeof(text)) + len(text)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		n += int(unsafe.Sizeof(*o))
		for j := range o.Properties {
			q := &o.Properties[j]
			n += int(unsafe.Sizeof(*q)) + len(q.Value) // the names are those of the knowledge base
			if q.Place != nil {
				n += q.Place.bytes()
			}
		}
	}
	for _, links := range [][]Outlink{p.Links, p.Cut} {
		for i := range links {
			l := &links[i]
			n += int(unsafe.Sizeof(*l)) + len(l.URL) + len(l.Anchor) + len(l.TagPath) + len(l.Rel)
		}
	}
	return n
}

// Bytes is what a page and what the judge says of it take in memory.
func (p *Judged) Bytes() int {
	n := p.Parsed.Bytes() + int(unsafe.Sizeof(p.Verdict)) + len(p.Verdict.PageFeatures)
	for i := range p.Verdict.Links {
		v := &p.Verdict.Links[i]
		n += int(unsafe.Sizeof(*v)) + len(v.LinkFeatures) + len(v.Parts)*int(unsafe.Sizeof(Part{}))
	}
	return n
}

// bytes is what a place takes in memory.
func (p *Place) bytes() int {
	n := int(unsafe.Sizeof(*p)) + len(p.At) + len(p.Sum) + len(p.Blocks)*int(unsafe.Sizeof(0))
	for _, w := range p.Without {
		n += int(unsafe.Sizeof(w)) + len(w)
	}
	return n
}
