package extract

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

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
