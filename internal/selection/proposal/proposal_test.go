package proposal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/selection"
)

// pool has n pages: every fourth one is about ravens, and one host has half of the pages.
func pool(t testing.TB, n int) (*Pool, []bool) {
	t.Helper()
	b := NewBuilder(DefaultSettings())
	r := rand.New(rand.NewPCG(1, 2))
	birds, soups := strings.Fields("raven crow nest wing feather egg beak flight"), strings.Fields("onion pot water stock leek pepper salt bowl")
	for i := range n {
		words := soups
		if i%4 == 0 {
			words = birds
		}
		var body []string
		for range 40 {
			body = append(body, words[r.IntN(len(words))], fmt.Sprint("w", r.IntN(2000)))
		}
		host := "big.example.org"
		if i%8 >= 4 {
			host = fmt.Sprintf("h%d.example.net", i%50)
		}
		f := selection.Facts{URL: fmt.Sprintf("https://%s/p%d", host, i), Host: host, Site: "example.org", Text: strings.Join(body, " "), Score: -1, Date: time.Unix(int64(i), 0)}
		f.Print = selection.PrintOf(f.Text)
		if err := b.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Pool()
	wanted := make([]bool, n)
	for i, f := range p.Facts {
		var number int
		if _, err := fmt.Sscanf(f.URL[strings.LastIndex(f.URL, "/p")+2:], "%d", &number); err != nil {
			t.Fatal(err)
		}
		wanted[i] = number%4 == 0
	}
	return p, wanted
}

func decide(labels []Label, wanted []bool, list []int) {
	for _, i := range list {
		labels[i] = Left
		if wanted[i] {
			labels[i] = Kept
		}
	}
}

// TestLearns: after thirty decisions on pages that it has asked about itself the model knows the others.
func TestLearns(t *testing.T) {
	p, wanted := pool(t, 400)
	labels := make([]Label, p.Len())
	var m *Model
	for range 3 {
		list := p.Next(Undecided(labels), m, 10)
		if len(list) != 10 {
			t.Fatalf("%d questions", len(list))
		}
		decide(labels, wanted, list)
		m = p.Learn(labels)
	}
	wrong := 0
	for i := range wanted {
		if (m.Keep[i] >= 0.5) != wanted[i] {
			wrong++
		}
	}
	if wrong > 8 {
		t.Errorf("%d of 400 pages are wrong", wrong)
	}
	if q := p.Measure(labels, notClosed(labels)); q.Kept+q.Dropped != 30 || q.Precision == nil || q.Recall == nil || q.Precision.Low > q.Precision.Value || q.Precision.High < q.Precision.Value {
		t.Errorf("%+v", q)
	}
}

func notClosed(labels []Label) []bool {
	single := make([]bool, len(labels))
	for i := range single {
		single[i] = true
	}
	return single
}

// TestNothingToLearn: as long as all decisions are the same, there is no model, and no measure.
func TestNothingToLearn(t *testing.T) {
	p, wanted := pool(t, 40)
	labels := make([]Label, p.Len())
	for i := range 20 {
		if m := p.Learn(labels); m != nil {
			t.Fatalf("%d decisions, none to keep: %v", i, m)
		}
		if !wanted[i] {
			labels[i] = Left
		}
	}
	for i := range 6 { // six kept, and fewer of the others than are needed
		labels[i] = Kept
	}
	if q := p.Measure(labels, notClosed(labels)); q.Precision != nil && q.Dropped < LeastHeld || q.Kept != 6 {
		t.Errorf("%+v", q)
	}
}

// TestVarious: a batch has no two pages that are alike, and of one host no more than its share, though it has half of the pages.
func TestVarious(t *testing.T) {
	p, wanted := pool(t, 400)
	labels := make([]Label, p.Len())
	var m *Model
	for round := range 5 {
		list := p.Next(Undecided(labels), m, 10)
		hosts := map[string]int{}
		for _, i := range list {
			hosts[p.Facts[i].Host]++
			if labels[i] != Open {
				t.Errorf("page %d is asked about twice", i)
			}
		}
		for host, n := range hosts {
			if n > 2 {
				t.Errorf("round %d: %d of %s", round, n, host)
			}
		}
		decide(labels, wanted, list)
		m = p.Learn(labels)
	}
	one := Undecided(labels) // of one host alone a batch is full all the same
	one.Closed = make([]bool, p.Len())
	for i := range p.Facts {
		one.Closed[i] = p.Facts[i].Host != "big.example.org"
	}
	if list := p.Next(one, m, 10); len(list) != 10 {
		t.Errorf("%d questions", len(list))
	}
	one.Marked = make([]bool, p.Len())
	marked := slices.IndexFunc(p.Facts, func(f selection.Facts) bool { return f.Host == "big.example.org" })
	one.Marked[marked], labels[marked] = true, Open
	if list := p.Next(one, m, 10); !slices.Equal(list, []int{marked}) {
		t.Errorf("%v, and a rule marks %d", list, marked)
	}
}

// TestDeterministic: the same candidates and decisions give the same questions and proposals, in whatever order the candidates come.
func TestDeterministic(t *testing.T) {
	p, wanted := pool(t, 200)
	q, _ := pool(t, 200)
	one, two := make([]Label, 200), make([]Label, 200)
	var m, n *Model
	for round := range 4 {
		a, b := p.Next(Undecided(one), m, 10), q.Next(Undecided(two), n, 10)
		if !slices.Equal(a, b) {
			t.Fatalf("round %d: %v, %v", round, a, b)
		}
		decide(one, wanted, a)
		decide(two, wanted, b)
		m, n = p.Learn(one), q.Learn(two)
		if (m == nil) != (n == nil) || m != nil && !slices.Equal(m.Keep, n.Keep) {
			t.Fatalf("round %d: other proposals", round)
		}
	}
	forth, back := NewBuilder(DefaultSettings()), NewBuilder(DefaultSettings())
	for i := range 50 {
		for b, k := range map[*Builder]int{forth: i, back: 49 - i} {
			if err := b.Add(selection.Facts{URL: fmt.Sprintf("https://a.example/%d", k), Host: "a.example", Title: fmt.Sprint("raven ", k%7), Text: fmt.Sprint("crow ", k%5)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	x, y := forth.Pool(), back.Pool()
	for i := range x.vectors {
		if !slices.Equal(x.vectors[i], y.vectors[i]) || x.Facts[i].URL != y.Facts[i].URL {
			t.Fatalf("candidate %d depends on the order", i)
		}
	}
}

// TestLatestCapture: of the captures of a URL the latest one with a text is the candidate.
func TestLatestCapture(t *testing.T) {
	b := NewBuilder(DefaultSettings())
	for i, text := range []string{"old", "new", "", "oldest"} {
		f := selection.Facts{URL: "https://a.example/", Title: text, Text: text, Date: time.Unix([]int64{100, 200, 300, 50}[i], 0)}
		if err := b.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	if p := b.Pool(); p.Len() != 1 || p.Facts[0].Title != "new" {
		t.Errorf("%+v", p.Facts)
	}
}

// TestDecided: a group that was decided teaches by a few of its pages; pages that rules or proposals decide are not asked about.
func TestDecided(t *testing.T) {
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := selection.Create(t.Context(), store, "s", "ann", "", selection.Creation{})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := pool(t, 200)
	single, accepted := p.Facts[0].URL, p.Facts[199].URL
	for _, e := range []selection.Entry{
		{Decisions: []selection.Decision{{Group: selection.HostGroup("big.example.org"), Verdict: selection.Drop}}},
		{Decisions: []selection.Decision{{URL: single, Verdict: selection.Keep}}},
		{Accepted: []selection.Proposal{{URL: accepted, Verdict: selection.Keep, Certainty: 0.9}}},
	} {
		e.Who = "ann"
		if _, err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := l.State(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Decided(s)
	left, closed, through := 0, 0, 0
	teaches := Learnable(s)
	for i, label := range d.Labels {
		if teaches(&p.Facts[i]) {
			through++
		} else if label != Open {
			t.Errorf("%s has a label and is not let through", p.Facts[i].URL)
		}
		if label == Left {
			left++
		}
		if d.Closed[i] {
			closed++
		}
	}
	if through <= maxOfGroup || through > 80 {
		t.Errorf("%d of 101 that are decided are let through", through)
	}
	if left != maxOfGroup || d.Labels[0] != Kept || !d.Single[0] || d.Labels[199] != Open || !d.Closed[199] || closed != 101 {
		t.Errorf("%d of the group, %d closed, labels %d and %d", left, closed, d.Labels[0], d.Labels[199])
	}
}

// TestRegression: the gradient of what training minimises is nearly 0 where it ends.
func TestRegression(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var list []example
	for i := range 200 {
		e := example{keep: i%3 == 0, weight: 1 + float64(i%2)}
		for id := int32(1); id < 20; id++ {
			if r.IntN(3) == 0 {
				e.terms = append(e.terms, term{id, r.Float32() + float32(boolean(e.keep))*float32(id%2)/3})
			}
		}
		list = append(list, e)
	}
	const cost = 5
	w := train(list, 20, cost)
	gradient := slices.Clone(w)
	for _, e := range list {
		y := e.sign()
		d := -cost * e.weight * y * sigmoid(-y*w.of(e.terms))
		gradient.add(e.terms, d)
	}
	for id, g := range gradient {
		if math.Abs(g) > 0.5 || math.IsNaN(g) {
			t.Errorf("feature %d: gradient %g of weight %g", id, g, w[id])
		}
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestHostileFeatures: no URL and no text breaks the features of a page.
func TestHostileFeatures(t *testing.T) {
	b := NewBuilder(DefaultSettings())
	for _, url := range []string{"", "x", "http://", "https://a.example", "https://a.example/?", "https://a.example/" + strings.Repeat("~a/", 4000), "https://a.example/\xff\xfe%00?" + strings.Repeat("&", 4000)} {
		f := selection.Facts{URL: url, Title: "\xff<script>" + strings.Repeat("é", 1<<16), Text: strings.Repeat("\xf0\x9f", 1<<16), Score: math.NaN(), Author: "\x00", Types: make([]string, 1000), Anchors: make([]string, 1000)}
		if err := b.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Pool()
	labels := make([]Label, p.Len())
	labels[0], labels[1] = Kept, Left
	for i, keep := range p.Learn(labels).Keep {
		if math.IsNaN(keep) || len(p.vectors[i]) > 8*maxTerms+p.settings.Topics {
			t.Errorf("candidate %d: %g, %d features", i, keep, len(p.vectors[i]))
		}
	}
	if list := p.Next(Undecided(make([]Label, p.Len())), nil, 100); len(list) != p.Len() {
		t.Errorf("%d questions of %d pages", len(list), p.Len())
	}
}

// TestShare: an interval of Wilson, after R's binom::binom.confint.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		n, of     int
		low, high float64
	}{{9, 10, 0.5958, 0.9821}, {0, 5, 0, 0.4345}, {50, 100, 0.4038, 0.5962}} {
		s := shareOf(c.n, c.of)
		if math.Abs(s.Low-c.low) > 5e-4 || math.Abs(s.High-c.high) > 5e-4 {
			t.Errorf("%d of %d: %+v", c.n, c.of, s)
		}
	}
	if shareOf(0, 0) != nil {
		t.Error("a share of nothing")
	}
}

// BenchmarkLearn trains on 10,000 decisions of pages with 180 features.
func BenchmarkLearn(b *testing.B) {
	p, wanted := pool(b, 10_000)
	labels := make([]Label, p.Len())
	for i := range labels {
		decide(labels, wanted, []int{i})
	}
	for b.Loop() {
		p.Learn(labels)
	}
}
