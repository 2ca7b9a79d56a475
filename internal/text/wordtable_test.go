package text

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestWordTable(t *testing.T) {
	var table *wordTable
	if _, ok := table.get("raven"); ok {
		t.Error("a table that is not there knows a word")
	}
	table = &wordTable{}
	for i := range 5000 {
		if !table.put(fmt.Sprint("word", i), uint32(i)) || table.put(fmt.Sprint("word", i), 7) {
			t.Fatalf("word %d is new once", i)
		}
	}
	for i := range 5000 {
		if id, ok := table.get(fmt.Sprint("word", i)); !ok || id != uint32(i) {
			t.Fatalf("word %d: %d, %v", i, id, ok)
		}
	}
	if _, ok := table.get("other"); ok || table.taken != 5000 {
		t.Errorf("an unknown word: %v; %d are known", ok, table.taken)
	}
}

// TestHashOfWords: words of all lengths that differ in one byte or in their length have different hashes, which a table finds as evenly
// spread as random ones.
func TestHashOfWords(t *testing.T) {
	of := map[uint64]string{}
	add := func(word string) {
		hash := hashOf(word)
		if other, known := of[hash]; known || hash == 0 {
			t.Fatalf("%q and %q have the hash %x", word, other, hash)
		}
		of[hash] = word
	}
	for n := range 40 {
		word := bytes.Repeat([]byte{'e'}, n)
		add(string(word))
		for i := range word {
			for c := range 256 {
				if c != 'e' {
					word[i] = byte(c)
					add(string(word))
				}
			}
			word[i] = 'e'
		}
	}
	for i := range 200_000 {
		add(strconv.Itoa(i) + "x")
	}
	// of 2^20 places those are taken that as many random numbers would take, within five deviations
	const places = 1 << 20
	taken := map[uint64]bool{}
	for hash := range of {
		taken[hash%places] = true
	}
	want := places * (1 - math.Exp(-float64(len(of))/places))
	if math.Abs(float64(len(taken))-want) > 5*math.Sqrt(places*0.07) {
		t.Errorf("%d hashes take %d of %d places, want some %.0f", len(of), len(taken), places, want)
	}
}

func BenchmarkHashOf(b *testing.B) {
	list := strings.Fields("the raven sat upon a pallid bust of pallas just above my chamber door recrawling misunderstandings")
	for i := 0; b.Loop(); i++ {
		hashOf(list[i%len(list)])
	}
}
