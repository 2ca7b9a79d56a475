package text

import "sync"

// Vocabulary turns texts into terms. Words that were met before are not stemmed again, for that costs ten
// times as much as all else. It is safe for concurrent use.
type Vocabulary struct {
	mu  sync.Mutex
	now *Lexicon
}

// NewVocabulary makes a vocabulary that knows no word yet.
func NewVocabulary() *Vocabulary { return &Vocabulary{now: newLexicon()} }

// maxWords bounds how many words a lexicon remembers; then a new one takes its place.
const maxWords = 500_000

// Lexicon returns the present memory of words. Numbers of terms are those of one lexicon: who keeps them keeps it, too.
func (v *Vocabulary) Lexicon() *Lexicon {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now.full() {
		v.now = newLexicon()
	}
	return v.now
}

// Renew puts an empty lexicon in place of the present one, as Lexicon does with one that is full.
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
