package kb

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds how deep elements may stand in each other.
const maxDepth = 16

// element is an XML element with the line it begins at.
type element struct {
	name     string
	line     int
	attrs    map[string]string
	children []*element
	text     string // of page and headers elements
}

// holdsText reports whether an element holds text instead of elements.
func holdsText(name string) bool { return name == "page" || name == "headers" }

// readTree reads the elements of a file. Its error begins with the line, or is an xml.SyntaxError.
func readTree(raw []byte) (*element, error) {
	dec := xml.NewDecoder(bytes.NewReader(raw))
	var stack []*element
	var root *element
	for {
		line, _ := dec.InputPos()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if root == nil {
				return nil, errors.New("1: holds no element")
			}
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, line: line, attrs: map[string]string{}}
			if t.Name.Space != Namespace {
				return nil, fmt.Errorf("%d: element %s is not in the namespace %s", line, e.name, Namespace)
			}
			for _, a := range t.Attr {
				if a.Name.Local != "xmlns" && a.Name.Space == "" {
					e.attrs[a.Name.Local] = a.Value
				}
			}
			if len(stack) > 0 {
				parent := stack[len(stack)-1]
				parent.children = append(parent.children, e)
			} else if root != nil {
				return nil, fmt.Errorf("%d: element %s comes after the end of the element %s", line, e.name, root.name)
			} else {
				root = e
			}
			if stack = append(stack, e); len(stack) > maxDepth {
				return nil, fmt.Errorf("%d: elements are nested more than %d deep", line, maxDepth)
			}
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if n := len(stack); n > 0 && holdsText(stack[n-1].name) {
				stack[n-1].text += string(t)
			} else if text := bytes.TrimSpace(bytes.TrimPrefix(t, []byte("\ufeff"))); len(text) > 0 {
				return nil, fmt.Errorf("%d: text %q is where only elements are allowed", line, text)
			}
		}
	}
}
