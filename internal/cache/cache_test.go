package cache

import (
	"maps"
	"slices"
	"testing"
)

func TestLRU(t *testing.T) {
	var gone []string
	c := NewLRU(2, func(key string, value int) { gone = append(gone, key) })
	c.Put("raven", 1)
	c.Put("crow", 2)
	if v, known := c.Get("raven"); v != 1 || !known {
		t.Errorf("raven: %d, %v", v, known)
	}
	c.Peek("crow") // does not count
	c.Put("fox", 3)
	if _, known := c.Get("crow"); known || !slices.Equal(gone, []string{"crow"}) || c.Len() != 2 {
		t.Errorf("%v went, %d are left", gone, c.Len())
	}
	c.Put("raven", 4)
	if keys := c.Keys(); !slices.Equal(keys, []string{"fox", "raven"}) {
		t.Errorf("keys %v", keys)
	}
	if key, v, any := c.Oldest(); key != "fox" || v != 3 || !any {
		t.Errorf("the oldest is %s: %d, %v", key, v, any)
	}
	c.RemoveOldest()
	c.Remove("raven")
	if c.Len() != 0 {
		t.Errorf("%d are left", c.Len())
	}
	if _, _, any := c.Oldest(); any {
		t.Error("an empty cache has an oldest entry")
	}
	none := NewLRU[string, int](0, nil)
	none.Put("raven", 1)
	none.Put("crow", 1)
	if none.Len() != 1 {
		t.Errorf("a cache of no entry holds %d", none.Len())
	}
}

func TestGenerations(t *testing.T) {
	g := NewGenerations[string, int](2)
	g.Put("raven", 1)
	g.Age()
	g.Put("crow", 2)
	g.Age()
	if len(g.Young) != 0 || g.Get("raven") != 1 || g.Get("crow") != 2 {
		t.Errorf("after one generation: %v, %v", g.Young, g.Old)
	}
	g.Put("raven", 3) // is young again
	g.Put("fox", 4)
	g.Age()
	if g.Get("raven") != 3 || g.Get("fox") != 4 || g.Get("crow") != 0 {
		t.Errorf("after two generations: %v, %v", g.Young, g.Old)
	}
	young, old := g.Clone()
	other := NewGenerations[string, int](2)
	other.Restore(young, old)
	young["hare"] = 1
	if !maps.Equal(other.Young, g.Young) || !maps.Equal(other.Old, g.Old) {
		t.Errorf("restored: %v, %v", other.Young, other.Old)
	}
}
