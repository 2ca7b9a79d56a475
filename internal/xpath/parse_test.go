package xpath

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func page(t testing.TB, source string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func parsed(t testing.TB, source string) *Expr {
	t.Helper()
	x, err := Parse(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return x
}

// selected evaluates from the page, with a budget that no test of a result should use up.
func selected(t testing.TB, root *html.Node, x *Expr) []Ref {
	t.Helper()
	e := NewEval(root, DefaultBudget)
	defer e.Free()
	found, err := e.Select(x, e.Tree.Root(), 0)
	if err != nil {
		t.Fatalf("%s: %v", x, err)
	}
	return found
}

const forum = `<!DOCTYPE html><title>Board</title><body id=phpbb class="nojs  section-viewtopic">
<div class="post bg1" id=p1><a class=author href="/u?id=1">Ann</a><p>One <b>two</b></p><ul><li>a<li>b<li>c</ul></div>
<div class="post bg2" id=p2><a class=author href="/u?id=2">Bob</a><p>Three</p><ul><li>d</ul></div><!-- end -->`

func TestWhatIsReadIsWrittenAgain(t *testing.T) {
	root := page(t, forum)
	for source, want := range map[string]string{
		"//li":                      "//li",
		".//li":                     ".//li",
		"//li[1]":                   "/descendant-or-self::node()/li[1]",
		"//li[@id][last()]":         "/descendant-or-self::node()/li[@id][last()]",
		"/descendant::li[2]":        "/descendant::li[2]",
		"(//li)[1]":                 "(//li)[1]",
		"(//li)[1]/../@id":          "(//li)[1]/../@id",
		"((//ul))/li":               "(//ul)/li",
		"(//ul)/.":                  "//ul",
		"./.":                       ".",
		".":                         ".",
		"..":                        "..",
		"/":                         "/",
		"/.":                        "/",
		"/./html":                   "/html",
		"//.":                       "/descendant-or-self::node()",
		"//@href":                   "/descendant-or-self::node()/@href",
		"//DIV[@CLASS='x']":         "//div[@class = 'x']",
		"a | b|c":                   "a | b | c",
		"a|(b|c)":                   "a | (b | c)",
		"(/)|a":                     "(/) | a",
		"(/) or a":                  "(/) or a",
		"(/) * 2":                   "(/) * 2",
		"(/)/html":                  "(/)/html",
		"1+2*3":                     "1 + 2 * 3",
		"(1+2)*3":                   "(1 + 2) * 3",
		"1-(2-3)-4":                 "1 - (2 - 3) - 4",
		"-1":                        "-1",
		"--1":                       "1",
		"-a":                        "0 - a",
		"--a":                       "number(a)",
		"-a * b":                    "(0 - a) * b",
		"2 * -1":                    "2 * (-1)",
		"a = b != c":                "a = b != c",
		"a = (b = c)":               "a = (b = c)",
		"a and (b or c)":            "a and (b or c)",
		"a < 1 and b >= .5":         "a < 1 and b >= 0.5",
		"div div div":               "div div div",
		"mod mod mod":               "mod mod mod",
		"* * *":                     "* * *",
		"or or or":                  "or or or",
		`"it's"`:                    `"it's"`,
		`'say "no"'`:                `'say "no"'`,
		"//a[. = 'Ann']":            "//a[. = 'Ann']",
		"self::node()[a]":           "self::node()[a]",
		"parent::node()[a]":         "parent::node()[a]",
		"child::a/attribute::href":  "a/@href",
		"ancestor-or-self::div/b":   "ancestor-or-self::div/b",
		"//text()":                  "//text()",
		"//comment()":               "//comment()",
		"node()/*":                  "node()/*",
		"@xlink:href":               "@xlink:href",
		"//a[position() < 3]":       "/descendant-or-self::node()/a[position() < 3]",
		"//ul[li[2]]":               "//ul[li[2]]",
		"//ul[count(li) - 1]":       "/descendant-or-self::node()/ul[count(li) - 1]",
		"//b[ matches( . ,'^t' ) ]": "//b[matches(., '^t')]",
		"//div[contains(concat(' ', @class, ' '), ' post ')]":                  "//div[has-class('post')]",
		"//div[contains(concat(' ', normalize-space(@class), ' '), ' post ')]": "//div[has-class('post')]",
		"//div[contains(concat(' ', @class, ' '), ' a b ')]":                   "//div[contains(concat(' ', @class, ' '), ' a b ')]",
		"//div[contains(concat(' ', @id, ' '), ' p1 ')]":                       "//div[contains(concat(' ', @id, ' '), ' p1 ')]",
	} {
		x := parsed(t, source)
		if got := Text(x.Root); got != want {
			t.Errorf("%s is written %s, not %s", source, got, want)
		}
		if x.String() != source {
			t.Errorf("%s has lost its source: %s", source, x)
		}
		again, err := Parse(Text(x.Root))
		if err != nil {
			t.Errorf("%s, written %s: %v", source, want, err)
			continue
		}
		if got := Text(again.Root); got != want {
			t.Errorf("%s is written %s the second time, not %s", source, got, want)
		}
		if a, b := selected(t, root, x), selected(t, root, again); !slices.Equal(a, b) {
			t.Errorf("%s selects %v, written again %v", source, a, b)
		}
	}
}

func TestBadExpressionsAreExplained(t *testing.T) {
	for source, want := range map[string]string{
		"":                              "is empty",
		" \n":                           "is empty",
		"//":                            "ends where a step",
		"a/":                            "ends where a step",
		"a//":                           "ends where a step",
		"@":                             "ends where a step",
		"a[":                            "ends where a step",
		"a[]":                           `"]" instead of a step at 3`,
		"a[1":                           `"]" is missing at the end`,
		"(a":                            `")" is missing at the end`,
		"a)":                            `unexpected ")" at 2`,
		"a]":                            `unexpected "]" at 2`,
		"a b":                           `unexpected "b" at 3`,
		".[a]":                          `unexpected "[" at 2`,
		"'a":                            "the string that begins at 1 does not end",
		"$a":                            `unexpected '$' at 1`,
		"a ! b":                         `unexpected '!' at 3`,
		"1.2.3":                         `"1.2.3" at 1 is not a number`,
		"a | 'b'":                       "joins what selects nodes only",
		"a | count(b)":                  "joins what selects nodes only",
		"('a')/b":                       "a path stands behind 'a', which selects no nodes",
		"string(a)/b":                   "a path stands behind string(a), which selects no nodes",
		"string(a)[1]":                  "selects no nodes",
		"up::a":                         `there is no axis "up"`,
		"child'::'a":                    "unexpected",
		"foo(a)":                        "there is no function foo",
		"a/foo()":                       "foo() cannot be a step",
		"id('a')":                       "there is no function id",
		"//a[contains(@b)]":             "function contains takes 2 to 2 arguments, not 1",
		"count()":                       "function count takes 1 to 1 arguments, not 0",
		"count('a')":                    "function count takes what selects nodes",
		"sum(1)":                        "function sum takes what selects nodes",
		"name('a')":                     "function name takes what selects nodes",
		"contains(a b)":                 `"b" instead of "," at 12`,
		"text(1)":                       `"1" instead of ")" at 6`,
		"matches(a, b)":                 "must be a regular expression in quotes",
		"matches(a, '(')":               "missing closing )",
		"has-class('a b')":              "has-class takes class names in quotes",
		"has-class(@a)":                 "has-class takes class names in quotes",
		"has-class('')":                 "has-class takes class names in quotes",
		"a[b or]":                       `"]" instead of a step at 7`,
		"-":                             "ends where a step",
		"a = ":                          "ends where a step",
		strings.Repeat("a", 4097):       "is longer than 4096 bytes",
		strings.Repeat("(", 4000):       "brackets stand in each other more than 40 deep",
		strings.Repeat("a[", 2000):      "brackets stand in each other more than 40 deep",
		strings.Repeat("not(", 1000):    "brackets stand in each other more than 40 deep",
		strings.Repeat("-(", 2000):      "brackets stand in each other more than 40 deep",
		strings.Repeat("(a or ", 600):   "brackets stand in each other more than 40 deep",
		strings.Repeat("9", 400) + "=1": "is not a number",
	} {
		if _, err := Parse(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: the error is %v, not %s", source, err, want)
		}
	}
}

func TestExpressionsAsLongAsTheLimits(t *testing.T) {
	for _, source := range []string{
		strings.Repeat("a", MaxLength),
		strings.Repeat("-", MaxLength-1) + "1",
		strings.Repeat("-", MaxLength-2) + "aa",
		"a" + strings.Repeat("|a", MaxLength/2-1),
		"a" + strings.Repeat("=a", MaxLength/2-1),
		"a" + strings.Repeat("/a", MaxLength/2-1),
		"a" + strings.Repeat("[b]", 1300),
		"a" + strings.Repeat(" or a", 800),
		strings.Repeat("(", MaxNesting-1) + "a" + strings.Repeat(")", MaxNesting-1),
		"a" + strings.Repeat("[b", MaxNesting-1) + strings.Repeat("]", MaxNesting-1),
	} {
		x, err := Parse(source)
		if err != nil {
			t.Errorf("%.20s…: %v", source, err)
			continue
		}
		selected(t, page(t, forum), x)
	}
}

func TestWhatSelectsNodes(t *testing.T) {
	for source, want := range map[string]bool{
		"a": true, "@a": true, "a | b": true, "(a)[1]": true, "(a | b)/c": true, "/": true,
		"'a'": false, "1": false, "a = b": false, "count(a)": false, "a + 1": false, "not(a)": false, "a or b": false,
	} {
		if got := parsed(t, source).Selects(); got != want {
			t.Errorf("%s selects nodes: %v", source, got)
		}
	}
}

func TestChangesToACopyLeaveTheOriginal(t *testing.T) {
	const source = "(//div[has-class('post', 'bg1')]/ul | //ol)[1]/li[@id = 'a'][2]"
	x := parsed(t, source)
	was := Text(x.Root)
	c := Clone(x.Root)
	Walk(c, func(n Node) {
		switch n := n.(type) {
		case *Path:
			n.Absolute, n.Filter = false, nil
			for _, s := range n.Steps {
				s.Test, s.Preds = "x", nil
			}
		case *Call:
			n.Name = "contains"
		case *Binary:
			n.Op = "or"
		}
	})
	if got := Text(x.Root); got != was {
		t.Errorf("%s has become %s", was, got)
	}
}

// A predicate for a position that is added to "//x" counts all of them, not those of each parent.
func TestAPositionAddedToAStepKeepsItsAxis(t *testing.T) {
	x := parsed(t, "//li")
	c := Clone(x.Root).(*Path)
	c.Steps[0].Preds = append(c.Steps[0].Preds, Number(2))
	if got, want := Text(c), "/descendant::li[2]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	c.Steps[0].Preds = nil
	if got, want := Text(c), "//li"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestAnythingIsWrittenAsALiteral(t *testing.T) {
	for _, s := range []string{"", "a", "it's", `"`, `it's "so"`, `'"'`} {
		x, err := Parse(Text(&Binary{"=", Literal(s), Literal("a")}))
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		e := NewEval(page(t, ""), DefaultBudget)
		if got := e.text(x.Root.(*Binary).Left, context{e, e.Tree.Root(), 1, 1}); got != s {
			t.Errorf("%q has become %q", s, got)
		}
		e.Free()
	}
}

func TestWalkMeetsEachPart(t *testing.T) {
	var met []string
	Walk(parsed(t, "(a[b] | c)[d]/e[contains(@f, 'g') and 2 > 1]").Root, func(n Node) { met = append(met, Text(n)) })
	want := []string{"(a[b] | c)[d]/e[contains(@f, 'g') and 2 > 1]", "a[b] | c", "a[b]", "b", "c", "d",
		"contains(@f, 'g') and 2 > 1", "contains(@f, 'g')", "@f", "'g'", "2 > 1", "2", "1"}
	if !slices.Equal(met, want) {
		t.Errorf("met %q", met)
	}
}
