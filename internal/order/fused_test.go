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

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/text"
)

// TestContrast checks the weight of a word by hand: half of the examples' words against a quarter of all.
func TestContrast(t *testing.T) {
	c := newContrast(0)
	c.add(textOf("raven crow"), true)
	c.add(textOf("cat dog"), false)
	// after the word itself is counted: background (0+1+1)/(4+1), mine 1/2
	if got, want := c.score(textOf("raven"), nil), math.Log(0.5/0.4); !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := c.score(textOf("cat"), nil); !math.IsInf(got, -1) {
		t.Errorf("a word that no example has: %v", got)
	}
	c.smoothing = 1
	if got := c.score(textOf("cat"), nil); got >= 0 || math.IsInf(got, 0) {
		t.Errorf("smoothed: %v", got)
	}
	if got := c.score(textOf("raven crow"), textOf("raven crow")); got != 0 {
		t.Errorf("an example that is all there is says %v for itself", got)
	}
}

// TestContrastBounded: only when there are more terms than can be counted, the rarest are dropped.
func TestContrastBounded(t *testing.T) {
	for _, test := range []struct {
		name   string
		weight float32
	}{{"below the first bound", 0.005}, {"above it", 0.05}} {
		c := newContrast(30)
		c.add(textOf("raven"), true)
		next := uint32(0)
		page := func() (p text.HashedVector) {
			for range 100 {
				next++
				p = append(p, text.HashedTerm{ID: next, Weight: test.weight})
			}
			return append(p, text.HashedTerm{ID: math.MaxUint32, Weight: 0.5})
		}
		pages := 0
		for ; next+100 < maxTerms; pages++ {
			c.add(page(), false)
		}
		if len(c.all) != int(next)+1 {
			t.Fatalf("%s: %d terms before there are too many, want %d", test.name, len(c.all), next+1)
		}
		for range 20 {
			c.add(page(), false)
			pages++
			if len(c.all) > maxTerms {
				t.Fatalf("%s: %d terms", test.name, len(c.all))
			}
		}
		if len(c.all) > 20*100+1 {
			t.Errorf("%s: %d terms are left", test.name, len(c.all))
		}
		if got, want := c.all[math.MaxUint32], 0.5*float32(pages); got != want {
			t.Errorf("%s: the term of all pages counts %v, want %v", test.name, got, want)
		}
		if c.mine[text.Hash("raven")] != 1 {
			t.Errorf("%s: the example is forgotten", test.name)
		}
	}
}

// page writes one of the topic, or of another.
func page(i int, ravens bool) *Page {
	if ravens {
		return &Page{URL: fmt.Sprintf("http://a.test/birds/%d.html", i), Title: textOf("ravens"), Text: textOf(fmt.Sprintf("raven crow feather wing nest n%d", i))}
	}
	return &Page{URL: fmt.Sprintf("http://a.test/soups/%d.html", i), Title: textOf("soups"), Text: textOf(fmt.Sprintf("pot water onion salt nest n%d", i))}
}

func examples(n int) (list []*Page) {
	for i := range n {
		list = append(list, page(1000+i, true))
	}
	return list
}

func viewsOf(pages []*Page) (list []Views) {
	for _, p := range pages {
		list = append(list, ViewsOf(p))
	}
	return list
}

func TestRelevance(t *testing.T) {
	r := NewRelevance(viewsOf(examples(10)), DefaultSettings())
	for i := range 60 {
		r.Add(ViewsOf(page(i, i%10 == 0)), rating{})
	}
	if good, bad := r.Of(ViewsOf(page(99, true))), r.Of(ViewsOf(page(99, false))); good < 0.7 || bad > 0.3 {
		t.Errorf("a page of the topic %v, another %v", good, bad)
	}
	if x := r.Of(ViewsOf(&Page{})); math.IsNaN(x) || x < 0 || x > 1 {
		t.Errorf("an empty page: %v", x)
	}
	none := NewRelevance(nil, DefaultSettings())
	for i := range 60 {
		none.Add(ViewsOf(page(i, false)), rating{})
	}
	if x := none.Of(ViewsOf(page(1, true))); math.IsNaN(x) {
		t.Error("without examples there is no number")
	}
}

// look lets an order judge a page, which was found by links, and learn from it. It returns the judgement and the visit.
func look(o *Fused, p *Page, kept ...[]byte) (Judgement, Visit) {
	var best []byte
	if len(kept) > 0 {
		best = kept[0]
	}
	j := o.Judge(p, best)
	v := Visit{PageFeatures: j.PageFeatures, Worth: j.Worth, LinkFeatures: kept}
	for _, l := range j.Links {
		v.Promise += o.Expect(l.LinkFeatures)
	}
	o.Learn(v)
	return j, v
}

// birds is a link about birds, and soups one about soups.
func birds(url string) Link { return Link{URL: url, Anchor: textOf("bird lore"), Name: "bird lore"} }
func soups(url string) Link {
	return Link{URL: url, Anchor: textOf("soup recipes"), Name: "soup recipes"}
}

