package simulation

import (
	"math"
	"math/rand/v2"
	"time"
)

// site is a PLD: its pages lie at one address.
type site struct {
	partition int16
	addr      int32
	parent    int32 // the site whose first batch links to it; −1: a seed
	pages     int32
	archived  int32 // pages that a manifest names
	fetched   int32 // pages of lanes that have ended, beside these
	linked    bool  // a manifest of it names the links to its children
	known     bool  // the owner of its partition has it
	first     int32 // its first child; 0: none
	next      int32 // the next child of its parent; 0: none
}

// address is a server.
type address struct {
	busy    bool      // a lane asks it
	free    time.Time // the earliest moment of the next request
	until   time.Time // a lease on it is held by a worker that is dead
	counted int32     // in the last count of those that could be asked
}

// newWeb makes a web with the skew of the real one: most sites have a few pages and few have very many (Pareto, α = 1.1, at most 5,000);
// a third of the sites have an address for themselves, the others share addresses, of which a few have very many sites. If sites share
// none, each has its own.
func newWeb(random *rand.Rand, n int, share bool) (sites []site, addrs []address) {
	shared := max(n/20, 1)
	zipf := rand.NewZipf(random, 1.2, float64(n)/2000+1, uint64(shared-1))
	addrs = make([]address, shared)
	for i := range n {
		s := site{partition: int16(random.IntN(1024)), parent: -1}
		s.pages = int32(min(math.Pow(1-random.Float64(), -1/1.1), 5000))
		if !share || random.IntN(3) == 0 {
			s.addr = int32(len(addrs))
			addrs = append(addrs, address{})
		} else {
			s.addr = int32(zipf.Uint64())
		}
		if seeds := max(n/50, 1); i >= seeds {
			s.parent = int32(random.IntN(min(i, 40*seeds)))
		}
		sites = append(sites, s)
	}
	for i := range sites {
		if p := sites[i].parent; p >= 0 {
			sites[i].next, sites[p].first = sites[p].first, int32(i)
		}
	}
	return sites, addrs
}
