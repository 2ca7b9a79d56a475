// Package markup edits HTML for the laboratory: it finds elements by CSS selectors, removes them, and changes attributes.
// Only this package uses cascadia. The crawler parses pages with internal/page.
package markup

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// Document is a page whose markup can be changed.
type Document struct{ root *html.Node }

// Parse parses a page as browsers do. It fails only for trees that are nested too deep.
func Parse(raw []byte) (*Document, error) {
	root, err := html.Parse(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return &Document{root}, nil
}

// find returns the elements that match a CSS selector, or one of several separated by commas; none for "". The error has the selector.
func (d *Document) find(selector string) ([]*html.Node, error) {
	if selector == "" {
		return nil, nil
	}
	match, err := cascadia.ParseGroup(selector)
	if err != nil {
		return nil, fmt.Errorf("CSS selector %q: %w", selector, err)
	}
	return cascadia.QueryAll(d.root, match), nil
}

// Remove removes the elements that match a CSS selector, with their content, and returns how many there were.
func (d *Document) Remove(selector string) (int, error) {
	found, err := d.find(selector)
	for _, n := range found {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
	return len(found), err
}

// RemoveAttribute removes an attribute from the elements that match a CSS selector.
func (d *Document) RemoveAttribute(selector, name string) error {
	found, err := d.find(selector)
	for _, n := range found {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	}
	return err
}

// Rewrite replaces the values of the attributes of these names, in all elements.
func (d *Document) Rewrite(names []string, value func(old string) string) {
	for n := range d.root.Descendants() {
		for i, a := range n.Attr {
			if slices.Contains(names, a.Key) {
				n.Attr[i].Val = value(a.Val)
			}
		}
	}
}

// HTML writes the page out.
func (d *Document) HTML() ([]byte, error) {
	var out bytes.Buffer
	err := html.Render(&out, d.root)
	return out.Bytes(), err
}
