package adapt

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// byRules works on a page of which nothing is known from before, type by type: a rule in force is used where the
// shipped rules find nothing of the type that is worth the name, and one that was made of known content where it
// finds the same texts as they do and leaves out more that does not belong to them.
func (a *adaptation) byRules() {
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
		a.byRulesFor(kind)
	}
}

// byRulesFor works on the objects of one type.
func (a *adaptation) byRulesFor(kind string) {
	choice := a.newChoice(kind)
	known := 0
	for i := range a.rules {
		r := &a.rules[i]
		if r.Type != kind || choice.shipped && (r.Method != ByContent || !r.InForce()) {
			continue
		}
		set, valid := a.apply(r.Rule)
		if !valid { // the file was written by hand
			a.updateSite(func(s *Site) bool { return s.Drop(r) })
			continue
		}
		if known++; choice.shipped && !a.leavesOutMore(kind, set) || repeatedTypes[kind] && len(set.Objects) == 0 {
			continue // there may be none
		}
		well := choice.offer(&r.Rule, r.Method, set, r.InForce())
		a.updateSite(func(s *Site) bool { return s.Note(r, well, a.page.Doc.URL, a.Now()) })
		if choice.sure { // the others may yet prove better
			break
		}
	}
	if !choice.found() && !choice.shipped && known <= maxCandidates && kind == a.mainType() && a.mayTry() {
		a.countAttempt(a.makeCandidate(choice))
	}
	if choice.found() {
		a.replace(kind, choice.best)
	}
}

// leavesOutMore reports whether a rule that was made where shipped ones did not leave out enough finds the same texts as
// they do on this page, and leaves more out of them.
func (a *adaptation) leavesOutMore(kind string, set extract.Set) bool {
	theirs, mine := bodyTexts(a.page.Eval.Tree, a.Located, kind), bodyTexts(a.page.Eval.Tree, set.Located, kind)
	if len(theirs) == 0 || len(mine) != len(theirs) {
		return false
	}
	more := false
	for i := range mine {
		if mine[i].Hash != theirs[i].Hash || !leavesOut(theirs[i].Out, mine[i].Out) {
			return false
		}
		more = more || len(mine[i].Out) > len(theirs[i].Out)
	}
	return more
}

// bodyTexts are the prints of the bodies of a type.
func bodyTexts(tree *xpath.Tree, located []extract.Located, kind string) (list []Property) {
	for _, p := range PrintsOf(tree, located) {
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

// makeCandidate makes a rule for a page on which the shipped rules fail: by parts that are still found, the failing rule
// made less strict, a rule of another application that fits, or by the form of the page. Where things repeat, the first way that
// succeeds counts; of the others all are compared, for their texts can be.
func (a *adaptation) makeCandidate(choice *choice) (found bool) {
	kind := a.mainType()
	if kind == "" {
		return false
	}
	if !repeatedTypes[kind] {
		return a.makeSingle(kind, choice)
	}
	for _, by := range []func(string) (Rule, string, bool){a.byParts, a.byRelaxing, a.byBase, a.byShape} {
		learned, method, ok := by(kind)
		if !ok || !learned.Has("body") {
			continue
		}
		set, _ := a.apply(learned)
		if !choice.offer(&learned, method, set, false) {
			continue
		}
		a.storeRule(learned, method)
		if found = true; method != ByParts { // of two candidates that are as good, other pages decide
			break
		}
	}
	return found
}

// makeSingle makes a rule for the only object of its type on a page: the one whose text agrees best with the page's main text.
func (a *adaptation) makeSingle(kind string, choice *choice) (found bool) {
	var best Rule
	var by string
	most := 0.0
	for _, way := range []func(string) (Rule, string, bool){a.byRelaxing, a.byBase, a.byShape} {
		learned, method, ok := way(kind)
		if !ok || !learned.Has("body") {
			continue
		}
		if method == ByShape {
			a.leaveOutShipped(&learned)
		}
		set, _ := a.apply(learned)
		if fit, ok := choice.measure(&learned, set); ok && (!found || fit > most+betterFit) {
			best, by, most, found = learned, method, fit, true
		}
	}
	if found {
		a.storeRule(best, by)
	}
	return found
}

// words distinguish the text that a page of a type is for from other text; nil if there is too little of it.
func (a *adaptation) words(kind string) extract.Words {
	words, _, long := a.page.Words(kind)
	if !long {
		return nil
	}
	return words
}

// byShape makes a rule by the form of the page alone.
func (a *adaptation) byShape(kind string) (learned Rule, method string, ok bool) {
	learned, ok = Shape(a.page.Eval, kind, a.words(kind), a.steps())
	return learned, ByShape, ok
}

// byParts looks for things by those of their parts that are still found.
func (a *adaptation) byParts(kind string) (learned Rule, method string, ok bool) {
	var failing []PropertyRule
	for i := range a.Level.Objects {
		if o := &a.Level.Objects[i]; o.Type == kind {
			failing = append(failing, asLearned(o).Properties...)
		}
	}
	learned, ok = Parts(a.page.Eval, kind, failing, a.words(kind), a.steps())
	return learned, ByParts, ok
}

// byRelaxing tries the failing rules of the level themselves.
func (a *adaptation) byRelaxing(kind string) (best Rule, method string, ok bool) {
	most, left := 0, a.steps()
	for i := range a.Level.Objects {
		o := &a.Level.Objects[i]
		if o.Type != kind || left <= 0 {
			continue
		}
		had := a.page.Eval.Budget
		learned, found := Relax(a.page.Eval, asLearned(o), a.words(kind), left)
		left -= had - a.page.Eval.Budget
		if !found || !learned.Has("body") {
			continue
		}
		if set, _ := a.apply(learned); isSound(set, learned) && countExtracted(set) > most {
			best, most, ok = learned, countExtracted(set), true
		}
	}
	return best, ByRelaxed, ok
}

// baseSteps is the cost of parsing a rule of the base once more, in steps.
const baseSteps = 4096

// byBase tries the rules for the same type of object of other applications, those of the category first.
func (a *adaptation) byBase(kind string) (best Rule, method string, ok bool) {
	most, left := 0, a.steps()
	for _, same := range []bool{true, false} {
		for _, app := range a.base.Applications {
			if (app.Category == a.Profile.Application.Category) != same || app == a.Profile.Application {
				continue
			}
			for _, l := range a.base.Profile(app, "", "").Levels {
				for i := range l.Objects {
					o := &l.Objects[i]
					if left <= 0 {
						return best, ByBase, ok
					}
					if !l.Terminal || o.Type != kind || len(o.Each.Needs()) == 0 || !o.Needs.Held(a.page.Found) {
						continue
					}
					learned, had := asLearned(o), a.page.Eval.Budget
					set, _ := a.apply(learned)
					left -= baseSteps + had - a.page.Eval.Budget
					if isSound(set, learned) && countExtracted(set) > most {
						best, most, ok = learned, countExtracted(set), true
					}
				}
			}
		}
		if ok {
			return best, ByBase, true
		}
	}
	return best, "", false
}
