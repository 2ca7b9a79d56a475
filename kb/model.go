package kb

import (
	"regexp"
	"slices"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Rules are what a category, an application, a version or a site says. What is more particular adds to what
// is more general, and is asked first.
type Rules struct {
	Detect    []Condition // together they recognise it
	Levels    []*Level    // the first that matches is the page's level
	Follow    []Follow    // on every level
	Drop      []Condition // links that are never followed
	Normalize []Normal    // the normal form of the application's URLs
}

// Application teaches the helper one web application.
type Application struct {
	Name     string
	Category string // forum, blog, wiki, …
	Scripts  bool   // its pages lack what they are about until their scripts run, though they are no empty shells
	File     string
	Rules
	Versions []*Version
	Examples []Example
}

// Version is a version, or a family of templates, of an application.
type Version struct {
	Name string
	Rules
}

// Category holds what applications of one kind share.
type Category struct {
	Name string
	File string
	Rules
}

// Site adds to an application what holds on some hosts only.
type Site struct {
	Application string
	Version     string // if it is always the same
	Hosts       []string
	File        string
	Rules
}

// Level is a kind of page of an application.
type Level struct {
	Name     string
	Terminal bool        // it holds the content that the archive is for
	Match    []Condition // any of them recognises the level
	Objects  []Object
	Follow   []Follow
	Drop     []Condition
	Rule     string // file:line, for provenance
}

// Condition is a test of a page or of a link: all its parts that are set must hold.
type Condition struct {
	XPath      *xpath.Expr    // of the page: selects something; of links: those it selects
	URL        *regexp.Regexp // matches the URL of the page or link
	Generator  string         // the meta generator holds it, case apart
	Text       string         // the raw page holds it; of a detect element without XPath, outside of the text that readers see
	Header     string         // the response has this header field, in lower case
	Value      string         // … and its value holds this, in lower case
	Cookie     string         // the response sets a cookie whose name holds this, in lower case
	Own        bool           // of a detect element: one of the first MostOwn nodes that XPath selects leads to the page's own site
	Confidence float64        // in (0,1], of a detect element
	Rule       string
	Needs      Needs
	Links      Pattern // URL, for links
}

// Same reports whether two conditions test the same.
func (c *Condition) Same(other *Condition) bool {
	return source(c.XPath) == source(other.XPath) && source(c.URL) == source(other.URL) && c.Generator == other.Generator && c.Text == other.Text &&
		c.Header == other.Header && c.Value == other.Value && c.Cookie == other.Cookie && c.Own == other.Own
}

func source[T any, P interface {
	*T
	String() string
}](x P) string {
	if x == nil {
		return ""
	}
	return x.String()
}

// Needs are lists of words: of each list the raw page must hold one at least for an expression to select
// anything; none if that is not known.
type Needs [][]int

// What makes one object of several nodes.
const (
	OneAlways = "true" // the node whose words agree best with the main text of the page
	OneMain   = "main" // that node, if it holds more than half of the main text; otherwise each node is an object
)

// Object is an extraction action: one web object for each node that Each selects.
type Object struct {
	Type       string
	Each       *xpath.Expr
	Needs      Needs  // of Each
	One        string // "": each of them is an object; OneAlways, OneMain
	Properties []Property
	Rule       string
}

// Has reports whether a property of a name is extracted.
func (o *Object) Has(name string) bool {
	return slices.ContainsFunc(o.Properties, func(p Property) bool { return p.Name == name })
}

// Property is a property of a web object; its expression is relative to the object.
type Property struct {
	Name    string
	XPath   *xpath.Expr
	Needs   Needs
	As      string         // "", "dateTime", "url" or "number"
	Match   *regexp.Regexp // of its text only what the first group holds; nil: all
	Many    bool           // every node that is selected gives a value
	Without *xpath.Expr    // parts of the node that do not belong to the value; nil: none
	// Append, if it is given, composes the value: what XPath selects, Between, and what Append selects from the object, of which only what the first group of AppendMatch holds.
	// Without both there is no value.
	Append      *xpath.Expr
	AppendNeeds Needs
	AppendMatch *regexp.Regexp
	Between     string
	Rule        string
}

// Follow is a navigation action: the links it matches lead to a level and get a priority.
type Follow struct {
	URL      *regexp.Regexp
	XPath    *xpath.Expr // selects a elements
	Needs    Needs
	Level    string
	Priority float64 // in (0,1]
	Paging   bool    // to the next part of the same thing
	Links    Pattern // URL, for links
	Rule     string
}

// Normal brings URLs of the application into one form: a query parameter is left out, or what a pattern
// matches is replaced.
type Normal struct {
	Parameter string
	Value     *regexp.Regexp // the whole value matches; nil: any value
	URL       *regexp.Regexp
	To        string
	Links     Pattern // URL, for links
	Rule      string
}

// Example is a page, written for the purpose, with what the base must make of it.
type Example struct {
	URL     string
	Level   string
	Version string
	Headers string // header lines
	Page    string
	Has     []Has
	Rule    string
}

// Has is one thing that an example must have: an object with properties, or a link that is followed or
// dropped.
type Has struct {
	Object     string
	Count      int // of objects of this type on the page; 0: at least one
	Properties map[string]string
	Link       string
	Level      string
	Dropped    string
	Rule       string
}
