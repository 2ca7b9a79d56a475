package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/muninn-archive/muninn/internal/lab/markup"
)

// rewriter takes what the paths of pages say out of pages.
type rewriter struct {
	c       collection
	pages   pathSet
	without string
	left    int // elements that were left out for it
}

// newRewriter makes sure that each page has a URL of its own.
func newRewriter(c collection, pages []string, without string) (*rewriter, error) {
	r := &rewriter{c: c, pages: pathSet{}, without: without}
	urls, sites := map[string]string{}, map[string]string{}
	for _, page := range pages {
		at, site := r.address(page), c.site(page)
		if twin := urls[at]; twin != "" {
			return nil, fmt.Errorf("%s and %s have the same URL, %s", twin, page, at)
		}
		if twin := sites[host(site)]; twin != "" && twin != site {
			return nil, fmt.Errorf("the sites %s and %s have the same host, %s", twin, site, host(site))
		}
		urls[at], sites[host(site)], r.pages[page] = page, site, true
	}
	return r, nil
}

// number makes a text a number of so many digits, always the same.
func number(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%020d", binary.BigEndian.Uint64(sum[:]))[20-digits:]
}

// host is the name of a site that says nothing of it.
func host(site string) string { return "site" + number(site, 6) + ".example" }

// address is the URL of a page, or of a file that pages refer to. All have the same form, so that it says nothing.
func (r *rewriter) address(file string) string {
	return "http://" + host(r.c.site(file)) + "/" + number(file, 12) + path.Ext(file)
}

// references are the attributes that have URLs. Those that hold several, such as srcset, the packages do not have.
var references = []string{"href", "src", "data", "action", "poster"}

// rewrite gives a page with the URLs of the web in place of paths.
func (r *rewriter) rewrite(page string, raw []byte) ([]byte, error) {
	doc, err := markup.Parse(raw)
	if err != nil {
		return nil, err
	}
	left, err := doc.Remove(r.without)
	if err != nil {
		return nil, err
	}
	r.left += left
	if _, err := doc.Remove(r.c.pathElements); err != nil {
		return nil, err
	}
	if err := doc.RemoveAttribute(r.c.titled, "title"); err != nil {
		return nil, err
	}
	doc.Rewrite(references, func(ref string) string { return r.refer(page, ref) })
	return doc.HTML()
}

// refer is what a reference becomes: one by a path from the page on, the URL of what it leads to. Those that lead to the page
// itself, elsewhere, or nowhere, stay.
func (r *rewriter) refer(page, ref string) string {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil || u.Path == "" || u.Path[0] == '/' { // so has one with a scheme or a host
		return ref
	}
	file := path.Join(path.Dir(page), u.Path)
	if index := path.Join(file, "index.html"); r.pages[index] {
		file = index
	}
	to := r.address(file)
	if u.RawQuery != "" {
		to += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		to += "#" + u.EscapedFragment()
	}
	return to
}
