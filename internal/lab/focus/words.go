package focus

import (
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/thesaurus"
)

// WordNet reads a thesaurus, and stems its words as those of pages are stemmed.
func WordNet(dir string) (*thesaurus.Thesaurus, error) {
	analyser := text.NewVocabulary()
	return thesaurus.WordNet(dir, func(word string) (uint32, bool) {
		v := analyser.Vector(word, "en")
		for stem := range v {
			return text.Hash(stem), len(v) == 1 // a text of several words is no single term
		}
		return 0, false
	})
}