// crawl lets an order learn from a web where only anchors show the topic of the target. It returns what was stored with a good
// and a bad link of another host, and the visits.
func crawl(o *Fused, pages int) (good, bad []byte, visits []Visit) {
	hub := &Page{URL: "http://a.test/", Text: textOf("all of it")}
	for i := range pages {
		l := soups(page(i, false).URL)
		if i%3 == 0 {
			l = birds(page(i, true).URL)
		}
		l.TagPath = "/ul/li"
		hub.Links = append(hub.Links, l)
	}
	from, v := look(o, hub)
	visits = append(visits, v)
	for i := range pages {
		_, v := look(o, page(i, i%3 == 0), from.Links[i].LinkFeatures)
		visits = append(visits, v)
	}
	other := o.Judge(&Page{URL: "http://b.test/", Links: []Link{birds("http://b.test/x1"), soups("http://b.test/x2")}}, nil)
	return other.Links[0].LinkFeatures, other.Links[1].LinkFeatures, visits
}

// TestFusedLearns: a word of anchors that led to relevant pages counts on another host, too.
func TestFusedLearns(t *testing.T) {
	run := func(pages int) (good, bad float64) {
		o := NewFused(examples(10), DefaultSettings())
		g, b, _ := crawl(o, pages)
		return o.Priority(g), o.Priority(b)
	}
	before, same := run(0)
	good, bad := run(90)
	if math.Abs(before-same) > 0.025 || good < bad+0.05 {
		t.Errorf("before %v and %v, after %v and %v", before, same, good, bad)
	}
	if again, _ := run(90); again != good {
		t.Errorf("the same crawl with the same seed gives %v, then %v", good, again)
	}
}

// TestFusedMoves: what is learned changes the priority of a waiting link, from what was stored with it.
func TestFusedMoves(t *testing.T) {
	o := NewFused(examples(10), DefaultSettings())
	good, bad, _ := crawl(o, 0)
	expect, priority := o.Expect(good)-o.Expect(bad), o.Priority(good)-o.Priority(bad)
	crawl(o, 90)
	if after := o.Expect(good) - o.Expect(bad); after < expect+0.2 {
		t.Errorf("expected: %v apart, then %v", expect, after)
	}
	if after := o.Priority(good) - o.Priority(bad); after < priority+0.1 {
		t.Errorf("priorities: %v apart, then %v", priority, after)
	}
}

// TestFusedPromise: links to pages that are not relevant, but have many good links, get a higher priority.
func TestFusedPromise(t *testing.T) {
	for _, hub := range []float64{0, 1} {
		s := DefaultSettings()
		s.Hub = hub
		o := NewFused(examples(3), s)
		j := o.Judge(&Page{URL: "http://a.test/", Links: []Link{birds("http://b.test/x"), soups("http://b.test/x")}}, nil)
		for range 30 {
			o.Learn(Visit{Promise: 20, LinkFeatures: [][]byte{j.Links[0].LinkFeatures}})
			o.Learn(Visit{LinkFeatures: [][]byte{j.Links[1].LinkFeatures}})
		}
		full, empty := o.Priority(j.Links[0].LinkFeatures), o.Priority(j.Links[1].LinkFeatures)
		if apart := full - empty; hub > 0 && apart < 0.1 || hub == 0 && math.Abs(apart) > 0.05 {
			t.Errorf("weight %v: links to lists %v, to other pages %v", hub, full, empty)
		}
	}
}

// TestFusedByHand: before anything is learned, the worth of its page and its hints give the priority of a link.
func TestFusedByHand(t *testing.T) {
	s := DefaultSettings()
	s.Enough, s.Hub, s.LeastHub = 0.5, 1, 1
	s.Expected = map[string]float64{"bias": -1.5, "parent": 1, "anchor": 2}
	s.Promise = map[string]float64{"bias": -2, "anchor": 1}
	o := NewFused(nil, s)
	at := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	for name, test := range map[string]struct {
		page     Page
		hint     float64
		rel, hub float64 // logits
	}{
		"a page without a score": {Page{Score: -1}, 0, -1.5 + 0.5, -2},
		"of score 0":             {Page{Score: 0}, 0, -1.5, -2},
		"of half enough":         {Page{Score: 0.25}, 0, -1.5 + 0.5, -2},
		"of more than enough":    {Page{Score: 0.8}, 0, -1.5 + 1, -2},
		"with an anchor":         {Page{Score: 0}, 0.5, -1.5 + 2*0.5, -2 + 0.5},
		"with an anchor against": {Page{Score: 0}, -1, -1.5 - 2, -2 - 1},
	} {
		p := test.page
		p.Links = []Link{{Hints: []Hint{{"anchor", test.hint}}}}
		l := o.Judge(&p, nil).Links[0]
		if got, want := l.Priority, (at(test.rel)+at(test.hub))/2; math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got, want := o.Expect(l.LinkFeatures), at(test.rel); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: expected %v, want %v", name, got, want)
		}
	}
}

