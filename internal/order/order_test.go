package order

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// text makes the vector of a text's words.
func text(s string) Terms {
	v := map[string]float64{}
	for w := range strings.FieldsSeq(s) {
		v[w]++
	}
	return NewTerms(v)
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
		if got := Cosine(text(test.a), text(test.b)); !near(got, test.want) {
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
		got, want := NewTerms(a).Add(NewTerms(b), 2), NewTerms(sum)
		if !slices.Equal(got, want) {
			t.Fatalf("%v + 2 × %v is %v", a, b, got)
		}
		if !near(NewTerms(a).Dot(NewTerms(b)), NewTerms(b).Dot(NewTerms(a))) {
			t.Fatalf("%v · %v", a, b)
		}
	}
}

// TestBest checks Eq. 3 of Batsakis et al. by hand: the page has 4/5 in common with the topic, the anchor 1/√2.
func TestBest(t *testing.T) {
	topic := text("raven raven crow")
	p := &Page{Text: text("raven crow crow"), Links: []Link{{Anchor: text("raven crow")}, {Anchor: text("cat")}, {}}}
	first := 3 / (math.Sqrt(5) * math.Sqrt2)
	for name, test := range map[string]struct {
		content, anchor bool
		want            []float64
	}{
		"content": {true, false, []float64{0.8, 0.8, 0.8}},
		"anchor":  {false, true, []float64{first, 0, 0}},
		"both":    {true, true, []float64{(0.8 + first) / 2, 0.4, 0.4}},
	} {
		got := NewBest(topic, test.content, test.anchor).Fetched(p)
		for i := range got {
			if !near(got[i], test.want[i]) {
				t.Errorf("%s: %v, want %v", name, got, test.want)
			}
		}
	}
	if got := (Breadth{}).Fetched(p); !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("breadth-first: %v", got)
	}
}

