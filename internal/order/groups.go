package order

// tried sums up how the links of a group fared.
type tried struct {
	N   float64 `cbor:"1,keyasint"`
	Sum float64 `cbor:"2,keyasint"`
}

// maxGroups bounds the groups of a generation.
const maxGroups = 50_000

// groups remember how links fared, by the hash of their group. They come in two generations: those that were not heard of
// while maxGroups others were are forgotten.
type groups struct{ young, old map[uint32]tried }

func newGroups() groups { return groups{map[uint32]tried{}, map[uint32]tried{}} }

func (g *groups) of(id uint32) tried {
	if t, known := g.young[id]; known {
		return t
	}
	return g.old[id]
}

func (g *groups) add(id uint32, worth float64) {
	t := g.of(id)
	g.young[id] = tried{t.N + 1, t.Sum + worth}
	if len(g.young) >= maxGroups {
		g.young, g.old = map[uint32]tried{}, g.young
	}
}
