package adapt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// overshoot is by how much a way of learning may exceed its steps: it checks them after each expression and each walk over the page.
func overshoot(tree *xpath.Tree, text int) int { return 40*tree.Len() + text + 1<<12 }

// result is the result of all ways of learning for a page.
type result struct {
	Content                   []Rule
	Stands                    bool
	Shape, Relaxed, Parts     Rule
	ShapeOK, RelaxOK, PartsOK bool
}

// learned applies each way of learning with so many steps, and checks that it ends within them.
func learned(t testing.TB, page string, prints []Print, steps int) (r result) {
	t.Helper()
	run := func(name string, fn func(l *learner)) {
		t.Helper()
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		e := xpath.NewEval(root, steps)
		defer e.Free()
		l := newLearner(e)
		if !l.outOfSteps() {
			fn(l)
		}
		if over := -e.Budget; over > overshoot(e.Tree, len(page)) {
			t.Errorf("%s of a page of %d nodes takes %d steps more than %d", name, e.Tree.Len(), over, steps)
		}
	}
	run("Learn", func(l *learner) { r.Content, r.Stands = l.learn(prints) })
	run("Shape", func(l *learner) { r.Shape, r.ShapeOK = l.fromShape("post") })
	run("Relax", func(l *learner) { r.Relaxed, r.RelaxOK = l.relax(oldRule) })
	run("Parts", func(l *learner) { r.Parts, r.PartsOK = l.fromParts("post", byLinks) })
	return r
}

// TestHostilePages: pages that are made to be slow end within their steps.
func TestHostilePages(t *testing.T) {
	same := sumOf("the raven said nothing")
	var many []Property
	for range maxProperties {
		many = append(many, Property{Name: fmt.Sprint("p", len(many)), Hash: same.hash, Size: same.size})
	}
	var prints []Print
	for range MaxPrints {
		prints = append(prints, Print{Type: "post", Properties: many})
	}
	deep := strings.Repeat("<div class=post>", 400) + "the raven said nothing 2026-11-22 10:00" + strings.Repeat("</div>", 400)
	classes := ""
	for i := range 8_000 {
		classes += fmt.Sprintf("<b class='pozt-%x a%x'>x</b>", i, i)
	}
	for name, page := range map[string]string{
		"one text everywhere": strings.Repeat("<p>the raven said nothing</p>", 10_000),
		"in each other":       strings.Repeat(deep, 20),
		"many classes":        classes,
		"long attributes":     strings.Repeat("<a title='"+strings.Repeat("2026 ", 100)+"' href=/u/1>Hugin</a><div>the raven said nothing 2026</div>", 800),
		"records of one form": strings.Repeat("<div class=m><a href=/u/1>Hugin</a><time datetime=2026-11-22>x</time><p>the raven said nothing, and left the wall</div>", 4_000),
	} {
		for _, steps := range []int{0, 1 << 12, 1 << 18, DefaultSteps} {
			t.Run(fmt.Sprint(name, steps), func(t *testing.T) { learned(t, page, prints, steps) })
		}
	}
}

// FuzzSteps: for any page, each way of learning ends within its steps, and gives the same result twice.
func FuzzSteps(f *testing.F) {
	f.Add(paged("", old, some), "said", uint32(1<<20))
	f.Add(strings.Repeat("<div class=post><a href=/u/1>Hugin</a> 2026-11-22 <p>said</div>", 30), "said", uint32(1<<16))
	f.Add(strings.Repeat("<b class=x>", 300)+"said", "said", uint32(1<<14))
	f.Add(strings.Repeat("<b class=x>", 100)+strings.Repeat("<b class=y>", 200)+"said", "said", uint32(16222))
	f.Add("<table><tr class=a><td>Hugin<td>one<tr class=b><td>Munin<td>two</table>", "one", uint32(1<<18))
	f.Fuzz(func(t *testing.T, page, text string, steps uint32) {
		if len(page) > 1<<14 {
			return
		}
		s := sumOf(text)
		var prints []Print
		for i := range 5 {
			prints = append(prints, Print{Type: "post", Properties: []Property{{Name: "body", Hash: s.hash, Size: s.size}, {Name: "author", Hash: sumOf("Hugin").hash + uint64(i), Size: 5}}})
		}
		n := int(steps % (1 << 21))
		if first, second := learned(t, page, prints, n), learned(t, page, prints, n); !reflect.DeepEqual(first, second) {
			t.Errorf("of one page with %d steps\n%+v\n%+v", n, first, second)
		}
	})
}
