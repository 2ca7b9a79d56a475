package order

import "slices"

// Breadth visits pages as they are found.
type Breadth struct{}

// Fetched gives all links the same priority.
func (Breadth) Fetched(p *Page) []float64 { return make([]float64, len(p.Links)) }

// Best visits best first (Batsakis et al. 2009, §3): by the similarity with the topic of the page that a link stands
// on, of its anchor, or the mean of both (Eq. 3).
type Best struct {
	topic           Terms
	content, anchor bool
}

// NewBest makes a best-first order that goes by the content of pages, by anchors, or by both.
func NewBest(topic Terms, content, anchor bool) *Best {
	return &Best{slices.Clone(topic).unit(), content, anchor}
}

// Fetched gives a link what its page and its anchor have in common with the topic.
func (b *Best) Fetched(p *Page) []float64 {
	out := make([]float64, len(p.Links))
	page, n := 0.0, 0.0
	if b.content {
		page, n = Cosine(b.topic, p.Text), 1
	}
	if b.anchor {
		n++
	}
	for i := range p.Links {
		sum := page
		if b.anchor {
			sum += Cosine(b.topic, p.Links[i].Anchor)
		}
		out[i] = sum / n
	}
	return out
}

// Shark is Shark-Search (Hersovici et al. 1998): a link inherits from its page, damped, through pages that are not of
// the topic too, and gets the rest from its anchor and the text around it.
type Shark struct {
	topic     Terms
	inherited map[string]float64 // by URL
}

// The factors of Hersovici et al.
const (
	sharkDecay  = 0.5 // of what is inherited, from page to page
	sharkAnchor = 0.8 // weight of the anchor against the text around it
	sharkParent = 0.5 // weight of what is inherited against anchor and text around
)

// NewShark makes the order for a topic.
func NewShark(topic Terms) *Shark {
	return &Shark{slices.Clone(topic).unit(), map[string]float64{}}
}

// Fetched gives links what they inherit and what their anchors say.
func (s *Shark) Fetched(p *Page) []float64 {
	inherits := Cosine(s.topic, p.Text)
	if inherits == 0 {
		inherits = s.inherited[p.URL]
	}
	delete(s.inherited, p.URL)
	inherits *= sharkDecay
	out := make([]float64, len(p.Links))
	for i := range p.Links {
		l := &p.Links[i]
		s.inherited[l.URL] = max(s.inherited[l.URL], inherits)
		anchor, around := Cosine(s.topic, l.Anchor), 1.0
		if anchor == 0 {
			around = Cosine(s.topic, l.Around)
		}
		out[i] = sharkParent*inherits + (1-sharkParent)*(sharkAnchor*anchor+(1-sharkAnchor)*around)
	}
	return out
}

// Batch makes an order fetch the N best pages at once (N-best-first, Menczer et al. 2004): greed is damped.
type Batch struct {
	Order
	N int
}

// Size is how many pages are fetched before their links are looked at.
func (b Batch) Size() int { return b.N }
