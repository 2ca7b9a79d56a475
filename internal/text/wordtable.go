package text

import (
	"hash/maphash"
	"math/bits"
)

// wordTable maps words to the numbers of their terms. All words of all pages are looked up in it, and nearly all are found. It
// stores a hash of 64 bits in place of the word: among half a million words, two have the same hash once in a hundred million times,
// and then one counts as the other.
type wordTable struct {
	slots []wordSlot // a power of two, at most half of them taken
	taken int
}

type wordSlot struct {
	hash uint64 // 0: free
	term uint32
}

var (
	seed         = maphash.MakeSeed()
	seedA, seedB = maphash.String(seed, "a"), maphash.String(seed, "b")
	lengthInHash = maphash.String(seed, "length") | 1
)

// hashOf is a word's hash, never 0. That of a word of at most 16 bytes, as nearly all are, is the step of wyhash that Go's hash
// of strings is made of too where a processor has no AES (https://github.com/wangyi-fudan/wyhash); here it needs no call.
func hashOf(word string) uint64 {
	var a, b uint64
	switch n := len(word); {
	case n > 16:
		return max(maphash.String(seed, word), 1)
	case n >= 8:
		a, b = eightOf(word, 0), eightOf(word, n-8)
	case n >= 4:
		a, b = fourOf(word, 0), fourOf(word, n-4)
	case n > 0:
		a = uint64(word[0]) | uint64(word[n>>1])<<8 | uint64(word[n-1])<<16
	}
	high, low := bits.Mul64(a^seedA, b^seedB^uint64(len(word))*lengthInHash)
	return max(high^low, 1)
}

func fourOf(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// get is the number of a word's term; false if the word is not known. It may be called on nil.
func (t *wordTable) get(word string) (term uint32, ok bool) {
	if t == nil || t.taken == 0 {
		return 0, false
	}
	s := t.slot(hashOf(word))
	return s.term, s.hash != 0
}

// slot is the slot of a hash, or the free one where it belongs.
func (t *wordTable) slot(hash uint64) *wordSlot {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// put adds a word; false if the table has it already.
func (t *wordTable) put(word string, term uint32) bool {
	if _, known := t.get(word); known {
		return false
	}
	if 2*(t.taken+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]wordSlot, max(2*len(old), 1024))
		for _, s := range old {
			if s.hash != 0 {
				*t.slot(s.hash) = s
			}
		}
	}
	*t.slot(hashOf(word)) = wordSlot{hashOf(word), term}
	t.taken++
	return true
}
