package kb

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"
)

// Namespace is the XML namespace of knowledge base files.
const Namespace = "https://muninn-archive.github.io/ns/kb/1"

// MaxFile bounds a knowledge base file.
const MaxFile = 1 << 20

// element is an XML element with the line it begins at.
type element struct {
	name     string
	line     int
	attrs    map[string]string
	children []*element
}

// Parse reads one application. The error is a Faults.
func Parse(file string, raw []byte) (*Application, error) {
	if len(raw) > MaxFile {
		return nil, Faults{fmt.Sprintf("%s:1: is larger than %d bytes", file, MaxFile)}
	}
	root, err := readTree(raw)
	if err != nil {
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, Faults{fmt.Sprintf("%s:%d: %s", file, syntax.Line, syntax.Msg)}
		}
		return nil, Faults{fmt.Sprintf("%s:%v", file, err)}
	}
	p := &fileParser{file: file}
	app := p.application(root)
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	return app, nil
}

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
				return nil, fmt.Errorf("%d: element %s stands after the end of the element %s", line, e.name, root.name)
			} else {
				root = e
			}
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if text := bytes.TrimSpace(bytes.TrimPrefix(t, []byte("\ufeff"))); len(text) > 0 {
				return nil, fmt.Errorf("%d: text %q stands where only elements belong", line, text)
			}
		}
	}
}

// fileParser collects the faults of one file.
type fileParser struct {
	file   string
	faults Faults
}

func (p *fileParser) fault(e *element, format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf("%s:%d: ", p.file, e.line)+fmt.Sprintf(format, args...))
}

func (p *fileParser) rule(e *element) string { return p.file + ":" + strconv.Itoa(e.line) }

// attrs checks the attributes of an element; required ones come first, a "?" marks the others.
func (p *fileParser) attrs(e *element, names ...string) {
	var known []string
	for _, name := range names {
		plain, optional := strings.CutSuffix(name, "?")
		known = append(known, plain)
		if e.attrs[plain] == "" && !optional {
			p.fault(e, "element %s lacks attribute %s", e.name, plain)
		}
	}
	for name := range e.attrs {
		if !slices.Contains(known, name) {
			p.fault(e, "element %s has unknown attribute %s; known: %s", e.name, name, strings.Join(known, ", "))
		}
	}
}

// leaf checks that an element has nothing inside and that what its attributes say is not empty.
func (p *fileParser) leaf(e *element) {
	for _, c := range e.children {
		p.fault(c, "element %s is not known in %s, which holds no elements", c.name, e.name)
	}
	for name, value := range e.attrs {
		if strings.TrimSpace(value) == "" {
			p.fault(e, "attribute %s of element %s is empty", name, e.name)
		}
	}
}

func (p *fileParser) unknown(parent, e *element, known string) {
	p.fault(e, "element %s is not known in %s; known: %s", e.name, parent.name, known)
}

func (p *fileParser) application(root *element) *Application {
	app := &Application{Name: root.attrs["name"], Category: root.attrs["category"], File: p.file}
	if root.name != "application" {
		p.fault(root, "the file must hold one element application, not %s", root.name)
		return app
	}
	p.attrs(root, "name", "category")
	if app.Category != "" && !slices.Contains(Categories, app.Category) {
		p.fault(root, "category %q is not known; known: %s", app.Category, strings.Join(Categories, ", "))
	}
	for _, e := range root.children {
		switch e.name {
		case "detect":
			app.Detect = append(app.Detect, p.condition(e, true))
		case "level":
			app.Levels = append(app.Levels, p.level(e))
		case "drop":
			app.Drop = append(app.Drop, p.condition(e, false))
		case "follow":
			app.Follow = append(app.Follow, p.follow(e))
		default:
			p.unknown(root, e, "detect, level, drop, follow")
		}
	}
	if len(app.Detect) == 0 && app.Category != "generic" {
		p.fault(root, "application %q has no detect element: it would never be recognised", app.Name)
	}
	p.references(root, app)
	return app
}

// references checks that links lead to levels that exist.
func (p *fileParser) references(root *element, app *Application) {
	names := map[string]bool{}
	for _, l := range app.Levels {
		if names[l.Name] {
			p.faults = append(p.faults, fmt.Sprintf("%s:%d: level %q is there twice", p.file, l.Line, l.Name))
		}
		names[l.Name] = true
	}
	follows := slices.Clone(app.Follow)
	for _, l := range app.Levels {
		follows = append(follows, l.Follow...)
	}
	for _, f := range follows {
		if f.Level != "" && !names[f.Level] {
			p.faults = append(p.faults, fmt.Sprintf("%s: leads to level %q, which the file does not have", f.Rule, f.Level))
		}
	}
}

