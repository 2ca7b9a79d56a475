package xpath

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// names writes the selected nodes: elements by their ids, texts in quotes, comments as <!…>, attributes as @key=value.
func names(t *Tree, found []Ref) string {
	var out []string
	for _, r := range found {
		n := t.Node(r)
		switch {
		case r.Attr >= 0:
			out = append(out, "@"+n.Attr[r.Attr].Key+"="+n.Attr[r.Attr].Val)
		case n.Type == html.TextNode:
			out = append(out, "'"+n.Data+"'")
		case n.Type == html.CommentNode:
			out = append(out, "<!"+n.Data+">")
		case n.Type == html.DocumentNode:
			out = append(out, "/")
		default:
			id, _ := attribute(n, "id")
			if id == "" {
				id = n.Data
			}
			out = append(out, id)
		}
	}
	return strings.Join(out, " ")
}

// outline is a page whose elements are known by their ids:
//
//	html head
//	     body  a  b  c 'one'
//	                 d 'two'
//	              !note
//	              e  f 'three'
//	           g  h 'four'
const outline = `<!doctype html><html><head></head><body id=body class=top><div id=a class="x y"><p id=b><b id=c n=1>one</b><i id=d n=2>two</i></p><!--note--><p id=e n=3><b id=f n=10>three</b></p></div><div id=g class="y  z"><b id=h>four</b></div></body></html>`

func check(t *testing.T, source string, at string, cases [][2]string) {
	t.Helper()
	e := NewEval(page(t, source), DefaultBudget)
	defer e.Free()
	context := e.Tree.Root()
	if at != "" {
		var found bool
		if context, found, _ = e.First(parsed(t, at), context); !found {
			t.Fatalf("there is no %s", at)
		}
	}
	for _, c := range cases {
		x := parsed(t, c[0])
		found, err := e.Select(x, context, 0)
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
		}
		if got := names(e.Tree, found); got != c[1] {
			t.Errorf("%s selects %s, not %s", c[0], got, c[1])
		}
		first, is, err := e.First(x, context)
		if err != nil || is != (len(found) > 0) || is && first != found[0] {
			t.Errorf("%s: the first is %v %v %v of %v", c[0], first, is, err, found)
		}
		if two, _ := e.Select(x, context, 2); len(two) != min(2, len(found)) || len(two) == 2 && two[1] != found[1] {
			t.Errorf("%s: at most two are %v of %v", c[0], two, found)
		}
	}
}

func TestAxes(t *testing.T) {
	check(t, outline, "//p[@id='b']", [][2]string{
		{"*", "c d"},
		{"child::node()", "c d"},
		{"b", "c"},
		{"descendant::node()", "c 'one' d 'two'"},
		{"descendant::p", ""},
		{"descendant-or-self::*", "b c d"},
		{"self::p", "b"},
		{"self::div", ""},
		{".", "b"},
		{"..", "a"},
		{"parent::p", ""},
		{"ancestor::*", "html body a"},
		{"ancestor::node()", "/ html body a"},
		{"ancestor-or-self::*", "html body a b"},
		{"ancestor::div", "a"},
		{"following-sibling::node()", "<!note> e"},
		{"following-sibling::p", "e"},
		{"preceding-sibling::node()", ""},
		{"following::*", "e f g h"},
		{"following::text()", "'three' 'four'"},
		{"preceding::*", "head"},
		{"@*", "@id=b"},
		{"@id", "@id=b"},
		{"@n", ""},
		{"*/@n", "@n=1 @n=2"},
		{".//b/..", "b"},
		{".//b/../..", "a"},
	})
	check(t, outline, "//b[@id='f']", [][2]string{
		{"preceding::*", "head b c d"},
		{"preceding::node()", "head b c 'one' d 'two' <!note>"},
		{"preceding::*[1]", "d"},
		{"ancestor::*[1]", "e"},
		{"ancestor::*[last()]", "html"},
		{"ancestor-or-self::*[2]", "e"},
		{"../preceding-sibling::node()[1]", "<!note>"},
		{"../preceding-sibling::*[1]", "b"},
		{"following::*[1]", "g"},
		{"/", "/"},
		{"/*", "html"},
		{"/node()", "html"},
		{"//node()[self::comment()]", "<!note>"},
		{"//comment()", "<!note>"},
	})
}

func TestAxesFromAnAttribute(t *testing.T) {
	check(t, outline, "//p[@id='e']/@n", [][2]string{
		{".", "@n=3"},
		{"..", "e"},
		{"../@id", "@id=e"},
		{"self::node()", "@n=3"},
		{"self::*", ""},
		{"ancestor::*", "html body a e"},
		{"ancestor-or-self::node()", "/ html body a e @n=3"},
		{"descendant-or-self::node()", "@n=3"},
		{"node()", ""},
		{"@*", ""},
		{"following-sibling::node()", ""},
		{"preceding-sibling::node()", ""},
		{"following::*", "f g h"},
		{"preceding::*", "head b c d"},
	})
}

