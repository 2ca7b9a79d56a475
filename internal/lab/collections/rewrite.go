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

// rewriter replaces paths in pages, which give away the labels of pages.
type rewriter struct {
	c       collection
	pages   pathSet
	without string
	left    int // elements that were left out for it
}

// newRewriter fails if two pages have the same URL.
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

// number turns a text into a number of so many digits; the same text always into the same number.
func number(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%020d", binary.BigEndian.Uint64(sum[:]))[20-digits:]
}

// host is a name for a site that gives nothing away.
func host(site string) string { return "site" + number(site, 6) + ".example" }

// address is the URL of a page, or of a file that pages refer to. All have the same form, so that it gives nothing away.
func (r *rewriter) address(file string) string {
	return "http://" + host(r.c.site(file)) + "/" + number(file, 12) + path.Ext(file)
}

// references are the attributes with a URL. The packages have no attributes with several URLs, such as srcset.
var references = []string{"href", "src", "data", "action", "poster"}

// rewrite returns a page with URLs of the web in place of paths.
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

// refer is the new value of a reference. A relative path becomes the URL of its target. References to the page itself, to other
// places, or to nothing stay.
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
