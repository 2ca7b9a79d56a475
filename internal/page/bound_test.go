package page

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// made counts the nodes and attributes of a page's tree, except texts, html, head and body; false if the parser refuses the page.
func made(text []byte) (n int, ok bool) {
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return 0, false
	}
	for node := range root.Descendants() {
		if node.Type != html.TextNode {
			n += 1 + len(node.Attr)
		}
	}
	return n - 3, true
}

func counted(text []byte) int {
	m := meter{text: text}
	for i := 0; i < len(text); {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 {
			break
		}
		i = m.read(i + at)
	}
	return m.nodes
}

// under fails if the parser makes more nodes and attributes of a page than the bound.
func under(t *testing.T, text string) {
	t.Helper()
	blocks := strings.Repeat("<p>x", 20) // in which what is open is made again
	for _, form := range []string{"%s", "%s" + blocks, "<p>%s" + blocks, "<div><p>%s</div>" + blocks, "<div>%s</td></table></object></svg></div>" + blocks} {
		page := fmt.Appendf(nil, form, text)
		if n, ok := made(page); ok && n > counted(page) {
			t.Errorf("%d nodes and attributes of %q, counted %d", n, page, counted(page))
			return
		}
	}
}

// all are the parts of random pages: each element with special rules of parsing, and what hides tags.
var all = strings.Fields(`b b i font a a a nobr p p div div span ul li dd h1 table tr td th tbody thead caption col colgroup object applet marquee
	select option optgroup button form input hr br img svg svg g path desc foreignobject title math mi annotation-xml template noscript
	style script textarea iframe xmp body html head frameset noframes ruby rt rp pre dialog x-y b-c image main section a:b`)

// formatWords is how many of the first of them, which are of formatting.
const formatWords = 8

var between = strings.Fields(`x x x x <!--x--> <!--> <!--b--!> <? < </ </> <!x> <![CDATA[x]]> <![CDATA[x>]]> --> ]]> " ' = / > \n`)

var scripts = strings.Fields(`<!-- --> - > < / </script> <script> </SCRIPT/ <scripts <Script! </ <b> --!> x`)

func randomPage(r *rand.Rand, tags int) string {
	var b strings.Builder
	var open []string
	words := all
	if few := 2 + r.IntN(12); r.IntN(3) > 0 { // the same ones again and again
		words = nil
		for range few {
			words = append(words, all[r.IntN(len(all))])
		}
		words = append(words, all[r.IntN(formatWords)])
	}
	for range 1 + r.IntN(tags) {
		switch name := words[r.IntN(len(words))]; {
		case len(open) > 0 && r.IntN(3) == 0: // well nested, sometimes
			b.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		case r.IntN(4) == 0:
			b.WriteString("</" + name + ">")
		default:
			b.WriteString("<" + name)
			for range r.IntN(3) * r.IntN(3) {
				b.WriteString([]string{" a", " b=1", " c='2'", ` d="<b>"`, " e=f/", "/", " color", " = x", "<i", ` "`, " type=hidden"}[r.IntN(11)])
			}
			b.WriteString([]string{">", ">", ">", ">", "/>", " >"}[r.IntN(6)])
			open = append(open, name)
		}
		if len(open) > 0 && open[len(open)-1] == "script" && r.IntN(3) == 0 {
			for range r.IntN(8) {
				b.WriteString(scripts[r.IntN(len(scripts))])
			}
		}
		if r.IntN(3) == 0 {
			b.WriteString(between[r.IntN(len(between))])
		}
	}
	return b.String()
}

// TestMarkupBoundOfHiddenEnds: if an end tag closes nothing, the element that it seems to close is created again in all following
// blocks, with its attributes.
func TestMarkupBoundOfHiddenEnds(t *testing.T) {
	fonts, attributes := "", ""
	for i := range 20 {
		fonts += fmt.Sprintf("<font a=%d>", i)
		attributes += fmt.Sprintf(" a%d", i)
	}
	ends, blocks := strings.Repeat("</font>", 20), strings.Repeat("<p>x", 1000)
	for _, page := range []string{
		"<p>" + fonts + "<table><td>" + ends + "</table>" + blocks,
		"<p>" + fonts + "<table>" + ends + "</table>" + blocks,
		"<p>" + fonts + "<object>" + ends + "</object>" + blocks,
		"<p>" + fonts + "<select>" + ends + "</select>" + blocks,
		"<p>" + fonts + "<svg><title>" + ends + "</title></svg>" + blocks,
		"<p>" + fonts + "<script><!--<script></script>" + ends + "</script>" + blocks,
		"<p><font" + attributes + ">" + blocks,
		"<p><a" + attributes + ">" + blocks,
	} {
		n, ok := made([]byte(page))
		if least := 20_000; !ok || n < least {
			t.Errorf("%.60q is to make %d nodes and attributes, and makes %d", page, least, n)
		}
		if got := counted([]byte(page)); got < n {
			t.Errorf("%d nodes and attributes of %.60q, counted %d", n, page, got)
		}
	}
	fine := strings.Repeat("<td><font size=1><b>x</b></font><a href=x><svg><title>x</title><path/></svg><span>x</span></a><td><a href=y><div>x</div></a>", 500)
	if n, _ := made([]byte("<table>" + fine)); counted([]byte("<table>"+fine)) > 4*n {
		t.Errorf("a plain page makes %d nodes and attributes, counted %d", n, counted([]byte("<table>"+fine)))
	}
}

// TestMarkupBoundIsABound: the parser never makes more nodes and attributes of a page than the bound, whatever hides end tags from the
// elements that they seem to close.
func TestMarkupBoundIsABound(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		if under(t, randomPage(r, 30)); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
