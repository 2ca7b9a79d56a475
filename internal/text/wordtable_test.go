package text

import (
	"fmt"
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
