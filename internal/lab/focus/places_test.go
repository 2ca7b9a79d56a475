package focus

import (
	"math"
	"testing"

	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// near reports whether two numbers are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// words is a text.
func words(list ...string) text.HashedVector {
	v := map[string]float64{}
	for _, w := range list {
		v[w]++
	}
	return text.NewHashedVector(v)
}

// priorities are those of the links of a judgement.
func priorities(j order.Judgement) []float64 {
	out := make([]float64, len(j.Links))
	for i, l := range j.Links {
		out[i] = l.Priority
	}
	return out
}

// TestPlaces: a place that led to relevant pages is worth more than one that did not.
func TestPlaces(t *testing.T) {
	b := newPlaces(words("raven"))
	p := &order.Page{URL: "http://a.test/", Text: words("raven", "crow"), Links: []order.Link{{TagPath: "html/body/main/ul/li/a"}, {TagPath: "html/body/nav/div/span/a"}}}
	before := b.Judge(p, nil)
	if x := priorities(before); x[0] != x[1] {
		t.Errorf("before anything is known %v and %v", x[0], x[1])
	}
	if !near(before.Worth, 1/math.Sqrt2) {
		t.Errorf("a page that is half of ravens is worth %v", before.Worth)
	}
	good, bad := before.Links[0].LinkFeatures, before.Links[1].LinkFeatures
	for range 20 {
		b.Learn(order.Visit{Worth: b.Judge(&order.Page{Text: words("raven")}, good).Worth, LinkFeatures: [][]byte{good}})
		b.Learn(order.Visit{Worth: b.Judge(&order.Page{Text: words("soup")}, bad).Worth, LinkFeatures: [][]byte{bad}})
	}
	got := priorities(b.Judge(p, nil))
	if got[0] <= got[1]+0.3 {
		t.Errorf("%v", got)
	}
	if b.Priority(good) != got[0] || b.Expect(bad) != got[1] {
		t.Errorf("asked for later: %v and %v, want %v", b.Priority(good), b.Expect(bad), got)
	}
	p.URL = "http://b.test/"
	if got := priorities(b.Judge(p, nil)); got[0] != got[1] {
		t.Errorf("on another host: %v", got)
	}
	for _, kept := range [][]byte{nil, {}, {' '}, {0xff, 0}, []byte("a.test ")} {
		if x := b.Priority(kept); math.IsNaN(x) || x < 0 || x > 1 {
			t.Errorf("%q: %v", kept, x)
		}
	}
}
