package cache

import "maps"

// Generations holds what was changed last, in two generations: when the young one is full, it becomes the old one, and what
// the former old one had alone is forgotten. So it holds between one and two times the bound.
//
// It is not an LRU for two reasons. Get changes nothing: any number of goroutines may read at once (an order judges links
// under a lock for reading, millions of times an hour), while the Get of an LRU moves the entry and would need the lock for
// writing. And it is two plain maps, which is how frontiers and archives store it.
type Generations[K comparable, V any] struct {
	Young, Old map[K]V
	bound      int // entries of a generation
}

// NewGenerations makes one of so many entries a generation.
func NewGenerations[K comparable, V any](bound int) Generations[K, V] {
	return Generations[K, V]{Young: map[K]V{}, Old: map[K]V{}, bound: bound}
}

// Get returns an entry, the zero value if there is none.
func (g *Generations[K, V]) Get(key K) V {
	if v, known := g.Young[key]; known {
		return v
	}
	return g.Old[key]
}

// Put adds an entry, or replaces it, in the young generation.
func (g *Generations[K, V]) Put(key K, value V) { g.Young[key] = value }

// Age begins a generation if the young one is full. Who changes several entries together calls it after the last.
func (g *Generations[K, V]) Age() {
	if len(g.Young) >= g.bound {
		g.Young, g.Old = map[K]V{}, g.Young
	}
}

// Clone returns copies of both generations.
func (g *Generations[K, V]) Clone() (young, old map[K]V) {
	return maps.Clone(g.Young), maps.Clone(g.Old)
}

// Restore puts copies of other generations in place.
func (g *Generations[K, V]) Restore(young, old map[K]V) {
	g.Young, g.Old = map[K]V{}, map[K]V{}
	maps.Copy(g.Young, young)
	maps.Copy(g.Old, old)
}
