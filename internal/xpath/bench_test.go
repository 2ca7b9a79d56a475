package xpath

import (
	"fmt"
	"strings"
	"testing"

	"github.com/antchfx/htmlquery"
	other "github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// blog is a page of about 35 KB and 1000 elements.
func blog(b *testing.B) *html.Node {
	var s strings.Builder
	s.WriteString(`<!doctype html><html><head><title>Blog</title><meta name=generator content="WordPress 6"><link rel=canonical href="https://example.org/"></head><body class="home blog wp-embed"><div id=page><nav class="main-menu nav"><ul>`)
	for i := range 20 {
		fmt.Fprintf(&s, `<li class="menu-item menu-item-%d"><a href="/category/%d/">Category %d</a></li>`, i, i, i)
	}
	s.WriteString("</ul></nav><main id=content>")
	for i := range 60 {
		fmt.Fprintf(&s, `<article id="post-%d" class="post type-post hentry"><header class="entry-header"><h2 class="entry-title"><a href="/2024/05/%d/" rel="bookmark">The title of post %d</a></h2>`+
			`<div class="entry-meta"><time class="entry-date published" datetime="2024-05-%02d">May %d</time> by <a rel="author" href="/author/ann/">Ann</a></div></header>`+
			`<div class="entry-content"><p>Some <b>words</b> of the post and <a href="/x/%d">a link</a>.</p><p>More of them<br>and an <i>end</i>.</p></div><footer><span>3</span></footer></article>`, i, i, i, i%28+1, i, i)
	}
	s.WriteString("</main></div></body></html>")
	root, err := html.Parse(strings.NewReader(s.String()))
	if err != nil {
		b.Fatal(err)
	}
	elements := 0
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			elements++
		}
	}
	b.Logf("%d bytes, %d elements", s.Len(), elements)
	return root
}

func BenchmarkTree(b *testing.B) {
	root := blog(b)
	b.ReportAllocs()
	for b.Loop() {
		NewEval(root, DefaultBudget).Free()
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, c := range []struct{ name, source string }{
		{"class", "//*[contains(concat(' ', @class, ' '), ' entry-title ')]"},
		{"attribute", "//a[@rel='author']/@href"},
		{"alternatives", "//*[contains(@class, 'nav-links') or contains(@class, 'pagination') or contains(@class, 'nav-previous')]//a"},
		{"nested", "//article[.//time[@datetime]]//h2/a"},
		{"path", "/html/head/link[@rel='canonical']/@href"},
	} {
		b.Run(c.name+"/own", func(b *testing.B) {
			root := blog(b)
			x := parsed(b, c.source)
			e := NewEval(root, DefaultBudget)
			defer e.Free()
			b.ReportAllocs()
			for b.Loop() {
				e.Budget = DefaultBudget
				if _, err := e.Select(x, e.Tree.Root(), 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/antchfx", func(b *testing.B) {
			root := blog(b)
			x, err := other.Compile(c.source)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				htmlquery.QuerySelectorAll(root, x)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("//div[contains(concat(' ', @class, ' '), ' post ') and .//*[contains(@class, 'postbody')]]"); err != nil {
			b.Fatal(err)
		}
	}
}
