package xpath

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

var seeds = []string{
	"//li[1]", "(//li)[last()]/../@id", "a | b | (c/d)[2]", ".//*[contains(concat(' ', @class, ' '), ' x ')]", "- 1 - -a * 2 div -3 mod 4",
	"//div[has-class('a', 'b') and not(p = 'c') or @d != \"e'f\"]", "count(//a[position() < 3]) >= last()", "//text()[matches(., '^\\d+$')]",
	"ancestor-or-self::node()/preceding::comment()", "substring(translate(normalize-space(//a), 'a', 'b'), 2, 3)", "(/) or a", "./. | .. | /.", "//@xlink:href",
	"'a' = \"b\"", "//*[. > ../@n][following-sibling::*[1][self::b]]", "sum(//@n) + string-length('ä') - round(1.5)", "//svg//linearGradient[@viewBox]",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		x, err := Parse(source)
		if err != nil {
			if err.Error() == "" || x != nil {
				t.Errorf("%q: error %q with %v", source, err, x)
			}
			return
		}
		text := Text(x.Root)
		if len(text) > MaxLength {
			return
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%q, written %q: %v", source, text, err)
		}
		if twice := Text(again.Root); twice != text {
			t.Errorf("%q, written %q, becomes %q", source, text, twice)
		}
		if x.Selects() != again.Selects() {
			t.Errorf("%q, written %q, selects nodes: %v", source, text, again.Selects())
		}
		if Text(Clone(x.Root)) != text {
			t.Errorf("%q: the copy is %q", text, Text(Clone(x.Root)))
		}
		if len(x.Needs()) != len(again.Needs()) {
			t.Errorf("%q needs %q, written %q it needs %q", source, x.Needs(), text, again.Needs())
		}
	})
}

func FuzzEval(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, forum)
		f.Add(s, outline)
	}
	f.Add("//li", `<svg viewBox=1><foreignObject><p>a<table>b<tr>c</table></svg><my-tag id=1 id=2 class="a a"><!-- - --><script><!-- </script>`)
	f.Fuzz(func(t *testing.T, source, page string) {
		x, err := Parse(source)
		if err != nil || len(page) > 1<<16 {
			return
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		const budget = 1 << 16
		e := NewEval(root, budget)
		defer e.Free()
		found, err := e.Select(x, e.Tree.Root(), 0)
		if err != nil {
			if !errors.Is(err, ErrBudget) || e.Budget >= 0 {
				t.Errorf("%q: %v, %d left", source, err, e.Budget)
			}
			return
		}
		if !slices.IsSortedFunc(found, compare) || len(slices.Compact(slices.Clone(found))) != len(found) {
			t.Errorf("%q: %v is out of order", source, found)
		}
		if !x.Selects() && len(found) > 0 {
			t.Errorf("%q selects %v", source, found)
		}
		e.Budget = budget
		first, is, err := e.First(x, e.Tree.Root())
		if err != nil || is != (len(found) > 0) || is && first != found[0] {
			t.Errorf("%q: the first is %v %v %v of %v", source, first, is, err, found)
		}
		for _, r := range found {
			e.Tree.Value(r)
		}
		again, err := Parse(Text(x.Root))
		if err != nil {
			return // FuzzParse reports it
		}
		e.Budget = 2 * budget
		same, err := e.Select(again, e.Tree.Root(), 0)
		if err != nil || !slices.Equal(same, found) {
			t.Errorf("%q selects %v, written %q %v (%v)", source, found, again, same, err)
		}
	})
}

func compare(a, b Ref) int {
	if a.ID != b.ID {
		return int(a.ID - b.ID)
	}
	return int(a.Attr - b.Attr)
}
