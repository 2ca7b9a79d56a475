package score

import (
	"strings"
	"unicode"
	"unicode/utf8"

	ahocorasick "github.com/petar-dambovaliev/aho-corasick"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
)

// gazetteer finds the names of entities in texts: as they are written, and folded (without accents and case), in one
// pass each (Aho & Corasick 1975). Names count as whole words only.
type gazetteer struct {
	folded   ahocorasick.AhoCorasick
	patterns []name
}

type name struct {
	entity int
	text   string // as it is written
	exact  bool   // a short name, such as "US", counts only with its case and accents
	weight float64
}

// shortName is the length, in letters, up to which a name counts only as it is written.
const shortName = 4

// aliasWeight is the weight of an alias of an entity; its name has 1.
const aliasWeight = 0.5

func newGazetteer(list []crawl.Entity) *gazetteer {
	g := &gazetteer{}
	var folded []string
	add := func(entity int, written string, weight float64) {
		if written = strings.Join(strings.Fields(written), " "); written == "" {
			return
		}
		g.patterns = append(g.patterns, name{entity, written, utf8.RuneCountInString(written) <= shortName, weight})
		folded = append(folded, text.Fold(strings.ToLower(written)))
	}
	for i, e := range list {
		add(i, e.Name, 1)
		for _, alias := range e.Aliases {
			add(i, alias, aliasWeight)
		}
	}
	if len(folded) == 0 {
		return nil
	}
	builder := ahocorasick.NewAhoCorasickBuilder(ahocorasick.Opts{MatchKind: ahocorasick.StandardMatch, DFA: false})
	g.folded = builder.Build(folded)
	return g
}

// find raises found, by entity, to the weight of the best of its names that a text has.
func (g *gazetteer) find(written string, found map[int]float64) {
	folded := text.Fold(strings.ToLower(written))
	matches := g.folded.IterOverlapping(folded)
	for m := matches.Next(); m != nil; m = matches.Next() {
		n := &g.patterns[m.Pattern()]
		if !wholeWord(folded, m.Start(), m.End()) || n.exact && !hasExactly(written, n.text) {
			continue
		}
		found[n.entity] = max(found[n.entity], n.weight)
	}
}

// hasExactly reports whether a text has a name as a whole word, as it is written.
func hasExactly(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		if at += from; wholeWord(text, at, at+len(name)) {
			return true
		}
		from = at + 1
	}
}

// wholeWord reports whether a part of a text is whole words: no letter or digit joins it on either side.
func wholeWord(s string, from, to int) bool {
	joined := func(inside, outside rune) bool {
		return outside != utf8.RuneError && !text.Unspaced(inside) && !text.Unspaced(outside) && (unicode.IsLetter(outside) || unicode.IsDigit(outside))
	}
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !joined(first, before) && !joined(last, after)
}

// enoughEntities is the number of entities from which a text scores 1.
const enoughEntities = 3

// scoreOf is 1 if enough entities were found, or all of them.
func (g *gazetteer) scoreOf(found map[int]float64, entities int) float64 {
	sum := 0.0
	for _, w := range found {
		sum += w
	}
	return min(sum/float64(min(entities, enoughEntities)), 1)
}
