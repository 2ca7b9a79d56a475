package economy

import (
	"strings"
	"testing"
)

func drain(f *frontier) string {
	var order []string
	for u, ok := f.next(); ok; u, ok = f.next() {
		order = append(order, u)
	}
	return strings.Join(order, " ")
}

func TestFrontierOrder(t *testing.T) {
	f := newFrontier(100)
	for _, l := range []struct {
		url      string
		priority float64
	}{{"a", .5}, {"b", .9}, {"c", .5}, {"d", 1}, {"a", .5}, {"b", .1}, {"c", .9}, {"e", .1}} {
		f.add(l.url, l.priority)
	}
	if got := drain(f); got != "d b c a e" || f.cut {
		t.Errorf("%s, cut %t", got, f.cut)
	}
	f.add("a", 1)
	if got := drain(f); got != "" {
		t.Errorf("%q was returned twice", got)
	}
}

// TestFrontierKeepsWhatCanComeUp: URLs that the budget cannot reach are dropped, but not those before them.
func TestFrontierKeepsWhatCanComeUp(t *testing.T) {
	f := newFrontier(3)
	for _, u := range []string{"a", "b", "c", "d", "e"} {
		f.add(u, .5)
	}
	f.add("x", 1)
	if len(f.known) != 4 {
		t.Errorf("%d URLs are kept", len(f.known))
	}
	if got := drain(f); got != "x a b" || !f.cut {
		t.Errorf("%s, cut %t", got, f.cut)
	}
	whole := newFrontier(2)
	whole.add("a", .5)
	whole.add("b", .5)
	if got := drain(whole); got != "a b" || whole.cut {
		t.Errorf("%s, cut %t", got, whole.cut)
	}
}
