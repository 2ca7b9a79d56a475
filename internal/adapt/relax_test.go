package adapt

import (
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// TestRelax: a rule that fails after a small change of the template is changed so that it works again.
func TestRelax(t *testing.T) {
	for name, each := range map[string]string{
		"classes like the old ones": `<div class="posts" id="p{n}"><b class="whos">{author}</b><time datetime="{date}">{date}</time><div class="texts">{body}</div></div>`,
		"another element":           `<section class="post"><i class="who">{author}</i><time datetime="{date}">{date}</time><span class="text">{body}</span></section>`,
		"the author alone":          `<div class="post"><b class="whom">{author}</b><time datetime="{date}">{date}</time><div class="text">{body}</div></div>`,
	} {
		e := opened(t, paged("", each, some))
		rule, ok := Relax(e, oldRule, nil, ample)
		if !ok || rule.Type != "post" || !rule.Has("body") {
			t.Errorf("%s: %+v %v", name, rule, ok)
			continue
		}
		if got := written(t, e, rule); !slices.Equal(got, expected(some)) {
			t.Errorf("%s: %+v extracts\n%s", name, rule, strings.Join(got, "\n"))
		}
	}
	if rule, ok := Relax(opened(t, paged("", old, some)), oldRule, nil, 0); ok {
		t.Errorf("without time: %+v", rule)
	}
	if rule, ok := Relax(opened(t, ""), oldRule, nil, ample); ok {
		t.Errorf("of nothing: %+v", rule)
	}
}

// TestRelaxed: each change of an expression gives a valid expression that differs from the original.
func TestRelaxed(t *testing.T) {
	e := opened(t, paged("", strings.NewReplacer("post", "posts", "who", "whom").Replace(old), some))
	l := newLearner(e)
	for _, text := range []string{
		"//div[has-class('post')]", ".//b[has-class('who')]", "//div[has-class('post') and b]/p[1]/@id", "//a | //b[@id='x']", "div/p", "(//div)[2]/b", "//dt[following-sibling::dd[1]]", "//x[count(.//y[z]) > 3]", ".",
	} {
		list := l.relaxed(text)
		if len(list) > maxRelaxed {
			t.Errorf("%s: %d expressions", text, len(list))
		}
		for _, r := range list {
			x, err := xpath.Parse(r)
			if err != nil || !x.Selects() {
				t.Errorf("%s is made %s: %v", text, r, err)
			}
			if same, err := xpath.Parse(text); err == nil && xpath.Text(same.Root) == r {
				t.Errorf("%s is left as it is", text)
			}
		}
	}
	list := l.relaxed("//div[has-class('post')]")
	for _, want := range []string{"//div[has-class('posts')]", "//*[has-class('post')]", "//div"} {
		if !slices.ContainsFunc(list, func(s string) bool { return strings.ReplaceAll(s, `"`, "'") == want }) {
			t.Errorf("%s is not among %q", want, list)
		}
	}
	if list := l.relaxed("///"); list != nil {
		t.Errorf("of what is none: %q", list)
	}
}

func TestLikeness(t *testing.T) {
	for _, test := range []struct {
		a, b     string
		from, to float64
	}{
		{"post", "post", 1, 1}, {"Post", "pOST", 1, 1}, {"post-body", "postbody", .7, .9}, {"post", "posts", .8, .9}, {"post", "crow", 0, 0},
		{"a", "a", 0, 0}, {"", "post", 0, 0}, {"aaaa", "aa", .4, .6}, {"night", "nacht", .25, .25},
	} {
		if got := likeness(test.a, test.b); got < test.from || got > test.to || got != likeness(test.b, test.a) {
			t.Errorf("%q and %q: %g", test.a, test.b, got)
		}
	}
	list := []string{"crow", "posts", "post", "hosts"}
	if sortByLikeness(list, "post"); !slices.Equal(list, []string{"post", "posts", "hosts", "crow"}) {
		t.Errorf("%q", list)
	}
}
