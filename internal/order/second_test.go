package order

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// byKeywords is an order that is given keywords alone, after pages of which one in five is of the first board. Scores are drawn: those of the board are higher on the whole, by what they
// scatter by if they are usual, else far higher.
func byKeywords(usual bool, random *rand.Rand) *Fused {
	s := DefaultSettings()
	s.Enough = 0.4
	o := NewFused(nil, s)
	for range 300 {
		first := random.IntN(5) == 0
		o.Learn(rated(o, scored(first, usual, random)))
	}
	return o
}

// scored is a page of a board with its document score.
func scored(first, usual bool, random *rand.Rand) *Page {
	p := boardPages(1, first, random)[0]
	p.Links = p.Links[14:] // six users, and the board
	p.Score = 0.5 + 0.05*random.NormFloat64()
	if first {
		p.Score += 0.05
	} else if !usual {
		p.Score /= 10
	}
	return p
}

func rated(o *Fused, p *Page) Visit {
	j := o.Judge(p, nil)
	return Visit{PageFeatures: j.PageFeatures, Worth: j.Worth, Score: p.Score, Host: HostOf(p.URL)}
}

// TestSecondView: where the scores of keywords hardly differ, what pages link to decides, and explain says so.
func TestSecondView(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	o := byKeywords(true, random)
	ahead, alone := 0, 0
	for range 200 {
		mine, other := scored(true, true, random), scored(false, true, random)
		if o.Judge(mine, nil).Worth > o.Judge(other, nil).Worth {
			ahead++
		}
		if mine.Score > other.Score {
			alone++
		}
	}
	if ahead < 190 || alone > 175 {
		t.Errorf("%d of 200 pages of the board are worth more than another; %d by the score alone", ahead, alone)
	}
	list := o.Estimators()
	if len(list) != 2 || list[0].Name != ByScore || list[1].Name != "regression of the targets of links" || list[1].Share < 0.25 || math.Abs(list[0].Share+list[1].Share-1) > 1e-9 {
		t.Errorf("estimators: %+v", list)
	}
}

// TestSecondViewSilent: the score is left alone where it distinguishes pages by itself, where link targets say nothing of it, and where there are few pages; and with examples it has its
// share beside theirs, as before.
func TestSecondViewSilent(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	if w := byKeywords(false, random).relevance.second.weight; w > 0.05 {
		t.Errorf("scores that differ: weight %v", w)
	}
	var pages []Views
	var ratings []rating
	for range 300 {
		p := boardPages(1, false, random)[0]
		p.Links = p.Links[:20]
		pages, ratings = append(pages, ViewsOf(p)), append(ratings, rating{float32(0.5 + 0.05*random.NormFloat64()), 0.5, 1})
	}
	var s secondView
	if s.learn(pages, ratings); s.weight > 0.3 {
		t.Errorf("targets that say nothing: weight %v", s.weight)
	}
	if s.learn(pages[:secondLeast-1], ratings[:secondLeast-1]); s.weight != 0 || s.worth(0.7, pages[0][targets], 1) != 0.7 {
		t.Errorf("few pages: %+v", s)
	}
	o := byKeywords(true, random)
	o.Teach(viewsOf(boardPages(3, true, random)))
	if o.relevance.second.weight != 0 || len(o.Estimators()) != estimators+1 {
		t.Errorf("with examples: weight %v, %v", o.relevance.second.weight, o.Estimators())
	}
}

// TestSecondViewState: the second view is restored as it was, and learns on alike. An earlier state has none, and gets one from the next pages.
func TestSecondViewState(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 10))
	a := byKeywords(true, random)
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	restore := func(raw []byte) (*Fused, error) {
		o := NewFused(nil, a.settings)
		return o, o.Restore(raw)
	}
	b, err := restore(raw)
	if err != nil {
		t.Fatal(err)
	}
	var state fusedState
	if err := cbor.Unmarshal(raw, &state); err != nil {
		t.Fatal(err)
	}
	state.Ratings, state.Second = nil, secondState{}
	if raw, err = cbor.Marshal(state); err != nil {
		t.Fatal(err)
	}
	former, err := restore(raw)
	if err != nil {
		t.Fatal(err)
	}
	if former.relevance.second.weight != 0 {
		t.Errorf("an earlier state has %+v", former.relevance.second)
	}
	for n := range 800 {
		p := scored(n%5 == 0, true, random)
		x, y := a.Judge(p, nil), b.Judge(p, nil)
		if math.Abs(x.Worth-y.Worth) > 1e-3 { // views are kept in steps
			t.Fatalf("page %d is worth %v, restored %v", n, x.Worth, y.Worth)
		}
		for _, o := range []*Fused{a, b, former} {
			o.Learn(Visit{PageFeatures: x.PageFeatures, Worth: x.Worth, Score: p.Score, Host: HostOf(p.URL)})
		}
	}
	if former.relevance.second.weight < 0.5 {
		t.Errorf("it has learned %v", former.relevance.second.weight)
	}
	if n := len(former.relevance.ratings); n != len(former.relevance.others) || !slices.ContainsFunc(former.relevance.ratings, func(r rating) bool { return r.Score < 0 }) {
		t.Errorf("%d ratings of %d pages, all of them with a score", n, len(former.relevance.others))
	}
	state.Ratings = make([]rating, 3)
	if raw, err = cbor.Marshal(state); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(raw); err == nil {
		t.Error("a state with ratings of three pages is restored")
	}
}

