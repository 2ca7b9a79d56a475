package kb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWords compares one pass with a search for each word, on texts made of parts of words.
func TestWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var list []string
	for range 200 {
		var b strings.Builder
		for range 4 + random.IntN(8) {
			b.WriteByte("abc"[random.IntN(3)])
		}
		list = append(list, b.String())
	}
	w := newWords(4)
	ids := map[string]int{}
	for _, word := range list {
		id, ok := w.add(word)
		if !ok {
			t.Fatalf("%q is not taken", word)
		}
		ids[word] = id
	}
	if _, ok := w.add("abc"); ok {
		t.Error("a word of three bytes is taken")
	}
	hits := 0
	var found Found
	for n := range 400 {
		page := make([]byte, n)
		for i := range page {
			page[i] = "abc"[random.IntN(3)]
		}
		found = w.Find(page, found)
		for word, id := range ids {
			want := strings.Contains(string(page), word)
			if found.Has(id) != want {
				t.Fatalf("%q in %q: %v", word, page, found.Has(id))
			}
			if want {
				hits++
			}
		}
	}
	if hits == 0 {
		t.Error("no word was ever there")
	}
}

// BenchmarkWords shows that the number of words does not matter.
func BenchmarkWords(b *testing.B) {
	page := []byte(strings.Repeat(`<div class="post-body entry"><p>The raven sits on the wall and says nothing of it.</p></div>`, 330))
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWords(6)
			for i := range n {
				w.add(fmt.Sprintf("%08x-word", uint32(i)*2654435761))
			}
			var found Found
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				found = w.Find(page, found)
			}
		})
	}
}
