package extract

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// ErrPlace reports that a page has not, at a place, the text that was extracted there.
var ErrPlace = errors.New("the page has another text at this place")

// Locate notes where the bodies of the page's objects stand. It is done once, when it is known which objects stay.
func (p *Page) Locate(set *Set) {
	seq := sequences{}
	for i := range min(len(set.Located), len(set.Objects)) {
		properties := set.Objects[i].Properties
		for _, part := range set.Located[i].Parts {
			if part.Markup < 0 {
				continue
			}
			at := &crawl.Place{At: seq.of(p.Eval.Tree.Node(part.At)), Limit: p.Limits.PropertyBytes}
			if !part.Whole {
				at.Without = p.without(seq, part.leftOut())
			}
			properties[part.Markup].Place = at
			if part.Text >= 0 {
				text := properties[part.Text].Value
				at.Bytes, at.Sum = len(text), crawl.SumOf(text)
				properties[part.Text].Place = at
			}
		}
	}
}

// without are the places of elements; those that stand in one before it are left out with that one.
func (p *Page) without(seq sequences, refs []xpath.Ref) (list []string) {
	covered := int32(-1)
	for _, r := range refs {
		if r.ID < covered {
			continue
		}
		covered = p.Eval.Tree.End(r)
		list = append(list, seq.of(p.Eval.Tree.Node(r)))
	}
	return list
}

// sequences knows, for each element, the child that was asked for last and its number: places are asked for in document
// order, so that siblings are counted once.
type sequences map[*html.Node]counted

type counted struct {
	child  *html.Node
	number int
}

// of is the child sequence of a node. Nodes that are no elements are counted too, behind a dot, among all children: /1/2.3.
func (s sequences) of(n *html.Node) string {
	if n.Parent == nil {
		return "/"
	}
	var b strings.Builder
	s.write(&b, n)
	return b.String()
}

func (s sequences) write(b *strings.Builder, n *html.Node) {
	if n.Parent == nil {
		return
	}
	s.write(b, n.Parent)
	if n.Type != html.ElementNode {
		k := 0
		for c := n; c != nil; c = c.PrevSibling {
			k++
		}
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(k))
		return
	}
	last, k := s[n.Parent], 0
	for c := n; c != nil; c = c.PrevSibling {
		if c == last.child {
			k += last.number
			break
		}
		if c.Type == html.ElementNode {
			k++
		}
	}
	s[n.Parent] = counted{n, k}
	b.WriteByte('/')
	b.WriteString(strconv.Itoa(k))
}

// find is the node that a child sequence leads to; nil if there is none.
func find(root *html.Node, sequence string) *html.Node {
	n := root
	for rest := sequence; rest != "" && rest != "/"; {
		all := rest[0] == '.'
		end := strings.IndexAny(rest[1:], "/.") + 1
		if end == 0 {
			end = len(rest)
		}
		k, err := strconv.Atoi(rest[1:end])
		if err != nil || k < 1 || !all && rest[0] != '/' {
			return nil
		}
		rest = rest[end:]
		c := n.FirstChild
		for ; c != nil; c = c.NextSibling {
			if all || c.Type == html.ElementNode {
				if k--; k == 0 {
					break
				}
			}
		}
		if n = c; n == nil {
			return nil
		}
	}
	return n
}

// Cut returns what stands at a place of a page: the text, and the markup if it is of an element. ErrPlace reports that it is
// not the text that was extracted.
func Cut(d *page.Document, at *crawl.Place) (text, markup string, err error) {
	if len(at.Blocks) == 0 {
		if text, markup, err = below(d.Root, at); err == nil {
			err = check(text, at)
		}
		return text, markup, err
	}
	if text, err = ofBlocks(d.Blocks, at); err == nil {
		return text, "", err
	}
	if earlier, old := ofBlocks(d.JoinedBlocks(), at); old == nil {
		return earlier, "", nil
	}
	return text, "", err
}

