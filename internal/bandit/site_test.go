package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestGroups(t *testing.T) {
	var s Site
	tests := []struct {
		path string
		want int
	}{
		{"html/body.home/div.main/ul.list/li/a.title", 1},
		{"html/body.home/div.main/ul.list/li.odd/a.title", 2}, // cosine 4/6
		{"html/body.home/div.main/ul.list/li/a.title", 1},
		{"html/body.home/div.main/ul.list/li/a.other", 1}, // cosine 5/6
		{"html/body.home/footer/p/a", 3},
		{"", 0},
	}
	for _, test := range tests {
		if got := s.Assign(test.path); got != test.want {
			t.Errorf("%q: group %d, want %d", test.path, got, test.want)
		}
	}
	for i := range 500 {
		if n := s.Assign(fmt.Sprintf("x%d/y%d/z%d", i, i, i)); n < 1 || n > MaxGroups {
			t.Fatalf("group %d", n)
		}
	}
	if s.Groups() != MaxGroups {
		t.Errorf("%d groups, want %d", s.Groups(), MaxGroups)
	}
}

func TestValue(t *testing.T) {
	var s Site
	good, bad, fresh := s.Assign("a/b/c"), s.Assign("d/e/f"), 0
	for range 20 {
		s.Reward(good, 1)
		s.Reward(bad, 0)
	}
	fresh = s.Assign("g/h/i")
	// by hand: (20 + ½)/21 + 0.3·√(ln 42 / 21)
	if want := min(20.5/21+0.3*math.Sqrt(math.Log(42)/21), 1); math.Abs(s.Value(good)-want) > 1e-9 {
		t.Errorf("value %v, want %v", s.Value(good), want)
	}
	if want := 0.5/21 + 0.3*math.Sqrt(math.Log(42)/21); math.Abs(s.Value(bad)-want) > 1e-9 {
		t.Errorf("value %v, want %v", s.Value(bad), want)
	}
	if !(s.Value(good) > s.Value(bad) && s.Value(fresh) > s.Value(bad)) {
		t.Errorf("good %v, bad %v, fresh %v", s.Value(good), s.Value(bad), s.Value(fresh))
	}
	s.Reward(99, 1)
	s.Reward(good, math.NaN())
	if s.Value(0) != 0.5 || s.Value(99) != 0.5 {
		t.Errorf("of no group: %v, want the mean of the site", s.Value(0))
	}
	for n := range 4 {
		if v := s.Value(n); v < 0 || v > 1 {
			t.Errorf("value %v is not in [0,1]", v)
		}
	}
}

// TestFindsTheGoodArm: with ten groups of which one is good, most of 300 choices fall on it.
func TestFindsTheGoodArm(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s Site
	arms := make([]int, 10)
	for i := range arms {
		arms[i] = s.Assign(fmt.Sprintf("p%d/q%d/r%d", i, i, i))
	}
	chosen := 0
	for range 300 {
		best := arms[0]
		for _, a := range arms {
			if s.Value(a) > s.Value(best) {
				best = a
			}
		}
		reward, chance := 0.0, 0.1
		if best == arms[7] {
			chosen, chance = chosen+1, 0.7
		}
		if random.Float64() < chance {
			reward = 1
		}
		s.Reward(best, reward)
	}
	if chosen < 200 {
		t.Errorf("the good group was chosen %d times of 300", chosen)
	}
}

func TestEncode(t *testing.T) {
	var s Site
	for i := range 40 {
		n := s.Assign(fmt.Sprintf("html/body/div.c%d/ul/li.x%d/a", i%9, i%4))
		s.Reward(n, float64(i%3)/2)
	}
	got, err := Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	s.known = nil
	if !reflect.DeepEqual(*got, s) {
		t.Errorf("%+v\nwant %+v", *got, s)
	}
	raw := s.Encode()
	for n := range raw {
		if _, err := Decode(raw[:n]); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(raw))
		}
	}
	if _, err := Decode(append(raw, 0)); err == nil {
		t.Error("a byte too much is read")
	}
}

func BenchmarkAssign(b *testing.B) {
	var s Site
	paths := make([]string, 60)
	for i := range paths {
		paths[i] = fmt.Sprintf("html/body.page/div.wrap/div.col%d/ul.menu/li.item%d/a.link", i%4, i%15)
	}
	for b.Loop() {
		s.known = nil
		for _, p := range paths {
			s.Assign(p)
		}
	}
}
