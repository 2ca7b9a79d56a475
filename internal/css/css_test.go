package css

import (
	"iter"
	"strings"
	"testing"
	"unicode/utf8"
)

// list writes references one after the other, those of other sheets after an @.
func list(refs iter.Seq[Reference]) string {
	var out []string
	for r := range refs {
		if r.Import {
			r.URL = "@" + r.URL
		}
		out = append(out, r.URL)
	}
	return strings.Join(out, " ")
}

func TestSheet(t *testing.T) {
	for _, c := range []struct{ name, sheet, want string }{
		{"url", `a { background: url(a.png) }`, "a.png"},
		{"url in quotes", `a{background:url("a b.png")}b{background:URL( 'c.png' )}`, "a b.png c.png"},
		{"url with blanks and line breaks", "a{background:url(\n\t a.png \n)}", "a.png"},
		{"several", `a{background:url(a.png),linear-gradient(red,blue),url(b.png)}`, "a.png b.png"},
		{"fonts", `@font-face{font-family:x;src:local("y"),url(a.woff2)format("woff2"),url("a.ttf")format('truetype')}`, "a.woff2 a.ttf"},
		{"list, cursor, border, mask, content, filter, clip, shape, symbols", `a{list-style:square url(1.png);cursor:url(2.cur) 1 2,auto;border-image:url(3.png) 3 stretch;
			mask:url(4.svg#m);content:url(5.png);filter:url(6.svg#f);clip-path:url(7.svg#c);shape-outside:url(8.png)}@counter-style x{symbols:url(9.png)}`,
			"1.png 2.cur 3.png 4.svg#m 5.png 6.svg#f 7.svg#c 8.png 9.png"},
		{"a variable", `:root{--x:url(a.png)}`, "a.png"},
		{"image-set", `a{background:image-set("a.png" 1x,url(b.png)2x, "c.avif" type("image/avif"))}b{background:-webkit-image-set(url(d.png) 1x)}"x"{}`, "a.png b.png c.avif d.png"},
		{"strings that are none", `a::before{content:"a.png"}a[href="b.png"]{}@media x{a{quotes:"(" ")"}}`, ""},
		{"other functions", `a{background:element(#x);width:attr(x url);src:format("a.png");x:curl(b.png)}`, ""},
		{"import", `@import "a.css"; @import url(b.css) screen; @IMPORT url("c.css") layer(x) supports(background: url(no.png));a{}`, "@a.css @b.css @c.css"},
		{"import behind what may be before it", `@charset "utf-8"; <!-- /* x */ @layer a, b; @import 'a.css';`, "@a.css"},
		{"import that is ignored", `a{}@import "a.css";@media x{@import "b.css";}`, ""},
		{"import behind another rule", `@font-face{src:url(a.ttf)}@import url(a.css);`, "a.ttf"},
		{"import behind a layer with rules", `@layer a{b{}}@import "a.css";`, ""},
		{"import in a comment", `/* @import "a.css"; a{background:url(b.png)} */`, ""},
		{"namespace", `@namespace svg url(http://www.w3.org/2000/svg);@namespace "x";a{background:url(a.png)}`, "a.png"},
		{"document", `@-moz-document url(http://a.test/),url-prefix("b"){a{background:url(a.png)}}`, "a.png"},
		{"escapes", `a{background:url(a\ b\28.png)}b{background:u\72l("\61\000062 c\
d\"e")}@\69mport "x";`, `a b(.png abcd"e`},
		{"a function whose name has an escape", `a{background:u\72l(a\20 b.png) 1px,URL(c.png)}b{background:\75rl( ../d.png?e=1&f#g )}c{mask:ur\6c ( "h.png")}d{background:u\72l(i.png`, "a b.png c.png ../d.png?e=1&f#g h.png"},
		{"no character", `a{background:url(a\0 b\110000 c)}`, "a\ufffdb\ufffdc"},
		{"bad", `a{background:url(a b.png)}b{background:url(c"d.png)}c{background:url("e.png`, "e.png"},
		{"a string over two lines", "a{background:url(\"a\nb.png\")}b{background:url(c.png)}", "c.png"},
		{"modifiers and comments", `a{background:url("a.png" crossorigin(anonymous))}b{background:url("b.png"/**/)}`, "a.png b.png"},
		{"empty", `a{background:url();mask:url("")}`, ""},
		{"no end", `a{background:url(a.png`, "a.png"},
		{"nothing", "", ""},
		{"a page", "<!DOCTYPE html><html><body>It's here", ""},
		{"braces that are none", `}}a{background:url(a.png)}`, "a.png"},
		{"deep", strings.Repeat("a(", 10_000) + "image-set('no.png')" + strings.Repeat(")", 10_000) + ";b{c:image-set('a.png')}", "a.png"},
	} {
		if got := list(Sheet([]byte(c.sheet))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if !May(c.sheet) && c.want != "" {
			t.Errorf("%s may have no reference", c.name)
		}
	}
}

func TestDeclarations(t *testing.T) {
	for text, want := range map[string]string{
		`background:url(a.png);color:red`: "a.png", `background:url('a.png'),url(&quot;)`: "a.png &quot;", "": "", "color:red": "",
		`@import "a.css"`: "", `--x:{url(a.png)`: "a.png",
	} {
		if got := list(Declarations(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for range Declarations("a:url(b);c:url(d)") {
		break // nothing is yielded then
	}
}

func TestMay(t *testing.T) {
	for text, want := range map[string]bool{"": false, "color:red": false, "width:calc(1px)": false, "URL(x)": true, "a:image-set('x')": true, "@import 'x'": true, `u\72l(x)`: true, "(": false} {
		if got := May(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCharset(t *testing.T) {
	for text, want := range map[string]string{
		`@charset "koi8-r";a{}`: "koi8-r", `@charset 'koi8-r';`: "", ` @charset "koi8-r";`: "", `@charset "koi8-r" ;`: "", "": "", `@charset "`: "", `@charset "";`: "",
	} {
		if got := Charset([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzSheet: whatever a sheet is, what it refers to is no longer than it, and the sheet stays as it was.
func FuzzSheet(f *testing.F) {
	for _, seed := range []string{
		`@charset "x";@import url("a.css") layer(b);a{background:url(c.png) image-set("d" 1x)}`, `@import "`, "url(", `a{b:url("c" d(e))}`, `\`, `u\72l(\`, "/*", "<!--", "@", "\x00url(\x00)", "image-set(((\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, tail := string(text), append(text, 'x')
		n := 0
		for r := range Sheet(tail[:len(text)]) {
			if n++; r.URL == "" || utf8.RuneCountInString(r.URL) > len(text) {
				t.Errorf("%q refers to %q", text, r.URL)
			}
		}
		if n > len(text) || string(text) != before || tail[len(text)] != 'x' {
			t.Errorf("%d references of %q, which was %q", n, text, before)
		}
		if n > 0 && !May(before) {
			t.Errorf("%q has references, and may not", before)
		}
		for range Declarations(before) {
		}
	})
}

func BenchmarkSheet(b *testing.B) {
	text := []byte(strings.Repeat(".item > a:hover, .list .item.selected{color:#334455;margin:0 auto 1.5em;background:#fff url(../img/item.png) no-repeat 0 0;transition:all .2s ease-in-out}\n", 400))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range Sheet(text) {
			n++
		}
		if n != 400 {
			b.Fatalf("%d references", n)
		}
	}
}
