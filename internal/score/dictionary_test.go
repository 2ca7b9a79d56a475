package score

import (
	"fmt"
	"testing"
)

// TestThesauri: a thesaurus is read once for all crawls of a worker, and a bounded number of them is held.
func TestThesauri(t *testing.T) {
	d := NewDictionary()
	for i := range maxThesauri + 2 {
		file := written(t, fmt.Sprintf("birds%d.ttl", i), birds)
		first, err := d.thesaurus(file, "en")
		if err != nil {
			t.Fatal(err)
		}
		if again, err := d.thesaurus(file, "en"); err != nil || again != first {
			t.Errorf("thesaurus %d is read twice: %v", i, err)
		}
		if other, err := NewDictionary().thesaurus(file, "en"); err != nil || other == first {
			t.Errorf("another worker has the same thesaurus in memory: %v", err)
		}
	}
	if n := d.thesauri.Len(); n != maxThesauri {
		t.Errorf("%d thesauri are held, want %d", n, maxThesauri)
	}
}
