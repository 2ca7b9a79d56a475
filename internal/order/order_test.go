package order

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/text"
)

// textOf makes the vector of a text's words.
func textOf(s string) text.HashedVector {
	v := map[string]float64{}
	for w := range strings.FieldsSeq(s) {
		v[w]++
	}
	return text.NewHashedVector(v)
}

// priorities are those of the links of a judgement.
func priorities(j Judgement) []float64 {
	out := make([]float64, len(j.Links))
	for i, l := range j.Links {
		out[i] = l.Priority
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestCosine(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"raven crow", "raven crow", 1},
		{"raven", "crow", 0},
		{"raven crow", "raven", 1 / math.Sqrt2},
		{"raven raven crow", "raven crow crow", 4.0 / 5},
		{"", "raven", 0},
		{"", "", 0},
	} {
		if got := text.Cosine(textOf(test.a), textOf(test.b)); !near(got, test.want) {
			t.Errorf("%q and %q: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestTermsAdd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a, b := map[string]float64{}, map[string]float64{}
		for _, m := range []map[string]float64{a, b} {
			for range random.IntN(6) {
				m[fmt.Sprint(random.IntN(8))] = float64(1 + random.IntN(4))
			}
		}
		sum := map[string]float64{}
		for k, w := range a {
			sum[k] += w
		}
		for k, w := range b {
			sum[k] += 2 * w
		}
		got, want := text.NewHashedVector(a).Add(text.NewHashedVector(b), 2), text.NewHashedVector(sum)
		if !slices.Equal(got, want) {
			t.Fatalf("%v + 2 × %v is %v", a, b, got)
		}
		if !near(text.NewHashedVector(a).Dot(text.NewHashedVector(b)), text.NewHashedVector(b).Dot(text.NewHashedVector(a))) {
			t.Fatalf("%v · %v", a, b)
		}
	}
}

// TestBest checks Eq. 3 of Batsakis et al. by hand: the page has 4/5 in common with the topic, the anchor 1/√2.
func TestBest(t *testing.T) {
	topic := textOf("raven raven crow")
	p := &Page{Text: textOf("raven crow crow"), Links: []Link{{Anchor: textOf("raven crow")}, {Anchor: textOf("cat")}, {}}}
	first := 3 / (math.Sqrt(5) * math.Sqrt2)
	for name, test := range map[string]struct {
		content, anchor bool
		want            []float64
	}{
		"content": {true, false, []float64{0.8, 0.8, 0.8}},
		"anchor":  {false, true, []float64{first, 0, 0}},
		"both":    {true, true, []float64{(0.8 + first) / 2, 0.4, 0.4}},
	} {
		got := priorities(NewBest(topic, test.content, test.anchor).Judge(p, nil))
		for i := range got {
			if !near(got[i], test.want[i]) {
				t.Errorf("%s: %v, want %v", name, got, test.want)
			}
		}
	}
}

// TestBreadth: links of a page have the same priority, which is higher than that of pages farther from a seed.
func TestBreadth(t *testing.T) {
	for depth, want := range map[int]float64{0: 0.5, 3: 0.2, 98: 0.01} {
		got := priorities(Breadth{}.Judge(&Page{Depth: depth, Links: make([]Link, 3)}, nil))
		if !slices.EqualFunc(got, []float64{want, want, want}, near) {
			t.Errorf("%d links from a seed: %v, want %v", depth, got, want)
		}
	}
}

// TestShark: relevance is inherited through a page that is not relevant, and halved at each step.
func TestShark(t *testing.T) {
	s := NewShark(textOf("raven"))
	from := s.Judge(&Page{URL: "a", Text: textOf("raven"), Links: []Link{{URL: "b"}, {URL: "c", Anchor: textOf("raven")}, {URL: "d", Around: textOf("raven crow")}}}, nil)
	got := priorities(from)
	want := []float64{.5 * .5, .5*.5 + .5*(.8+.2), .5*.5 + .5*.2/math.Sqrt2}
	for i := range got {
		if !near(got[i], want[i]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	cat := &Page{URL: "b", Text: textOf("cat"), Links: []Link{{URL: "e"}}}
	through := s.Judge(cat, from.Links[0].LinkFeatures).Links[0]
	if !near(through.Priority, .5*.25) {
		t.Errorf("through a page of another topic: %v", through)
	}
	if got := s.Judge(cat, through.LinkFeatures).Links[0].Priority; !near(got, .5*.125) {
		t.Errorf("through two pages of another topic: %v", got)
	}
	for _, kept := range [][]byte{nil, {}, {1, 2, 3}, {1, 2, 3, 4, 5}} {
		if got := s.Judge(cat, kept).Links[0].Priority; got != 0 {
			t.Errorf("with %d bytes that cannot be read: %v", len(kept), got)
		}
	}
	if got := s.Judge(&Page{Text: textOf("raven"), Links: make([]Link, 1)}, through.LinkFeatures).Links[0].Priority; !near(got, .5*.5) {
		t.Errorf("a page of the topic inherits nothing: %v", got)
	}
}

func TestFormOfURLs(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/~jay/cs101/": "~/cs0/", "http://a.test/": "", "http://a.test": "", "http://a.test/2024/05/old-birds.html": "0/0/f.html", "http://a.test/a/b": "a/f.",
	} {
		if addPathShape(ofShape, url) != fnv.Add(ofShape, want) {
			t.Errorf("the path of %s has not the shape %q", url, want)
		}
	}
	for url, want := range map[string]string{"http://a.test/x/y.html": "http://a.test/x/", "http://a.test/x/": "http://a.test/", "http://a.test/": "http://", "x": ""} {
		if got := directory(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	for name, want := range map[string]string{"Ann Example": "CC", "read more": "cc", "CS 101": "X0", "": "", "»": ".", "One two Three four Five six": "CcCcC…"} {
		if addNameShape(ofWriting, name) != fnv.Add(ofWriting, want) {
			t.Errorf("%q has not the shape %q", name, want)
		}
	}
	if a, b := appendURLFeatures(nil, "http://a.test/~jay/"), appendURLFeatures(nil, "http://b.test/~kay/"); len(a) == 0 || !slices.ContainsFunc(a, func(x uint32) bool { return slices.Contains(b, x) }) {
		t.Error("two home pages have nothing in common")
	}
}

// TestJudgeChangesNothing: the judgement of a page does not depend on others before it and at the same time.
func TestJudgeChangesNothing(t *testing.T) {
	fused := NewFused(examples(5), DefaultSettings())
	crawl(fused, 30)
	words := means{map[string][]string{"crow": {"raven"}}, nil}
	pages := make([]*Page, 6)
	for i := range pages {
		pages[i] = page(i, i%2 == 0)
		pages[i].Links = []Link{birds("http://a.test/birds/0.html"), soups("http://a.test/soups/1.html"), {URL: pages[i].URL, TagPath: "ul/li", Anchor: textOf("raven")}}
		pages[i].Depth = i
	}
	before := make([]Page, len(pages))
	for i, p := range pages {
		before[i] = *p
		before[i].Text, before[i].Title, before[i].Links = slices.Clone(p.Text), slices.Clone(p.Title), slices.Clone(p.Links)
		for k, l := range p.Links {
			before[i].Links[k].Anchor = slices.Clone(l.Anchor)
		}
	}
	for name, o := range map[string]Order{
		"breadth": Breadth{}, "best": NewBest(textOf("raven"), true, true), "shark": NewShark(textOf("raven")),
		"semantic": NewSemantic(textOf("crow"), words, false), "hmm": NewHMM(trained(), DefaultHMM()), "fused": fused,
	} {
		kept := o.Judge(pages[1], nil).Links[0].LinkFeatures
		want := make([]Judgement, len(pages))
		for i, p := range pages {
			want[i] = o.Judge(p, kept)
			if len(want[i].Links) != len(p.Links) {
				t.Fatalf("%s: %d of %d links are judged", name, len(want[i].Links), len(p.Links))
			}
			if name == "breadth" {
				continue
			}
			if x := priorities(want[i]); slices.Max(x) <= 0 {
				t.Errorf("%s: %v prove nothing", name, x)
			}
		}
		var wait sync.WaitGroup
		for from := range 3 {
			wait.Go(func() {
				for n := range 4 * len(pages) {
					i := (n*5 + from) % len(pages)
					if got := o.Judge(pages[i], kept); !reflect.DeepEqual(got, want[i]) {
						t.Errorf("%s: page %d is judged %v, and then %v", name, i, want[i], got)
					}
				}
			})
		}
		wait.Wait()
		for i, p := range pages {
			if !reflect.DeepEqual(*p, before[i]) {
				t.Errorf("%s changes page %d", name, i)
			}
		}
	}
}
