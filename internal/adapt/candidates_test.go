package adapt

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// TestCandidatesSelect: every candidate for every element of a page is valid, and selects that element.
func TestCandidatesSelect(t *testing.T) {
	pages := map[string]string{
		"forum": paged("", old, some),
		"plain": `<table><tr><td>a<td>b</table><ul><li>x<li>y</ul>`,
		"attributes": `<div itemprop="text" itemtype="http://schema.org/Comment" role="main" rel="a b" property="p:q" name="n[1]" data-type="] | //x" data-role="a and b"><time datetime="2026-11-21">x</time></div>` +
			`<p class="  a1  b-2 c_3 d:4 e/5 f(6) &quot; '7' 8] post-1234 x&amp;y ä " id="post-12">x</p><i id="12">x</i><i id="a1">x</i><i id="it's">x</i><b id="` + strings.Repeat("x", 61) + `" class="` + strings.Repeat("y", 61) + `">x</b><u class="" id="">x</u>`,
		"no names": `<svg><linearGradient class="a"><stop id="s"/></linearGradient></svg><math><mi>x</mi></math><my-tag class="q">x</my-tag>`,
	}
	for name, source := range pages {
		e := opened(t, source)
		for id := range int32(e.Tree.Len()) {
			n := e.Tree.At(id)
			list := candidates(e.Tree, id, "//")
			if n.Type != html.ElementNode {
				if list != nil {
					t.Errorf("%s: candidates for no element: %q", name, list)
				}
				continue
			}
			if len(list) == 0 || list[len(list)-1] != "//"+n.Data {
				t.Errorf("%s: %s: %q does not end with its name", name, n.Data, list)
			}
			for _, text := range append(list, candidates(e.Tree, id, ".//")...) {
				x, err := xpath.Parse(text)
				if err != nil {
					t.Errorf("%s: %s: %v", name, text, err)
					continue
				}
				refs, err := e.Select(x, e.Tree.Root(), 0)
				if err != nil || !slices.Contains(refs, xpath.Ref{ID: id, Attr: -1}) {
					t.Errorf("%s: %s does not select the %s it is for (%v)", name, text, n.Data, err)
				}
			}
		}
	}
}

// TestCandidatesOfOddNames: a name that cannot be part of an expression does no harm.
func TestCandidatesOfOddNames(t *testing.T) {
	e := opened(t, `<o:p class="a">x</o:p><x[1] class="b">y</x[1]><a|b>z</a|b><q(></q(><p "=1 '=2 class=c>w</p>`)
	l := newLearner(e)
	for id := range int32(e.Tree.Len()) {
		for _, text := range candidates(e.Tree, id, "//") {
			l.parse(text) // nil of those that are none
		}
	}
}

func TestConditions(t *testing.T) {
	tests := []struct {
		element string
		want    []string
	}{
		{`<p>`, nil},
		{`<p class="a b">`, []string{"has-class('a')", "has-class('b')"}},
		{`<p class="post-1234 post p12">`, []string{"has-class('post')", "has-class('p12')"}},
		{`<p id="post-12">`, []string{"starts-with(@id, 'post-')"}},
		{`<p id="main">`, []string{"@id='main'"}},
		{`<p id="p7">`, nil}, // too short a beginning, and no name of its own
		{`<p class="a" role="note" itemprop="text">`, []string{"@itemprop='text'", "@role='note'", "has-class('a')"}},
		{`<time class="t" datetime="2026-11-21">`, []string{"@datetime", "has-class('t')"}},
		{`<p class="it's">`, nil},
		{`<p class="a b c d e f g" id="x">`, []string{"has-class('a')", "has-class('b')", "has-class('c')", "has-class('d')", "has-class('e')"}},
	}
	for _, test := range tests {
		e := opened(t, test.element)
		got := conditions(e.Tree.Node(at(t, e, "//body/*")))
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], `"`, "'")
			got[i] = strings.ReplaceAll(got[i], " = ", "=")
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.element, got, test.want)
		}
	}
}
