package adapt

import (
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/extract"
)

// byContent looks for what the page held before: the shipped rules work, type by type, if they find it again.
func (a *adaptation) byContent(before *Prints) {
	prints := before.Objects
	byType := map[string][]Print{}
	var lost []Print
	var all, kinds []string // types in the order of the page: which is tried first must not be chance
	for _, p := range prints {
		if byType[p.Type] == nil {
			all = append(all, p.Type)
		}
		byType[p.Type] = append(byType[p.Type], p)
	}
	for _, kind := range all {
		same := byType[kind]
		if before.Base != a.base.ID && a.findsTexts(kind) { // another base extracted something else: it may be the better one
			continue
		}
		if have := a.agreement(a.Located, same); have < Support && !a.bySiteRules(kind, same, have, false) {
			lost, kinds = append(lost, same...), append(kinds, kind)
		}
	}
	if len(lost) == 0 {
		return
	}
	if a.mayTry() {
		learned, stands := a.learn(lost, byType)
		if learned || stands { // edited content is no evidence
			a.countAttempt(learned)
			a.Failed = !learned
		}
	}
	for _, kind := range kinds {
		same := byType[kind]
		if have := a.agreement(a.Located, same); have < Support && a.bySiteRules(kind, same, have, true) {
			a.Failed = false
		}
	}
	if a.unadapted != nil && a.agreement(a.Located, prints) == 0 { // nothing of the earlier page is there: it is another page now
		a.Set = a.unadapted.Set
		a.SetLevel(a.unadapted.Level, a.unadapted.LevelRule)
	}
}

// bySiteRules tries the rules that were learned before. A rule that was not made of known content must find nearly all that was
// known, unless it is the last resort (last).
func (a *adaptation) bySiteRules(kind string, same []Print, have float64, last bool) bool {
	for i := range a.rules {
		r := &a.rules[i]
		if r.Type != kind {
			continue
		}
		set, _ := a.apply(r.Rule)
		if r.Method != ByContent && !last && a.knownShare(set.Located, same) < Support {
			continue // one that is made of what is known here may do better
		}
		if got := a.agreement(set.Located, same); got >= Support && got > have {
			a.replace(kind, set)
			a.updateSite(func(s *Site) bool { return s.Note(r, true, a.page.Doc.URL, a.Now()) })
			return true
		}
	}
	return false
}

// learn makes new rules for what was lost; stands reports that what was lost is in the page.
func (a *adaptation) learn(lost []Print, byType map[string][]Print) (success, stands bool) {
	rules, stands := Learn(a.page.Eval, lost, a.steps())
	for _, learned := range rules {
		a.addShippedConditions(&learned)
		set := a.keepFittingMatches(&learned)
		set = a.addFittingMatch(&learned, set)
		same := byType[learned.Type]
		if got := a.agreement(set.Located, same); got < Support || got <= a.agreement(a.Located, same) {
			continue
		}
		a.replace(learned.Type, set)
		success = true
		a.storeRule(learned, ByContent)
	}
	return success, stands
}

// keepFittingMatches takes from a rule the patterns for its text that the texts of this page do not have the form of, and returns what
// it extracts then.
func (a *adaptation) keepFittingMatches(l *Rule) extract.Set {
	set, _ := a.apply(*l)
	for i := range l.Properties {
		p := l.Properties[i]
		if p.Match == "" || p.Name != "body" {
			continue
		}
		without := *l
		without.Properties = slices.Clone(l.Properties)
		without.Properties[i].Match = ""
		if plain, _ := a.apply(without); float64(countBodies(set)) < Support*float64(countBodies(plain)) {
			*l, set = without, plain
		}
	}
	return set
}

// addFittingMatch gives a rule the pattern of a shipped rule for its text, if name or date stand in the text and the pattern finds one in
// all objects. Prints are of elements, also where only a part of one was the text.
func (a *adaptation) addFittingMatch(l *Rule, set extract.Set) extract.Set {
	if !slices.ContainsFunc(set.Located, a.holdsSign) {
		return set
	}
	for i := range l.Properties {
		if p := l.Properties[i]; p.Match != "" || p.Name != "body" {
			continue
		}
		for _, match := range a.shippedMatches(l.Type) {
			with := *l
			with.Properties = slices.Clone(l.Properties)
			with.Properties[i].Match = match
			if cut, valid := a.apply(with); valid && a.cutsSigned(cut, set) {
				*l, set = with, cut
				break
			}
		}
	}
	return set
}

// shippedMatches are the patterns of the shipped rules for the text of a type.
func (a *adaptation) shippedMatches(kind string) (list []string) {
	for i := range a.Level.Objects {
		o := &a.Level.Objects[i]
		for k := range o.Properties {
			if q := &o.Properties[k]; o.Type == kind && q.Name == "body" && q.Match != nil && !slices.Contains(list, q.Match.String()) {
				list = append(list, q.Match.String())
			}
		}
	}
	return list
}

// cutsSigned reports whether a pattern leaves, of texts in which name or date stand, a part, of some of them at least, and the others as
// they are.
func (a *adaptation) cutsSigned(cut, set extract.Set) (some bool) {
	if len(cut.Objects) != len(set.Objects) {
		return false
	}
	for i := range set.Objects {
		now, was := cut.Objects[i].Properties.Get("body"), set.Objects[i].Properties.Get("body")
		if now == was {
			continue
		}
		if now == "" || !strings.Contains(was, now) || !a.holdsSign(set.Located[i]) {
			return false
		}
		some = true
	}
	return some
}

// countBodies counts the objects with a text.
func countBodies(s extract.Set) (n int) {
	for _, o := range s.Objects {
		if o.Properties.Get("body") != "" {
			n++
		}
	}
	return n
}
