package adaptation

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// forum writes a page of n posts in one template.
func forum(page, n int) []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html><head><title>Birds</title><link class="head" href="/s.css"><script class="post">var post = "raven"</script></head><body class="section"><ul class="menu"><li class="item"><a href="/" data-x="1">Home</a></li></ul><h1 id="title">Ravens</h1><div class="all">`)
	for i := range n {
		fmt.Fprintf(&b, `<div class="post odd post-%d" id="p%d" data-id="%d"><div class="head"><b class="who">Hugin</b> <time class="when" datetime="2026-11-21">today</time></div><div class="text"><p>Page %d, post %d: the <i>ravens</i> said <b>much</b>.</p></div></div>`, i, 100*page+i, i, page, i)
	}
	b.WriteString(`</div><footer class="foot">Said by birds.</footer></body></html>`)
	return []byte(b.String())
}

func mutated(t *testing.T, m Mutator, page []byte) []byte {
	t.Helper()
	out, err := m.Mutate(page)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMutateAgain: the same seed makes the same page, another seed another.
func TestMutateAgain(t *testing.T) {
	page := forum(1, 5)
	for _, s := range Strengths[1:] {
		first := mutated(t, Mutator{Seed: 7, Strength: s}, page)
		if !bytes.Equal(first, mutated(t, Mutator{Seed: 7, Strength: s}, page)) {
			t.Errorf("%s: the same seed makes another page", s.Name)
		}
		others := 0
		for seed := range uint64(5) {
			if !bytes.Equal(first, mutated(t, Mutator{Seed: 100 + seed, Strength: s}, page)) {
				others++
			}
		}
		if others < 4 {
			t.Errorf("%s: %d of 5 other seeds make another page", s.Name, others)
		}
	}
	if got := mutated(t, Mutator{Seed: 7}, page); !bytes.Equal(got, mutated(t, Mutator{Seed: 8}, page)) || !bytes.Contains(got, []byte(`class="post odd post-0" id="p100" data-id="0"`)) {
		t.Errorf("without strength the page is changed: %s", got)
	}
}

// outline writes elements with their names, classes and the beginnings of their IDs, without text: each post a line.
func outline(t *testing.T, page []byte) (posts []string) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var write func(b *strings.Builder, n *html.Node)
	write = func(b *strings.Builder, n *html.Node) {
		if n.Type == html.ElementNode {
			b.WriteString("<" + n.Data)
			for _, a := range n.Attr {
				if a.Key == "class" || a.Key == "id" {
					for c := range strings.FieldsSeq(a.Val) {
						b.WriteString(" " + stem(c))
					}
				} else {
					b.WriteString(" " + a.Key)
				}
			}
			b.WriteString(">")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			write(b, c)
		}
		if n.Type == html.ElementNode {
			b.WriteString("</>")
		}
	}
	for n := range root.Descendants() {
		holds := 0
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if strings.Contains(inner(c), "the ravens said") {
				holds++
			}
		}
		if holds > 1 { // the element that the posts stand in
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				var b strings.Builder
				write(&b, c)
				posts = append(posts, b.String())
			}
			return posts
		}
	}
	return nil
}

func inner(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(inner(c))
	}
	return b.String()
}

// TestMutateKinds: elements of one kind are changed in the same way, on one page and on all pages of a site.
func TestMutateKinds(t *testing.T) {
	for _, s := range Strengths {
		for seed := range uint64(10) {
			m := Mutator{Seed: seed, Strength: s}
			first := outline(t, mutated(t, m, forum(1, 4)))
			posts := append(first, outline(t, mutated(t, m, forum(2, 7)))...)
			if len(posts) < 11 || len(posts)%11 != 0 {
				t.Errorf("%s, seed %d: %d posts", s.Name, seed, len(posts))
				continue
			}
			for i, p := range posts {
				if p != posts[i%(len(posts)/11)] {
					t.Errorf("%s, seed %d: %s\nis not like %s", s.Name, seed, p, posts[0])
				}
			}
		}
	}
}

// TestMutateText: the text of pages stays, and its order as well unless pages are changed much.
func TestMutateText(t *testing.T) {
	page := forum(1, 5)
	words := func(page []byte) []string {
		root, err := html.Parse(bytes.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(inner(root))
	}
	want := words(page)
	for _, s := range Strengths {
		for seed := range uint64(20) {
			got := words(mutated(t, Mutator{Seed: seed, Strength: s}, page))
			if len(got) != len(want) {
				t.Errorf("%s, seed %d: %d words, want %d", s.Name, seed, len(got), len(want))
			}
			if s.Reorder == 0 && strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s, seed %d: %q", s.Name, seed, got)
			}
		}
	}
}

// TestMutateMuch: at full strength all classes get other names; links, dates and numbers stay.
func TestMutateMuch(t *testing.T) {
	heavy := Strengths[len(Strengths)-1]
	heavy.Unwrap = 0 // an element that is taken away has no ID
	got := string(mutated(t, Mutator{Seed: 3, Strength: heavy}, forum(1, 3)))
	body := got[strings.Index(got, "<body"):]
	for _, name := range []string{`"section"`, `"menu"`, `"post `, `"who"`, `"text"`, `"title"`, `"foot"`} {
		if strings.Contains(body, "class="+name) || strings.Contains(body, "id="+name) {
			t.Errorf("%s is still there: %s", name, body)
		}
	}
	for _, kept := range []string{`href="/"`, `datetime="2026-11-21"`, `var post = "raven"`, "<title>Birds</title>"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	for i := range 3 {
		if !strings.Contains(body, fmt.Sprintf(`%d"`, 100+i)) {
			t.Errorf("the ID of post %d has lost its number", i)
		}
	}
}

// TestMutateOdd: badly written pages are changed like others.
func TestMutateOdd(t *testing.T) {
	for _, page := range []string{"", "<p", "<table><div class=a>x<tr><td class=b>y", "<svg class=c><p class=d>", "<body class=><div class='  '>x</div>", "<frameset class=a><frame>", "\xff"} {
		for seed := range uint64(20) {
			mutated(t, Mutator{Seed: seed, Strength: Strengths[3]}, []byte(page))
		}
	}
}

func TestNames(t *testing.T) {
	m := Mutator{Seed: 1, Strength: Strength{Rename: 1}}
	if m.renamed("post-12") != strings.Replace(m.renamed("post-13"), "13", "12", 1) || m.renamed("post-12") == "post-12" || !strings.HasSuffix(m.renamed("post-12"), "12") {
		t.Errorf("%q and %q", m.renamed("post-12"), m.renamed("post-13"))
	}
	if m.renamed("123") != "123" || m.renamed("") != "" {
		t.Error("what is a number alone is renamed")
	}
	seen := map[string]string{}
	for i := range 2000 {
		of := fmt.Sprint("class", i, "x")
		if n := m.name(of); seen[n] != "" || len(n) != 8 {
			t.Fatalf("%s and %s are both %s", of, seen[n], n)
		} else {
			seen[n] = of
		}
	}
	sum := 0.0
	for i := range 1000 {
		c := m.chance("what", fmt.Sprint(i))
		if c < 0 || c >= 1 {
			t.Fatalf("chance %g", c)
		}
		sum += c
	}
	if sum < 450 || sum > 550 {
		t.Errorf("the chances are %g on average", sum/1000)
	}
}
