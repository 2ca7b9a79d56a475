package order

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/text"
)

// means is a thesaurus by hand.
type means struct{ same, near map[string][]string }

func (m means) ids(list map[string][]string, term uint32) (ids []uint32) {
	for word, others := range list {
		if text.Hash(word) == term {
			for _, o := range others {
				ids = append(ids, text.Hash(o))
			}
		}
	}
	return ids
}
func (m means) Synonyms(term uint32) []uint32 { return m.ids(m.same, term) }
func (m means) Near(term uint32) []uint32     { return m.ids(m.near, term) }

// TestSemantic checks Eq. 4 by hand: of six pairs of terms, one is equal, one a pair of synonyms, and one has a broader term.
func TestSemantic(t *testing.T) {
	words := means{map[string][]string{"car": {"auto"}}, map[string][]string{"car": {"vehicle"}}}
	p := &Page{Text: textOf("car auto vehicle"), Links: []Link{{Anchor: textOf("vehicle")}, {}}}
	for broader, want := range map[bool][2]float64{
		false: {(2.0 / 6) / 2, (2.0 / 6) / 2},
		true:  {(2.5/6 + 0.5/2) / 2, (2.5 / 6) / 2},
	} {
		got := priorities(NewSemantic(textOf("car raven"), words, broader).Judge(p, nil))
		if !near(got[0], want[0]) || !near(got[1], want[1]) {
			t.Errorf("broader %v: %v, want %v", broader, got, want)
		}
	}
	if got := priorities(NewSemantic(nil, words, true).Judge(p, nil)); got[0] != 0 {
		t.Errorf("without a topic: %v", got)
	}
}

// TestHMMByHand checks Eq. 5 and 6 with matrices that are easy to follow.
func TestHMMByHand(t *testing.T) {
	h := &HMM{}
	h.next = [Levels][Levels]float64{{.5, .5, 0, 0}, {.8, 0, .2, 0}, {0, .5, 0, .5}, {0, 0, .1, .9}}
	h.seen = [Levels][]float64{{.9, .1}, {.2, .8}, {.1, .9}, {.1, .9}}
	levels := [Levels]float64{.1, .2, .3, .4}
	want := [Levels]float64{.1*.5 + .2*.8, .1*.5 + .3*.5, .2*.2 + .4*.1, .3*.5 + .4*.9}
	got := h.step(levels)
	for i := range got {
		if !near(got[i], want[i]) {
			t.Errorf("Eq. 6: %v, want %v", got, want)
		}
	}
	seen := h.condition(levels, 0)
	sum := .1*.9 + .2*.2 + .3*.1 + .4*.1
	for i, x := range []float64{.09 / sum, .04 / sum, .03 / sum, .04 / sum} {
		if !near(seen[i], x) {
			t.Errorf("Eq. 5: %v", seen)
		}
	}
}

// trained are pages of the topic, lists that link to them, and front pages that link to lists.
func trained() (list []Trained) {
	for i := range 8 {
		list = append(list, Trained{Text: page(i, true).Text})
	}
	for i := range 4 {
		list = append(list, Trained{Text: textOf(fmt.Sprintf("list of all birds page %d", i)), Level: 1, Next: []int{2 * i, 2*i + 1}})
	}
	for i := range 4 {
		list = append(list, Trained{Text: textOf(fmt.Sprintf("welcome front house %d", i)), Level: 2, Next: []int{8 + i}})
	}
	for i := range 4 {
		list = append(list, Trained{Text: textOf(fmt.Sprintf("soups pots onions %d", i)), Level: 3, Next: []int{12 + i, 16 + (i+1)%4}})
	}
	return list
}