// TestShark: what is inherited goes through a page that has nothing of the topic, halved at each step.
func TestShark(t *testing.T) {
	s := NewShark(text("raven"))
	got := s.Fetched(&Page{URL: "a", Text: text("raven"), Links: []Link{{URL: "b"}, {URL: "c", Anchor: text("raven")}, {URL: "d", Around: text("raven crow")}}})
	want := []float64{.5 * .5, .5*.5 + .5*(.8+.2), .5*.5 + .5*.2/math.Sqrt2}
	for i := range got {
		if !near(got[i], want[i]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := s.Fetched(&Page{URL: "b", Text: text("cat"), Links: []Link{{URL: "e"}}}); !near(got[0], .5*.25) {
		t.Errorf("through a page of another topic: %v", got)
	}
}

// TestContrast checks the weight of a word by hand: half of the examples' words against a quarter of all.
func TestContrast(t *testing.T) {
	c := newContrast(0)
	c.add(text("raven crow"), true)
	c.add(text("cat dog"), false)
	// after the word itself is counted: background (0+1+1)/(4+1), mine 1/2
	if got, want := c.score(text("raven"), nil), math.Log(0.5/0.4); !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := c.score(text("cat"), nil); !math.IsInf(got, -1) {
		t.Errorf("a word that no example has: %v", got)
	}
	c.smoothing = 1
	if got := c.score(text("cat"), nil); got >= 0 || math.IsInf(got, 0) {
		t.Errorf("smoothed: %v", got)
	}
	if got := c.score(text("raven crow"), text("raven crow")); got != 0 {
		t.Errorf("an example that is all there is says %v for itself", got)
	}
}

// page writes one of the topic, or of another.
func page(i int, ravens bool) *Page {
	if ravens {
		return &Page{URL: fmt.Sprintf("http://a.test/birds/%d.html", i), Title: text("ravens"), Text: text(fmt.Sprintf("raven crow feather wing nest n%d", i))}
	}
	return &Page{URL: fmt.Sprintf("http://a.test/soups/%d.html", i), Title: text("soups"), Text: text(fmt.Sprintf("pot water onion salt nest n%d", i))}
}

func examples(n int) (list []*Page) {
	for i := range n {
		list = append(list, page(1000+i, true))
	}
	return list
}

func TestRelevance(t *testing.T) {
	r := NewRelevance(examples(10), DefaultSettings())
	for i := range 60 {
		r.Add(page(i, i%10 == 0))
	}
	if good, bad := r.Of(page(99, true)), r.Of(page(99, false)); good < 0.7 || bad > 0.3 {
		t.Errorf("a page of the topic %v, another %v", good, bad)
	}
	if x := r.Of(&Page{}); math.IsNaN(x) || x < 0 || x > 1 {
		t.Errorf("an empty page: %v", x)
	}
	none := NewRelevance(nil, DefaultSettings())
	for i := range 60 {
		none.Add(page(i, false))
	}
	if x := none.Of(page(1, true)); math.IsNaN(x) {
		t.Error("without examples there is no number")
	}
}

// crawl lets an order see a web whose links tell where they lead by anchor alone, and returns the priorities of a good
// and a bad link.
func crawl(o *Fused, pages int) (good, bad float64) {
	hub := &Page{URL: "http://a.test/", Text: text("all of it")}
	for i := range pages {
		name := "soup recipes"
		if i%3 == 0 {
			name = "bird lore"
		}
		hub.Links = append(hub.Links, Link{URL: page(i, i%3 == 0).URL, Anchor: text(name), Name: name, TagPath: "/ul/li"})
	}
	o.Fetched(hub)
	for i := range pages {
		p := page(i, i%3 == 0)
		o.Outcome(hub.URL, &hub.Links[i], p)
		o.Fetched(p)
	}
	return o.Priority("http://b.test/", &Link{URL: "http://b.test/x1", Anchor: text("bird lore"), Name: "bird lore"}),
		o.Priority("http://b.test/", &Link{URL: "http://b.test/x2", Anchor: text("soup recipes"), Name: "soup recipes"})
}

// TestFusedLearns: a word of anchors that led to pages of the topic counts on another host too.
func TestFusedLearns(t *testing.T) {
	before, same := crawl(NewFused(examples(10), DefaultSettings()), 0)
	good, bad := crawl(NewFused(examples(10), DefaultSettings()), 90)
	if math.Abs(before-same) > 0.05 || good < bad+0.1 {
		t.Errorf("before %v and %v, after %v and %v", before, same, good, bad)
	}
	again, _ := crawl(NewFused(examples(10), DefaultSettings()), 90)
	if again != good {
		t.Errorf("the same crawl with the same seed gives %v, then %v", good, again)
	}
}

// TestFusedInRange: priorities are numbers between 0 and what relevance and promise give together, whatever comes.
func TestFusedInRange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	s := DefaultSettings()
	o := NewFused(examples(3), s)
	words := []string{"", "raven", "soup", "a b c", "Ünï", strings.Repeat("x ", 100)}
	urls := []string{"", "http://", "http://a.test", "http://a.test/~x/", "nothing", "http://a.test/?a=1&b", "http://[::1]/a//b/", "http://a.test/" + strings.Repeat("d/", 80)}
	for range 300 {
		p := &Page{URL: urls[random.IntN(len(urls))], Text: text(words[random.IntN(len(words))])}
		for range random.IntN(5) {
			name := words[random.IntN(len(words))]
			p.Links = append(p.Links, Link{URL: urls[random.IntN(len(urls))], Anchor: text(name), Name: name, Around: text(name), TagPath: name})
		}
		for i, x := range o.Fetched(p) {
			if math.IsNaN(x) || x < 0 || x > 1+s.Hub {
				t.Fatalf("%+v: %v", p.Links[i], x)
			}
			o.Outcome(p.URL, &p.Links[i], p)
		}
	}
}

func TestFormOfURLs(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/~jay/cs101/": "~/cs0/", "http://a.test/": "", "http://a.test": "", "http://a.test/2024/05/old-birds.html": "0/0/f.html", "http://a.test/a/b": "a/f.",
	} {
		if got := pathShape(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	for url, want := range map[string]string{"http://a.test/x/y.html": "http://a.test/x/", "http://a.test/x/": "http://a.test/", "http://a.test/": "http://", "x": ""} {
		if got := directory(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	for name, want := range map[string]string{"Ann Example": "CC", "read more": "cc", "CS 101": "X0", "": "", "»": ".", "One two Three four Five six": "CcCcC…"} {
		if got := nameShape(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if a, b := urlFeatures("http://a.test/~jay/"), urlFeatures("http://b.test/~kay/"); len(a) == 0 || !slices.ContainsFunc(a, func(x uint32) bool { return slices.Contains(b, x) }) {
		t.Error("two home pages have nothing in common")
	}
}

// BenchmarkFused is the cost of a link when its page is fetched, and of its priority later.
func BenchmarkFused(b *testing.B) {
	o := NewFused(examples(20), DefaultSettings())
	crawl(o, 90)
	p := &Page{URL: "http://a.test/list", Text: text(strings.Repeat("raven soup pot ", 100))}
	for i := range 50 {
		p.Links = append(p.Links, Link{URL: fmt.Sprintf("http://a.test/birds/%d/x.html", i), Anchor: text("birds and soups of old"), Name: "Birds and soups of old", Around: text("a list of birds and of soups"), TagPath: "/ul/li"})
	}
	b.Run("fetched", func(b *testing.B) {
		for b.Loop() {
			o.Fetched(p)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(p.Links)), "ns/link")
	})
	b.Run("priority", func(b *testing.B) {
		for b.Loop() {
			o.Priority(p.URL, &p.Links[7])
		}
	})
	b.Run("outcome", func(b *testing.B) {
		for b.Loop() { // a page of fifty links
			o.Outcome(p.URL, &p.Links[7], p)
		}
	})
}
