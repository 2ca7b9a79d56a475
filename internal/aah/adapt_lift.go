package aah

import (
	"regexp"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// extraction is what a learned rule lifts.
type extraction struct {
	objects []crawl.Object
	lifted  []adapt.Lifted
}

// extract applies a learned rule; valid tells that it is one.
func (a *adaptation) extract(l adapt.Learned) (set extraction, valid bool) {
	each, err := xpath.Parse(l.Each)
	if err != nil {
		return set, false
	}
	o := kb.Object{Type: l.Type, Each: each, Rule: "learned"}
	for _, p := range l.Properties {
		x, err := xpath.Parse(p.XPath)
		if err != nil {
			return set, false
		}
		property := kb.Property{Name: p.Name, XPath: x, As: asked[p.Name], Many: p.Name == "tags"}
		if p.Match != "" {
			if property.Match, err = regexp.Compile(p.Match); err != nil || property.Match.NumSubexp() == 0 {
				return set, false
			}
		}
		if p.Without != "" {
			if property.Without, err = xpath.Parse(p.Without); err != nil {
				return set, false
			}
		}
		o.Properties = append(o.Properties, property)
	}
	for _, at := range a.selected(each, nil, a.eval.Tree.Root(), a.limits.Objects) {
		if object, lifted, ok := a.object(&o, at); ok {
			object.Confidence = min(object.Confidence, learnedConfidence)
			set.objects, set.lifted = append(set.objects, object), append(set.lifted, lifted)
		}
	}
	return set, true
}

// learnedConfidence is the highest of what a learned rule lifts.
const learnedConfidence = 0.8

// The form of what a learned rule lifts.
const (
	fullShare    = 0.6 // of the properties that the objects must have
	bodyLetters  = 20  // that a body must have on average
	distinctBody = 0.8 // of the bodies that must differ from each other
)

// sound tells whether what was lifted has the form that the rule promises.
func (s extraction) sound(l adapt.Learned) bool {
	if len(s.objects) == 0 {
		return false
	}
	names := map[string]bool{}
	for _, p := range l.Properties {
		names[p.Name] = true
	}
	have, letters, bodies := 0, 0, map[string]bool{}
	for _, o := range s.objects {
		for name := range names {
			if o.Properties.Get(name) != "" {
				have++
			}
		}
		b := o.Properties.Get("body")
		letters += len(b)
		bodies[b] = true
	}
	if float64(have) < fullShare*float64(len(names)*len(s.objects)) {
		return false
	}
	return !names["body"] || letters >= bodyLetters*len(s.objects) && float64(len(bodies)) >= distinctBody*float64(len(s.objects))
}

// soundly tells whether what a rule lifts from the page has the form that it promises.
func (a *adaptation) soundly(l adapt.Learned) bool {
	set, _ := a.extract(l)
	return set.sound(l)
}

// worth is how much was lifted.
func (s extraction) worth() (n int) {
	for _, o := range s.objects {
		n += len(o.Properties)
	}
	return n
}

// replace puts what a learned rule lifted in the place of the page's objects of the type.
func (a *adaptation) replace(kind string, set extraction) {
	var objects []crawl.Object
	var lifted []adapt.Lifted
	for i, o := range a.doc.Objects {
		if o.Type != kind {
			objects = append(objects, o)
			if i < len(a.lifted) {
				lifted = append(lifted, a.lifted[i])
			}
		}
	}
	room := max(a.limits.Objects-len(objects), 0)
	set.objects, set.lifted = set.objects[:min(len(set.objects), room)], set.lifted[:min(len(set.lifted), room)]
	a.doc.Objects, a.lifted = append(objects, set.objects...), append(lifted, set.lifted...)
}
