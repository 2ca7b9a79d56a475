package order

import (
	"maps"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/text"
)

// contrast weighs terms by how much more often examples have them than all pages (naive Bayes, smoothed by the background with
// a fixed share: Jelinek-Mercer).
type contrast struct {
	mine, all       map[uint32]float32
	mineSum, allSum float64
	smoothing       float64
}

func newContrast(smoothing float64) contrast {
	return contrast{mine: map[uint32]float32{}, all: map[uint32]float32{}, smoothing: smoothing}
}

func (c *contrast) add(t text.HashedVector, example bool) {
	counts, sum := c.all, &c.allSum
	if example {
		counts, sum = c.mine, &c.mineSum
	}
	for _, x := range t {
		counts[x.ID] += x.Weight
		*sum += float64(x.Weight)
	}
	if len(c.all) > maxTerms {
		c.forget()
	}
}

// forget leaves out the rarer half of the terms.
func (c *contrast) forget() {
	counts := slices.Sorted(maps.Values(c.all))
	least := counts[len(counts)/2]
	maps.DeleteFunc(c.all, func(_ uint32, w float32) bool { return w <= least })
	c.allSum = 0
	for _, w := range counts { // in order, so that the sum is the same each time
		if w > least {
			c.allSum += float64(w)
		}
	}
}

// maxTerms bounds the terms of a crawl that are counted; the rarest are forgotten.
const maxTerms = 200_000

// score is the sum of the weights of a text's terms; without is an example that must not count for itself.
func (c *contrast) score(t, without text.HashedVector) (sum float64) {
	mineSum := c.mineSum
	for _, x := range without {
		mineSum -= float64(x.Weight)
	}
	if mineSum <= 0 {
		return 0
	}
	mu, total, j := c.smoothing*mineSum, c.allSum+mineSum, 0
	for _, x := range t {
		if x.Weight <= 0 {
			continue
		}
		for j < len(without) && without[j].ID < x.ID {
			j++
		}
		mine, all := float64(c.mine[x.ID]), float64(c.all[x.ID])
		if j < len(without) && without[j].ID == x.ID {
			mine = max(mine-float64(without[j].Weight), 0)
		}
		background := (all + mine + float64(x.Weight)) / (total + float64(x.Weight))
		sum += float64(x.Weight) * math.Log((mine+mu*background)/(mineSum+mu)/background)
	}
	return sum
}
