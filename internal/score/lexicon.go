package score

import (
	"math"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/order"
)

// Vector holds the frequencies of the terms of a text.
type Vector map[string]float64

// Analyser turns texts into terms. Words that were met before are not stemmed again, for that costs ten
// times as much as all else. It is safe for concurrent use.
type Analyser struct {
	mu  sync.Mutex
	now *lexicon
}

// NewAnalyser makes an analyser that knows no word yet.
func NewAnalyser() *Analyser { return &Analyser{now: newLexicon()} }

// maxWords bounds how many words are remembered; then the memory starts anew.
const maxWords = 500_000

// lexicon returns the present memory of words.
func (a *Analyser) lexicon() *lexicon {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now.full() {
		a.now = newLexicon()
	}
	return a.now
}

// Add counts the terms of a text into a vector, each with the given weight.
func (a *Analyser) Add(v Vector, text, lang string, weight float64) {
	t := newTally(a.lexicon())
	defer t.free()
	t.count(text, lang, 1)
	for _, id := range t.seen {
		v[t.lexicon.name(id)] += float64(t.n[id]) * weight
	}
}

// Vector returns the term frequencies of a text.
func (a *Analyser) Vector(text, lang string) Vector {
	v := Vector{}
	a.Add(v, text, lang, 1)
	return v
}

// lexicon numbers the terms, and knows the term of each word that was met. A word that says nothing has
// the number 0.
type lexicon struct {
	mu      sync.RWMutex
	words   map[string]*wordTable // language → word as it stands → term
	size    int
	ids     map[string]uint32
	names   []string
	hash    []uint32 // of the names, for orders
	surface []string // the word that each term was first met as, in small letters
}

func newLexicon() *lexicon {
	return &lexicon{words: map[string]*wordTable{}, ids: map[string]uint32{}, names: []string{""}, hash: []uint32{0}, surface: []string{""}}
}

func (x *lexicon) full() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size >= maxWords
}

func (x *lexicon) name(id uint32) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.names[id]
}

// id numbers a term.
func (x *lexicon) id(term string) uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.number(term, term)
}

// number numbers a term that was met as a word.
func (x *lexicon) number(term, word string) uint32 {
	if term == "" {
		return 0
	}
	id, known := x.ids[term]
	if !known {
		id = uint32(len(x.names))
		x.ids[term], x.names, x.hash = id, append(x.names, term), append(x.hash, order.Hash(term))
		x.surface = append(x.surface, strings.ToLower(strings.Clone(word)))
	}
	return id
}

// learn stems a word that is new.
func (x *lexicon) learn(word, lang string) uint32 {
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

// tally counts the terms of texts by their numbers.
type tally struct {
	lexicon *lexicon
	n       []float32 // by term; zero but for those of seen
	seen    []uint32
}

var tallies = sync.Pool{New: func() any { return new(tally) }}

func newTally(x *lexicon) *tally {
	t := tallies.Get().(*tally)
	t.lexicon = x
	return t
}

func (t *tally) free() {
	t.reset()
	t.lexicon = nil
	tallies.Put(t)
}

func (t *tally) reset() {
	for _, id := range t.seen {
		t.n[id] = 0
	}
	t.seen = t.seen[:0]
}

// count counts the terms of a text, each with the given weight.
func (t *tally) count(text, lang string, weight float32) {
	if _, known := stemmers[lang]; !known {
		lang = "en"
	}
	x := t.lexicon
	x.mu.RLock()
	locked := true
	defer func() { // a stemmer that panics does so without the lock
		if locked {
			x.mu.RUnlock()
		}
	}()
	known := x.words[lang]
	words(text, func(w string) {
		id, met := known.get(w)
		if !met {
			x.mu.RUnlock()
			locked = false
			id = x.learn(w, lang)
			x.mu.RLock()
			locked = true
			known = x.words[lang]
		}
		if id != 0 {
			t.add(id, weight)
		}
	})
}

func (t *tally) add(id uint32, weight float32) {
	if int(id) >= len(t.n) {
		t.n = append(t.n, make([]float32, int(id)+1024-len(t.n))...)
	}
	if t.n[id] == 0 {
		t.seen = append(t.seen, id)
	}
	t.n[id] += weight
}

// addAll adds another tally of the same lexicon.
func (t *tally) addAll(other *tally) {
	for _, id := range other.seen {
		t.add(id, other.n[id])
	}
}

// norm is the length of the vector of a tally, its terms damped and weighed.
func (t *tally) norm(w *idf) float64 {
	sum := 0.0
	for _, id := range t.seen {
		x := sublinear(float64(t.n[id])) * w.of(id)
		sum += x * x
	}
	return math.Sqrt(sum)
}

// counted sums a tally up.
func (t *tally) counted() *counted {
	c := &counted{}
	for _, id := range t.seen {
		n := float64(t.n[id])
		c.total, c.most = c.total+n, max(c.most, n)
	}
	return c
}

// take counts terms as they were kept.
func (t *tally) take(terms []Term) *tally {
	for _, k := range terms {
		t.add(t.lexicon.id(k.Text), float32(k.Weight))
	}
	return t
}

func (t *tally) vector() Vector {
	t.lexicon.mu.RLock()
	defer t.lexicon.mu.RUnlock()
	v := make(Vector, len(t.seen))
	for _, id := range t.seen {
		v[t.lexicon.names[id]] = float64(t.n[id])
	}
	return v
}

// terms are those of a tally, for orders.
func (t *tally) terms() order.Terms {
	t.lexicon.mu.RLock()
	out := make(order.Terms, 0, len(t.seen))
	for _, id := range t.seen {
		out = append(out, order.Term{ID: t.lexicon.hash[id], W: t.n[id]})
	}
	t.lexicon.mu.RUnlock()
	return out.Sorted()
}

// word is a word that a term was met as; the term itself if it never was.
func (x *lexicon) word(term string) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if id, known := x.ids[term]; known {
		return x.surface[id]
	}
	return term
}
