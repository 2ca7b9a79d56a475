package order

import (
	"math"
	"slices"
	"testing"
)

// TestPool: what learners have learned apart of different pages, each of them knows once it is pooled, and nothing counts twice.
func TestPool(t *testing.T) {
	fresh := func() *Fused { return NewFused(examples(10), DefaultSettings()) }
	base := fresh()
	good, bad, _ := crawl(base, 30)
	apart := func(o *Fused) float64 { return o.Expect(good) - o.Expect(bad) }
	learn := func(from, to int) *Fused {
		o := fresh()
		o.Become(base)
		for i := from; i < to; i++ {
			p, kept := page(i, i%3 == 0), bad
			if i%3 == 0 {
				kept = good
			}
			look(o, p, kept)
		}
		return o
	}
	one, other := learn(100, 160), learn(200, 260)
	for name, c := range map[string]struct {
		learned []*Fused
		pages   float64 // since base
	}{
		"nothing was learned": {[]*Fused{learn(0, 0), learn(0, 0)}, 0},
		"one has learned":     {[]*Fused{one, learn(0, 0)}, 60},
		"both have":           {[]*Fused{one, other}, 120},
		"in another order":    {[]*Fused{other, one}, 120},
	} {
		pooled := Pool(base, c.learned)
		if got := pooled.mean.N - base.mean.N; got != c.pages {
			t.Errorf("%s: %v pages are counted since, want %v", name, got, c.pages)
		}
		if got := float64(pooled.relevance.seen - base.relevance.seen); got != c.pages {
			t.Errorf("%s: %v pages were seen since, want %v", name, got, c.pages)
		}
		g, _ := decodeSignals(good, nil)
		for i, id := range g.groups {
			want := base.groups.Get(id).N
			for _, o := range c.learned {
				want += o.groups.Get(id).N - base.groups.Get(id).N
			}
			if got := pooled.groups.Get(id).N; got != want {
				t.Errorf("%s: %v links of group %d are counted, want %v", name, got, i, want)
			}
		}
		if c.pages == 0 && !slices.Equal(pooled.rel.weights, base.rel.weights) {
			t.Errorf("%s: the weights have changed", name)
		}
		if c.pages > 0 && apart(pooled) < apart(base) {
			t.Errorf("%s: links are %v apart, %v before", name, apart(pooled), apart(base))
		}
	}
	a, b := Pool(base, []*Fused{one, other}), Pool(base, []*Fused{other, one})
	for i := range a.rel.weights {
		if math.Abs(a.rel.weights[i].value-b.rel.weights[i].value) > 1e-9 || math.Abs(a.hub.weights[i].value-b.hub.weights[i].value) > 1e-9 {
			t.Fatalf("weight %d depends on the order of the learners", i)
		}
	}
	if alone := Pool(base, []*Fused{one, learn(0, 0)}); slices.ContainsFunc(one.rel.state().IDs, func(id uint16) bool {
		return math.Abs(alone.rel.weights[id].value-one.rel.weights[id].value) > 1e-9
	}) {
		t.Error("what one learner alone has met is not taken as it is")
	}
}

// TestBecome: a copy knows the same, and what either learns later the other does not.
func TestBecome(t *testing.T) {
	o, copied := NewFused(examples(10), DefaultSettings()), NewFused(nil, DefaultSettings())
	good, _, _ := crawl(o, 60)
	copied.Become(o)
	was := o.Priority(good)
	if got := copied.Priority(good); got != was {
		t.Errorf("the copy gives %v, want %v", got, was)
	}
	crawl(o, 60)
	if o.Priority(good) == was || copied.Priority(good) != was {
		t.Errorf("%v and %v, both %v before", o.Priority(good), copied.Priority(good), was)
	}
}

func TestInterleave(t *testing.T) {
	for _, c := range []struct {
		lists [][]int
		most  int
		want  []int
	}{
		{nil, 3, nil},
		{[][]int{{1, 2, 3}, {11, 12}}, 9, []int{1, 11, 2, 12, 3}},
		{[][]int{{1, 2, 3}, {11, 12}}, 3, []int{2, 12, 3}},
		{[][]int{nil, {11, 12}}, 1, []int{12}},
	} {
		if got := interleave(c.lists, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%v, at most %d: %v, want %v", c.lists, c.most, got, c.want)
		}
	}
}
