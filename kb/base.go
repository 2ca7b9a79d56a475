package kb

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/antchfx/xpath"
)

//go:embed applications/*.xml kb.xsd
var shipped embed.FS

// Base is a checked knowledge base.
type Base struct {
	Applications []*Application
	Words        Words // that the conditions of Applications need
}

// Application teaches the helper one web application.
type Application struct {
	Name     string
	Category string // forum, blog, wiki, …
	File     string
	Detect   []Condition // any of them recognises the application
	Levels   []*Level    // the first that matches is the page's level
	Drop     []Condition // links that are never followed
	Follow   []Follow    // on every level
}

// Level is a kind of page of an application.
type Level struct {
	Name     string
	Terminal bool        // it holds the content that the archive is for
	Match    []Condition // any of them recognises the level
	Objects  []Object
	Follow   []Follow
	Line     int
}

// Condition is one test of a page or of a link. Exactly one field is set.
type Condition struct {
	XPath     *xpath.Expr    // of the page: selects something
	URL       *regexp.Regexp // matches the URL of the page or link
	Generator string         // the meta generator contains it, case apart
	Text      string         // the raw page contains it
	Rule      string         // file:line, for provenance
	Needs     Needs
}

// Needs are words of which the raw page must hold at least one for an expression to select anything; none
// if that cannot be told.
type Needs struct {
	Words []int // as the base numbers them
	text  []string
}

// Object is an extraction action: one web object for each node that Each selects.
type Object struct {
	Type       string
	Each       *xpath.Expr
	Needs      Needs // of Each
	Properties []Property
	Rule       string
}

// Property is a property of a web object; its expression is relative to the object.
type Property struct {
	Name  string
	XPath *xpath.Expr
	Needs Needs
	As    string // "", "dateTime" or "url"
}

// Follow is a navigation action: the links it matches lead to a level and get a priority.
type Follow struct {
	URL      *regexp.Regexp
	XPath    *xpath.Expr // selects a elements
	Needs    Needs
	Level    string
	Priority float64 // in (0,1]
	Rule     string
}

// Categories are the kinds of application.
var Categories = []string{"forum", "blog", "wiki", "news", "questions", "social", "photo", "video", "shop", "repository", "generic"}

// Faults lists what is wrong with a knowledge base, a line each.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "\n") }

// Shipped loads the base that is built in.
func Shipped() (*Base, error) {
	sub, err := fs.Sub(shipped, "applications")
	if err != nil {
		return nil, err
	}
	return Load(sub)
}

// Load reads all .xml files of a folder. A base with any fault is refused; the error is a Faults that
// names file, line and reason of each.
func Load(files fs.FS) (*Base, error) {
	names, err := fs.Glob(files, "*.xml")
	if err != nil {
		return nil, fmt.Errorf("load knowledge base: %w", err)
	}
	if len(names) == 0 {
		return nil, Faults{"the knowledge base has no .xml file"}
	}
	slices.Sort(names)
	base := &Base{}
	var faults Faults
	seen := map[string]string{}
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("load knowledge base: %w", err)
		}
		app, err := Parse(path.Base(name), raw)
		var more Faults
		if errors.As(err, &more) {
			faults = append(faults, more...)
			continue
		}
		if other, twice := seen[app.Name]; twice {
			faults = append(faults, fmt.Sprintf("%s: application %q is in %s already", name, app.Name, other))
		}
		seen[app.Name] = name
		base.Applications = append(base.Applications, app)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	// the generic case is asked last
	slices.SortStableFunc(base.Applications, func(a, b *Application) int {
		return strings.Compare(generic(a), generic(b))
	})
	for _, app := range base.Applications {
		base.number(app)
	}
	return base, nil
}

// number gives the words of an application's rules their numbers.
func (b *Base) number(app *Application) {
	conditions := func(list []Condition) {
		for i := range list {
			b.need(&list[i].Needs)
		}
	}
	follows := func(list []Follow) {
		for i := range list {
			b.need(&list[i].Needs)
		}
	}
	conditions(app.Detect)
	conditions(app.Drop)
	follows(app.Follow)
	for _, l := range app.Levels {
		conditions(l.Match)
		follows(l.Follow)
		for i := range l.Objects {
			b.need(&l.Objects[i].Needs)
			for j := range l.Objects[i].Properties {
				b.need(&l.Objects[i].Properties[j].Needs)
			}
		}
	}
}

// need numbers words; an expression of which one is too short to be looked for needs none.
func (b *Base) need(n *Needs) {
	for _, word := range n.text {
		id, ok := b.Words.add(word)
		if !ok {
			n.Words = nil
			return
		}
		n.Words = append(n.Words, id)
	}
}

func generic(a *Application) string {
	if a.Category == "generic" {
		return "1"
	}
	return "0"
}
