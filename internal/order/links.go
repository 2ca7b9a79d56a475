package order

import (
	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// linkReader works out the features of the links of a page, one after the other. What it holds is for short use: a page has
// dozens of links, a crawl thousands of pages.
type linkReader struct {
	of        *Fused
	page      *Page
	worth     float64 // of the page
	pageGroup uint32  // the group of the page's links
	place     uint32  // the start of the groups of places: the page's host
	room      [maxFixed]feature
	form      []uint32
	terms     text.HashedVector
	around    similarTo
}

// similarTo is the text that was last compared with the examples: the links of a text block stand side by side.
type similarTo struct {
	text  text.HashedVector
	value float64
}

// The names of what groups and features are of, hashed: what follows is added to them.
var (
	ofPage, ofPlace, ofDirectory, ofShape = fnv.Sum32("p "), fnv.Sum32("t "), fnv.Sum32("d "), fnv.Sum32("s ")
	ofWriting                             = fnv.Sum32("writing ")
)

var biasID, depthID, urlID, anchorID, paragraphID, parentID = featureOf("bias"), featureOf("depth"), featureOf("url"), featureOf("anchor"), featureOf("paragraph"), featureOf("parent")

// signals returns the features of a link that do not change. They are valid until the next call.
func (r *linkReader) signals(l *Link) signals {
	o := r.of
	s := signals{fixed: r.room[:0], groups: [4]uint32{
		r.pageGroup, fnv.Add(r.place, l.TagPath), fnv.Add(ofDirectory, directory(l.URL)),
		addPathShape(fnv.AddByte(fnv.Add(ofShape, urls.AuthorityOf(l.URL)), ' '), l.URL),
	}}
	s.add(biasID, 1)
	r.form = appendURLFeatures(r.form[:0], l.URL)
	r.terms = text.NewHashedSetIn(r.terms, r.form)
	s.add(urlID, min(max(o.relevance.URL(r.terms), -3), 3))
	s.add(parentID, r.worth)
	s.add(depthID, float64(min(r.page.Depth, 10))/30)
	shown := len(o.relevance.examples) > 0
	if shown {
		s.add(anchorID, o.relevance.similarity(l.Anchor))
		s.add(paragraphID, r.similarAround(l.Around))
	}
	for _, h := range l.Hints {
		if id := featureOf(h.Name); !shown || id != anchorID && id != paragraphID {
			s.add(id, h.Value)
		}
	}
	s.add(uint16(addNameShape(ofWriting, l.Name)%weights), 0.5)
	for _, id := range r.form {
		s.add(uint16(id%weights), 0.3)
	}
	r.terms = l.Anchor.DampedIn(r.terms)
	for _, t := range r.terms {
		s.add(uint16((t.ID*31+1)%weights), float64(t.Weight))
	}
	return s
}

// similarAround is how similar the text block of a link is to the examples.
func (r *linkReader) similarAround(block text.HashedVector) float64 {
	last := &r.around
	if len(block) == 0 || len(block) != len(last.text) || &block[0] != &last.text[0] {
		*last = similarTo{block, r.of.relevance.similarity(block)}
	}
	return last.value
}
