package order

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/text"
)

// boardPages are pages of a forum: each has words of its own and links to twenty users, those of the first board link to it in one link among those; some link nowhere.
func boardPages(n int, first bool, random *rand.Rand) (list []*Page) {
	for i := range n {
		p := &Page{URL: fmt.Sprintf("http://a.test/t/%d", i), Text: textOf(fmt.Sprintf("w%d w%d w%d", random.IntN(300), random.IntN(300), random.IntN(300)))}
		for range 20 {
			p.Links = append(p.Links, Link{URL: fmt.Sprintf("http://a.test/u/%d", random.IntN(200))})
		}
		board := "http://a.test/f/1"
		if !first {
			board = fmt.Sprintf("http://a.test/f/%d", 2+random.IntN(5))
		}
		p.Links = append(p.Links, Link{URL: board})
		list = append(list, p)
	}
	return list
}

// TestLinkTargets: where texts say nothing, what pages link to distinguishes those of the topic, and has the greatest share in the estimate.
func TestLinkTargets(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	o := NewFused(boardPages(10, true, random), DefaultSettings())
	for _, p := range boardPages(100, false, random) {
		o.Learn(unlinked(o, p))
	}
	right := 0
	mine, theirs := boardPages(40, true, random), boardPages(40, false, random)
	for i := range mine {
		if o.Judge(mine[i], nil).Worth > o.Judge(theirs[i], nil).Worth {
			right++
		}
	}
	if right < 38 {
		t.Errorf("%d of 40 pages of the board are worth more than another", right)
	}
	for _, e := range o.Estimators() {
		if e.Name == "regression of the targets of links" && e.Share < 0.5 {
			t.Errorf("shares: %+v", o.Estimators())
		}
	}
}

// TestFitHeldBack: each page is judged by a regression that has not seen it: where nothing distinguishes the examples they score no higher than the others, though the regression that
// has seen them holds them apart.
func TestFitHeldBack(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	var list [2][]Views
	for i := range 200 {
		var terms text.HashedVector
		for range 10 {
			terms = append(terms, text.HashedTerm{ID: random.Uint32N(400), Weight: 1})
		}
		list[min(i/40, 1)] = append(list[min(i/40, 1)], Views{terms.Sorted().Unit()})
	}
	var l linear
	mine, theirs := l.fit(list[0], list[1], 0)
	mean := func(list []float64) (m float64) {
		for _, x := range list {
			m += x / float64(len(list))
		}
		return m
	}
	if held := mean(mine) - mean(theirs); math.Abs(held) > 0.25 {
		t.Errorf("held back, examples score %v more", held)
	}
	var seen [2][]float64
	for k := range list {
		for _, v := range list[k] {
			seen[k] = append(seen[k], l.score(v[0]))
		}
	}
	if apart := mean(seen[0]) - mean(seen[1]); apart < 0.5 {
		t.Errorf("seen, they score %v more", apart)
	}
}

// TestFitNothing: of two examples, of examples alone and of pages without the view nothing is fitted, and a page that has nothing of it scores 0.
func TestFitNothing(t *testing.T) {
	some := func(n int, word string) (list []Views) {
		for i := range n {
			list = append(list, ViewsOf(&Page{Text: textOf(fmt.Sprintf("%s both w%d", word, i%3))}))
		}
		return list
	}
	for name, test := range map[string][2][]Views{
		"two examples":     {some(2, "raven"), some(20, "soup")},
		"no others":        {some(20, "raven"), nil},
		"no examples":      {nil, some(20, "soup")},
		"without the view": {make([]Views, 9), some(20, "soup")},
	} {
		l := linear{terms: map[uint32]linearTerm{1: {1, 1}}}
		mine, theirs := l.fit(test[0], test[1], 0)
		if len(mine) != len(test[0]) || len(theirs) != len(test[1]) || l.score(textOf("raven both")) != 0 {
			t.Errorf("%s: %v %v, score %v", name, mine, theirs, l.score(textOf("raven both")))
		}
	}
	var l linear
	examples := append(some(3, "raven"), Views{})
	mine, _ := l.fit(examples, some(20, "soup"), 0)
	if mine[3] != 0 || l.score(nil) != 0 || !(l.score(textOf("raven")) > l.score(textOf("soup"))) {
		t.Errorf("%v; of nothing %v, raven %v, soup %v", mine, l.score(nil), l.score(textOf("raven")), l.score(textOf("soup")))
	}
}

// TestFusedStateOfVersion2: what an order without regressions of pages has learned is read, and they are fitted; views of pages then had no targets of links.
func TestFusedStateOfVersion2(t *testing.T) {
	a := NewFused(examples(10), DefaultSettings())
	good, _, _ := crawl(a, 120)
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var state fusedState
	if err := cbor.Unmarshal(raw, &state); err != nil {
		t.Fatal(err)
	}
	for _, list := range [][][]byte{state.Examples, state.Others} {
		for i := range list {
			v, err := decodeViews(list[i])
			if err != nil {
				t.Fatal(err)
			}
			v[targets] = nil
			list[i] = v.Encode()
			list[i] = list[i][:len(list[i])-1] // an empty view has one byte
		}
	}
	if raw, err = cbor.Marshal(state); err != nil {
		t.Fatal(err)
	}
	var former map[int]any
	if err := cbor.Unmarshal(raw, &former); err != nil {
		t.Fatal(err)
	}
	former[1] = 2
	former[6], former[14] = former[6].([]any)[:4], former[14].([]any)[:4]
	delete(former, 16)
	if raw, err = cbor.Marshal(former); err != nil {
		t.Fatal(err)
	}
	b := NewFused(nil, DefaultSettings())
	if err := b.Restore(raw); err != nil {
		t.Fatal(err)
	}
	if x, y := a.Priority(good), b.Priority(good); x != y {
		t.Errorf("%v, restored %v", x, y)
	}
	if b.Examples() != 10 || len(b.relevance.fits[0].terms) == 0 || b.relevance.weights[firstFit] <= 0 {
		t.Errorf("%d examples, %d terms, weights %v", b.Examples(), len(b.relevance.fits[0].terms), b.relevance.weights)
	}
}
