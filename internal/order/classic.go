package order

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/text"
)

// Breadth visits pages as they are found.
type Breadth struct{}

// Judge gives a link the less, the farther from a seed it is.
func (Breadth) Judge(p *Page, _ []byte) Judgement {
	return judgeLinks(p, func(int) float64 { return 1 / float64(p.Depth+2) })
}

// judgeLinks makes a judgement of the priorities of links.
func judgeLinks(p *Page, priority func(link int) float64) Judgement {
	out := make([]Judged, len(p.Links))
	for i := range out {
		out[i].Priority = priority(i)
	}
	return Judgement{Links: out}
}

// Best visits best first (Batsakis et al. 2009, §3): by the similarity with the topic of the page that a link stands
// on, of its anchor, or the mean of both (Eq. 3).
type Best struct {
	topic           text.HashedVector
	content, anchor bool
}

// NewBest makes a best-first order that goes by the content of pages, by anchors, or by both.
func NewBest(topic text.HashedVector, content, anchor bool) *Best {
	return &Best{slices.Clone(topic).Unit(), content, anchor}
}

// Judge gives a link what its page and its anchor have in common with the topic.
func (b *Best) Judge(p *Page, _ []byte) Judgement {
	page, n := 0.0, 0.0
	if b.content {
		page, n = text.Cosine(b.topic, p.Text), 1
	}
	if b.anchor {
		n++
	}
	return judgeLinks(p, func(i int) float64 {
		sum := page
		if b.anchor {
			sum += text.Cosine(b.topic, p.Links[i].Anchor)
		}
		return sum / n
	})
}

// Shark is Shark-Search (Hersovici et al. 1998): a link inherits from its page, damped, through pages that are not of
// the topic too, and gets the rest from its anchor and the text around it. What it inherits is kept with it.
type Shark struct{ topic text.HashedVector }

// The factors of Hersovici et al.
const (
	sharkDecay  = 0.5 // of what is inherited, from page to page
	sharkAnchor = 0.8 // weight of the anchor against the text around it
	sharkParent = 0.5 // weight of what is inherited against anchor and text around
)

// NewShark makes the order for a topic.
func NewShark(topic text.HashedVector) *Shark { return &Shark{slices.Clone(topic).Unit()} }

// Judge gives links what they inherit and what their anchors say.
func (s *Shark) Judge(p *Page, linkFeatures []byte) Judgement {
	inherits := text.Cosine(s.topic, p.Text)
	if before, ok := readFloats(linkFeatures, 1); inherits == 0 && ok {
		inherits = before[0]
	}
	inherits *= sharkDecay
	keep := writeFloats(inherits)
	j := judgeLinks(p, func(i int) float64 {
		l := &p.Links[i]
		anchor, around := text.Cosine(s.topic, l.Anchor), 1.0
		if anchor == 0 {
			around = text.Cosine(s.topic, l.Around)
		}
		return sharkParent*inherits + (1-sharkParent)*(sharkAnchor*anchor+(1-sharkAnchor)*around)
	})
	for i := range j.Links {
		j.Links[i].LinkFeatures = keep
	}
	return j
}

// writeFloats writes numbers that are stored with a link; floats reads so many.
func writeFloats(list ...float64) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return b
}

func readFloats(b []byte, n int) ([]float64, bool) {
	if len(b) != 4*n {
		return nil, false
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out, true
}
