package aah

import (
	"slices"

	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// MaxAttempts bounds how often it is tried to learn something of one site without success.
const MaxAttempts = 100

// asked are the properties whose values have a type.
var asked = map[string]string{
	"published": "dateTime", "modified": "dateTime", "start": "dateTime", "permalink": "url", "image": "url", "media": "url", "reply-to": "url",
	"container": "url", "score": "number", "replies": "number", "views": "number", "number": "number", "price": "number",
}

// As is the type of a property's value in learned rules: "dateTime", "url", "number" or "".
func As(property string) string { return asked[property] }

// adapt mends what the shipped rules do no longer on this site: what was lifted from the page before, or must
// be there by its level, is sought with what was learned of the site, and learned anew if that fails too.
func (v *view) adapt(before *adapt.Prints) {
	if v.learned == nil {
		return
	}
	v.recall(before)
	if v.profile == nil {
		return
	}
	app := v.profile.Application.Name
	rules := v.learned.Rules(v.host, app)
	if v.level == nil {
		v.levelByLearned(rules)
	}
	v.sameLevel(before)
	if v.level == nil || !v.level.Terminal {
		return
	}
	a := adaptation{view: v, app: app}
	for _, r := range rules {
		if r.Level == v.level.Name {
			a.rules = append(a.rules, r)
		}
	}
	if before != nil && len(before.Objects) > 0 && before.Application == app && before.Level == v.level.Name {
		a.byContent(before)
		return
	}
	a.unseen()
}

// recall takes application and level of before, where the page does not tell them any more.
func (v *view) recall(before *adapt.Prints) {
	if before == nil {
		return
	}
	if v.profile == nil {
		app := v.base.Application(before.Application)
		if app == nil {
			return
		}
		v.profile = v.base.Profile(app, before.Version, v.host)
		v.doc.Application, v.doc.Version, v.doc.Rule, v.doc.Confidence = app.Name, before.Version, "before", memorable
	}
	if v.level == nil && before.Application == v.profile.Application.Name {
		if l := v.profile.Level(before.Level); l != nil {
			v.setLevel(l, "before")
			v.lift(l)
		}
	}
}

// tried is what a page was found to be by itself, if it is taken for what it was before.
type tried struct {
	level   *kb.Level
	rule    string
	objects []crawl.Object
	lifted  []adapt.Lifted
}

// sameLevel takes a page for what it was before, if it seems to be of another level and what it held before is not
// lifted any more.
func (v *view) sameLevel(before *adapt.Prints) {
	if before == nil || v.level == nil || before.Application != v.profile.Application.Name || before.Level == v.level.Name {
		return
	}
	was := v.profile.Level(before.Level)
	if was == nil || v.agreement(v.lifted, before.Objects) >= adapt.Support {
		return
	}
	v.before = &tried{v.level, v.doc.LevelRule, v.doc.Objects, v.lifted}
	v.doc.Objects, v.lifted = nil, nil
	v.lift(was)
	if len(v.doc.Objects) == 0 { // what the other level found is better than nothing
		v.doc.Objects, v.lifted = v.before.objects, v.before.lifted
	}
	v.setLevel(was, "before")
}

func (v *view) setLevel(l *kb.Level, rule string) {
	v.level, v.doc.Level, v.doc.LevelRule, v.doc.Terminal = l, l.Name, rule, l.Terminal
}

// levelByLearned tells the level by the things that rules in force find.
func (v *view) levelByLearned(rules []adapt.Rule) {
	for i := range rules {
		r := &rules[i]
		l := v.profile.Level(r.Level)
		if l == nil || !r.InForce() || !r.Telling() {
			continue
		}
		x, err := xpath.Parse(r.Each)
		if err != nil {
			continue
		}
		if len(v.selected(x, nil, v.eval.Tree.Root(), 1)) > 0 {
			v.setLevel(l, "learned")
			v.lift(l)
			return
		}
	}
}

// adaptation is the work on one page.
type adaptation struct {
	*view
	app   string
	rules []adapt.Rule // of the page's level
}

// byContent looks for what the page held before: the shipped rules work, type by type, if they find it again.
func (a *adaptation) byContent(before *adapt.Prints) {
	prints := before.Objects
	byType := map[string][]adapt.Print{}
	var lost []adapt.Print
	var all, kinds []string // types in the order of the page: which is tried first must not be chance
	for _, p := range prints {
		if byType[p.Type] == nil {
			all = append(all, p.Type)
		}
		byType[p.Type] = append(byType[p.Type], p)
	}
	for _, kind := range all {
		same := byType[kind]
		if before.Base != a.base.ID && a.real(kind) { // another base lifted something else: it may be the better one
			continue
		}
		if have := a.agreement(a.lifted, same); have < adapt.Support && !a.byKnown(kind, same, have, false) {
			lost, kinds = append(lost, same...), append(kinds, kind)
		}
	}
	if len(lost) == 0 {
		return
	}
	if a.mayTry() {
		learned, stands := a.learn(lost, byType)
		if learned || stands { // content that was edited proves nothing
			a.tried(learned)
			a.failed = !learned
		}
	}
	for _, kind := range kinds {
		same := byType[kind]
		if have := a.agreement(a.lifted, same); have < adapt.Support && a.byKnown(kind, same, have, true) {
			a.failed = false
		}
	}
	if a.before != nil && a.agreement(a.lifted, prints) == 0 { // nothing of before is there: it is another page now
		a.doc.Objects, a.lifted = a.before.objects, a.before.lifted
		a.setLevel(a.before.level, a.before.rule)
	}
}

// byKnown tries the rules that were learned before. Of those that were not made of known content only such as find
// nearly all that was known, but as a last resort.
func (a *adaptation) byKnown(kind string, same []adapt.Print, have float64, last bool) bool {
	for i := range a.rules {
		r := &a.rules[i]
		if r.Type != kind {
			continue
		}
		set, _ := a.extract(r.Learned)
		if r.Method != adapt.ByContent && !last && a.known(set.lifted, same) < adapt.Support {
			continue // one that is made of what is known here may do better
		}
		if got := a.agreement(set.lifted, same); got >= adapt.Support && got > have {
			a.replace(kind, set)
			a.note(func(s *adapt.Site) bool { return s.Note(r, true, a.doc.URL, a.now()) })
			return true
		}
	}
	return false
}

// learn makes new rules for what was lost; stands tells that what was lost is in the page.
func (a *adaptation) learn(lost []adapt.Print, byType map[string][]adapt.Print) (success, stands bool) {
	rules, stands := adapt.Learn(a.eval, lost, a.limits.AdaptSteps)
	for _, learned := range rules {
		a.inherit(&learned)
		set, _ := a.extract(learned)
		same := byType[learned.Type]
		if got := a.agreement(set.lifted, same); got < adapt.Support || got <= a.agreement(a.lifted, same) {
			continue
		}
		a.replace(learned.Type, set)
		success = true
		a.keep(learned, adapt.ByContent)
	}
	return success, stands
}

// mainType is the type of object that the level is for: that of its first rule with a body.
func (a *adaptation) mainType() string {
	for i := range a.level.Objects {
		if o := &a.level.Objects[i]; o.Has("body") {
			return o.Type
		}
	}
	return ""
}

// repeated are the types of which a page holds several, as a rule: one that is the whole page is a last resort.
var repeated = map[string]bool{"post": true, "comment": true, "answer": true, "review": true}

// real tells whether the shipped rules lifted a text of the type that is not just the whole page; of types without a
// text whether they lifted anything.
func (a *adaptation) real(kind string) bool {
	if !slices.ContainsFunc(a.level.Objects, func(o kb.Object) bool { return o.Type == kind && o.Has("body") }) {
		return slices.ContainsFunc(a.lifted, func(l adapt.Lifted) bool { return l.Type == kind })
	}
	for _, l := range a.lifted {
		if l.Type != kind || repeated[kind] && a.whole(l.At) {
			continue
		}
		for _, p := range l.Parts {
			if p.Name == "body" && !a.whole(p.At) {
				return true
			}
		}
	}
	return false
}

// whole tells of the elements that are the page.
func (a *adaptation) whole(r xpath.Ref) bool {
	n := a.eval.Tree.Node(r)
	return n.DataAtom == atom.Body || n.DataAtom == atom.Html
}

func (a *adaptation) shippedRule(kind string) string {
	for i := range a.level.Objects {
		if a.level.Objects[i].Type == kind {
			return a.level.Objects[i].Rule
		}
	}
	return ""
}

// agreement is the share of the objects of before whose longest text was lifted again, without what did not belong
// to it.
func (v *view) agreement(lifted []adapt.Lifted, prints []adapt.Print) float64 {
	if len(prints) == 0 {
		return 1
	}
	now := map[uint64][]adapt.Property{}
	for _, p := range adapt.PrintsOf(v.eval.Tree, lifted) {
		for _, q := range p.Properties {
			now[q.Hash] = append(now[q.Hash], q)
		}
	}
	same := 0
	for i := range prints {
		at := prints[i].Longest()
		if at < 0 {
			continue
		}
		before := &prints[i].Properties[at]
		if slices.ContainsFunc(now[before.Hash], func(q adapt.Property) bool { return leftOut(before.Out, q.Out) }) {
			same++
		}
	}
	return float64(same) / float64(len(prints))
}

// known is the share of the properties of before that were lifted again.
func (v *view) known(lifted []adapt.Lifted, prints []adapt.Print) float64 {
	now, n, of := map[uint64]bool{}, 0, 0
	for _, p := range adapt.PrintsOf(v.eval.Tree, lifted) {
		for _, q := range p.Properties {
			now[q.Hash] = true
		}
	}
	for _, p := range prints {
		for _, q := range p.Properties {
			if of++; now[q.Hash] {
				n++
			}
		}
	}
	return float64(n) / float64(max(of, 1))
}

// leftOut tells whether most of what was left out before is left out now.
func leftOut(before, now []uint64) bool {
	n := 0
	for _, hash := range before {
		if slices.Contains(now, hash) {
			n++
		}
	}
	return float64(n) >= adapt.Support*float64(len(before))
}

// keep takes a rule that was made on this page.
func (a *adaptation) keep(l adapt.Learned, method string) {
	a.note(func(s *adapt.Site) bool {
		s.Add(adapt.Rule{Application: a.app, Level: a.level.Name, Learned: l, Method: method, Instead: a.shippedRule(l.Type)}, a.doc.URL, a.now())
		return true
	})
}

func (a *adaptation) note(fn func(*adapt.Site) bool) {
	if err := a.learned.With(a.host, fn); err != nil {
		a.trouble = err
	}
}

// mayTry tells whether learning was not tried in vain too often.
func (a *adaptation) mayTry() (may bool) {
	a.note(func(s *adapt.Site) bool {
		may = s.Attempts < MaxAttempts
		return false
	})
	return may
}

func (a *adaptation) tried(success bool) {
	a.note(func(s *adapt.Site) bool {
		if success {
			s.Attempts = 0
		} else {
			s.Attempts++
		}
		return s.Attempts%10 == 0
	})
}

// prints are what is remembered of a terminal page, for the next time.
func (v *view) prints() []byte {
	if v.level == nil || !v.level.Terminal || len(v.lifted) == 0 || v.profile == nil || v.failed {
		return nil
	}
	p := adapt.Prints{Application: v.profile.Application.Name, Version: v.doc.Version, Level: v.level.Name, Objects: adapt.PrintsOf(v.eval.Tree, v.lifted), Base: v.base.ID}
	if len(p.Objects) == 0 {
		return nil
	}
	return p.Encode()
}