func TestPositions(t *testing.T) {
	check(t, `<ul id=u><li id=a class=x><li id=b><li id=c class=x></ul><ol id=o><li id=d><li id=e class=x></ol><ul id=v><li id=f></ul>`, "", [][2]string{
		{"//li[1]", "a d f"},
		{"(//li)[1]", "a"},
		{"(//li)[2]", "b"},
		{"//li[2]", "b e"},
		{"//li[last()]", "c e f"},
		{"(//li)[last()]", "f"},
		{"//li[last() - 1]", "b d"},
		{"//li[position() < 3]", "a b d e f"},
		{"//li[position() mod 2 = 1]", "a c d f"},
		{"(//li)[position() > 4]", "e f"},
		{"/descendant::li[3]", "c"},
		{"//li[@class][1]", "a e"},
		{"//li[1][@class]", "a"},
		{"//li[@class][2]", "c"},
		{"//li[2][1]", "b e"},
		{"//li[1][2]", ""},
		{"//li[position() = last()]", "c e f"},
		{"//li[0]", ""},
		{"//li[1.5]", ""},
		{"//li[-1]", ""},
		{"//li[position() = 1 or @class]", "a c d e f"},
		{"//li[count(../li)]", "c e f"},
		{"//li[not(position() = 1)]", "b c e"},
		{"//ul[1]/li[2]", "b"},
		{"//ul[2]/li", "f"},
		{"//ul[li[2]]", "u"},
		{"//ul[count(li) = 1]/li[1]", "f"},
		{"//*[li][2]", "o"},
		{"//li[@class='x'][last()]/@id", "@id=c @id=e"},
		{"(//ul | //ol)[2]", "o"},
		{"(//ul | //ol)[last()]/li", "f"},
		{"(//ul/li)[@class][2]", "c"},
		{"//li[3]/preceding-sibling::li[1]", "b"},
		{"//li[3]/preceding-sibling::li[2]", "a"},
		{"//li[3]/preceding-sibling::li", "a b"},
		{"(//li[3]/preceding-sibling::li)[1]", "a"},
		{"//li/following-sibling::li[1]", "b c e"},
		{"//li/following::li[1]", "b c d e f"},
		{"//li[preceding-sibling::li[1][@class]]", "b"},
		{"//li['1']", "a b c d e f"},
		{"//li[string(2)]", "a b c d e f"},
		{"//li[number('2')]", "b e"},
		{"//@id[1]", "@id=u @id=a @id=b @id=c @id=o @id=d @id=e @id=v @id=f"},
		{"(//@id)[4]", "@id=c"},
	})
}

func TestOrderWithoutRepeats(t *testing.T) {
	check(t, `<div id=a><div id=b><p id=c><div id=d><p id=e></div></div><p id=f></div>`, "", [][2]string{
		{"//div//p", "c e f"},
		{"//div//div//p", "c e"},
		{"//div/p", "c e f"},
		{"//p/.. ", "a b d"},
		{"//p/ancestor::div", "a b d"},
		{"//p | //div", "a b c d e f"},
		{"//p | //p | //p", "c e f"},
		{"//p/@id | //p", "c @id=c e @id=e f @id=f"},
		{"//p[1] | //div[1]", "a b c d e f"},
		{"//*/*/@id", "@id=a @id=b @id=c @id=d @id=e @id=f"},
		{"//div/following::p", "f"},
		{"//p/preceding::*", "head b c d e"},
		{"//div/descendant-or-self::div", "a b d"},
		{"//div/descendant::div/..", "a b"},
		{"//@id/..", "a b c d e f"},
		{"//div/descendant::p[1]", "c e"},
		{"//div/descendant::p[2]", "e"},
		{"//div/descendant::p[last()]", "e f"},
		{"//p/ancestor::*[1]/p", "c e f"},
		{"(//p/ancestor::div)[1]", "a"},
	})
}

func TestForeignNamesAndAttributes(t *testing.T) {
	check(t, `<svg id=s viewBox="0 0"><linearGradient id=l /><use id=u xlink:href="#l" /></svg><my-tag id=m data-X=1><a id=a xlink:href=2 title=one title=two>`, "", [][2]string{
		{"//linearGradient", "l"},
		{"//lineargradient/@id", "@id=l"},
		{"//svg/@viewBox", "@viewBox=0 0"},
		{"//*[@viewbox]", "s"},
		{"//*[@xlink:href]", "u a"},
		{"//@xlink:href", "@href=#l @xlink:href=2"},
		{"//*[@xlink:href='#l']", "u"},
		{"//@*[name() = 'xlink:href']/..", "u a"},
		{"//my-tag", "m"},
		{"//a", "a"},
		{"//*[not(self::a)]/@id", "@id=s @id=l @id=u @id=m"},
		{"//MY-TAG[@DATA-x = 1]", "m"},
		{"//a[@title = 'two']", ""},
		{"//a/@title", "@title=one"},
	})
}

// A tree that was built by hand has no atoms.
func TestATreeBuiltByHand(t *testing.T) {
	root := &html.Node{Type: html.ElementNode, Data: "div"}
	root.AppendChild(&html.Node{Type: html.ElementNode, Data: "p", Attr: []html.Attribute{{Key: "id", Val: "p"}}})
	e := NewEval(root, DefaultBudget)
	defer e.Free()
	for source, want := range map[string]string{"//p": "p", "/": "div", "p": "p", "self::div": "div"} {
		found, err := e.Select(parsed(t, source), e.Tree.Root(), 0)
		if got := names(e.Tree, found); err != nil || got != want {
			t.Errorf("%s selects %s, not %s (%v)", source, got, want, err)
		}
	}
	if NewTree(nil).Len() != 0 {
		t.Error("no page has nodes")
	}
}

func TestTheTree(t *testing.T) {
	tree := NewTree(page(t, outline))
	for id := range int32(tree.Len()) {
		r := Ref{id, -1}
		above, is := tree.Parent(r)
		if is != (id > 0) || is && (tree.Node(above) != tree.Node(r).Parent || !tree.Within(r, above) || tree.Within(above, r)) {
			t.Errorf("the parent of %d is %v", id, above)
		}
		below := 0
		for range tree.Node(r).Descendants() {
			below++
		}
		if got := int(tree.End(r) - id - 1); got != below {
			t.Errorf("%d nodes stand below %d, not %d", got, id, below)
		}
	}
	if p, is := tree.Parent(Ref{3, 0}); !is || p != (Ref{3, -1}) {
		t.Errorf("the parent of an attribute is %v", p)
	}
}
