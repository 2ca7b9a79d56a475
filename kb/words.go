package kb

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Words finds which of many words stand in a text, in one pass over its bytes: that costs the same for three
// words and for thirty thousand. Four bytes of the text are looked up at each place in a filter; where a word
// may have them, the words are compared. Of each word the four bytes are taken that are rarest in pages.
type Words struct {
	ids    map[string]int
	list   []string
	grams  map[uint32][]entry // four bytes → words
	filter []uint64
	shift  uint32
	table  []bucket // of grams, by hash, for looking up; made by seal
	mask   uint32
	sealed bool
}

// bucket holds the words of four bytes.
type bucket struct {
	key     uint32
	entries []entry
}

type entry struct {
	word   int
	offset int // of the four bytes in the word
}

const (
	gram    = 4
	minBits = 15 // of the filter
	maxBits = 18
	spare   = 32 // bits of the filter a word
)

// add returns the number of a word; false if it is too short to be looked for.
func (w *Words) add(word string) (id int, ok bool) {
	if len(word) < xpath.MinWord {
		return 0, false
	}
	if id, known := w.ids[word]; known {
		return id, true
	}
	if w.ids == nil {
		w.ids, w.grams = map[string]int{}, map[uint32][]entry{}
	}
	id, w.sealed = len(w.list), false
	w.ids[word], w.list = id, append(w.list, word)
	offset, least := 0, 1<<30
	for i := 0; i+gram <= len(word); i++ {
		if c := common(word[i : i+gram]); c < least {
			offset, least = i, c
		}
	}
	key := binary.LittleEndian.Uint32([]byte(word[offset:]))
	w.grams[key] = append(w.grams[key], entry{id, offset})
	w.fill(key)
	return id, true
}

// fill sets a bit of the filter, and makes the filter larger when words have become many.
func (w *Words) fill(key uint32) {
	size := minBits
	for size < maxBits && 1<<size < len(w.list)*spare {
		size++
	}
	if len(w.filter) != 1<<(size-6) {
		w.filter, w.shift = make([]uint64, 1<<(size-6)), uint32(32-size)
		for k := range w.grams {
			h := w.slot(k)
			w.filter[h>>6] |= 1 << (h & 63)
		}
	}
	h := w.slot(key)
	w.filter[h>>6] |= 1 << (h & 63)
}

func (w *Words) slot(key uint32) uint32 { return key * 0x9e3779b1 >> w.shift }

// common guesses how often four bytes stand in pages: letters and the punctuation of markup are frequent.
func common(four string) int {
	sum := 0
	for i := range len(four) {
		sum += frequency[four[i]]
	}
	for _, often := range frequentGrams {
		if four == often {
			sum += 400
		}
	}
	return sum
}

// frequentGrams stand in nearly every page.
var frequentGrams = []string{"http", "ttps", "tps:", "ps:/", "s://", "://w", "www.", ".com", "/wp-", "cont", "onte", "nten", "tent", "clas", "lass", "post", "ent-", "item", "page", "link", "head", "titl", "itle", "body", "text", "ment", "tion", "info", "user", "auth", "utho", "thor", "date", "name", "main", "show", "list", "foot", "menu", "comm", "omme", "mmen"}

// frequency of bytes in the source of pages, roughly in thousandths.
var frequency = func() (f [256]int) {
	for i := range f {
		f[i] = 1
	}
	for i, n := range map[byte]int{' ': 90, 'e': 65, 't': 60, 'a': 55, 's': 50, 'i': 50, 'n': 42, 'o': 42, 'r': 38, 'l': 38, 'c': 28, 'd': 28, '"': 28, '=': 22, '/': 28, '<': 24, '>': 24, 'p': 24, 'm': 20, 'h': 22, 'u': 18, '-': 18, 'f': 12, 'g': 14, 'b': 12, 'w': 10, 'v': 10, 'y': 9, '.': 14, ':': 12, 'k': 7, '0': 10, '1': 10, '2': 9} {
		f[i] = n
	}
	return f
}()

// Found are the words that stand in a text.
type Found []uint64

// Has tells whether a word stands in the text.
func (f Found) Has(id int) bool { return f[id>>6]>>(id&63)&1 != 0 }

// All yields the numbers of the words that stand in the text.
func (f Found) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, set := range f {
			for ; set != 0; set &= set - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(set)) {
					return
				}
			}
		}
	}
}

// seal makes the table. It is called once all words are there, before they are looked for side by side.
func (w *Words) seal() {
	size := 16
	for size < 4*len(w.grams) {
		size *= 2
	}
	w.table, w.mask, w.sealed = make([]bucket, size), uint32(size-1), true
	for key, entries := range w.grams {
		at := mixed(key) & w.mask
		for w.table[at].entries != nil {
			at = (at + 1) & w.mask
		}
		w.table[at] = bucket{key, entries}
	}
}

func mixed(key uint32) uint32 { return (key * 0x85ebca6b) >> 8 }

func (w *Words) of(key uint32) []entry {
	for at := mixed(key) & w.mask; ; at = (at + 1) & w.mask {
		if b := &w.table[at]; b.entries == nil || b.key == key {
			return b.entries
		}
	}
}

// Find looks for all words at once. It writes into found if that is long enough.
func (w *Words) Find(text []byte, found Found) Found {
	n := (len(w.list) + 63) / 64
	if cap(found) < n {
		found = make(Found, n)
	}
	found = found[:n]
	clear(found)
	if n == 0 {
		return found
	}
	if !w.sealed {
		w.seal()
	}
	filter, shift := w.filter, w.shift
	for i := 0; i+gram <= len(text); i++ {
		key := binary.LittleEndian.Uint32(text[i:])
		if h := key * 0x9e3779b1 >> shift; filter[h>>6]>>(h&63)&1 == 0 {
			continue
		}
		for _, e := range w.of(key) {
			word, at := w.list[e.word], i-e.offset
			if at >= 0 && len(text)-at >= len(word) && !found.Has(e.word) && string(text[at:at+len(word)]) == word {
				found[e.word>>6] |= 1 << (e.word & 63)
			}
		}
	}
	return found
}
