package order

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// means is a thesaurus by hand.
type means struct{ same, near map[string][]string }

func (m means) ids(list map[string][]string, term uint32) (ids []uint32) {
	for word, others := range list {
		if Hash(word) == term {
			for _, o := range others {
				ids = append(ids, Hash(o))
			}
		}
	}
	return ids
}
func (m means) Synonyms(term uint32) []uint32 { return m.ids(m.same, term) }
func (m means) Near(term uint32) []uint32     { return m.ids(m.near, term) }

// TestSemantic checks Eq. 4 by hand: of six pairs of terms one is the same, one a synonym, one broader.
func TestSemantic(t *testing.T) {
	words := means{map[string][]string{"car": {"auto"}}, map[string][]string{"car": {"vehicle"}}}
	p := &Page{Text: text("car auto vehicle"), Links: []Link{{Anchor: text("vehicle")}, {}}}
	for broader, want := range map[bool][2]float64{
		false: {(2.0 / 6) / 2, (2.0 / 6) / 2},
		true:  {(2.5/6 + 0.5/2) / 2, (2.5 / 6) / 2},
	} {
		got := NewSemantic(text("car raven"), words, broader).Fetched(p)
		if !near(got[0], want[0]) || !near(got[1], want[1]) {
			t.Errorf("broader %v: %v, want %v", broader, got, want)
		}
	}
	if got := NewSemantic(nil, words, true).Fetched(p); got[0] != 0 {
		t.Errorf("without a topic: %v", got)
	}
}

// TestHMMByHand checks Eq. 5 and 6 with matrices that are easy to follow.
func TestHMMByHand(t *testing.T) {
	h := &HMM{ways: map[string]way{}}
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
	seen := h.look(levels, 0)
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
		list = append(list, Trained{Text: text(fmt.Sprintf("list of all birds page %d", i)), Level: 1, Next: []int{2 * i, 2*i + 1}})
	}
	for i := range 4 {
		list = append(list, Trained{Text: text(fmt.Sprintf("welcome front house %d", i)), Level: 2, Next: []int{8 + i}})
	}
	for i := range 4 {
		list = append(list, Trained{Text: text(fmt.Sprintf("soups pots onions %d", i)), Level: 3, Next: []int{12 + i, 16 + (i+1)%4}})
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
	of := func(url, words string) float64 {
		return h.Fetched(&Page{URL: url, Text: text(words), Links: []Link{{URL: url + "/x", Anchor: text("raven")}}})[0]
	}
	list, front, soups := of("http://a.test/1", "list of all birds page"), of("http://a.test/2", "welcome front house"), of("http://a.test/3", "soups pots onions")
	if list <= front || front <= soups || list > 1+nearly || soups < 0 {
		t.Errorf("links of lists %v, of front pages %v, of soups %v", list, front, soups)
	}
	// what was seen on the way counts: below a list, a page that says nothing is likelier of the topic
	below, elsewhere := of("http://a.test/1/x", "nothing known"), of("http://a.test/3/x", "nothing known")
	if below == elsewhere {
		t.Errorf("the way does not matter: %v", below)
	}
	if c := h.clusterOf(damped(text("zzz qqq"))); c != -1 {
		t.Errorf("a page of unknown words is in cluster %d", c)
	}
	s.Centroid = true
	h = NewHMM(trained(), s)
	plain := of("http://a.test/4", "raven crow feather wing nest")
	s.Anchor = true
	h = NewHMM(trained(), s)
	if with := of("http://a.test/4", "raven crow feather wing nest"); plain < 0.4 || with == plain || with < 0 || with > 1+nearly {
		t.Errorf("with the centroid %v, with the anchor too %v", plain, with)
	}
	empty := NewHMM(nil, DefaultHMM())
	if got := empty.Fetched(&Page{Text: text("raven"), Links: make([]Link, 1)}); math.IsNaN(got[0]) {
		t.Errorf("without training: %v", got)
	}
	one := NewHMM([]Trained{{Text: text("raven")}, {Text: text("crow"), Level: 1, Next: []int{0}}}, DefaultHMM())
	if got := one.Fetched(&Page{Text: text("crow"), Links: make([]Link, 1)}); math.IsNaN(got[0]) || got[0] < 0.5 {
		t.Errorf("trained with two pages: %v", got)
	}
}

// TestPlaces: a place that led to pages of the topic is better than one that did not.
func TestPlaces(t *testing.T) {
	b := NewPlaces(text("raven"))
	good, bad := &Link{TagPath: "html/body/main/ul/li/a"}, &Link{TagPath: "html/body/nav/div/span/a"}
	from := "http://a.test/"
	if x, y := b.Priority(from, good), b.Priority(from, bad); x != y {
		t.Errorf("before anything is known %v and %v", x, y)
	}
	for range 20 {
		b.Outcome(from, good, &Page{Text: text("raven")})
		b.Outcome(from, bad, &Page{Text: text("soup")})
	}
	got := b.Fetched(&Page{URL: from, Links: []Link{*good, *bad}})
	if got[0] <= got[1]+0.3 {
		t.Errorf("%v", got)
	}
}

func TestBatch(t *testing.T) {
	b := Batch{Order: NewBest(text("raven"), true, false), N: 7}
	if b.Size() != 7 || b.Fetched(&Page{Text: text("raven"), Links: make([]Link, 1)})[0] != 1 {
		t.Error("a batch is another order")
	}
	var _ Batched = b
}
