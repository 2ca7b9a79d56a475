package kb

import (
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Namespace is the XML namespace of knowledge base files.
const Namespace = "https://muninn-archive.github.io/ns/kb/1"

// MaxFile bounds a knowledge base file.
const MaxFile = 1 << 20

// file is what one XML file holds: exactly one of the three.
type file struct {
	category    *Category
	application *Application
	site        *Site
}

// parse reads one file. The error is a Faults.
func parse(name string, raw []byte) (file, error) {
	if len(raw) > MaxFile {
		return file{}, Faults{fmt.Sprintf("%s:1: is larger than %d bytes", name, MaxFile)}
	}
	root, err := readTree(raw)
	if err != nil {
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return file{}, Faults{fmt.Sprintf("%s:%d: %s", name, syntax.Line, syntax.Msg)}
		}
		return file{}, Faults{fmt.Sprintf("%s:%v", name, err)}
	}
	p := &fileParser{file: name}
	f := p.root(root)
	if len(p.faults) > 0 {
		return file{}, p.faults
	}
	return f, nil
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

func (p *fileParser) root(e *element) (f file) {
	switch e.name {
	case "category":
		c := &Category{Name: e.attrs["name"], File: p.file}
		p.attrs(e, "name")
		p.oneOf(e, "category", c.Name, Categories)
		p.rules(e, &c.Rules, nil)
		if len(c.Detect) > 0 {
			p.fault(e, "a category is never recognised: it may hold no detect element")
		}
		f.category = c
	case "application":
		f.application = p.application(e)
	case "site":
		s := &Site{Application: e.attrs["application"], Version: e.attrs["version"], Hosts: strings.Fields(strings.ToLower(e.attrs["hosts"])), File: p.file}
		p.attrs(e, "application", "hosts", "version?")
		p.rules(e, &s.Rules, nil)
		for _, host := range s.Hosts {
			if strings.ContainsAny(host, "/?#@ ") || strings.Contains(host, "://") {
				p.fault(e, "host %q is not a host name: write only the part between // and the next /", host)
			}
		}
		if len(s.Detect) > 0 {
			p.fault(e, "a site is recognised by its hosts: it may hold no detect element")
		}
		f.site = s
	default:
		p.fault(e, "the file must hold one element application, category or site, not %s", e.name)
	}
	return f
}

// oneOf checks a word against a vocabulary.
func (p *fileParser) oneOf(e *element, what, word string, known []string) {
	if word != "" && !slices.Contains(known, word) {
		p.fault(e, "%s %q is not known; known: %s", what, word, strings.Join(known, ", "))
	}
}

func (p *fileParser) application(e *element) *Application {
	app := &Application{Name: e.attrs["name"], Category: e.attrs["category"], Scripts: p.truth(e, "scripts"), File: p.file}
	p.attrs(e, "name", "category", "scripts?")
	p.oneOf(e, "category", app.Category, Categories)
	seen := map[string]bool{}
	p.rules(e, &app.Rules, func(c *element) bool {
		switch c.name {
		case "version":
			v := &Version{Name: c.attrs["name"]}
			p.attrs(c, "name")
			if seen[v.Name] {
				p.fault(c, "version %q is there twice", v.Name)
			}
			seen[v.Name] = true
			p.rules(c, &v.Rules, nil)
			app.Versions = append(app.Versions, v)
		case "example":
			app.Examples = append(app.Examples, p.example(c))
		default:
			return false
		}
		return true
	})
	marks := len(app.Detect)
	for _, v := range app.Versions {
		marks += len(v.Detect)
	}
	if marks == 0 && app.Category != "generic" {
		p.fault(e, "application %q has no detect element: it would never be recognised", app.Name)
	}
	doubt := 1.0
	for _, r := range append([]Rules{app.Rules}, versionRules(app)...) {
		for _, c := range r.Detect {
			doubt *= 1 - c.Confidence
		}
	}
	if marks > 0 && 1-doubt < Threshold {
		p.fault(e, "application %q would never be recognised: all its marks together have confidence %.2f, it takes %.2g", app.Name, 1-doubt, Threshold)
	}
	for _, x := range app.Examples {
		if x.Version != "" && !seen[x.Version] {
			p.faults = append(p.faults, fmt.Sprintf("%s: version %q is not known", x.Rule, x.Version))
		}
	}
	return app
}

func versionRules(app *Application) (list []Rules) {
	for _, v := range app.Versions {
		list = append(list, v.Rules)
	}
	return list
}

const known = "detect, level, follow, drop, normalize"

// rules reads what categories, applications, versions and sites have in common; other takes the rest.
func (p *fileParser) rules(parent *element, r *Rules, other func(*element) bool) {
	levels := map[string]bool{}
	for _, e := range parent.children {
		switch e.name {
		case "detect":
			c := p.condition(e, "url?", "xpath?", "generator?", "text?", "header?", "cookie?", "own?", "confidence?")
			c.Confidence, c.Own = p.fraction(e, "confidence", 1), p.truth(e, "own")
			if c.Own && c.XPath == nil {
				p.fault(e, "attribute own is given: it is about what xpath selects, which is not given")
			}
			r.Detect = append(r.Detect, c)
		case "level":
			l := p.level(e)
			if levels[l.Name] {
				p.fault(e, "level %q is there twice", l.Name)
			}
			levels[l.Name] = true
			r.Levels = append(r.Levels, l)
		case "follow":
			r.Follow = append(r.Follow, p.follow(e))
		case "drop":
			r.Drop = append(r.Drop, p.condition(e, "url?", "xpath?"))
		case "normalize":
			r.Normalize = append(r.Normalize, p.normal(e))
		default:
			if other == nil {
				p.unknown(parent, e, known)
			} else if !other(e) {
				p.unknown(parent, e, known+", version, example")
			}
		}
	}
}

func (p *fileParser) condition(e *element, attrs ...string) Condition {
	p.attrs(e, attrs...)
	p.leaf(e)
	c := Condition{
		Generator: strings.ToLower(e.attrs["generator"]), Text: e.attrs["text"], Cookie: strings.ToLower(e.attrs["cookie"]),
		URL: p.regexp(e, "url"), XPath: p.xpath(e, "xpath"), Rule: p.rule(e),
	}
	name, value, _ := strings.Cut(strings.ToLower(e.attrs["header"]), ":")
	c.Header, c.Value = strings.TrimSpace(name), strings.TrimSpace(value)
	parts := len(e.attrs)
	for _, name := range []string{"confidence", "own"} {
		if _, given := e.attrs[name]; given {
			parts--
		}
	}
	if parts == 0 {
		var names []string
		for _, a := range attrs {
			if a != "confidence?" && a != "own?" {
				names = append(names, strings.TrimSuffix(a, "?"))
			}
		}
		p.fault(e, "element %s says nothing: it must have one at least of %s", e.name, strings.Join(names, ", "))
	}
	return c
}

func (p *fileParser) level(e *element) *Level {
	p.attrs(e, "name", "terminal?")
	l := &Level{Name: e.attrs["name"], Terminal: p.truth(e, "terminal"), Rule: p.rule(e)}
	p.oneOf(e, "level", l.Name, Levels)
	for _, c := range e.children {
		switch c.name {
		case "match":
			l.Match = append(l.Match, p.condition(c, "url?", "xpath?", "generator?", "text?"))
		case "object":
			l.Objects = append(l.Objects, p.object(c))
		case "follow":
			l.Follow = append(l.Follow, p.follow(c))
		case "drop":
			l.Drop = append(l.Drop, p.condition(c, "url?", "xpath?"))
		default:
			p.unknown(e, c, "match, object, follow, drop")
		}
	}
	return l
}

func (p *fileParser) truth(e *element, name string) bool {
	switch v, given := e.attrs[name]; {
	case v == "true" || v == "1":
		return true
	case given && v != "false" && v != "0":
		p.fault(e, "attribute %s is %q, must be true or false", name, v)
	}
	return false
}

func (p *fileParser) object(e *element) Object {
	p.attrs(e, "type", "each", "one?")
	o := Object{Type: e.attrs["type"], Each: p.xpath(e, "each"), One: e.attrs["one"], Rule: p.rule(e)}
	p.oneOf(e, "one", o.One, []string{OneAlways, OneMain})
	p.oneOf(e, "object type", o.Type, names(ObjectTypes))
	for _, c := range e.children {
		if c.name != "property" {
			p.unknown(e, c, "property")
			continue
		}
		p.attrs(c, "name", "xpath", "as?", "match?", "many?", "without?", "append?", "append-match?", "between?")
		p.leaf(c)
		q := Property{Name: c.attrs["name"], XPath: p.xpath(c, "xpath"), As: c.attrs["as"], Match: p.regexp(c, "match"), Many: p.truth(c, "many"), Without: p.xpath(c, "without"), Rule: p.rule(c)}
		q.Append, q.AppendMatch, q.Between = p.xpath(c, "append"), p.regexp(c, "append-match"), c.attrs["between"]
		p.oneOf(c, "property", q.Name, names(Properties))
		p.oneOf(c, "as", q.As, []string{"dateTime", "url", "number"})
		if q.Match != nil && q.Match.NumSubexp() < 1 {
			p.fault(c, "attribute match has no group: put what is wanted in brackets")
		}
		if q.AppendMatch != nil && q.AppendMatch.NumSubexp() < 1 {
			p.fault(c, "attribute append-match has no group: put what is wanted in brackets")
		}
		if q.Append == nil && (q.AppendMatch != nil || q.Between != "") {
			p.fault(c, "attribute append is missing: append-match and between are about what it selects")
		}
		o.Properties = append(o.Properties, q)
	}
	if len(o.Properties) == 0 {
		p.fault(e, "object %q has no property", o.Type)
	}
	return o
}

func (p *fileParser) follow(e *element) Follow {
	p.attrs(e, "url?", "xpath?", "level?", "priority?", "paging?")
	p.leaf(e)
	f := Follow{URL: p.regexp(e, "url"), XPath: p.xpath(e, "xpath"), Level: e.attrs["level"], Priority: p.fraction(e, "priority", .5), Paging: p.truth(e, "paging"), Rule: p.rule(e)}
	p.oneOf(e, "level", f.Level, Levels)
	_, url := e.attrs["url"]
	if _, path := e.attrs["xpath"]; !url && !path {
		p.fault(e, "element follow must have url or xpath, or both")
	}
	return f
}

func (p *fileParser) fraction(e *element, name string, otherwise float64) float64 {
	text, given := e.attrs[name]
	if !given {
		return otherwise
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= 1) {
		p.fault(e, "%s %q must be a number above 0 and at most 1", name, text)
	}
	return v
}

// groupRef finds the groups of a pattern that a replacement names.
var groupRef = regexp.MustCompile(`\$\{?([0-9]+)`)

func (p *fileParser) normal(e *element) Normal {
	p.attrs(e, "parameter?", "value?", "url?", "to?")
	n := Normal{Parameter: e.attrs["parameter"], URL: p.regexp(e, "url"), To: e.attrs["to"], Rule: p.rule(e)}
	for _, c := range e.children {
		p.fault(c, "element %s is not known in %s, which holds no elements", c.name, e.name)
	}
	if (n.Parameter == "") == (n.URL == nil) {
		p.fault(e, "element normalize must have parameter (and value), or url (and to)")
	}
	if n.URL != nil {
		for _, ref := range groupRef.FindAllStringSubmatch(n.To, -1) {
			if at, err := strconv.Atoi(ref[1]); err == nil && at > n.URL.NumSubexp() {
				p.fault(e, "attribute to names group %d, but url has %d", at, n.URL.NumSubexp())
			}
		}
	}
	if text, given := e.attrs["value"]; given {
		re, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			p.fault(e, "attribute value is not a regular expression: %v", err)
		}
		n.Value = re
	}
	return n
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

func (p *fileParser) xpath(e *element, name string) *xpath.Expr {
	text, given := e.attrs[name]
	if !given {
		return nil
	}
	x, err := xpath.Parse(text)
	switch {
	case err != nil:
		p.fault(e, "attribute %s is not an XPath expression: %v", name, err)
		return nil
	case !x.Selects():
		p.fault(e, "attribute %s selects no elements or attributes: an expression such as count(//a) > 3 must be in brackets after a path, as in //body[count(.//a) > 3]", name)
	}
	return x
}
