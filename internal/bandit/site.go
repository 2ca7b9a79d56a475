package bandit

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/fnv"
)

const (
	// Similar is the cosine of two tag paths from which they belong to one group.
	Similar = 0.75
	// MaxGroups bounds the groups of a site; links that are like none go to the nearest then.
	MaxGroups = 64
	// MaxGrams bounds the 2-grams that a group is known by.
	MaxGrams = 24
	// Explore weighs what is not known yet against what is.
	Explore = 0.3
)

// Site is what was learned of one site. The zero value has learned nothing. It is for one goroutine.
type Site struct {
	groups []group
	pages  uint32
	reward float64
	known  map[string]int // tag paths that were assigned already
}

// group is an arm: links that stand in like places.
type group struct {
	grams  []gram // by hash
	norm   float64
	links  uint32 // that were assigned to it
	pages  uint32 // that its links led to
	reward float64
}

// gram is two steps of a tag path that follow each other, as a hash, and how often they do.
type gram struct {
	hash   uint32
	weight float32
}

// Groups is the number of groups.
func (s *Site) Groups() int { return len(s.groups) }

// Assign returns the number of the group that a link's tag path belongs to, from 1, and counts it there; 0 of
// an empty path.
func (s *Site) Assign(tagPath string) int {
	if tagPath == "" {
		return 0
	}
	if n, ok := s.known[tagPath]; ok {
		s.groups[n-1].links++
		return n
	}
	path := grams(tagPath)
	best, near := s.nearest(path)
	if near < Similar && len(s.groups) < MaxGroups {
		s.groups = append(s.groups, group{})
		best = len(s.groups)
	}
	g := &s.groups[best-1]
	g.learn(path)
	g.links++
	if s.known == nil {
		s.known = map[string]int{}
	}
	s.known[tagPath] = best
	return best
}

// Find is the group that Assign would return for a tag path, but for a new one: then it is 0. Nothing is learned.
func (s *Site) Find(tagPath string) int {
	if n, ok := s.known[tagPath]; ok || tagPath == "" {
		return n
	}
	best, near := s.nearest(grams(tagPath))
	if near < Similar && len(s.groups) < MaxGroups {
		return 0
	}
	return best
}

func (s *Site) nearest(path []gram) (best int, near float64) {
	near = -1
	for i := range s.groups {
		if c := s.groups[i].cosine(path); c > near {
			best, near = i+1, c
		}
	}
	return best, near
}

// Reward reports what a page was worth that a link of the group led to, in [0,1].
func (s *Site) Reward(number int, reward float64) {
	if number < 1 || number > len(s.groups) || math.IsNaN(reward) {
		return
	}
	reward = min(max(reward, 0), 1)
	s.pages++
	s.reward += reward
	g := &s.groups[number-1]
	g.pages++
	g.reward += reward
}

// Value is what is to be expected of a group's next link, in [0,1]: the mean reward of its pages and, the fewer
// they are among all of the site, the more for what may be found. Of a group without pages the site's mean is
// taken.
func (s *Site) Value(number int) float64 {
	mean := 0.5
	if s.pages > 0 {
		mean = s.reward / float64(s.pages)
	}
	if number < 1 || number > len(s.groups) {
		return mean
	}
	g := &s.groups[number-1]
	return s.bound((g.reward+mean)/(float64(g.pages)+1), g.pages)
}

// Unseen is the Value of a group that is new.
func (s *Site) Unseen() float64 { return s.bound(s.Value(0), 0) }

// bound adds to a mean over so many pages what may be found yet.
func (s *Site) bound(mean float64, pages uint32) float64 {
	return min(mean+Explore*math.Sqrt(math.Log(float64(s.pages)+2)/(float64(pages)+1)), 1)
}

// grams makes the vector of a tag path: each step with the one before it.
func grams(path string) []gram {
	count := map[uint32]float32{}
	before := uint32(0)
	for step := range strings.SplitSeq(path, "/") {
		h := fnv.Sum32(step)
		count[(before*31)^h]++
		before = h
	}
	out := make([]gram, 0, len(count))
	for h, n := range count {
		out = append(out, gram{h, n})
	}
	sorted(out)
	return out
}

func sorted(list []gram) {
	slices.SortFunc(list, func(a, b gram) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
}

func norm(list []gram) float64 {
	sum := 0.0
	for _, g := range list {
		sum += float64(g.weight) * float64(g.weight)
	}
	return math.Sqrt(sum)
}

func (g *group) cosine(path []gram) float64 {
	dot := 0.0
	for i, j := 0, 0; i < len(g.grams) && j < len(path); {
		switch a, b := g.grams[i], path[j]; {
		case a.hash < b.hash:
			i++
		case a.hash > b.hash:
			j++
		default:
			dot += float64(a.weight) * float64(b.weight)
			i, j = i+1, j+1
		}
	}
	if dot == 0 {
		return 0
	}
	return dot / (g.norm * norm(path))
}

// learn adds a path to those that the group is known by.
func (g *group) learn(path []gram) {
	merged := make([]gram, 0, len(g.grams)+len(path))
	i, j := 0, 0
	for i < len(g.grams) || j < len(path) {
		switch {
		case j == len(path) || i < len(g.grams) && g.grams[i].hash < path[j].hash:
			merged = append(merged, g.grams[i])
			i++
		case i == len(g.grams) || path[j].hash < g.grams[i].hash:
			merged = append(merged, path[j])
			j++
		default:
			merged = append(merged, gram{path[j].hash, g.grams[i].weight + path[j].weight})
			i, j = i+1, j+1
		}
	}
	if len(merged) > MaxGrams {
		slices.SortStableFunc(merged, func(a, b gram) int {
			switch {
			case a.weight > b.weight:
				return -1
			case a.weight < b.weight:
				return 1
			}
			return 0
		})
		merged = merged[:MaxGrams]
		sorted(merged)
	}
	g.grams, g.norm = merged, norm(merged)
}

// version of the encoding.
const version = 1

// Encode writes what was learned.
func (s *Site) Encode() []byte {
	b := []byte{version}
	b = binary.AppendUvarint(b, uint64(s.pages))
	b = appendFloat(b, s.reward)
	b = binary.AppendUvarint(b, uint64(len(s.groups)))
	for i := range s.groups {
		g := &s.groups[i]
		b = binary.AppendUvarint(b, uint64(g.links))
		b = binary.AppendUvarint(b, uint64(g.pages))
		b = appendFloat(b, g.reward)
		b = binary.AppendUvarint(b, uint64(len(g.grams)))
		for _, x := range g.grams {
			b = binary.LittleEndian.AppendUint32(b, x.hash)
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x.weight))
		}
	}
	return b
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

var errShort = errors.New("what was learned of a site is cut off or of another version")

// Decode reads what Encode wrote.
func Decode(raw []byte) (*Site, error) {
	d := codec.NewCursor(raw)
	if d.Uint8() != version {
		return nil, errShort
	}
	s := &Site{pages: uint32(d.Uvarint()), reward: d.LittleFloat64()}
	n := d.Uvarint()
	if n > MaxGroups {
		return nil, errShort
	}
	for range n {
		g := group{links: uint32(d.Uvarint()), pages: uint32(d.Uvarint()), reward: d.LittleFloat64()}
		k := d.Uvarint()
		if k > MaxGrams || d.Bad() {
			return nil, errShort
		}
		for range k {
			g.grams = append(g.grams, gram{d.LittleUint32(), d.LittleFloat32()})
		}
		g.norm = norm(g.grams)
		s.groups = append(s.groups, g)
	}
	if !d.Done() {
		return nil, errShort
	}
	return s, nil
}
