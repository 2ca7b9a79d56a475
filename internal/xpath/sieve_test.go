package xpath

import (
	"slices"
	"testing"
)

// unsifted removes the quick checks from an expression.
func unsifted(t *testing.T, text string) *Expr {
	t.Helper()
	x := parsed(t, text)
	Walk(x.Root, func(n Node) {
		if p, is := n.(*Path); is {
			for _, s := range p.Steps {
				s.sieves = nil
			}
		}
	})
	return x
}

// TestSieves: quick checks leave out no node for which the predicates are true.
func TestSieves(t *testing.T) {
	root := page(t, `<div ID=main class="a b" data-x=1><P title=x>one<a href=/u rel=author>two</a></P><svg viewBox="0 0 1 1"><use xlink:href="#i"/></svg>
<input disabled><span class=>three</span><b id="">four</b><a href>five</a><!--six--></div><div class="b c"><p class=a>seven</div>`)
	selected := 0
	check := func(e *Eval, text string) {
		x, plain := parsed(t, text), unsifted(t, text)
		e.Budget = DefaultBudget
		got, err := e.Select(x, e.Tree.Root(), 0)
		e.Budget = DefaultBudget
		want, err2 := e.Select(plain, e.Tree.Root(), 0)
		if err != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("%s selects %d nodes with quick looks, %d without (%v, %v)", text, len(got), len(want), err, err2)
		}
		selected += len(want)
	}
	e := NewEval(root, DefaultBudget)
	for _, text := range []string{
		"//*[@id]", "//*[@ID='main']", "//*[@class]", "//*[has-class('a')]", "//*[has-class('a', 'b')]", "//*[has-class('b') or @rel]", "//*[@*]", "//@*[. = 'x']",
		"//*[@xlink:href]", "//*[@viewBox]", "//*[@viewbox]", "//*[self::p or self::b]", "//*[self::p and has-class('a')]", "//*[@id='' or @href]", "//*[not(@id)]",
		"//*[@class='']", "//*[contains(@class, '')]", "//*[contains(@id, 'a')][2]", "//*[2][@class]", "//*[@class][1]", "//*[position() < 3 and @class]", "//p[@title != 'y']",
		"//*[@data-x = 1]", "//*[@data-x > 0]", "//*[@nothing = false()]", "//*[@id = true()]", "//*[(@id | @rel) = 'author']", "//*[string(@rel)]", "//*[string-length(@rel) = 6]",
		"//*[contains(@a = 'x', 'false')]", "//*[starts-with(@a or @b, 'f')]", "//*[contains(string(@id = 'nope'), 'false')]", "//*[ends-with(@foo != 'x', 'e')]",
		"//*[contains(@foo and @bar, 'false')]", "//text()[contains(../@class, 'a')]", "//node()[self::p]", "//div[p[@class]]", "//*[.//a[@rel]]", "//*[@disabled]",
		"//*[@id = //b/@id]", "//*[starts-with(normalize-space(@class), 'a')]", "//*[has-class('a') and (has-class('b') or self::p)]", "//comment()[. = 'six']",
	} {
		check(e, text)
	}
	e.Free()
	for seed := range uint64(300) {
		m := newMaker(seed)
		e := NewEval(m.page(), DefaultBudget)
		for range 20 {
			check(e, m.expression())
		}
		e.Free()
	}
	if selected < 1000 {
		t.Errorf("the expressions select %d nodes: that proves little", selected)
	}
}
