package adapt

import (
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Print is the fingerprint of a web object: what its properties said, as hashes.
type Print struct {
	_          struct{} `cbor:",toarray"`
	Type       string
	Properties []Property
}

// Property is the fingerprint of a property's text.
type Property struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Hash uint64
	Size int // letters
	// Out are hashes of the parts of the text that do not belong to it, each once.
	Out []uint64
}

// Prints are the prints of a page's objects, and the level that it had.
type Prints struct {
	_           struct{} `cbor:",toarray"`
	Application string
	Version     string
	Level       string
	Objects     []Print
	Base        string // checksum of the knowledge base that extracted them
}

// MaxEncoded bounds the prints of a page, in bytes: a batch of hostile pages must not make the frontier's transactions large.
// A page with 500 posts has some 15 KB.
const MaxEncoded = 32 << 10

// Bounds of what is read as prints.
const (
	maxRead       = 1 << 20 // bytes
	maxProperties = 40      // of an object
	maxOut        = 16      // parts of a text that do not belong to it
)

// Encode writes prints in some dozens of bytes an object. The last objects of each type are left out until the rest fits into
// MaxEncoded.
func (p *Prints) Encode() []byte {
	less := *p
	for most := MaxPrints; ; most /= 2 {
		raw, err := codec.Marshal(&less)
		if err != nil {
			return nil // there is nothing in it that could fail
		}
		if len(raw) <= MaxEncoded || most == 0 {
			return raw
		}
		less.Objects = firstOfEach(p.Objects, most/2)
	}
}

// firstOfEach are the first objects of each type.
func firstOfEach(objects []Print, most int) (list []Print) {
	count := map[string]int{}
	for _, o := range objects {
		if count[o.Type]++; count[o.Type] <= most {
			list = append(list, o)
		}
	}
	return list
}

// DecodePrints decodes what Encode wrote; nil for other bytes.
func DecodePrints(raw []byte) *Prints {
	p := &Prints{}
	if len(raw) == 0 || len(raw) > maxRead {
		return nil
	}
	if codec.Unmarshal(raw, p) != nil {
		return nil
	}
	p.Objects = firstOfEach(p.Objects, MaxPrints)
	for i := range p.Objects {
		p.Objects[i].Properties = p.Objects[i].Properties[:min(len(p.Objects[i].Properties), maxProperties)]
		for j := range p.Objects[i].Properties {
			q := &p.Objects[i].Properties[j]
			q.Out = q.Out[:min(len(q.Out), maxOut)]
		}
	}
	return p
}

// Longest is the index of the body if that has letters enough, else of the property with the most; −1 if there is
// none.
func (p *Print) Longest() int {
	best := -1
	for i := range p.Properties {
		if p.Properties[i].Name == "body" && p.Properties[i].Size >= minBody {
			return i
		}
		if best < 0 || p.Properties[i].Size > p.Properties[best].Size {
			best = i
		}
	}
	return best
}

// minBody is the least number of letters by which a body is distinguished from others.
const minBody = 8

// MaxPrints bounds the objects of each type that are remembered of a page.
const MaxPrints = 500

// maxLetters bounds what is summed up of one page for its prints, but for the last object.
const maxLetters = 2 << 20

// maxVisited bounds the nodes that are looked at for the prints of one page, but for the last text: texts may hold each other.
const maxVisited = 4 << 20

// fullPrints of each type are remembered with all their properties, the others by their texts alone.
const fullPrints = 12

// PrintsOf makes the fingerprints of what was extracted from a page.
func PrintsOf(tree *xpath.Tree, objects []extract.Located) []Print {
	count := map[string]int{}
	// only the nodes that were extracted are summed up
	visited := 0
	one := func(r xpath.Ref) sum {
		visited += int(tree.End(r) - r.ID)
		if r.Attr >= 0 {
			return sumOf(tree.Node(r).Attr[r.Attr].Val)
		}
		return sumBelow(tree, r)
	}
	var out []Print
	letters := 0
	for _, o := range objects {
		if letters > maxLetters || visited > maxVisited {
			break // bodies within bodies
		}
		p := Print{Type: o.Type}
		if count[o.Type]++; count[o.Type] > MaxPrints {
			continue
		}
		short := count[o.Type] > fullPrints
		hasBody := slices.ContainsFunc(o.Parts, func(p extract.Part) bool { return p.Name == "body" })
		for _, part := range o.Parts {
			if len(p.Properties) == maxProperties || visited > maxVisited {
				break
			}
			if short && (hasBody && part.Name != "body" || !hasBody && len(p.Properties) > 0) {
				continue
			}
			s := one(part.At)
			letters += s.size
			if s.size < minLetters {
				continue
			}
			q := Property{Name: part.Name, Hash: s.hash, Size: s.size}
			covered := int32(0)
			for _, r := range part.Out {
				if len(q.Out) == maxOut || letters > maxLetters || visited > maxVisited {
					break
				}
				if r.ID < covered { // stands in the one before
					continue
				}
				covered = tree.End(r)
				out := one(r)
				letters += out.size
				if out.size >= minLetters && !slices.Contains(q.Out, out.hash) {
					q.Out = append(q.Out, out.hash)
				}
			}
			p.Properties = append(p.Properties, q)
		}
		if len(p.Properties) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// Hash returns a hash of a text that does not depend on the order of its words, nor on anything but their letters and
// digits.
func Hash(text string) uint64 {
	var s sum
	for word := range strings.FieldsSeq(text) {
		s = s.add(sumOf(word))
	}
	return s.hash
}
