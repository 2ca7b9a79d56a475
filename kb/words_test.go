package kb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// TestWords compares one pass with a search for each word, on texts made of parts of words.
func TestWords(t *testing.T) {
	for shortest := MinWord; shortest <= xpath.MinWord; shortest++ {
		random := rand.New(rand.NewPCG(1, 2))
		text := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = "abc"[random.IntN(3)]
			}
			return string(b)
		}
		w := newWords(shortest)
		ids := map[string]int{}
		for range 200 {
			word := text(shortest + random.IntN(8))
			id, ok := w.add(word)
			if !ok {
				t.Fatalf("%q is not taken", word)
			}
			ids[word] = id
		}
		if _, ok := w.add(text(shortest - 1)); ok {
			t.Errorf("a word of %d bytes is taken", shortest-1)
		}
		hits := 0
		var found Found
		check := func(page string) {
			found = w.Find([]byte(page), found)
			for word, id := range ids {
				want := strings.Contains(page, word)
				if found.Has(id) != want {
					t.Fatalf("%q in %q: %v", word, page, found.Has(id))
				}
				if want {
					hits++
				}
			}
		}
		for n := range 400 {
			check(text(n))
		}
		for word := range ids { // at each place of a text of other bytes, short and long
			for n := range 12 {
				check(strings.Repeat("x", n) + word + strings.Repeat("y", n%3))
			}
			check(strings.Repeat("x", longText+random.IntN(3)) + word + strings.Repeat("y", random.IntN(9)))
		}
		if hits == 0 {
			t.Error("no word was ever there")
		}
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
