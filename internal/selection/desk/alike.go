package desk

import (
	"cmp"
	"slices"

	"github.com/muninn-archive/muninn/internal/selection"
)

// maxCompared is how many pairs of prints are compared for groups of near-duplicates: of an archive in which too many are like each other
// in a quarter of their bits alone, some groups are not listed.
const maxCompared = 20_000_000

// alike makes groups of the open candidates that read alike. Each belongs to one of them at most: that of the print that most have. Two prints that differ in
// three bits at most have the same bits in one quarter of four at least, so that only those are compared.
func (w *Work) alike(open []int32) {
	of := map[uint64][]int32{}
	for _, i := range open {
		if p := w.pool.Facts[i].Print; p != 0 {
			of[p] = append(of[p], i)
		}
	}
	prints := make([]uint64, 0, len(of))
	for p := range of {
		prints = append(prints, p)
	}
	slices.SortFunc(prints, func(a, b uint64) int { return cmp.Or(cmp.Compare(len(of[b]), len(of[a])), cmp.Compare(a, b)) })
	type quarter struct {
		n    int
		bits uint16
	}
	same := map[quarter][]uint64{}
	for _, p := range prints {
		for n := range 4 {
			k := quarter{n, uint16(p >> (16 * n))}
			same[k] = append(same[k], p)
		}
	}
	taken, compared := map[uint64]bool{}, 0
	for _, p := range prints {
		if taken[p] || compared > maxCompared {
			continue
		}
		taken[p] = true
		members := slices.Clone(of[p])
		for n := range 4 {
			list := same[quarter{n, uint16(p >> (16 * n))}]
			compared += len(list)
			for _, other := range list {
				if !taken[other] && selection.Alike(p, other) {
					taken[other] = true
					members = append(members, of[other]...)
				}
			}
		}
		if len(members) > 1 {
			w.members[selection.NearGroup(p)] = members
		}
	}
}