// TestFusedDepth: the depth counts up to ten links from a seed, each link the same.
func TestFusedDepth(t *testing.T) {
	s := DefaultSettings()
	s.Expected = map[string]float64{"depth": -8}
	o := NewFused(nil, s)
	of := func(depth int) float64 { // in logits
		e := o.Expect(o.Judge(&Page{Depth: depth, Links: make([]Link, 1)}, nil).Links[0].LinkFeatures)
		return math.Log(e / (1 - e))
	}
	ten := of(10)
	if ten >= -1 {
		t.Errorf("ten links from a seed: %v", ten)
	}
	for depth, want := range map[int]float64{0: 0, 1: ten / 10, 5: ten / 2, 50: ten} {
		if got := of(depth); math.Abs(got-want) > 8.0/fixedPoint {
			t.Errorf("%d links from a seed: %v, want %v", depth, got, want)
		}
	}
}

// TestFusedWorth: the document score is half of a page's worth, and all of it without examples.
func TestFusedWorth(t *testing.T) {
	s := DefaultSettings()
	p := *page(1, true)
	p.Score = 0.3
	taught := NewFused(examples(10), s)
	_, _, visits := crawl(taught, 60)
	words := taught.Judge(&p, nil).Worth
	if words < 0.7 || words > 0.99 {
		t.Fatalf("by its words a page of the topic is worth %v", words)
	}
	for _, test := range []struct {
		enough, score float64
		examples      int
		want          float64
	}{
		{0, 0.3, 10, words},
		{0.4, -1, 10, words},
		{0.4, 0.2, 10, (words + 0.5) / 2},
		{0.4, 0, 10, words / 2},
		{0.4, 7, 10, (words + 1) / 2},
		{0.4, 0.2, 0, 0.5},
		{0.4, 0, 0, 0},
		{0.4, 7, 0, 1},
		{0.4, -1, 0, 0.5}, // nothing is known
		{0, 0.3, 0, 0.5},
	} {
		s.Enough = test.enough
		o := NewFused(examples(test.examples), s)
		for _, v := range visits {
			o.Learn(v)
		}
		p.Score = test.score
		if got := o.Judge(&p, nil).Worth; !near(got, test.want) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// TestFusedInRange: priorities are between 0 and 1 for any input, and the same when they are computed from what was
// stored.
func TestFusedInRange(t *testing.T) {
	words := []string{"", "raven", "soup", "a b c", "Ünï", strings.Repeat("x ", 100)}
	urls := []string{"", "http://", "http://a.test", "http://a.test/~x/", "nothing", "http://a.test/?a=1&b", "http://[::1]/a//b/", "http://a.test/" + strings.Repeat("d/", 80)}
	hints := []string{"anchor", "paragraph", "spam", "social", "never heard of", ""}
	promises := []float64{-1, 0, 3, 1e9}
	for _, enough := range []float64{0, 0.4} {
		for _, n := range []int{0, 3} {
			random := rand.New(rand.NewPCG(3, 3))
			s := DefaultSettings()
			s.Enough = enough
			o := NewFused(examples(n), s)
			in := func(what string, x float64) {
				t.Helper()
				if math.IsNaN(x) || x < 0 || x > 1 {
					t.Fatalf("enough %v, %d examples: %s %v", enough, n, what, x)
				}
			}
			for range 300 {
				p := &Page{URL: urls[random.IntN(len(urls))], Text: textOf(words[random.IntN(len(words))]), Depth: random.IntN(30), Score: 2*random.Float64() - 1}
				for range random.IntN(5) {
					name := words[random.IntN(len(words))]
					l := Link{URL: urls[random.IntN(len(urls))], Anchor: textOf(name), Name: name, Around: textOf(name), TagPath: name}
					for _, k := range random.Perm(len(hints))[:random.IntN(4)] {
						l.Hints = append(l.Hints, Hint{hints[k], 2*random.Float64() - 1})
					}
					p.Links = append(p.Links, l)
				}
				j := o.Judge(p, nil)
				in("worth", j.Worth)
				v := Visit{PageFeatures: j.PageFeatures, Worth: j.Worth, Promise: promises[random.IntN(len(promises))]}
				for i, l := range j.Links {
					in("priority", l.Priority)
					in("expected", o.Expect(l.LinkFeatures))
					if later := o.Priority(l.LinkFeatures); later != l.Priority {
						t.Fatalf("%+v is judged %v, and later %v", p.Links[i], l.Priority, later)
					}
					v.LinkFeatures = append(v.LinkFeatures, l.LinkFeatures)
				}
				o.Learn(v)
			}
		}
	}
}

// TestFusedManyFeatures: a link with more features than are stored is judged by the stored ones.
func TestFusedManyFeatures(t *testing.T) {
	o := NewFused(examples(3), DefaultSettings())
	crawl(o, 30)
	var name strings.Builder
	for i := range 3 * maxFixed {
		fmt.Fprintf(&name, "word%d ", i)
	}
	p := &Page{URL: "http://a.test/", Links: []Link{{URL: "http://a.test/x", Anchor: textOf(name.String())}, birds("http://a.test/y")}}
	j := o.Judge(p, nil)
	if n := len(j.Links[0].LinkFeatures); n != 16+4*maxFixed {
		t.Errorf("%d bytes are kept", n)
	}
	for _, l := range j.Links {
		if later := o.Priority(l.LinkFeatures); later != l.Priority {
			t.Errorf("judged %v, and later %v", l.Priority, later)
		}
	}
}

// equal compares all that two orders know.
func equal(t *testing.T, a, b *Fused) {
	t.Helper()
	for _, part := range []struct {
		name string
		a, b any
	}{{"relevance", a.relevance, b.relevance}, {"rel", a.rel, b.rel}, {"hub", a.hub, b.hub}, {"groups", a.groups, b.groups}, {"mean", a.mean, b.mean}, {"scale", a.scale, b.scale}} {
		if !reflect.DeepEqual(part.a, part.b) {
			t.Errorf("%s differ", part.name)
		}
	}
}

// TestFusedSameVisits: from the same visits an order learns the same, bit by bit, whatever it judges in between.
func TestFusedSameVisits(t *testing.T) {
	s := DefaultSettings()
	asked := NewFused(examples(10), s)
	_, _, visits := crawl(asked, 120)
	a, b := NewFused(examples(10), s), NewFused(examples(10), s)
	for _, v := range visits {
		a.Learn(v)
	}
	for i, v := range visits {
		o := birds(fmt.Sprintf("http://c.test/%d", i))
		p := page(i, i%2 == 0)
		p.Links = []Link{o, soups(o.URL)}
		keep := b.Judge(p, nil).Links[0].LinkFeatures
		b.Priority(keep)
		b.Expect(keep)
		b.Explain(keep)
		b.Learn(v)
	}
	equal(t, a, b)
	equal(t, a, asked)
	random := rand.New(rand.NewPCG(5, 5))
	differ := map[float64]bool{}
	for i := range 200 {
		var name []string
		for _, word := range strings.Fields("bird lore soup recipes and") {
			if random.IntN(2) == 0 {
				name = append(name, word)
			}
		}
		p := page(i, random.IntN(2) == 0)
		p.Links, p.Depth = []Link{{URL: fmt.Sprintf("http://d%d.test/birds/%d.html", i%3, i), Name: strings.Join(name, " "), Anchor: textOf(strings.Join(name, " "))}}, i%7
		x, y := a.Judge(p, nil), b.Judge(p, nil)
		if !reflect.DeepEqual(x, y) {
			t.Fatalf("%+v, the other %+v", x, y)
		}
		kept := x.Links[0].LinkFeatures
		if math.Float64bits(a.Priority(kept)) != math.Float64bits(b.Priority(kept)) || a.Expect(kept) != b.Expect(kept) {
			t.Fatalf("%v, the other %v", a.Priority(kept), b.Priority(kept))
		}
		differ[a.Priority(kept)] = true
	}
	if len(differ) < 20 {
		t.Errorf("only %d priorities differ: the test proves nothing", len(differ))
	}
	b.Learn(visits[1])
	if a.Priority(visits[1].LinkFeatures[0]) == b.Priority(visits[1].LinkFeatures[0]) {
		t.Error("one visit more teaches nothing")
	}
}

// TestFusedConcurrent: concurrent judgements and priorities do not disturb each other, nor what is learned meanwhile.
func TestFusedConcurrent(t *testing.T) {
	s := DefaultSettings()
	first := NewFused(examples(10), s)
	kept, _, visits := crawl(first, 90)
	p := page(3, true)
	p.Links = []Link{birds("http://a.test/x"), soups("http://a.test/y")}
	want := first.Judge(p, nil)
	many := func(n int, do func()) {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for range n {
					do()
				}
			})
		}
		wait.Wait()
	}
	many(20, func() {
		if got := first.Judge(p, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
	o := NewFused(examples(10), s)
	var learning sync.WaitGroup
	learning.Go(func() {
		for i, v := range visits {
			if i == 40 {
				o.Teach(viewsOf(examples(10)))
			}
			o.Learn(v)
		}
	})
	many(30, func() {
		for _, l := range o.Judge(p, kept).Links {
			o.Priority(l.LinkFeatures)
			o.Expect(l.LinkFeatures)
			o.Explain(l.LinkFeatures)
		}
	})
	learning.Wait()
	twin := NewFused(examples(10), s)
	for i, v := range visits {
		if i == 40 {
			twin.Teach(viewsOf(examples(10)))
		}
		twin.Learn(v)
	}
	equal(t, o, twin)
}

// TestFusedTeach: new examples replace the former ones completely.
func TestFusedTeach(t *testing.T) {
	var other []*Page
	for i := range 10 {
		other = append(other, page(2000+i, false))
	}
	s := DefaultSettings()
	o := NewFused(examples(10), s)
	var visits []Visit
	for i := range 50 { // the parts of a page are weighed when the fiftieth was seen
		_, v := look(o, page(i, i%2 == 0))
		visits = append(visits, v)
	}
	worth := func(o *Fused, p *Page) float64 { return o.Judge(p, nil).Worth }
	bird, soup := page(99, true), page(99, false)
	if b, s := worth(o, bird), worth(o, soup); b < 0.7 || s > 0.3 {
		t.Fatalf("birds are worth %v, soups %v", b, s)
	}
	o.Teach(viewsOf(other))
	if b, s := worth(o, bird), worth(o, soup); b > 0.3 || s < 0.7 {
		t.Errorf("then birds are worth %v, soups %v", b, s)
	}
	never := NewFused(other, s)
	for _, v := range visits {
		never.Learn(v)
	}
	if a, b := worth(o, soup), worth(never, soup); a != b {
		t.Errorf("%v, and had there been no other examples %v", a, b)
	}
	if !reflect.DeepEqual(o.relevance.parts, never.relevance.parts) {
		t.Error("something of the examples before is left")
	}
	o.Teach(viewsOf(examples(10)))
	if b, s := worth(o, bird), worth(o, soup); b < 0.7 || s > 0.3 {
		t.Errorf("and back: birds are worth %v, soups %v", b, s)
	}
}

// TestFusedTeachNothing: when the examples are removed, only the document score counts, as before.
func TestFusedTeachNothing(t *testing.T) {
	s := DefaultSettings()
	s.Enough = 0.5
	o := NewFused(nil, s)
	crawl(o, 60)
	bird, soup := page(99, true), page(99, false)
	bird.Score, soup.Score = 0.25, 0.25
	for round := range 2 {
		if b, s := o.Judge(bird, nil).Worth, o.Judge(soup, nil).Worth; b != 0.5 || s != 0.5 {
			t.Errorf("round %d without examples: birds are worth %v, soups %v", round, b, s)
		}
		o.Teach(viewsOf(examples(10)))
		if b, s := o.Judge(bird, nil).Worth, o.Judge(soup, nil).Worth; b < 0.6 || s > 0.4 {
			t.Errorf("round %d with examples: birds are worth %v, soups %v", round, b, s)
		}
		o.Teach(nil)
	}
}

// TestFusedGarbage: bytes that cannot be decoded are left out, and the rest of the visit is learned.
func TestFusedGarbage(t *testing.T) {
	s := DefaultSettings()
	a, b := NewFused(examples(5), s), NewFused(examples(5), s)
	good, _, visits := crawl(a, 30)
	random := rand.New(rand.NewPCG(7, 7))
	for _, v := range visits {
		for range 3 {
			v.LinkFeatures = append(v.LinkFeatures, garbage(random, 4*random.IntN(10)+1)) // of no length that is written
		}
		b.Learn(v)
	}
	equal(t, a, b)
	v, pages := visits[3], b.relevance.seen
	for _, broken := range [][]byte{nil, {0xff}, v.PageFeatures[:1], v.PageFeatures[:len(v.PageFeatures)-2]} {
		before := b.Priority(v.LinkFeatures[0])
		b.Learn(Visit{PageFeatures: broken, Worth: v.Worth, LinkFeatures: v.LinkFeatures})
		if b.relevance.seen != pages || b.Priority(v.LinkFeatures[0]) == before {
			t.Errorf("%d bytes are learned as a page, or their links are not learned of", len(broken))
		}
	}
	for _, kept := range [][]byte{nil, {}, good[:15], good[:len(good)-1], append(slices.Clone(good), 0), make([]byte, 16+4*maxFixed+4)} {
		if p, e, x := a.Priority(kept), a.Expect(kept), a.Explain(kept); p != 0 || e != 0 || x != nil {
			t.Errorf("%d bytes: %v, %v, %v", len(kept), p, e, x)
		}
	}
}

// TestFusedState: a restored order has the same state, and learns the same from then on.
func TestFusedState(t *testing.T) {
	s := DefaultSettings()
	a := NewFused(examples(10), s)
	good, bad, visits := crawl(a, 120)
	a.groups.Young, a.groups.Old = map[uint32]groupOutcomes{}, a.groups.Young // as after many more
	a.Learn(visits[3])
	for i := range 25 {
		a.Learn(Visit{Score: float64(i) / 100})
	}
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b := NewFused(examples(10), s)
	b.Learn(Visit{Worth: 1, LinkFeatures: [][]byte{bad}}) // of which nothing is left
	if err := b.Restore(raw); err != nil {
		t.Fatal(err)
	}
	same := func(when string) {
		t.Helper()
		for _, kept := range [][]byte{good, bad, visits[5].LinkFeatures[0]} {
			if x, y := a.Priority(kept), b.Priority(kept); x != y {
				t.Errorf("%s: %v, restored %v", when, x, y)
			}
		}
		for i := range 10 { // examples are kept in steps
			p := page(500+i, i%2 == 0)
			if x, y := a.Judge(p, nil).Worth, b.Judge(p, nil).Worth; math.Abs(x-y) > 1e-3 {
				t.Errorf("%s: page %d is worth %v, restored %v", when, i, x, y)
			}
		}
	}
	same("restored")
	for _, v := range visits[:60] {
		a.Learn(v)
		b.Learn(v)
	}
	same("learned on")
	if raw, err = b.Encode(); err != nil {
		t.Fatal(err)
	}
	c := NewFused(examples(10), s)
	if err := c.Restore(raw); err != nil {
		t.Fatal(err)
	}
	equal(t, b, c)
	for n := range len(raw) {
		if n%(len(raw)/50+1) == 0 {
			if err := c.Restore(raw[:n]); err == nil {
				t.Fatalf("%d of %d bytes are restored", n, len(raw))
			}
		}
	}
	for name, change := range map[string]func(*fusedState){
		"version": func(s *fusedState) { s.Version++ },
		"example": func(s *fusedState) { s.Examples[0] = []byte{1} },
		"fit":     func(s *fusedState) { s.Fits[0].Weights = s.Fits[0].Weights[1:] },
		"weights": func(s *fusedState) { s.Hub.Weights = s.Hub.Weights[1:] },
		"past":    func(s *fusedState) { s.Relevance.Past[0].IDs = nil },
	} {
		var state fusedState
		if err := cbor.Unmarshal(raw, &state); err != nil {
			t.Fatal(err)
		}
		change(&state)
		broken, err := cbor.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		if c.Restore(broken) == nil {
			t.Errorf("with another %s it is restored", name)
		}
	}
	equal(t, b, c)
}

// TestExplain: the weights of a link's features add up to its expectation.
func TestExplain(t *testing.T) {
	s := DefaultSettings()
	s.Enough = 0.5
	for _, n := range []int{0, 10} {
		o := NewFused(examples(n), s)
		o.Learn(Visit{Worth: 0.5})
		crawl(o, 60)
		p := page(7, true)
		p.URL, p.Depth, p.Score = "http://a.test/", 3, 0.2
		for i := range 40 {
			l := birds(fmt.Sprintf("http://a.test/birds/%d.html", i))
			if i%2 == 0 {
				l = soups(fmt.Sprintf("http://d%d.test/%d", i, i))
			}
			l.TagPath, l.Hints = "/ul/li", []Hint{{"social", float64(i) / 40}, {"spam", -0.1}}
			p.Links = append(p.Links, l)
		}
		for _, l := range o.Judge(p, nil).Links {
			list, sum := o.Explain(l.LinkFeatures), 0.0
			for _, w := range list {
				sum += w.Value
			}
			e := o.Expect(l.LinkFeatures)
			if want := math.Log(e / (1 - e)); math.Abs(sum-want) > 1e-9 {
				t.Fatalf("%v add up to %v, want %v", list, sum, want)
			}
		}
	}
}

// TestExplainNames: each name comes once, with its weight times its value; groups have the number of their followed
// links.
func TestExplainNames(t *testing.T) {
	s := DefaultSettings()
	s.Enough, s.Strength = 0.5, 3
	o := NewFused(nil, s)
	p := &Page{URL: "http://a.test/", Score: 0.25, Links: []Link{
		{URL: "http://a.test/d/1.html", TagPath: "/ul", Hints: []Hint{{"spam", -0.5}}}, {URL: "http://a.test/d/2.html", TagPath: "/nav"}, {URL: "http://b.test/d/3.html", TagPath: "/ul"},
	}}
	j := o.Judge(p, nil)
	o.Learn(Visit{Worth: 1, LinkFeatures: [][]byte{j.Links[1].LinkFeatures, j.Links[2].LinkFeatures}})
	got := map[string]float64{}
	list := o.Explain(j.Links[0].LinkFeatures)
	for _, w := range list {
		got[w.Name] = w.Value
	}
	if len(got) != len(list) {
		t.Errorf("a name comes twice: %v", list)
	}
	for _, name := range []string{"page (2 links followed)", "place (1 links followed)", "directory (1 links followed)", "shape (1 links followed)"} {
		if value, has := got[name]; !has || value <= 0 {
			t.Errorf("%q is %v in %v", name, value, list)
		}
	}
	// of one page that is worth 1 the mean is taken for (1+1)/(1+5); a group's mean is worth three links to begin with
	mean := 1.0 / 3
	for i, followed := range []float64{2, 1, 1, 1} {
		p := (followed + 3*mean) / (followed + 3)
		want := o.rel.weights[groupIDs[i]].value * (math.Log(p/(1-p)) - math.Log(mean/(1-mean)))
		if at := slices.IndexFunc(list, func(w Weight) bool { return strings.HasSuffix(w.Name, "followed)") }); !near(list[at+i].Value, want) {
			t.Errorf("%+v, want %v", list[at+i], want)
		}
	}
	signs := map[string]bool{"bias": false, "parent": true, "spam": false}
	for name, positive := range signs {
		if value, has := got[name]; !has || positive != (value > 0) {
			t.Errorf("%q is %v in %v", name, value, list)
		}
	}
	if value, has := got["anchor"]; has {
		t.Errorf("nothing is known of the anchor, and it counts %v", value)
	}
	if got, want := got["spam"], -0.5*o.rel.weights[featureOf("spam")].value; got != want {
		t.Errorf("spam counts %v, want %v", got, want)
	}
}

// TestNamesDiffer: no two named features share a weight.
func TestNamesDiffer(t *testing.T) {
	s := DefaultSettings()
	names := map[uint16]string{}
	for _, list := range []map[string]float64{s.Expected, s.Promise, {"depth": 0, "bias": 0, "url": 0, "anchor": 0, "paragraph": 0, "parent": 0, "page": 0, "place": 0, "directory": 0, "shape": 0}} {
		for name := range list {
			id := featureOf(name)
			if other, taken := names[id]; taken && other != name {
				t.Errorf("%s and %s", name, other)
			}
			names[id] = name
		}
	}
}

// TestGroups: groups with recent links are remembered, and groups without links for a long time are forgotten.
func TestGroups(t *testing.T) {
	g := newGroups()
	next := uint32(1000)
	others := func(n int) {
		for range n {
			next++
			g.add(next, 1)
		}
	}
	if got := g.Get(7); got != (groupOutcomes{}) {
		t.Errorf("of an unknown group: %v", got)
	}
	g.add(7, 0.25)
	g.add(7, 0.5)
	g.add(8, 1)
	if got := g.Get(7); got != (groupOutcomes{2, 0.75}) {
		t.Errorf("%v", got)
	}
	others(maxGroups - 2) // the first generation is full
	if len(g.Young) != 0 || len(g.Old) != maxGroups || g.Get(7) != (groupOutcomes{2, 0.75}) || g.Get(8) != (groupOutcomes{1, 1}) {
		t.Fatalf("%d and %d groups, %v, %v", len(g.Young), len(g.Old), g.Get(7), g.Get(8))
	}
	others(maxGroups - 2)
	g.add(7, 0.25) // 7 is added to again, 8 is not
	if g.Get(7) != (groupOutcomes{3, 1}) || g.Get(8) != (groupOutcomes{1, 1}) {
		t.Errorf("%v, %v", g.Get(7), g.Get(8))
	}
	others(1)
	if g.Get(7) != (groupOutcomes{3, 1}) || g.Get(8) != (groupOutcomes{}) {
		t.Errorf("added to lately %v, not for long %v", g.Get(7), g.Get(8))
	}
	others(maxGroups)
	if g.Get(7) != (groupOutcomes{}) || g.Get(next) != (groupOutcomes{1, 1}) {
		t.Errorf("not for long %v, the last %v", g.Get(7), g.Get(next))
	}
	if n := len(g.Young) + len(g.Old); n >= 2*maxGroups {
		t.Errorf("%d groups", n)
	}
}

// BenchmarkFused is the cost of a link when its page is judged, of its later priority, and of learning from its target.
func BenchmarkFused(b *testing.B) {
	o := NewFused(examples(20), DefaultSettings())
	crawl(o, 90)
	p := &Page{URL: "http://a.test/list", Text: textOf(strings.Repeat("raven soup pot ", 100))}
	for i := range 50 {
		p.Links = append(p.Links, Link{URL: fmt.Sprintf("http://a.test/birds/%d/x.html", i), Anchor: textOf("birds and soups of old"), Name: "Birds and soups of old", Around: textOf("a list of birds and of soups"), TagPath: "/ul/li"})
	}
	j := o.Judge(p, nil)
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			o.Judge(p, nil)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(p.Links)), "ns/link")
	})
	b.Run("priority", func(b *testing.B) {
		for b.Loop() {
			o.Priority(j.Links[7].LinkFeatures)
		}
	})
	b.Run("learn", func(b *testing.B) {
		for b.Loop() { // a page of fifty links
			o.Learn(Visit{PageFeatures: j.PageFeatures, Worth: j.Worth, Promise: 5, LinkFeatures: [][]byte{j.Links[7].LinkFeatures}})
		}
	})
}