// TestSecondViewUnrated: pages of a state that kept no ratings are left out. Taken for pages with a score of 0, they would be the lowest quarter, and the view silent.
func TestSecondViewUnrated(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 12))
	r := byKeywords(true, random).relevance
	want := r.second
	var others []Views
	for _, p := range boardPages(200, false, random) {
		others = append(others, ViewsOf(p))
	}
	r.second.learn(slices.Concat(others, r.others), slices.Concat(slices.Repeat([]rating{{Score: -1}}, len(others)), r.ratings))
	if got := r.second; got.weight < 0.25 || got.weight != want.weight || len(got.hosts) != 1 {
		t.Errorf("weight %v of %d hosts, without such pages %v", got.weight, len(got.hosts), want.weight)
	}
}

// TestSecondViewHosts: the view orders the pages of a host, and hosts are as far from each other as by the score. The best scores are of one host, all pages of which link to its menu: without
// that, a page of another host would be worth little whatever its score.
func TestSecondViewHosts(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 13))
	var pages []Views
	var ratings []rating
	on := func(host int, first bool) Views {
		p := scored(first, true, random)
		p.URL = fmt.Sprintf("http://h%d.test/", host)
		for i := range p.Links {
			p.Links[i].URL = strings.Replace(p.Links[i].URL, "a.test", fmt.Sprintf("h%d.test", host), 1)
		}
		for i := range 5 {
			p.Links = append(p.Links, Link{URL: fmt.Sprintf("http://h%d.test/menu/%d", host, i)})
		}
		return ViewsOf(p)
	}
	add := func(host int, first bool, score float64) {
		score += 0.02 * random.NormFloat64()
		pages, ratings = append(pages, on(host, first)), append(ratings, rating{float32(score), float32(score), uint32(host)})
	}
	for i := range 150 {
		add(1, i%3 == 0, 0.55+0.1*float64((3-i%3)/3))
		add(2, i%3 == 0, 0.5)
	}
	var s secondView
	if s.learn(pages, ratings); s.weight < 1 {
		t.Fatalf("weight %v", s.weight)
	}
	mean := func(host uint32, first bool) (worth float64) {
		for range 100 {
			worth += s.worth(0.8, on(int(host), first)[targets], host) / 100
		}
		return worth
	}
	one, two := (mean(1, true)+2*mean(1, false))/3, (mean(2, true)+2*mean(2, false))/3
	if math.Abs(one-two) > 0.15 {
		t.Errorf("pages with the same score: of one host %.3f, of the other %.3f", one, two)
	}
	if good, bad := mean(1, true), mean(1, false); good < bad+0.05 {
		t.Errorf("of one host: pages of the board %.3f, others %.3f", good, bad)
	}
	if got := mean(3, false); math.Abs(got-(0.8+s.shift)) > 1e-9 {
		t.Errorf("of a host that is not known: %.3f, the score and the shift are %.3f", got, 0.8+s.shift)
	}
	if alone := s.of(on(2, true)[targets]); alone > 0.5 {
		t.Errorf("the view alone has %.3f for the board of the other host: the test shows nothing", alone)
	}
}

// TestSecondViewPool: what several workers have learned has a second view of the pages of all.
func TestSecondViewPool(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	a, b := byKeywords(true, random), byKeywords(true, random)
	base := NewFused(nil, a.settings)
	o := Pool(base, []*Fused{a, b})
	if len(o.relevance.ratings) != len(o.relevance.others) || o.relevance.second.weight < 0.25 {
		t.Errorf("%d ratings of %d pages, weight %v", len(o.relevance.ratings), len(o.relevance.others), o.relevance.second.weight)
	}
}
