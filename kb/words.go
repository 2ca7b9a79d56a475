package kb

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"
	"sync"
)

// Words finds which of many words stand in a text, in one pass over its bytes: that costs the same for three
// words and for thirty thousand. A few bytes of the text are looked up at each place in a filter; where a word
// may have them, the words are compared. Of each word the bytes are taken that are rarest in pages.
type Words struct {
	min    int // length of the shortest words that are taken, and of what is looked up: at most 6 bytes
	ids    map[string]int
	list   []string
	grams  map[uint64][]entry // bytes → words
	filter *filter
	common *filter  // of the bytes that look-ups at three places share
	keys   []uint64 // of table, plus one; 0: nothing is there. Most look-ups end here, so that they are apart
	table  []bucket // of grams, by hash, for looking up; made by seal
	mask   uint64
	sealed bool
}

// bucket holds the words of the same bytes.
type bucket struct {
	alone   bool // no other bytes have the same bit of the filter
	entries []entry
}

type entry struct {
	word   int
	offset int // of the bytes in the word
}

// filter has a bit set for the bytes of each word: as many bits as keep it sparse, and no more than a processor has
// at hand.
type filter struct {
	shift uint // from a hash to a bit
	bits  [1 << (manyBits - 6)]uint64
}

const (
	fewBits  = 18   // 32 KiB
	manyBits = 20   // 128 KiB
	few      = 4000 // words, beyond which the larger filter is quicker
)

// spread is Knuth's factor for hashing, 2⁶⁴ over the golden ratio.
const spread = 0x9e3779b97f4a7c15

// bit brings the bit of some bytes to the lowest place.
func (f *filter) bit(key uint64) uint64 {
	slot := f.slot(key)
	return f.bits[slot>>6&(1<<(manyBits-6)-1)] >> (slot & 63)
}

func (f *filter) set(key uint64) {
	slot := f.slot(key)
	f.bits[slot>>6] |= 1 << (slot & 63)
}

func (f *filter) unset(key uint64) {
	slot := f.slot(key)
	f.bits[slot>>6] &^= 1 << (slot & 63)
}

func (f *filter) slot(key uint64) uint64 { return key * spread >> (f.shift & 63) }

// copyTo copies what is used of the filter.
func (f *filter) copyTo(other *filter) {
	other.shift = f.shift
	copy(other.bits[:1<<(64-f.shift-6)], f.bits[:])
}

// newWords makes an empty list for words of at least so many bytes, 6 at most.
func newWords(shortest int) Words {
	return Words{min: shortest, ids: map[string]int{}, grams: map[uint64][]entry{}}
}

// low has the bits of the bytes that are looked up.
func (w *Words) low() uint64 { return 1<<(8*w.min) - 1 }

// inCommon has the bits of the bytes that look-ups at three places in a row have in common: all but two of each.
func (w *Words) inCommon() uint64 { return w.low() >> 16 }

// at reads bytes of a text, as many as are looked up.
func (w *Words) at(text string) uint64 {
	var eight [8]byte
	copy(eight[:w.min], text)
	return binary.LittleEndian.Uint64(eight[:])
}

// add returns the number of a word; false if it is too short to be looked for.
func (w *Words) add(word string) (id int, ok bool) {
	if len(word) < w.min {
		return 0, false
	}
	if id, known := w.ids[word]; known {
		return id, true
	}
	id, w.sealed = len(w.list), false
	w.ids[word], w.list = id, append(w.list, word)
	offset, least := 0, 1<<30
	for i := 0; i+w.min <= len(word); i++ {
		part := word[i : i+w.min]
		if c := common(part) + crowded*len(w.grams[w.at(part)]); c < least {
			offset, least = i, c
		}
	}
	key := w.at(word[offset:])
	w.grams[key] = append(w.grams[key], entry{id, offset})
	return id, true
}

// crowded is what a word less with the same bytes is worth, in the measure of common.
const crowded = 8

// common guesses how often some bytes stand in pages: letters and the punctuation of markup are frequent.
func common(part string) int {
	sum := 0
	for i := range len(part) {
		sum += frequency[part[i]]
	}
	for _, often := range frequentGrams {
		if strings.Contains(part, often) {
			sum += 200
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

// Has reports whether a word stands in the text.
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
	w.keys, w.table, w.mask, w.sealed = make([]uint64, size), make([]bucket, size), uint64(size-1), true
	w.filter = &filter{shift: 64 - fewBits}
	if len(w.grams) > few {
		w.filter.shift = 64 - manyBits
	}
	w.common = &filter{shift: 64 - fewBits}
	shared := map[uint64]int{}
	for key := range w.grams {
		w.filter.set(key)
		for place := range 3 {
			w.common.set(key >> (8 * place) & w.inCommon())
		}
		shared[w.filter.slot(key)]++
	}
	for key, entries := range w.grams {
		at := mixed(key) & w.mask
		for w.keys[at] != 0 {
			at = (at + 1) & w.mask
		}
		w.keys[at], w.table[at] = key+1, bucket{shared[w.filter.slot(key)] == 1, entries}
	}
}

func mixed(key uint64) uint64 { return key * 0xff51afd7ed558ccd >> 32 }

// of returns the words of some bytes; nil if there are none.
func (w *Words) of(key uint64) *bucket {
	for at := mixed(key) & w.mask; ; at = (at + 1) & w.mask {
		switch w.keys[at] {
		case key + 1:
			return &w.table[at]
		case 0:
			return nil
		}
	}
}

// filters are copies of the filter for one text each: what has been found is not looked for again.
var filters = sync.Pool{New: func() any { return &filter{} }}

// longText is from which a copy of the filter pays, in bytes.
const longText = 16 << 10

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
	f := w.filter
	if len(text) > longText {
		f = filters.Get().(*filter)
		defer filters.Put(f)
		w.filter.copyTo(f)
	}
	i, low, inCommon := 0, w.low(), w.inCommon()
	for ; i+8 <= len(text); i += 3 { // three places at a time, of which mostly none is of interest
		eight := binary.LittleEndian.Uint64(text[i:])
		if w.common.bit(eight>>16&inCommon)&1 == 0 {
			continue // whichever of the three places a word's bytes are at, the third one begins with a part of them
		}
		a, b, c := f.bit(eight&low), f.bit(eight>>8&low), f.bit(eight>>16&low)
		if (a|b|c)&1 == 0 {
			continue
		}
		if a&1 != 0 {
			w.look(text, i, eight&low, f, found)
		}
		if b&1 != 0 {
			w.look(text, i+1, eight>>8&low, f, found)
		}
		if c&1 != 0 {
			w.look(text, i+2, eight>>16&low, f, found)
		}
	}
	for ; i+w.min <= len(text); i++ {
		if key := w.at(string(text[i : i+w.min])); f.bit(key)&1 != 0 {
			w.look(text, i, key, f, found)
		}
	}
	return found
}

// look compares the words of which some bytes stand at a place. Their bit is set in the filter.
func (w *Words) look(text []byte, i int, key uint64, f *filter, found Found) {
	b, left := w.of(key), 0
	if b == nil {
		return
	}
	for _, e := range b.entries {
		if found.Has(e.word) {
			continue
		}
		word, at := w.list[e.word], i-e.offset
		if at >= 0 && len(text)-at >= len(word) && string(text[at:at+len(word)]) == word {
			found[e.word>>6] |= 1 << (e.word & 63)
			continue
		}
		left++
	}
	if left == 0 && b.alone && f != w.filter {
		f.unset(key)
	}
}