// TestFusedScale: once the crawl has scores of its own, a page is worth what its score is beside theirs. Scores that say nothing do not count.
func TestFusedScale(t *testing.T) {
	s := DefaultSettings()
	s.Enough = 0.4
	o := NewFused(nil, s)
	p := Page{Score: 0.02}
	if got := o.Judge(&p, nil).Worth; !near(got, 0.05) {
		t.Errorf("at first it is worth %v", got)
	}
	for range 500 {
		for i := range 20 { // nine in ten of those that say something have less than .019
			o.Learn(Visit{Score: float64(i) / 1000})
			o.Learn(Visit{Score: -1})
			o.Learn(Visit{})
		}
	}
	for score, want := range map[float64]float64{0: 0, 0.0085: 0.5, 0.017: 1, 0.3: 1} {
		p.Score = score
		if got := o.Judge(&p, nil).Worth; math.Abs(got-want) > 0.06 {
			t.Errorf("a score of %v is worth %v, want %v", score, got, want)
		}
	}
	if n := len(o.scale.scores); n != maxScores {
		t.Errorf("%d scores are kept", n)
	}
}

// TestFusedTrust: without examples, and with few, less is learned of an outcome and promise counts less.
func TestFusedTrust(t *testing.T) {
	var moves, promises []float64
	for _, n := range []int{0, 5, 40} {
		o := NewFused(examples(n), DefaultSettings())
		j := o.Judge(&Page{URL: "http://a.test/", Links: []Link{birds("http://b.test/x")}}, nil)
		kept := j.Links[0].LinkFeatures
		before := o.rel.weights[biasID].value
		o.Learn(Visit{Worth: 1, LinkFeatures: [][]byte{kept}})
		moves = append(moves, o.rel.weights[biasID].value-before)
		o.hub.weights[biasID].value = 9
		promises = append(promises, o.Priority(kept)-o.Expect(kept))
	}
	if !slices.IsSorted(moves) || moves[0] <= 0 || moves[2] < 1.5*moves[0] {
		t.Errorf("a page of the topic moves %v", moves)
	}
	if !slices.IsSorted(promises) || promises[2] < 2*promises[0] {
		t.Errorf("promise adds %v", promises)
	}
}

