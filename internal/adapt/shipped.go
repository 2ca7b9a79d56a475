package adapt

import (
	"github.com/muninn-archive/muninn/kb"
)

// asLearned is a shipped rule as a rule of a site.
func asLearned(o *kb.Object) Rule {
	l := Rule{Type: o.Type, Each: o.Each.String()}
	if o.One == kb.OneAlways { // as near as a rule of a site can say it
		l.Each = "(" + l.Each + ")[1]"
	}
	for i := range o.Properties {
		l.Properties = append(l.Properties, withExpression(&o.Properties[i], o.Properties[i].XPath.String()))
	}
	return l
}

// withExpression is what a shipped rule says of a property, with another expression.
func withExpression(p *kb.Property, text string) PropertyRule {
	l := PropertyRule{Name: p.Name, XPath: text}
	if p.Match != nil {
		l.Match = p.Match.String()
	}
	if p.Without != nil {
		l.Without = p.Without.String()
	}
	if p.Append != nil {
		l.Append, l.Between = p.Append.String(), p.Between
	}
	if p.AppendMatch != nil {
		l.AppendMatch = p.AppendMatch.String()
	}
	return l
}

// leaveOutShipped leaves out of the text of a rule that was made by the form of a page what the shipped rules of its type leave out of theirs.
func (a *adaptation) leaveOutShipped(l *Rule) {
	for i := range l.Properties {
		if p := &l.Properties[i]; p.Name == "body" && p.Without == "" {
			_, p.Without = a.shippedConditions(l.Type, p.Name)
		}
	}
}

// addShippedConditions gives a rule that was learned by content what the shipped rules of its type say beside where properties
// stand: which part of a text counts, and what does not belong to it.
func (a *adaptation) addShippedConditions(l *Rule) {
	for i := range l.Properties {
		p := &l.Properties[i]
		match, without := a.shippedConditions(l.Type, p.Name)
		if match != "" {
			p.Match = match
		}
		switch {
		case without == "":
		case p.Without == "":
			p.Without = without
		default:
			p.Without = without + " | " + p.Without
		}
	}
}

// shippedConditions are what the shipped rules of a type say of a property: the first pattern, if all have one, and the first parts that are left out.
func (a *adaptation) shippedConditions(kind, name string) (match, without string) {
	plain := false
	for i := range a.Level.Objects {
		o := &a.Level.Objects[i]
		for k := range o.Properties {
			if o.Type != kind || o.Properties[k].Name != name || o.Properties[k].Append != nil {
				continue
			}
			shipped := withExpression(&o.Properties[k], "")
			plain = plain || shipped.Match == ""
			if match == "" {
				match = shipped.Match
			}
			if without == "" {
				without = shipped.Without
			}
		}
	}
	if plain {
		match = ""
	}
	return match, without
}
