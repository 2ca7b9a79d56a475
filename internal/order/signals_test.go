package order

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/text"
)

// garbage is so many random bytes.
func garbage(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// TestSignalsValues: values are stored in steps of 1/1024, within ±32; zeros are left out.
func TestSignalsValues(t *testing.T) {
	for _, test := range []struct{ value, want float64 }{
		{1, 1},
		{-1, -1},
		{0.3, 307.0 / 1024},
		{-0.3, -307.0 / 1024},
		{1.0 / 1024, 1.0 / 1024},
		{0.6 / 1024, 1.0 / 1024},
		{-0.6 / 1024, -1.0 / 1024},
		{31.5, 31.5},
		{32, 32767.0 / 1024},
		{-32, -32},
		{1e9, 32767.0 / 1024},
		{-1e9, -32},
		{math.Inf(1), 32767.0 / 1024},
		{math.Inf(-1), -32},
	} {
		var s signals
		s.add(9, test.value)
		if len(s.fixed) != 1 || s.fixed[0] != (feature{9, test.want}) {
			t.Errorf("%v: %v, want %v", test.value, s.fixed, test.want)
			continue
		}
		if got, ok := decodeSignals(s.encode(), nil); !ok || !slices.Equal(got.fixed, s.fixed) {
			t.Errorf("%v: %v is read as %v", test.value, s.fixed, got.fixed)
		}
	}
	for _, nothing := range []float64{0, 0.4 / 1024, -0.4 / 1024} {
		var s signals
		if s.add(9, nothing); len(s.fixed) != 0 {
			t.Errorf("%v: %v", nothing, s.fixed)
		}
	}
}

// TestSignalsRoundTrip: written signals are read back bit by bit, and each value is within half a step of the original.
func TestSignalsRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	for n := range 2 * maxFixed {
		s := signals{groups: [4]uint32{random.Uint32(), random.Uint32(), 0, math.MaxUint32}}
		var said []feature
		for range n {
			f := feature{uint16(random.Uint32()), (2*random.Float64() - 1) * 31.9}
			if math.Abs(f.value) < 0.01 {
				f.value = 0.01
			}
			said = append(said, f)
			s.add(f.id, f.value)
		}
		if want := min(n, maxFixed); len(s.fixed) != want {
			t.Fatalf("%d of %d features, want %d", len(s.fixed), n, want)
		}
		raw := s.encode()
		if len(raw) != 16+4*len(s.fixed) {
			t.Errorf("%d features take %d bytes", len(s.fixed), len(raw))
		}
		got, ok := decodeSignals(raw, nil)
		if !ok || got.groups != s.groups || !slices.Equal(got.fixed, s.fixed) {
			t.Fatalf("%v is read as %v", s, got)
		}
		for i, f := range got.fixed {
			if f.id != said[i].id || math.Abs(f.value-said[i].value) > 0.5/fixedPoint+1e-12 {
				t.Errorf("%v is kept as %v", said[i], f)
			}
		}
	}
}

// checkSignals: bytes that can be read are written again unchanged.
func checkSignals(t *testing.T, raw []byte) {
	t.Helper()
	before := slices.Clone(raw)
	s, ok := decodeSignals(raw, nil)
	if want := len(raw) >= 16 && len(raw) <= 16+4*maxFixed && len(raw)%4 == 0; ok != want {
		t.Fatalf("%d bytes: %v", len(raw), ok)
	}
	if !bytes.Equal(raw, before) {
		t.Fatal("reading changes what is read")
	}
	if ok && !bytes.Equal(s.encode(), raw) {
		t.Fatalf("%x is written again as %x", raw, s.encode())
	}
	for _, f := range s.fixed {
		if math.IsNaN(f.value) || math.Abs(f.value) > 32 {
			t.Fatalf("%v", f)
		}
	}
}

func TestSignalsGarbage(t *testing.T) {
	checkSignals(t, nil)
	random := rand.New(rand.NewPCG(13, 13))
	for n := range 16 + 4*maxFixed + 20 {
		checkSignals(t, garbage(random, n))
	}
	checkSignals(t, garbage(random, 1<<16))
}

func FuzzSignals(f *testing.F) {
	s := signals{groups: [4]uint32{1, 2, 3, 4}}
	s.add(5, -0.5)
	f.Add(s.encode())
	f.Add([]byte{})
	f.Fuzz(checkSignals)
}

// someTerms are n terms of random weights, at length 1.
func someTerms(random *rand.Rand, n int) text.HashedVector {
	t := make(text.HashedVector, n)
	for i := range t {
		t[i] = text.HashedTerm{ID: random.Uint32(), Weight: random.Float32() + 0.01}
	}
	return t.Sorted().Unit()
}