// TestEstimators: what distinguishes examples from other pages has a share in the estimate, what does not has none; each example is held back from what judges it.
func TestEstimators(t *testing.T) {
	s := DefaultSettings()
	shares := func(o *Fused) map[string]float64 {
		m, sum := map[string]float64{}, 0.0
		for _, e := range o.Estimators() {
			m[e.Name] = e.Share
			sum += e.Share
		}
		if len(m) > 0 && math.Abs(sum-1) > 1e-9 {
			t.Errorf("shares add up to %v", sum)
		}
		return m
	}
	if got := NewFused(nil, s).Estimators(); len(got) > 0 {
		t.Errorf("without examples and scores: %v", got)
	}
	random := rand.New(rand.NewPCG(7, 7))
	noise := func() string { return fmt.Sprintf("w%d w%d w%d", random.IntN(200), random.IntN(200), random.IntN(200)) }
	make := func(i int, text string) *Page {
		return &Page{URL: fmt.Sprintf("http://a.test/%d", i), Title: textOf(noise()), Text: textOf(text + " " + noise())}
	}
	var list []*Page
	for i := range 12 {
		list = append(list, make(i, "raven"))
	}
	s.Enough = 0.4
	if got := shares(NewFused(nil, s)); got[ByScore] != 1 {
		t.Errorf("keywords alone: %v", got)
	}
	for _, enough := range []float64{0, 0.4} {
		s.Enough = enough
		o := NewFused(list, s)
		for i := range 100 {
			o.Learn(unlinked(o, make(100+i, "soup")))
		}
		got := shares(o)
		if enough > 0 != (got[ByScore] == 0.5) || got["words of the text"]+got["cosine with the examples"]+got["regression of the text"] < 0.9*(1-got[ByScore]) || got["cosine with the examples"] < 0.1*(1-got[ByScore]) {
			t.Errorf("enough %v: %v", enough, got)
		}
	}
}

