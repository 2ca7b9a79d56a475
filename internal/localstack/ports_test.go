package localstack

import (
	"maps"
	"testing"
)

// TestChoose: a port that was chosen for a server that starts is chosen for no other one of the process, until that listens.
func TestChoose(t *testing.T) {
	var a, b, c, d int
	first, err := choose(&a, &b)
	if err != nil {
		t.Fatal(err)
	}
	second, err := choose(&c, &d)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]bool{a: true, b: true, c: true, d: true}
	if len(want) != 4 || !maps.Equal(chosen.ports, want) {
		t.Errorf("chosen are %v, of %d, %d, %d, %d", chosen.ports, a, b, c, d)
	}
	first()
	if want = map[int]bool{c: true, d: true}; !maps.Equal(chosen.ports, want) {
		t.Errorf("after the first listens, %v, want %v", chosen.ports, want)
	}
	second()
	if len(chosen.ports) > 0 {
		t.Errorf("after both listen, %v", chosen.ports)
	}
}
