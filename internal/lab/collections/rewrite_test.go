package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestPathsAreReplaced: a rewritten page has no path of the package; links to other places stay.
func TestPathsAreReplaced(t *testing.T) {
	r, err := newRewriter(collections["linux"], []string{"networking/bonding.html", "networking/index.html", "index.html"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range kernelFiles {
		out, err := r.rewrite(page, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"bonding.html", "bonding.rst", "networking/", "_images", "admin-guide", "../"} {
			if bytes.Contains(out, []byte(part)) {
				t.Errorf("%s gives %q away: %s", page, part, out)
			}
		}
	}
	for page, kept := range map[string][]string{
		"networking/bonding.html": {`"/abs.html"`, `"https://kernel.example/x"`, `.png"`},
		"networking/index.html":   {`"#top"`, `"mailto:a@b.example"`, r.address("networking/bonding.html") + `#introduction"`, `title="the driver"`},
	} {
		out, err := r.rewrite(page, []byte(kernelFiles[page]))
		for _, text := range kept {
			if !bytes.Contains(out, []byte(text)) {
				t.Errorf("%s is gone: %s (%v)", text, out, err)
			}
		}
	}
	wiki := rewriter{c: collections["cppreference"], pages: pathSet{}}
	out, err := wiki.rewrite("en/cpp/io.html", []byte(`<a href="io/cin.html" title="cpp/io/cin">cin</a><div class="printfooter">Retrieved from cpp/io</div>`))
	if err != nil || bytes.Contains(out, []byte("io/")) || bytes.Contains(out, []byte("/io")) || !bytes.Contains(out, []byte(">cin</a>")) {
		t.Errorf("a wiki page became %s (%v)", out, err)
	}
}

// TestTwins: two pages with one URL, or two sites with one host, are reported.
func TestTwins(t *testing.T) {
	if _, err := newRewriter(collections["linux"], []string{"a.html", "a.html"}, ""); err == nil || !strings.Contains(err.Error(), "same URL") {
		t.Errorf("a page is there twice: %v", err)
	}
	var pages []string // so many that two of their modules have the same number
	for i := range 5000 {
		pages = append(pages, fmt.Sprintf("m%d/a.html", i))
	}
	if _, err := newRewriter(collections["qt"], pages, ""); err == nil || !strings.Contains(err.Error(), "same host") {
		t.Errorf("two sites have one host: %v", err)
	}
	if _, err := newRewriter(collections["linux"], pages, ""); err != nil {
		t.Error(err)
	}
}