// unlinked is the visit of a page that nothing links to.
func unlinked(o *Fused, p *Page) Visit {
	return Visit{PageFeatures: o.Judge(p, nil).PageFeatures}
}

// TestCosineHeldBack: an example is compared with the other examples alone.
func TestCosineHeldBack(t *testing.T) {
	texts := []string{"a b c", "b c d", "x y z", "c"}
	var list []Views
	for _, text := range texts {
		list = append(list, ViewsOf(&Page{Text: textOf(text)}))
	}
	all := NewRelevance(list, DefaultSettings())
	for i := range list {
		rest := NewRelevance(slices.Delete(slices.Clone(list), i, i+1), DefaultSettings())
		if got, want := all.cosine(list[i][0], true), rest.cosine(list[i][0], false); math.Abs(got-want) > 1e-6 {
			t.Errorf("%q: %v, without it %v", texts[i], got, want)
		}
	}
	if got := all.cosine(list[2][0], false); got < 0.1 {
		t.Errorf("a page of the crawl like the third: %v", got)
	}
}

// TestFusedStateOfVersion1: what an order without cosine and scale has learned is read, and the cosine gets its weight.
func TestFusedStateOfVersion1(t *testing.T) {
	a := NewFused(examples(10), DefaultSettings())
	good, bad, _ := crawl(a, 120)
	raw, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var state map[int]any
	if err := cbor.Unmarshal(raw, &state); err != nil {
		t.Fatal(err)
	}
	state[1] = 1
	state[6] = state[6].([]any)[:3]
	delete(state, 14)
	delete(state, 15)
	delete(state, 16)
	if raw, err = cbor.Marshal(state); err != nil {
		t.Fatal(err)
	}
	b := NewFused(nil, DefaultSettings())
	if err := b.Restore(raw); err != nil {
		t.Fatal(err)
	}
	for _, kept := range [][]byte{good, bad} {
		if x, y := a.Priority(kept), b.Priority(kept); x != y {
			t.Errorf("%v, restored %v", x, y)
		}
	}
	if b.relevance.weights[cosine] <= 0 || len(b.Estimators()) != estimators {
		t.Errorf("weights %v", b.relevance.weights)
	}
}