func (p *fileParser) condition(e *element, ofPage bool) Condition {
	p.attrs(e, "url?", "xpath?", "generator?", "text?")
	p.leaf(e)
	c := Condition{Generator: strings.ToLower(e.attrs["generator"]), Text: e.attrs["text"], Rule: p.rule(e)}
	c.URL = p.regexp(e, "url")
	c.XPath = p.xpath(e, "xpath")
	c.Needs = needs(e.attrs["xpath"])
	if c.Text != "" {
		c.Needs = Needs{text: []string{c.Text}}
	}
	if len(e.attrs) != 1 {
		p.fault(e, "element %s must have exactly one of url, xpath, generator and text", e.name)
	}
	if _, url := e.attrs["url"]; !ofPage && !url && e.attrs["xpath"] == "" {
		p.fault(e, "element %s judges links: it must have url or xpath", e.name)
	}
	return c
}

var literal = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)

// needs lists the words that an expression compares with. One of them must stand in the page, unless
// the expression also selects by what is not there, or compares with what a page may write in
// another way (blanks, characters that HTML escapes).
func needs(expr string) Needs {
	if strings.Contains(expr, "not(") || strings.Contains(expr, "!=") || strings.Contains(expr, "|") || strings.Contains(expr, "translate(") {
		return Needs{}
	}
	var words []string
	for _, m := range literal.FindAllStringSubmatch(expr, -1) {
		word := strings.TrimSpace(m[1] + m[2])
		if word == "" {
			continue // the padding of a class test
		}
		if strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("&<>\"'", r) }) {
			return Needs{}
		}
		words = append(words, word)
	}
	// a predicate without a word may select by itself: [@a='b' or @c]
	if strings.Contains(expr, " or ") && strings.Count(expr, " or ") >= len(words) {
		return Needs{}
	}
	return Needs{text: words}
}

func (p *fileParser) level(e *element) *Level {
	p.attrs(e, "name", "terminal?")
	l := &Level{Name: e.attrs["name"], Line: e.line}
	switch terminal, given := e.attrs["terminal"]; {
	case terminal == "true" || terminal == "1":
		l.Terminal = true
	case given && terminal != "false" && terminal != "0":
		p.fault(e, "attribute terminal is %q, must be true or false", terminal)
	}
	for _, c := range e.children {
		switch c.name {
		case "match":
			l.Match = append(l.Match, p.condition(c, true))
		case "object":
			l.Objects = append(l.Objects, p.object(c))
		case "follow":
			l.Follow = append(l.Follow, p.follow(c))
		default:
			p.unknown(e, c, "match, object, follow")
		}
	}
	if len(l.Match) == 0 {
		p.fault(e, "level %q has no match element: it would never be recognised", l.Name)
	}
	return l
}

func (p *fileParser) object(e *element) Object {
	p.attrs(e, "type", "each")
	o := Object{Type: e.attrs["type"], Each: p.xpath(e, "each"), Needs: needs(e.attrs["each"]), Rule: p.rule(e)}
	for _, c := range e.children {
		if c.name != "property" {
			p.unknown(e, c, "property")
			continue
		}
		p.attrs(c, "name", "xpath", "as?")
		p.leaf(c)
		as := c.attrs["as"]
		if as != "" && as != "dateTime" && as != "url" {
			p.fault(c, "attribute as is %q, must be dateTime or url", as)
		}
		o.Properties = append(o.Properties, Property{Name: c.attrs["name"], XPath: p.xpath(c, "xpath"), Needs: needs(c.attrs["xpath"]), As: as})
	}
	if len(o.Properties) == 0 {
		p.fault(e, "object %q has no property", o.Type)
	}
	return o
}

func (p *fileParser) follow(e *element) Follow {
	p.attrs(e, "url?", "xpath?", "level?", "priority?")
	f := Follow{URL: p.regexp(e, "url"), XPath: p.xpath(e, "xpath"), Needs: needs(e.attrs["xpath"]), Level: e.attrs["level"], Priority: 0.5, Rule: p.rule(e)}
	p.leaf(e)
	_, url := e.attrs["url"]
	if _, path := e.attrs["xpath"]; url == path {
		p.fault(e, "element follow must have exactly one of url and xpath")
	}
	if text, given := e.attrs["priority"]; given {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0 && v <= 1) {
			p.fault(e, "priority %q must be a number above 0 and at most 1", text)
		}
		f.Priority = v
	}
	return f
}

func (p *fileParser) regexp(e *element, name string) *regexp.Regexp {
	text, given := e.attrs[name]
	if !given {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		p.fault(e, "attribute %s is not a regular expression: %v", name, err)
	}
	return re
}

func (p *fileParser) xpath(e *element, name string) (expr *xpath.Expr) {
	text, given := e.attrs[name]
	if !given {
		return nil
	}
	defer func() { // the compiler panics on some inputs
		if r := recover(); r != nil {
			p.fault(e, "attribute %s is not an XPath expression: %v", name, r)
		}
	}()
	expr, err := xpath.Compile(text)
	if err != nil {
		p.fault(e, "attribute %s is not an XPath expression: %v", name, err)
		return nil
	}
	if result, nodes := expr.Evaluate(emptyDocument{}).(*xpath.NodeIterator); !nodes || result == nil {
		p.fault(e, "attribute %s selects no elements or attributes: an expression such as count(//a) > 3 must stand in brackets behind a path, as in //body[count(.//a) > 3]", name)
	}
	return expr
}