// TestViewsRoundTrip: terms are read as they were written, with weights rounded to one of 65535 steps.
func TestViewsRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 17))
	list := []Views{
		{}, {{{ID: 0, Weight: 1}}, {{ID: math.MaxUint32, Weight: 1}}, nil}, {{{ID: 0, Weight: 0}, {ID: 1, Weight: 0.6}, {ID: math.MaxUint32, Weight: 0.8}}},
		{nil, nil, nil, {{ID: 8, Weight: 1}}}, {nil, nil, {{ID: 5, Weight: 1.0 / math.MaxUint16}, {ID: 6, Weight: 0.5 / math.MaxUint16}, {ID: 7, Weight: 1.5 / math.MaxUint16}}},
		ViewsOf(page(1, true)), ViewsOf(&Page{}),
	}
	for range 200 {
		list = append(list, Views{someTerms(random, random.IntN(maxView+1)), someTerms(random, random.IntN(9)), someTerms(random, maxView), someTerms(random, random.IntN(maxTargets+1))})
	}
	for _, v := range list {
		raw := v.Encode()
		got, err := decodeViews(raw)
		if err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		for i := range v {
			if len(got[i]) != len(v[i]) {
				t.Fatalf("%v is read as %v", v[i], got[i])
			}
			for k, x := range v[i] {
				if y := got[i][k]; y.ID != x.ID || math.Abs(float64(y.Weight)-float64(x.Weight)) > 0.5/math.MaxUint16+1e-7 {
					t.Fatalf("%v is read as %v", x, y)
				}
			}
		}
		former := Views{v[0], v[1], v[2]}
		old := len(former.Encode()) - 1 // what an earlier version has written ends there
		if got, err := decodeViews(raw[:old]); err != nil || len(got[targets]) > 0 || len(got[0]) != len(v[0]) {
			t.Fatalf("what an earlier version has written is read as %v: %v", got, err)
		}
		for n := range raw {
			if n == old {
				continue
			}
			if n < 40 || n%37 == 0 || n == len(raw)-1 {
				if _, err := decodeViews(raw[:n]); err == nil {
					t.Fatalf("%d of %d bytes are read", n, len(raw))
				}
			}
		}
	}
	for i := range views {
		var many Views
		many[i] = someTerms(random, maxView+1)
		if _, err := decodeViews(many.Encode()); err == nil {
			t.Errorf("%d terms of part %d are read", maxView+1, i)
		}
	}
}

// TestViewsWeights: weights beyond [0,1] are written as its ends.
func TestViewsWeights(t *testing.T) {
	v := Views{{{ID: 1, Weight: -3}, {ID: 2, Weight: 7}, {ID: 3, Weight: float32(math.Inf(1))}}}
	got, err := decodeViews(v.Encode())
	if want := (text.HashedVector{{ID: 1, Weight: 0}, {ID: 2, Weight: 1}, {ID: 3, Weight: 1}}); err != nil || !slices.Equal(got[0], want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
}

// checkViews: bytes are refused, or read as terms within bounds, which are the same when they are written and read again.
func checkViews(t *testing.T, raw []byte) {
	t.Helper()
	v, err := decodeViews(raw)
	if err != nil {
		return
	}
	for i := range v {
		if len(v[i]) > maxView {
			t.Fatalf("%d terms", len(v[i]))
		}
		for _, x := range v[i] {
			if !(x.Weight >= 0 && x.Weight <= 1) {
				t.Fatalf("%v", x)
			}
		}
	}
	again, err := decodeViews(v.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		for k, x := range v[i] {
			if y := again[i][k]; y != x {
				t.Fatalf("%v is written again as %v", x, y)
			}
		}
	}
}

func TestViewsGarbage(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 19))
	valid := ViewsOf(page(1, true))
	written := valid.Encode()
	for range 20_000 {
		checkViews(t, garbage(random, random.IntN(60)))
		small := garbage(random, random.IntN(60)) // bytes that are counts and lie close
		for i := range small {
			small[i] %= 8
		}
		checkViews(t, small)
		broken := slices.Clone(written)
		for range 1 + random.IntN(3) {
			broken[random.IntN(len(broken))] = byte(random.Uint32())
		}
		checkViews(t, broken)
	}
	for _, raw := range [][]byte{nil, {0}, {0, 0}, {0, 0, 0, 0, 0}, {1}, {1, 1}, {1, 1, 0}, {1, 1, 0, 0}, {0xff, 0xff}, bytes.Repeat([]byte{0xff}, 40), bytes.Repeat([]byte{0x80}, 40), {0x81, 0x02, 0, 0}} {
		if v, err := decodeViews(raw); err == nil {
			t.Errorf("%x is read as %v", raw, v)
		}
	}
}

