package aah

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// unseen works on a page of which nothing is known from before, type by type: a rule in force is used where the
// shipped rules find nothing of the type that is worth the name, and one that was made of known content where it
// finds the same texts as they do and leaves out more that does not belong to them.
func (a *adaptation) unseen() {
	var kinds []string // the main type first: the order decides what is tried before the budget is spent
	if main := a.mainType(); main != "" {
		kinds = append(kinds, main)
	}
	for i := range a.rules {
		if kind := a.rules[i].Type; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		known, done, real := 0, false, a.real(kind)
		for i := range a.rules {
			r := &a.rules[i]
			if r.Type != kind || real && (r.Method != adapt.ByContent || !r.InForce()) {
				continue
			}
			set, valid := a.extract(r.Learned)
			if !valid { // the file was written by hand
				a.note(func(s *adapt.Site) bool { return s.Drop(r) })
				continue
			}
			if known++; real && !a.cleaner(kind, set) || repeated[kind] && len(set.objects) == 0 {
				continue // there may be none
			}
			well := set.sound(r.Learned)
			if well && r.InForce() && !done {
				a.replace(kind, set)
				done = true
			}
			a.note(func(s *adapt.Site) bool { return s.Note(r, well, a.doc.URL, a.now()) })
			if done && r.Method == adapt.ByContent { // the others may yet prove better
				break
			}
		}
		if !done && !real && known <= maxCandidates && kind == a.mainType() && a.mayTry() {
			a.tried(a.relax())
		}
	}
}

// cleaner tells whether a rule that was made where shipped ones did not leave out enough finds the same texts as
// they do on this page, and leaves more out of them.
func (a *adaptation) cleaner(kind string, set extraction) bool {
	theirs, mine := bodyTexts(a.eval.Tree, a.lifted, kind), bodyTexts(a.eval.Tree, set.lifted, kind)
	if len(theirs) == 0 || len(mine) != len(theirs) {
		return false
	}
	more := false
	for i := range mine {
		if mine[i].Hash != theirs[i].Hash || !leftOut(theirs[i].Out, mine[i].Out) {
			return false
		}
		more = more || len(mine[i].Out) > len(theirs[i].Out)
	}
	return more
}

// bodyTexts are the prints of the bodies of a type.
func bodyTexts(tree *xpath.Tree, lifted []adapt.Lifted, kind string) (list []adapt.Property) {
	for _, p := range adapt.PrintsOf(tree, lifted) {
		for _, q := range p.Properties {
			if p.Type == kind && q.Name == "body" {
				list = append(list, q)
			}
		}
	}
	return list
}

// maxCandidates bounds the rules for one type that are kept before no more are made.
const maxCandidates = 3

// relax makes candidates for a page on which the shipped rules fail: by parts that are still found, the failing rule
// made less strict, a rule of another application that fits, or what the form of the page tells.
func (a *adaptation) relax() (found bool) {
	kind := a.mainType()
	if kind == "" {
		return false
	}
	for _, by := range []func(string) (adapt.Learned, string, bool){a.byParts, a.byRelaxing, a.byBase, a.byShape} {
		learned, method, ok := by(kind)
		if !ok || !learned.Has("body") || !a.soundly(learned) {
			continue
		}
		a.keep(learned, method)
		if found = true; method != adapt.ByParts { // of two ways that are as sure, other pages decide
			break
		}
	}
	return found
}

// byShape goes by what the form of the page tells.
func (a *adaptation) byShape(kind string) (learned adapt.Learned, method string, ok bool) {
	learned, ok = adapt.Shape(a.eval, kind, a.limits.AdaptSteps)
	return learned, adapt.ByShape, ok
}

// byParts looks for things by those of their parts that are still found.
func (a *adaptation) byParts(kind string) (learned adapt.Learned, method string, ok bool) {
	var failing []adapt.LearnedPart
	for i := range a.level.Objects {
		if o := &a.level.Objects[i]; o.Type == kind {
			failing = append(failing, asLearned(o).Properties...)
		}
	}
	learned, ok = adapt.Parts(a.eval, kind, failing, a.limits.AdaptSteps)
	return learned, adapt.ByParts, ok
}

// byRelaxing tries the failing rules of the level themselves.
func (a *adaptation) byRelaxing(kind string) (best adapt.Learned, method string, ok bool) {
	most, left := 0, a.limits.AdaptSteps
	for i := range a.level.Objects {
		o := &a.level.Objects[i]
		if o.Type != kind || left <= 0 {
			continue
		}
		had := a.eval.Budget
		learned, found := adapt.Relax(a.eval, asLearned(o), left)
		left -= had - a.eval.Budget
		if !found || !learned.Has("body") {
			continue
		}
		if set, _ := a.extract(learned); set.sound(learned) && set.worth() > most {
			best, most, ok = learned, set.worth(), true
		}
	}
	return best, adapt.ByRelaxed, ok
}

// baseSteps is what parsing a rule of the base anew costs.
const baseSteps = 4096

// byBase tries the rules for the same type of object of other applications, those of the category first.
func (a *adaptation) byBase(kind string) (best adapt.Learned, method string, ok bool) {
	most, left := 0, a.limits.AdaptSteps
	for _, same := range []bool{true, false} {
		for _, app := range a.base.Applications {
			if (app.Category == a.profile.Application.Category) != same || app == a.profile.Application {
				continue
			}
			for _, l := range a.base.Profile(app, "", "").Levels {
				for i := range l.Objects {
					o := &l.Objects[i]
					if left <= 0 {
						return best, adapt.ByBase, ok
					}
					if !l.Terminal || o.Type != kind || len(o.Each.Needs()) == 0 || !o.Needs.Held(a.found) {
						continue
					}
					learned, had := asLearned(o), a.eval.Budget
					set, _ := a.extract(learned)
					left -= baseSteps + had - a.eval.Budget
					if set.sound(learned) && set.worth() > most {
						best, most, ok = learned, set.worth(), true
					}
				}
			}
		}
		if ok {
			return best, adapt.ByBase, true
		}
	}
	return best, "", false
}

func asLearned(o *kb.Object) adapt.Learned {
	l := adapt.Learned{Type: o.Type, Each: o.Each.String()}
	for i := range o.Properties {
		l.Properties = append(l.Properties, part(&o.Properties[i], o.Properties[i].XPath.String()))
	}
	return l
}

// part is what a shipped rule says of a property, with another expression.
func part(p *kb.Property, text string) adapt.LearnedPart {
	l := adapt.LearnedPart{Name: p.Name, XPath: text}
	if p.Match != nil {
		l.Match = p.Match.String()
	}
	if p.Without != nil {
		l.Without = p.Without.String()
	}
	return l
}

// inherit gives a rule that was learned by content what the shipped rules of its type say beside where properties
// stand: which part of a text counts, and what does not belong to it.
func (a *adaptation) inherit(l *adapt.Learned) {
	for i := range l.Properties {
		p, plain := &l.Properties[i], false
		var match, without string
		for j := range a.level.Objects {
			o := &a.level.Objects[j]
			for k := range o.Properties {
				if o.Type != l.Type || o.Properties[k].Name != p.Name {
					continue
				}
				shipped := part(&o.Properties[k], "")
				plain = plain || shipped.Match == ""
				if match == "" {
					match = shipped.Match
				}
				if without == "" {
					without = shipped.Without
				}
			}
		}
		if !plain {
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
