package score

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/muninn-archive/muninn/internal/cache"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/thesaurus"
)

// Dictionary is the knowledge of languages that the judges of all crawls of a worker share: the words that were met, and the
// thesauri that were read. It is safe for concurrent use.
type Dictionary struct {
	*text.Vocabulary

	mu       sync.Mutex                               // held while a thesaurus is read, so that it is read once
	thesauri *cache.LRU[string, *thesaurus.Thesaurus] // by language and path
}

// maxThesauri bounds the thesauri in memory: one takes some tens of megabytes. A crawl keeps the one that it has if this cache
// evicts it; the next crawl reads it again.
const maxThesauri = 8

// NewDictionary makes a dictionary that knows no word yet.
func NewDictionary() *Dictionary {
	return &Dictionary{Vocabulary: text.NewVocabulary(), thesauri: cache.NewLRU[string, *thesaurus.Thesaurus](maxThesauri, nil)}
}

// CheckThesaurus reports whether the strategy of a crawl has what it needs on this machine. The error names the field and
// what to do.
func CheckThesaurus(d crawl.Order) error {
	where := ThesaurusOf(d)
	if where == "" {
		return nil
	}
	_, err := NewDictionary().thesaurus(where, "en")
	return err
}

// ThesaurusOf is the file or folder that the strategy of a crawl reads; empty if it reads none.
func ThesaurusOf(d crawl.Order) string {
	if d.Strategy != crawl.StrategySynonyms && d.Strategy != crawl.StrategyBroader {
		return ""
	}
	return cmp.Or(d.Thesaurus, thesaurus.DefaultWordNet)
}

func (d *Dictionary) thesaurus(where, lang string) (*thesaurus.Thesaurus, error) {
	if where == "" {
		where = thesaurus.DefaultWordNet
	}
	if !text.Stems(lang) { // its words are counted as English ones
		lang = "en"
	}
	if info, err := os.Stat(where); err == nil && info.IsDir() && lang != "en" {
		return &thesaurus.Thesaurus{}, nil // WordNet knows English alone
	}
	key := lang + " " + filepath.Clean(where)
	d.mu.Lock()
	defer d.mu.Unlock()
	if t, read := d.thesauri.Get(key); read {
		return t, nil
	}
	t, err := thesaurus.Open(where, lang, func(word string) (uint32, bool) {
		v := d.Vector(word, lang)
		for stem := range v {
			return text.Hash(stem), len(v) == 1 // a text of several words is no single term
		}
		return 0, false
	})
	if err != nil {
		return nil, fmt.Errorf("order.thesaurus: %w; a SKOS file on the disk of the worker will do, too", err)
	}
	d.thesauri.Put(key, t)
	return t, nil
}
