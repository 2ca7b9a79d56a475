package focus

import (
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/thesaurus"
)

// WordNet reads a thesaurus whose words are brought to the stems that pages are counted by.
func WordNet(dir string) (*thesaurus.Thesaurus, error) {
	analyser := text.NewVocabulary()
	return thesaurus.WordNet(dir, func(word string) (uint32, bool) {
		v := analyser.Vector(word, "en")
		for stem := range v {
			return text.Hash(stem), len(v) == 1 // of several words none stands for all
		}
		return 0, false
	})
}
