package focus

import (
	"cmp"
	"math"
	"slices"

	"github.com/muninn-archive/muninn/internal/text"
)

// keywords are the words that an archivist would name who knows the topic: those that most distinguish the pages with a label from all others, by the logarithm of the
// odds ratio times the square root of how many of them have the word.
func (c *Corpus) keywords(topic string, most int) (list text.HashedVector) {
	mine, all, relevant := map[uint32]float64{}, map[uint32]float64{}, 0.0
	for i := range c.Pages {
		p := &c.Pages[i]
		is := p.Label == topic
		if is {
			relevant++
		}
		for _, t := range p.Text {
			if all[t.ID]++; is {
				mine[t.ID]++
			}
		}
	}
	others := float64(len(c.Pages)) - relevant
	type rated struct {
		id   uint32
		odds float64
	}
	var words []rated
	for id, n := range mine {
		theirs := all[id] - n
		odds := math.Log((n + .5) / (relevant - n + .5) / ((theirs + .5) / (others - theirs + .5)))
		words = append(words, rated{id, odds * math.Sqrt(n/relevant)})
	}
	slices.SortFunc(words, func(a, b rated) int { return cmp.Or(cmp.Compare(b.odds, a.odds), cmp.Compare(a.id, b.id)) })
	for _, w := range words[:min(most, len(words))] {
		list = append(list, text.HashedTerm{ID: w.id, Weight: 1})
	}
	return list.Sorted()
}
