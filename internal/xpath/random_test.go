package xpath

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maker makes small pages and expressions that have a chance to select something on them.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) *maker { return &maker{rand.New(rand.NewPCG(seed, 1))} }

func (m *maker) of(list ...string) string { return list[m.IntN(len(list))] }

func (m *maker) element() string { return m.of("div", "p", "a", "b", "li", "x-tag") }
func (m *maker) class() string   { return m.of("posting", "entry", "meta-date", "x") }
func (m *maker) word() string    { return m.of("welcome", "world", "1", "2", "10", "posted by", "x") }

// page makes a tree of some tens of nodes.
func (m *maker) page() *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	top := &html.Node{Type: html.ElementNode, Data: "html", DataAtom: atom.Html}
	root.AppendChild(top)
	all := []*html.Node{top}
	for range 5 + m.IntN(25) {
		under := all[m.IntN(len(all))]
		last := under.LastChild
		switch k := m.IntN(10); {
		case k < 7:
			name := m.element()
			n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
			if m.IntN(2) == 0 {
				classes := m.class()
				for m.IntN(3) == 0 {
					classes += " " + m.class()
				}
				n.Attr = append(n.Attr, html.Attribute{Key: "class", Val: classes})
			}
			for _, key := range []string{"id", "title"} {
				if m.IntN(3) == 0 {
					n.Attr = append(n.Attr, html.Attribute{Key: key, Val: m.word()})
				}
			}
			under.AppendChild(n)
			all = append(all, n)
		case k < 9 && (last == nil || last.Type != html.TextNode):
			under.AppendChild(&html.Node{Type: html.TextNode, Data: m.word()})
		case k == 9:
			under.AppendChild(&html.Node{Type: html.CommentNode, Data: m.word()})
		}
	}
	return root
}

// path makes a location path.
func (m *maker) path(deep int, absolute bool) string {
	var b strings.Builder
	switch {
	case absolute && m.IntN(8) == 0:
		b.WriteString("/html/")
	case absolute:
		b.WriteString("//")
	case m.IntN(2) == 0:
		b.WriteString(".//")
	}
	steps := 1 + m.IntN(3)
	for i := range steps {
		if i > 0 {
			b.WriteString(m.of("/", "/", "//"))
		}
		if i == steps-1 && m.IntN(4) == 0 {
			b.WriteString(m.of("@id", "@class", "@title", "@*"))
			if m.IntN(3) == 0 {
				b.WriteString("[" + m.predicate(0) + "]")
			}
			return b.String()
		}
		b.WriteString(m.step(i, deep))
	}
	return b.String()
}

func (m *maker) step(i, deep int) string {
	test := m.element()
	if m.IntN(3) == 0 {
		test = m.of("*", "*", "node()", "text()", "comment()")
	}
	if m.IntN(12) == 0 && i > 0 {
		return m.of("..", ".")
	}
	if m.IntN(3) == 0 {
		test = axes[m.IntN(len(axes)-1)] + "::" + test
	}
	for m.IntN(3) == 0 && deep > 0 {
		test += "[" + m.predicate(deep-1) + "]"
	}
	return test
}

// position makes a predicate that asks for the position.
func (m *maker) position() string {
	return m.of("1", "2", "last()", "position() < 3", "position() = last()", "last() - 1", "position() mod 2 = 1", "position() > 1 and @class")
}

func (m *maker) predicate(deep int) string {
	k := m.IntN(20)
	if deep <= 0 {
		k = m.IntN(9)
	}
	switch k {
	case 0, 1:
		return m.position()
	case 2:
		return m.of("@id", "@class", "@title", "not(@class)")
	case 3:
		return fmt.Sprintf("@%s %s '%s'", m.of("id", "class", "title"), m.of("=", "!="), m.word())
	case 4:
		return fmt.Sprintf("@id %s %d", m.of("=", "!=", "<", "<=", ">", ">="), m.IntN(12))
	case 5:
		return fmt.Sprintf("contains(concat(' ', %s, ' '), ' %s ')", m.of("@class", "normalize-space(@class)"), m.class())
	case 6:
		return fmt.Sprintf("%s(%s, '%s')", m.of("contains", "starts-with", "ends-with"), m.of("@class", "@title", ".", "text()"), m.word())
	case 7:
		return fmt.Sprintf("%s = '%s'", m.of(".", "text()", "normalize-space(.)", "string(@id)"), m.word())
	case 8:
		return fmt.Sprintf("string-length(%s) %s %d", m.of(".", "@id", "@class"), m.of("<", ">", "="), m.IntN(8))
	case 9:
		return m.predicate(deep-1) + m.of(" and ", " or ") + m.predicate(deep-1)
	case 10:
		return "not(" + m.path(deep-1, false) + ")"
	case 11:
		return "count(" + m.path(deep-1, m.IntN(6) == 0) + ") " + m.of("=", ">", "<") + " " + strconv.Itoa(m.IntN(4))
	case 12:
		return m.path(deep-1, false) + m.of(" = ", " != ", " < ", " >= ") + m.of("'x'", "'hello'", "1", "10", "true()", "false()", ".//@id", "../@title")
	case 13:
		return "boolean(" + m.path(deep-1, false) + ") = " + m.of("true()", "false()")
	case 14:
		return fmt.Sprintf("%s(%s, '%s')", m.of("contains", "starts-with"), m.path(deep-1, false), m.word())
	}
	return m.path(deep-1, m.IntN(6) == 0)
}

// expression makes what selects nodes.
func (m *maker) expression() string {
	switch m.IntN(8) {
	case 0:
		return m.path(2, true) + " | " + m.path(2, true)
	case 1:
		return "(" + m.path(2, true) + ")[" + m.predicate(1) + "]"
	case 2:
		return "(" + m.path(1, true) + " | " + m.path(1, true) + ")[" + m.position() + "]/" + m.path(1, false)
	}
	return m.path(2, true)
}
