package extract

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestEarlierBlocks: a place of text blocks is found by the checksum of the text as it is, and by that of earlier versions, which joined the
// words of two lines.
func TestEarlierBlocks(t *testing.T) {
	d := pageAt(t, "http://a.test/ravens", `<title>Ravens</title><p>Ravens<br>fly.</p><p>They <BR/>do.`).Doc
	for _, c := range []struct{ sum, text string }{
		{"Ravens fly.\nThey do.", "Ravens fly.\nThey do."}, {"Ravensfly.\nThey do.", "Ravensfly.\nThey do."}, {"Ravens", ""},
	} {
		text, _, err := Cut(d, &crawl.Place{Blocks: []int{1, 2}, Limit: 1000, Bytes: len(c.sum), Sum: crawl.SumOf(c.sum)})
		if errors.Is(err, ErrPlace) != (c.text == "") || err == nil && text != c.text {
			t.Errorf("%q: %q, %v", c.sum, text, err)
		}
	}
}

// FuzzPlaces: each node of any page is found again by its sequence.
func FuzzPlaces(f *testing.F) {
	f.Add("<p>a<b>c</b>d<!--e--><table><td>x<template><i>y</i></template>")
	f.Add("<svg><a/><p></svg><!doctype html><html><frameset>")
	f.Fuzz(func(t *testing.T, body string) {
		root, err := html.Parse(strings.NewReader(body))
		if err != nil {
			return
		}
		seq := sequences{}
		for n := range root.Descendants() {
			if at := seq.of(n); find(root, at) != n {
				t.Fatalf("%q: %s leads elsewhere", body, at)
			}
		}
	})
}