// check compares a text with the one that was extracted at a place.
func check(text string, at *crawl.Place) error {
	if at.Sum != "" && crawl.SumOf(text) != at.Sum {
		return fmt.Errorf("%w: %d bytes instead of %d", ErrPlace, len(text), at.Bytes)
	}
	return nil
}

func ofBlocks(blocks []string, at *crawl.Place) (string, error) {
	var list []string
	for _, n := range at.Blocks {
		if n < 0 || n >= len(blocks) {
			return "", fmt.Errorf("%w: there is no text block %d", ErrPlace, n)
		}
		list = append(list, blocks[n])
	}
	text := shorten(strings.Join(list, "\n"), at.Limit)
	return text, check(text, at)
}

func below(root *html.Node, at *crawl.Place) (text, markup string, err error) {
	if root == nil {
		return "", "", fmt.Errorf("%w: it has no tree", ErrPlace)
	}
	n := find(root, at.At)
	if n == nil {
		return "", "", fmt.Errorf("%w: there is no element %s", ErrPlace, at.At)
	}
	var skip skipSet
	for _, w := range at.Without {
		o := find(root, w)
		if o == nil || o.Parent == nil {
			return "", "", fmt.Errorf("%w: there is no element %s", ErrPlace, w)
		}
		if skip == nil {
			skip = skipSet{}
		}
		skip[o] = true
	}
	text = shorten(textOf(n, skip, at.Limit), at.Limit)
	if skip != nil {
		n = copyOf(n, skip)
	}
	return text, render(n, at.Limit), nil
}

// Fill cuts the texts out of a page that the archive keeps the places of: objects are then as they were extracted. Of
// several errors it returns the first.
func Fill(d *page.Document, o *crawl.Object) (first error) {
	var list crawl.Properties
	for _, p := range o.Properties {
		if p.Place == nil {
			list = append(list, p)
			continue
		}
		if p.Name == crawl.Markup && slices.ContainsFunc(list, func(o crawl.Property) bool { return o.Place == p.Place }) {
			continue // it came with the text
		}
		text, markup, err := Cut(d, p.Place)
		if err != nil {
			if first == nil {
				first = fmt.Errorf("%s: %w", p.Name, err)
			}
			list = append(list, p)
			continue
		}
		switch {
		case p.Name == crawl.Markup:
			p.Value = markup
			list = append(list, p)
		case p.Place.At == "":
			p.Value = text
			list = append(list, p)
		default:
			p.Value = text
			list = append(list, p, crawl.Property{Name: crawl.Markup, Value: markup, Place: p.Place})
		}
	}
	o.Properties = list
	return first
}

// copyOf copies a node and all that is below it, but for the elements to skip.
func copyOf(n *html.Node, skip skipSet) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: n.Attr}
	for below := range n.ChildNodes() {
		if !skip[below] {
			c.AppendChild(copyOf(below, skip))
		}
	}
	return c
}

// render writes what stands in an element as markup.
func render(n *html.Node, limit int) string {
	out := &bounded{room: limit}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if html.Render(out, c) != nil {
			break
		}
	}
	return strings.ToValidUTF8(string(out.out), "")
}

// bounded takes so many bytes and then fails.
type bounded struct {
	out  []byte
	room int
}

func (b *bounded) Write(p []byte) (int, error) { return b.WriteString(string(p)) }

// WriteString and WriteByte spare the renderer a buffer of its own.
func (b *bounded) WriteString(s string) (int, error) {
	if room := b.room - len(b.out); len(s) > room {
		b.out = append(b.out, s[:room]...)
		return room, bytes.ErrTooLarge
	}
	b.out = append(b.out, s...)
	return len(s), nil
}

func (b *bounded) WriteByte(c byte) error {
	if len(b.out) >= b.room {
		return bytes.ErrTooLarge
	}
	b.out = append(b.out, c)
	return nil
}
