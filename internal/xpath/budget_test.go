package xpath

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/cputime"
)

const (
	// ample is enough for expressions that do not explode.
	ample = DefaultBudget / 4
	// bounded is how long it may take to spend the budget on a slow machine. A fast one takes 10 to 100 ms.
	bounded = 3 * time.Second
)

// deep builds elements within each other, deeper than the parser of HTML would.
func deep(depth int) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	at := root
	for i := range depth {
		n := &html.Node{Type: html.ElementNode, Data: "div", Attr: []html.Attribute{{Key: "class", Val: fmt.Sprintf("a c%d", i%7)}}}
		at.AppendChild(n)
		at = n
	}
	at.AppendChild(&html.Node{Type: html.TextNode, Data: "end"})
	return root
}

// wide builds a list of elements, each with a few more below it.
func wide(width int) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	top := &html.Node{Type: html.ElementNode, Data: "ul"}
	root.AppendChild(top)
	for i := range width {
		n := &html.Node{Type: html.ElementNode, Data: "li", Attr: []html.Attribute{{Key: "id", Val: fmt.Sprint("x", i)}, {Key: "class", Val: fmt.Sprint("y", i)}}}
		n.AppendChild(&html.Node{Type: html.TextNode, Data: "some words"})
		top.AppendChild(n)
	}
	return root
}

// ends evaluates within the budget and the time that is bounded, and reports how it ended.
func ends(t *testing.T, e *Eval, source string) (found []Ref, err error) {
	t.Helper()
	x := parsed(t, source)
	e.Budget = ample
	begin := cputime.Used()
	found, err = e.Select(x, e.Tree.Root(), 0)
	if took := cputime.Used() - begin; took > bounded {
		t.Errorf("%.80s: took %v", source, took)
	}
	if err != nil && !errors.Is(err, ErrBudget) {
		t.Errorf("%.80s: %v", source, err)
	}
	return found, err
}

func TestExplodingExpressionsEnd(t *testing.T) {
	exploding := []string{
		"//*[.//*[.//*[.//*[.//nothing]]]]",
		"//*[.//*//*//*//*//*//*//nothing]",
		"//*[ancestor-or-self::*/descendant::*/ancestor::*/descendant::*/ancestor::nothing]",
		"//*[following::*[following::*[following::nothing]]]",
		"//*[preceding::*[preceding::*[preceding::nothing]]]",
		"//*[//*/@class = //*/@id]",
		"//*[//*/@class > //*/@id]",
		"//*[count(//*) > 1][count(//*) > 1][count(//*[count(//*) = 1]) = 1]",
		"//node()/ancestor-or-self::node()/descendant-or-self::node()/preceding::node()/following::node()",
		"//*[contains(string(/), 'nothing')][contains(concat(/, /, /, /, /), 'nothing')][matches(/, 'nothing')]",
		"//*[sum(//*) + sum(//*) + sum(//*)]",
		"//*[.//*[" + strings.Repeat("@id or ", 500) + "@id]]",
		"//*[.//*[" + strings.Repeat("1 = 2 or ", 400) + "not(1)]]",
		"//*[.//*[" + strings.Repeat("@a = 'a' or ", 300) + "not(1)]]",
		"//*[//*[substring('" + strings.Repeat("a", 2000) + "', 1999) = 'b']]",
		"//*[//*[translate('" + strings.Repeat("a", 1000) + "', '" + strings.Repeat("é", 1000) + "', 'b') = 'b']]",
		"//*[//*[matches('" + strings.Repeat("a", 1000) + "', '(a?){300}(a?){300}b')]]",
		"//*[//*[matches('" + strings.Repeat("a", 2000) + "', '(a*a*)*b')]]",
		"//*[//*[contains('" + strings.Repeat("a", 3000) + "', '" + strings.Repeat("a", 500) + "b')]]",
		"//*[//*[concat(" + strings.Repeat("string(/), ", 15) + "'a') = '']]",
	}
	for name, root := range map[string]*html.Node{"deep": deep(3000), "wide": wide(3000)} {
		t.Run(name, func(t *testing.T) {
			e := NewEval(root, DefaultBudget)
			defer e.Free()
			spent := 0
			for _, source := range exploding {
				if _, err := ends(t, e, source); err != nil {
					spent++
				}
			}
			if spent < len(exploding)/2 {
				t.Errorf("only %d of %d spent the budget", spent, len(exploding))
			}
		})
	}
}

// Expressions that a good order of evaluation answers at once need no large budget.
func TestSomeLookExpensiveOnly(t *testing.T) {
	for name, root := range map[string]*html.Node{"deep": deep(20_000), "wide": wide(20_000)} {
		e := NewEval(root, DefaultBudget)
		for _, source := range []string{
			"//*//*//*//*", "//*//*//*//*//nothing", "//div//div//text()", "//*[//*]",
			"//li/preceding-sibling::li[1]", "//*[preceding-sibling::*]", "//*[following-sibling::*]", "//*[ancestor::*]",
			"//li/following-sibling::li[1]", "(//*)[last()]", "//*[last()]", "//*[parent::*/parent::*]", "//*[has-class('c3')]/@class",
		} {
			if _, err := ends(t, e, source); err != nil {
				t.Errorf("%s: %s: %v", name, source, err)
			}
		}
		e.Free()
	}
}

