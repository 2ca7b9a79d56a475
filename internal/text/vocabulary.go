package text

import "sync"

// Vocabulary turns texts into terms. It stems each word only once, because stemming costs ten times as much as everything else.
// It is safe for concurrent use.
type Vocabulary struct {
	mu  sync.Mutex
	now *Lexicon
}

// NewVocabulary makes a vocabulary that knows no word yet.
func NewVocabulary() *Vocabulary { return &Vocabulary{now: newLexicon()} }

// maxWords bounds the words of a lexicon. An empty lexicon replaces one that is full.
const maxWords = 500_000

// Lexicon returns the present lexicon. Numbers of terms are valid for one lexicon only: keep it together with them.
func (v *Vocabulary) Lexicon() *Lexicon {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now.full() {
		v.now = newLexicon()
	}
	return v.now
}

// Renew replaces the lexicon by an empty one, as Lexicon does when it is full.
func (v *Vocabulary) Renew() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = newLexicon()
}

// Add counts the terms of a text into a vector, each with the given weight.
func (v *Vocabulary) Add(sum Vector, text, lang string, weight float64) {
	t := NewTally(v.Lexicon())
	defer t.Free()
	t.Count(text, lang, 1)
	for _, id := range t.seen {
		sum[t.lexicon.Name(id)] += float64(t.n[id]) * weight
	}
}

// Vector returns the term frequencies of a text.
func (v *Vocabulary) Vector(text, lang string) Vector {
	sum := Vector{}
	v.Add(sum, text, lang, 1)
	return sum
}
