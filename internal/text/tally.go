package text

import (
	"math"
	"slices"
	"sync"
)

// Tally counts the terms of texts by their numbers. It is not safe for concurrent use.
type Tally struct {
	lexicon *Lexicon
	n       []float32 // frequency by term; zero for all terms that are not in seen
	seen    []uint32
	unknown []string // words of the text being counted that the lexicon does not know
}

var tallies = sync.Pool{New: func() any { return new(Tally) }}

// NewTally makes a tally with the numbers of a lexicon. Free returns it to a pool.
func NewTally(x *Lexicon) *Tally {
	t := tallies.Get().(*Tally)
	t.lexicon = x
	return t
}

// Free returns the tally to the pool. It must not be used afterwards.
func (t *Tally) Free() {
	t.Reset()
	t.lexicon = nil
	tallies.Put(t)
}

// Reset forgets what was counted.
func (t *Tally) Reset() {
	for _, id := range t.seen {
		t.n[id] = 0
	}
	t.seen = t.seen[:0]
	t.forgetUnknown() // if a stemmer panicked, Count has not done it
}

// Empty reports whether no term was counted.
func (t *Tally) Empty() bool { return len(t.seen) == 0 }

// IDs are the numbers of the terms, each once, in the order that they were met.
func (t *Tally) IDs() []uint32 { return slices.Clone(t.seen) }

// Frequency is how often a term was counted.
func (t *Tally) Frequency(id uint32) float64 {
	if int(id) >= len(t.n) {
		return 0
	}
	return float64(t.n[id])
}

// Count counts the terms of a text, each with the given weight. Words of a language without a stemmer are stemmed as English ones.
func (t *Tally) Count(text, lang string, weight float32) {
	if !Stems(lang) {
		lang = "en"
	}
	t.countKnown(text, lang, weight)
	for _, w := range t.unknown { // stemmed without the lock, so that others can count meanwhile and a stemmer that panics holds no lock
		if id := t.lexicon.learn(w, lang); id != 0 {
			t.add(id, weight)
		}
	}
	t.forgetUnknown()
}

// forgetUnknown drops the words, which would hold their text in memory.
func (t *Tally) forgetUnknown() {
	clear(t.unknown)
	t.unknown = t.unknown[:0]
}

// countKnown counts the words that the lexicon knows, and notes the others.
func (t *Tally) countKnown(text, lang string, weight float32) {
	x := t.lexicon
	x.mu.RLock()
	defer x.mu.RUnlock()
	known := x.words[lang]
	words(text, func(w string) {
		switch id, met := known.get(w); {
		case !met:
			t.unknown = append(t.unknown, w)
		case id != 0:
			t.add(id, weight)
		}
	})
}

func (t *Tally) add(id uint32, weight float32) {
	if int(id) >= len(t.n) {
		t.n = append(t.n, make([]float32, int(id)+1024-len(t.n))...)
	}
	if t.n[id] == 0 {
		t.seen = append(t.seen, id)
	}
	t.n[id] += weight
}

// AddVector counts the terms of a vector.
func (t *Tally) AddVector(v Vector) {
	for term, n := range v {
		t.add(t.lexicon.ID(term), float32(n))
	}
}

// AddTerms counts the terms of a list by their weights.
func (t *Tally) AddTerms(terms []Term) {
	for _, k := range terms {
		t.add(t.lexicon.ID(k.Text), float32(k.Weight))
	}
}

// AddTally adds another tally of the same lexicon.
func (t *Tally) AddTally(other *Tally) {
	for _, id := range other.seen {
		t.add(id, other.n[id])
	}
}

// Norm is the Euclidean length of the vector of Sublinear frequencies times the weights of w.
func (t *Tally) Norm(w *IDF) float64 {
	sum := 0.0
	for _, id := range t.seen {
		x := Sublinear(float64(t.n[id])) * w.Of(id)
		sum += x * x
	}
	return math.Sqrt(sum)
}

// Totals are the sum of the frequencies, and the greatest of them.
func (t *Tally) Totals() (sum, greatest float64) {
	for _, id := range t.seen {
		n := float64(t.n[id])
		sum, greatest = sum+n, max(greatest, n)
	}
	return sum, greatest
}

// Vector has the frequencies by term.
func (t *Tally) Vector() Vector {
	t.lexicon.mu.RLock()
	defer t.lexicon.mu.RUnlock()
	v := make(Vector, len(t.seen))
	for _, id := range t.seen {
		v[t.lexicon.names[id]] = float64(t.n[id])
	}
	return v
}

// Hashed has the frequencies by the Hash of the terms.
func (t *Tally) Hashed() HashedVector {
	t.lexicon.mu.RLock()
	out := make(HashedVector, 0, len(t.seen))
	for _, id := range t.seen {
		out = append(out, HashedTerm{ID: t.lexicon.hash[id], Weight: t.n[id]})
	}
	t.lexicon.mu.RUnlock()
	return out.Sorted()
}
