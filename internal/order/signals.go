package order

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/text"
)

// signals are what is worked out once of a link, when it is found: they are kept with it until it is followed.
type signals struct {
	fixed  []feature
	groups [4]uint32 // hashes of the groups that it belongs to
}

// The groups of a link: those of its page, of its place in pages, of its directory, of URLs of its shape.
var (
	groupNames = [4]string{"page", "place", "directory", "shape"}
	groupIDs   = [4]uint16{featureOf("page"), featureOf("place"), featureOf("directory"), featureOf("shape")}
)

// maxFixed bounds the features of a link, so that a record of the frontier stays small.
const maxFixed = 64

// fixedPoint is the number of steps of one in the values of features; values up to ±32 can be stored.
const fixedPoint = 1024

// add adds a feature of a link, unless its value is 0.
func (s *signals) add(id uint16, value float64) {
	if math.IsNaN(value) {
		return
	}
	v := math.Round(min(max(value*fixedPoint, math.MinInt16), math.MaxInt16)) / fixedPoint
	if v != 0 && len(s.fixed) < maxFixed {
		s.fixed = append(s.fixed, feature{id, v})
	}
}

func (s *signals) encode() []byte {
	b := make([]byte, 0, 16+4*len(s.fixed))
	for _, g := range s.groups {
		b = binary.LittleEndian.AppendUint32(b, g)
	}
	for _, f := range s.fixed {
		b = binary.LittleEndian.AppendUint16(b, f.id)
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(f.value*fixedPoint)))
	}
	return b
}

// decodeSignals reads what encode wrote, into fixed; false of anything else.
func decodeSignals(b []byte, fixed []feature) (s signals, ok bool) {
	if len(b) < 16 || len(b)%4 != 0 || len(b) > 16+4*maxFixed {
		return s, false
	}
	for i := range s.groups {
		s.groups[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	for b = b[16:]; len(b) > 0; b = b[4:] {
		value := float64(int16(binary.LittleEndian.Uint16(b[2:]))) / fixedPoint
		fixed = append(fixed, feature{binary.LittleEndian.Uint16(b), value})
	}
	s.fixed = fixed
	return s, true
}

// Views are the parts of a page by which it is judged, each of length 1.
type Views [views]text.HashedVector // text, title, URL, targets of links

// maxView bounds the terms of a part; the heaviest are kept.
const maxView = 256

// ViewsOf takes a page apart.
func ViewsOf(p *Page) Views {
	return Views{p.Text.Damped().Heaviest(maxView), p.Title.Damped().Heaviest(maxView), text.NewHashedSet(appendURLFeatures(nil, p.URL)).Heaviest(maxView), targetsOf(p)}
}

// maxTargets bounds the link targets of a page: those with the lowest hashes are kept, so that of two pages with the same links the same are.
const maxTargets = 128

// targetsOf is the set of URLs that a page links to, without its own.
func targetsOf(p *Page) text.HashedVector {
	urls := make([]string, len(p.Links))
	for i := range p.Links {
		urls[i] = p.Links[i].URL
	}
	return Targets(p.URL, urls)
}

// Targets is the view of the URLs that a page links to.
func Targets(page string, urls []string) text.HashedVector {
	list, own := make([]uint32, 0, len(urls)), fnv.Sum32(page)
	for _, url := range urls {
		if id := fnv.Sum32(url); id != own {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return text.NewHashedSet(list[:min(len(list), maxTargets)])
}

// Encode writes the parts of a page.
func (v *Views) Encode() []byte {
	b := make([]byte, 0, 6*(len(v[0])+len(v[1])+len(v[2])+len(v[3]))+8)
	for _, t := range v {
		b = binary.AppendUvarint(b, uint64(len(t)))
		last := uint32(0)
		for _, x := range t {
			b = binary.AppendUvarint(b, uint64(x.ID-last))
			b = binary.LittleEndian.AppendUint16(b, uint16(min(max(x.Weight, 0), 1)*math.MaxUint16+0.5))
			last = x.ID
		}
	}
	return b
}

var errViews = errors.New("what is to be learned of a page cannot be read")

// DecodeViews reads what judgements have seen; what cannot be read is left out.
func DecodeViews(list [][]byte) (views []Views) {
	for _, raw := range list {
		if v, err := decodeViews(raw); err == nil {
			views = append(views, v)
		}
	}
	return views
}

// leastTerm is how many bytes a term takes at least.
const leastTerm = 3

func decodeViews(b []byte) (v Views, err error) {
	uvarint := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			err, b = errViews, nil
			return 0
		}
		b = b[n:]
		return x
	}
	for i := range v {
		if i == targets && len(b) == 0 && err == nil { // of a version that kept none
			return v, nil
		}
		n := uvarint()
		if n > maxView {
			return v, errViews
		}
		v[i] = make(text.HashedVector, 0, min(n, uint64(len(b)/leastTerm)))
		last := uint64(0)
		for at := range n {
			step := uvarint()
			last += step
			if len(b) < 2 || last > math.MaxUint32 || at > 0 && step == 0 {
				return v, errViews
			}
			v[i] = append(v[i], text.HashedTerm{ID: uint32(last), Weight: float32(binary.LittleEndian.Uint16(b)) / math.MaxUint16})
			b = b[2:]
		}
	}
	if len(b) > 0 {
		return v, errViews
	}
	return v, err
}
