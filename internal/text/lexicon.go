package text

import (
	"strings"
	"sync"
)

// Lexicon numbers terms, and knows the term of each word that was met. Stop words have the number 0. It is safe for concurrent use.
type Lexicon struct {
	mu      sync.RWMutex
	words   map[string]*wordTable // language → word as it stands → term
	size    int
	ids     map[string]uint32
	names   []string
	hash    []uint32 // of the names
	surface []string // the first word that was met for each term, in lower case
}

func newLexicon() *Lexicon {
	return &Lexicon{words: map[string]*wordTable{}, ids: map[string]uint32{}, names: []string{""}, hash: []uint32{0}, surface: []string{""}}
}

func (x *Lexicon) full() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size >= maxWords
}

// Name is the term with a number of this lexicon.
func (x *Lexicon) Name(id uint32) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.names[id]
}

// ID is the number of a term. A new term gets a number.
func (x *Lexicon) ID(term string) uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.number(term, term)
}

// Word is a word for a term: the first that was met, or the term itself.
func (x *Lexicon) Word(term string) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if id, known := x.ids[term]; known {
		return x.surface[id]
	}
	return term
}

// number is the number of a term, which was met as word. A new term gets a number. The caller holds the lock.
func (x *Lexicon) number(term, word string) uint32 {
	if term == "" {
		return 0
	}
	id, known := x.ids[term]
	if !known {
		id = uint32(len(x.names))
		x.ids[term], x.names, x.hash = id, append(x.names, term), append(x.hash, Hash(term))
		x.surface = append(x.surface, strings.ToLower(strings.Clone(word)))
	}
	return id
}

// learn is the number of the term of a word that the caller has not found. It stems the word, unless another goroutine has done so
// meanwhile.
func (x *Lexicon) learn(word, lang string) uint32 {
	if id, known := x.of(word, lang); known {
		return id
	}
	term := stem(word, lang)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.words[lang] == nil {
		x.words[lang] = &wordTable{}
	}
	id := x.number(strings.Clone(term), word)
	if x.words[lang].put(word, id) {
		x.size++
	}
	return id
}

// of is the number of the term of a word; false if the word is not known.
func (x *Lexicon) of(word, lang string) (uint32, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.words[lang].get(word)
}
