package focus

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/muninn-archive/muninn/internal/page"
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

// spelled are words of pages that have these terms.
func (c *Corpus) spelled(terms text.HashedVector) (list []string) {
	missing := map[uint32]bool{}
	for _, t := range terms {
		missing[t.ID] = true
	}
	analyser := text.NewVocabulary()
	for i := range c.Pages {
		if len(missing) == 0 {
			break
		}
		p := &c.Pages[i]
		if !slices.ContainsFunc(p.Text, func(t text.HashedTerm) bool { return missing[t.ID] }) {
			continue
		}
		d := page.Parse(page.Input{URL: p.URL, MIME: "text/html", Body: c.web.Pages[i].Body}, page.DefaultLimits())
		for _, word := range strings.FieldsFunc(d.Title+" "+strings.Join(d.Blocks, " "), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			v := analyser.Vector(word, d.Language)
			for term := range v {
				if id := text.Hash(term); missing[id] && len(v) == 1 {
					delete(missing, id)
					list = append(list, word)
				}
			}
		}
	}
	return list
}
