package adapt

import (
	"errors"
	"regexp"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// apply extracts the objects of a learned rule; valid reports that it is one.
func (a *adaptation) apply(r Rule) (set extract.Set, valid bool) {
	each, err := xpath.Parse(r.Each)
	if err != nil {
		return set, false
	}
	o := kb.Object{Type: r.Type, Each: each, Rule: BySite}
	for _, p := range r.Properties {
		property, err := p.property()
		if err != nil {
			return set, false
		}
		o.Properties = append(o.Properties, property)
	}
	a.page.Objects(&o, nil, min(a.Confidence, MaxConfidence), a.page.Limits.Objects, &set)
	return set, true
}

// property is a property of a rule of the base.
func (p *PropertyRule) property() (q kb.Property, err error) {
	q = kb.Property{Name: p.Name, As: extract.ValueType(p.Name), Many: p.Name == "tags"}
	if q.XPath, err = xpath.Parse(p.XPath); err != nil {
		return q, err
	}
	if p.Match != "" {
		if q.Match, err = regexp.Compile(p.Match); err != nil {
			return q, err
		}
		if q.Match.NumSubexp() == 0 {
			return q, errNoGroup
		}
	}
	q.Between = p.Between
	if q.Without, err = parsed(p.Without); err != nil {
		return q, err
	}
	if q.Append, err = parsed(p.Append); err != nil || p.AppendMatch == "" {
		return q, err
	}
	if q.AppendMatch, err = regexp.Compile(p.AppendMatch); err == nil && q.AppendMatch.NumSubexp() == 0 {
		err = errNoGroup
	}
	return q, err
}

// parsed is an expression; none, if there is none.
func parsed(text string) (*xpath.Expr, error) {
	if text == "" {
		return nil, nil
	}
	return xpath.Parse(text)
}

var errNoGroup = errors.New("the pattern has no group")

// MaxConfidence is the highest of what a learned rule extracts.
const MaxConfidence = 0.8

// The form of what a learned rule extracts.
const (
	fullShare    = 0.6 // of the properties that the objects must have
	bodyLetters  = 20  // that a body must have on average
	distinctBody = 0.8 // of the bodies that must differ from each other
)

// isSound reports whether what was extracted has the form that the rule promises.
func isSound(s extract.Set, l Rule) bool {
	if len(s.Objects) == 0 {
		return false
	}
	names := map[string]bool{}
	for _, p := range l.Properties {
		names[p.Name] = true
	}
	have, letters, bodies := 0, 0, map[string]bool{}
	for _, o := range s.Objects {
		for name := range names {
			if o.Properties.Get(name) != "" {
				have++
			}
		}
		b := o.Properties.Get("body")
		letters += len(b)
		bodies[b] = true
	}
	if float64(have) < fullShare*float64(len(names)*len(s.Objects)) {
		return false
	}
	return !names["body"] || letters >= bodyLetters*len(s.Objects) && float64(len(bodies)) >= distinctBody*float64(len(s.Objects))
}

// countExtracted is how many properties the objects have.
func countExtracted(s extract.Set) (n int) {
	for _, o := range s.Objects {
		n += len(o.Properties)
	}
	return n
}

// replace puts what a learned rule extracted in the place of the page's objects of the type.
func (a *adaptation) replace(kind string, set extract.Set) {
	var kept extract.Set
	for i, o := range a.Objects {
		if o.Type != kind {
			kept.Objects = append(kept.Objects, o)
			if i < len(a.Located) {
				kept.Located = append(kept.Located, a.Located[i])
			}
		}
	}
	room := max(a.page.Limits.Objects-len(kept.Objects), 0)
	set.Objects, set.Located = set.Objects[:min(len(set.Objects), room)], set.Located[:min(len(set.Located), room)]
	a.Set = extract.Set{Objects: append(kept.Objects, set.Objects...), Located: append(kept.Located, set.Located...)}
}