// TestDecodeViews: the views of a list that can be decoded are returned.
func TestDecodeViews(t *testing.T) {
	a, b := ViewsOf(page(1, true)), ViewsOf(page(2, false))
	got := DecodeViews([][]byte{a.Encode(), {0xff}, nil, b.Encode()})
	if len(got) != 2 || !bytes.Equal(got[0].Encode(), a.Encode()) || !bytes.Equal(got[1].Encode(), b.Encode()) {
		t.Errorf("%v", got)
	}
	if got := DecodeViews(nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

func FuzzViews(f *testing.F) {
	for _, p := range []*Page{page(1, true), {}} {
		v := ViewsOf(p)
		f.Add(v.Encode())
	}
	f.Fuzz(checkViews)
}

// TestHeaviest: of many terms only the heaviest are kept, in the order of terms, at length 1; of few terms all are kept.
func TestHeaviest(t *testing.T) {
	list := text.HashedVector{{ID: 1, Weight: 1}, {ID: 2, Weight: 4}, {ID: 3, Weight: 2}, {ID: 4, Weight: 3}, {ID: 9, Weight: 2}}
	before := slices.Clone(list)
	root := float32(math.Sqrt(4*4 + 3*3 + 2*2))
	for n, want := range map[int]text.HashedVector{
		3: {{ID: 2, Weight: 4 / root}, {ID: 3, Weight: 2 / root}, {ID: 4, Weight: 3 / root}}, // of two that are as heavy the first
		2: {{ID: 2, Weight: 0.8}, {ID: 4, Weight: 0.6}},
		1: {{ID: 2, Weight: 1}},
		0: {},
		5: list,
		9: list,
	} {
		got := list.Heaviest(n)
		if !slices.EqualFunc(got, want, func(a, b text.HashedTerm) bool { return a.ID == b.ID && near(float64(a.Weight), float64(b.Weight)) }) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	if !slices.Equal(list, before) {
		t.Errorf("the list is changed: %v", list)
	}
	alike := make(text.HashedVector, 300) // half of them heavier
	for i := range alike {
		alike[i] = text.HashedTerm{ID: uint32(i), Weight: float32(1 + i%2)}
	}
	last := uint32(0)
	for _, x := range alike.Heaviest(200) {
		if x.ID%2 == 0 {
			last = x.ID
		}
	}
	if last != 2*49 {
		t.Errorf("of 150 terms that are as heavy 50 are kept, the last of them is %d", last)
	}
	random := rand.New(rand.NewPCG(23, 23))
	for range 50 {
		all := someTerms(random, maxView+1+random.IntN(500))
		got := all.Heaviest(maxView)
		if len(got) != maxView || !near(got.Norm(), 1) || !slices.IsSortedFunc(got, func(a, b text.HashedTerm) int { return int(int64(a.ID) - int64(b.ID)) }) {
			t.Fatalf("%d terms of length %v", len(got), got.Norm())
		}
		kept, least := map[uint32]bool{}, float32(1)
		for _, x := range got {
			kept[x.ID] = true
		}
		for _, x := range all {
			if kept[x.ID] {
				least = min(least, x.Weight)
			}
		}
		for _, x := range all {
			if !kept[x.ID] && x.Weight > least {
				t.Fatalf("%v is left out, and one of %v is kept", x, least)
			}
		}
	}
}

// TestViewsOf: a part has the logarithm of the frequency of each term, at length 1, and a bounded number of terms.
func TestViewsOf(t *testing.T) {
	long := &Page{URL: "http://a.test/birds/1.html", Title: textOf("raven raven crow")}
	for i := range uint32(1000) {
		long.Text = append(long.Text, text.HashedTerm{ID: i, Weight: float32(i%7 + 1)})
	}
	v := ViewsOf(long)
	if len(v[0]) != maxView || !near(v[0].Norm(), 1) || len(v[1]) != 2 || !near(v[1].Norm(), 1) || len(v[2]) == 0 || !near(v[2].Norm(), 1) {
		t.Errorf("%d, %d and %d terms, of lengths %v, %v, %v", len(v[0]), len(v[1]), len(v[2]), v[0].Norm(), v[1].Norm(), v[2].Norm())
	}
	for i := range 3 * maxTargets {
		long.Links = append(long.Links, Link{URL: fmt.Sprint("http://a.test/", i%(2*maxTargets))})
	}
	to := ViewsOf(long)[targets]
	slices.Reverse(long.Links)
	long.Links = append(long.Links, Link{URL: long.URL})
	if again := ViewsOf(long)[targets]; len(to) != maxTargets || !near(to.Norm(), 1) || !slices.Equal(to, again) {
		t.Errorf("%d targets of links, in another order others: %v, %v", len(to), to, again)
	}
	raven, crow := math.Log(3), math.Log(2)
	if got, want := v[1].Dot(textOf("raven")), raven/math.Hypot(raven, crow); !near(got, want) {
		t.Errorf("a word that comes twice: %v, want %v", got, want)
	}
	if long.Title.Dot(textOf("raven")) != 2 || long.Text[6].Weight != 7 {
		t.Error("the page is changed")
	}
}
