package frontier

import (
	"fmt"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The longest queue is the longest of those whose PLD has a budget left.
func TestLongestQueue(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Budget.PerPLD = 1 })
	longest := func(want Longest) {
		t.Helper()
		p, err := r.Progress()
		r.must(err)
		if p.Longest == nil && want != (Longest{}) || p.Longest != nil && *p.Longest != want {
			t.Errorf("%+v, want %+v", p.Longest, want)
		}
	}
	longest(Longest{})
	r.submit("few", found(1, "http://few.example/")...)
	longest(Longest{"few.example", 1, 1, 0})
	for i := range 3 {
		r.submit(fmt.Sprint(i), found(0.5, fmt.Sprintf("http://many.example/%d", i))...)
	}
	longest(Longest{"many.example", 3, 4, 0})
	r.finish(r.take()) // a page of each, which is all that the budget has
	longest(Longest{})
}