func TestHMM(t *testing.T) {
	s := DefaultHMM()
	s.Clusters = 3
	h := NewHMM(trained(), s)
	for i := range h.training {
		if (h.cluster[i] == 0) != (i < 8) {
			t.Errorf("page %d is in cluster %d", i, h.cluster[i])
		}
	}
	for _, row := range append(slices.Clone(h.seen[:]), h.next[0][:], h.next[3][:], h.begin[:]) {
		sum := 0.0
		for _, x := range row {
			sum += x
		}
		if !near(sum, 1) {
			t.Errorf("%v adds up to %v", row, sum)
		}
	}
	judge := func(words string, kept []byte) Judged {
		return h.Judge(&Page{URL: "http://a.test/", Text: textOf(words), Links: []Link{{URL: "http://a.test/x", Anchor: textOf("raven")}}}, kept).Links[0]
	}
	of := func(words string, kept []byte) float64 { return judge(words, kept).Priority }
	list, front, soups := judge("list of all birds page", nil), judge("welcome front house", nil), judge("soups pots onions", nil)
	if list.Priority <= front.Priority || front.Priority <= soups.Priority || list.Priority > 1+secondLinkWeight || soups.Priority < 0 {
		t.Errorf("links of lists %v, of front pages %v, of soups %v", list, front, soups)
	}
	// the pages on the path count: below a list, a page without known words is more likely relevant
	below, elsewhere := of("nothing known", list.LinkFeatures), of("nothing known", soups.LinkFeatures)
	if below == elsewhere {
		t.Errorf("the way does not matter: %v", below)
	}
	for _, kept := range [][]byte{{}, {1}, list.LinkFeatures[1:], append(slices.Clone(list.LinkFeatures), 0, 0, 0, 0)} {
		if got := of("nothing known", kept); got != of("nothing known", nil) {
			t.Errorf("%d bytes that cannot be read count: %v", len(kept), got)
		}
	}
	if c := h.clusterOf(textOf("zzz qqq").Damped()); c != -1 {
		t.Errorf("a page of unknown words is in cluster %d", c)
	}
	s.Centroid = true
	h = NewHMM(trained(), s)
	plain := of("raven crow feather wing nest", nil)
	s.Anchor = true
	h = NewHMM(trained(), s)
	if with := of("raven crow feather wing nest", nil); plain < 0.4 || with == plain || with < 0 || with > 1+secondLinkWeight {
		t.Errorf("with the centroid %v, with the anchor too %v", plain, with)
	}
	empty := NewHMM(nil, DefaultHMM())
	if got := priorities(empty.Judge(&Page{Text: textOf("raven"), Links: make([]Link, 1)}, nil)); math.IsNaN(got[0]) {
		t.Errorf("without training: %v", got)
	}
	one := NewHMM([]Trained{{Text: textOf("raven")}, {Text: textOf("crow"), Level: 1, Next: []int{0}}}, DefaultHMM())
	if got := priorities(one.Judge(&Page{Text: textOf("crow"), Links: make([]Link, 1)}, nil)); math.IsNaN(got[0]) || got[0] < 0.5 {
		t.Errorf("trained with two pages: %v", got)
	}
}

// TestHMMWay: the levels of a page are stored with its links, and the next page is one step closer.
func TestHMMWay(t *testing.T) {
	s := DefaultHMM()
	s.Clusters = 3
	h := NewHMM(trained(), s)
	list := h.Judge(&Page{Text: textOf("list of all birds page"), Links: make([]Link, 2)}, nil)
	levels := h.condition(h.begin, h.clusterOf(textOf("list of all birds page").Damped()))
	got, ok := readFloats(list.Links[1].LinkFeatures, Levels)
	if !ok || !slices.EqualFunc(got, levels[:], near) {
		t.Fatalf("kept %v, want %v", got, levels)
	}
	ahead := h.step(h.step(levels))
	want := ahead[0] + secondLinkWeight*h.step(ahead)[0]
	if got := h.Judge(&Page{Text: textOf("zzz"), Links: make([]Link, 1)}, list.Links[0].LinkFeatures).Links[0].Priority; !near(got, want) {
		t.Errorf("two links from a list: %v, want %v", got, want)
	}
}
