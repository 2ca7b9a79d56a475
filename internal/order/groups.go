package order

import "github.com/muninn-archive/muninn/internal/cache"

// groupOutcomes sums up how the links of a group fared.
type groupOutcomes struct {
	N   float64 `cbor:"1,keyasint"`
	Sum float64 `cbor:"2,keyasint"`
}

// maxGroups bounds the groups of a generation.
const maxGroups = 50_000

// groups remember how links fared, by the hash of their group: those that were added to last.
type groups struct {
	cache.Generations[uint32, groupOutcomes]
}

func newGroups() groups { return groups{cache.NewGenerations[uint32, groupOutcomes](maxGroups)} }

func (g *groups) add(id uint32, worth float64) {
	t := g.Get(id)
	g.Put(id, groupOutcomes{t.N + 1, t.Sum + worth})
	g.Age()
}