func TestAPageOfGreatDepth(t *testing.T) {
	const depth = 100_000
	root := deep(depth)
	e := NewEval(root, DefaultBudget)
	defer e.Free()
	for source, want := range map[string]int{
		"//div": depth, "//text()": 1, "/div/div/div": 1, "//text()/ancestor::*": depth, "//div[text()]/ancestor::div[3]": 1,
		"(//div)[last()]": 1, "//div[text() = 'end']": 1, "//*[has-class('c6')]": depth / 7,
	} {
		if found, err := ends(t, e, source); err != nil || len(found) != want {
			t.Errorf("%s selects %d, not %d (%v)", source, len(found), want, err)
		}
	}
	for _, source := range []string{"//div[. = 'nothing']", "//div[.//div[.//nothing]]", "//div[string-length(.) = 0]", "//div[ancestor::nothing]"} {
		if _, err := ends(t, e, source); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestHugeAttributesAndTexts(t *testing.T) {
	root := deep(400)
	var last *html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			last = n
		}
	}
	last.Attr = append(last.Attr, html.Attribute{Key: "title", Val: strings.Repeat("ab ", 1<<20)})
	last.Attr[0].Val = strings.Repeat("a", 1<<20) + " x"
	for i := range 100_000 {
		last.Attr = append(last.Attr, html.Attribute{Key: fmt.Sprint("data-", i)})
	}
	last.FirstChild.Data = strings.Repeat("word ", 1<<20)
	e := NewEval(root, DefaultBudget)
	defer e.Free()
	for _, source := range []string{
		"//*[.//*[normalize-space(@title) = 'b']]",
		"//*[.//*[@title = 'b']]",
		"//*[.//*[contains(@title, 'b ba')]]",
		"//*[.//*[matches(@title, '(a|b)*c')]]",
		"//*[.//*[translate(@title, 'a', 'c') = 'b']]",
		"//*[.//*[lower-case(@title) = 'b']]",
		"//*[.//*[substring(@title, 100000) = 'b']]",
		"//*[.//*[string-length(@title) = 1]]",
		"//*[.//*[@data-nothing]]",
		"//*[.//*[.//*[@data-nothing]]]",
		"//*[.//@nothing]",
		"//*[.//*[has-class('a', '" + strings.Repeat("a", 1000) + "')]]",
		"//*[.//*[.//*[has-class('a', 'b')]]]",
		"//*[contains(., 'nothing')]",
		"//*[normalize-space(.) = 'nothing']",
		"//*[number(.) = 1]",
		"//*[. = //*]",
	} {
		_, _ = ends(t, e, source)
	}
	if found, err := ends(t, e, "//*[has-class('x')]"); err != nil || len(found) != 1 {
		t.Errorf("%v %v", found, err)
	}
}

func TestABudgetIsSpentOnceForAllExpressions(t *testing.T) {
	e := NewEval(wide(1000), 10_000)
	defer e.Free()
	x := parsed(t, "//li")
	for i := range 20 {
		found, err := e.Select(x, e.Tree.Root(), 0)
		if err != nil {
			if i < 2 || len(found) > 1000 || e.Budget >= 0 {
				t.Errorf("spent at %d, %d nodes, %d left", i, len(found), e.Budget)
			}
			if _, _, err := e.First(x, e.Tree.Root()); !errors.Is(err, ErrBudget) {
				t.Errorf("the next: %v", err)
			}
			return
		}
	}
	t.Error("the budget was not spent")
}

func TestABadReferenceIsNoBudget(t *testing.T) {
	e := NewEval(wide(1), DefaultBudget)
	defer func() {
		if recover() == nil {
			t.Error("a reference to another page was taken for a spent budget")
		}
	}()
	_, _ = e.Select(parsed(t, "*"), Ref{1000, -1}, 0)
}

// TestWithin: a part of the work has its own share of the budget, but no more than is left.
func TestWithin(t *testing.T) {
	for name, c := range map[string]struct{ budget, nodes, pay, left int }{
		"less than its share":     {100, 10, 4, 96},
		"more than its share":     {100, 10, 40, 90},
		"a share above the rest":  {100, 1000, 40, 60},
		"all that is left":        {100, 1000, 140, -40},
		"no share":                {100, 0, 1, 100},
		"nothing is left already": {-1, 10, 1, -2},
	} {
		e := &Eval{Tree: NewTree(wide(3)), Budget: c.budget}
		e.Within(c.nodes, func() { e.Pay(c.pay) })
		if e.Budget != c.left {
			t.Errorf("%s: %d are left, want %d", name, e.Budget, c.left)
		}
	}
}
