package aah

import (
	"slices"
	"time"

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
		a.byContent(before.Objects)
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
func (a *adaptation) byContent(prints []adapt.Print) {
	byType, lost := map[string][]adapt.Print{}, []adapt.Print(nil)
	for _, p := range prints {
		byType[p.Type] = append(byType[p.Type], p)
	}
	for kind, same := range byType {
		if have := a.agreement(a.lifted, same); have < adapt.Support && !a.byKnown(kind, same, have) {
			lost = append(lost, same...)
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
	if a.before != nil && a.agreement(a.lifted, prints) == 0 { // nothing of before is there: it is another page now
		a.doc.Objects, a.lifted = a.before.objects, a.before.lifted
		a.setLevel(a.before.level, a.before.rule)
	}
}

// byKnown tries the rules that were learned before.
func (a *adaptation) byKnown(kind string, same []adapt.Print, have float64) bool {
	for i := range a.rules {
		r := &a.rules[i]
		if r.Type != kind {
			continue
		}
		set := a.extract(r.Learned)
		if got := a.agreement(set.lifted, same); got >= adapt.Support && got > have {
			a.replace(kind, set)
			a.note(func(s *adapt.Site) bool { return s.Note(r, true, a.doc.URL, time.Now()) })
			return true
		}
	}
	return false
}

// learn makes new rules for what was lost; stands tells that what was lost is in the page.
func (a *adaptation) learn(lost []adapt.Print, byType map[string][]adapt.Print) (success, stands bool) {
	rules, stands := adapt.Learn(a.eval, lost, a.limits.Adapt)
	for _, learned := range rules {
		set, same := a.extract(learned), byType[learned.Type]
		if got := a.agreement(set.lifted, same); got < adapt.Support || got <= a.agreement(a.lifted, same) {
			continue
		}
		instead := a.shippedRule(learned.Type)
		a.replace(learned.Type, set)
		success = true
		a.note(func(s *adapt.Site) bool {
			s.Add(adapt.Rule{Application: a.app, Level: a.level.Name, Learned: learned, Method: adapt.ByContent, Instead: instead}, a.doc.URL, time.Now())
			return true
		})
	}
	return success, stands
}

// unseen works on a page of which nothing is known from before, type by type: a rule in force is used where the
// shipped rules find nothing of the type that is worth the name.
func (a *adaptation) unseen() {
	kinds := map[string]bool{}
	if main := a.mainType(); main != "" {
		kinds[main] = true
	}
	for i := range a.rules {
		kinds[a.rules[i].Type] = true
	}
	for kind := range kinds {
		if a.real(kind) {
			continue
		}
		known, done := 0, false
		for i := range a.rules {
			r := &a.rules[i]
			if r.Type != kind {
				continue
			}
			known++
			set := a.extract(r.Learned)
			well := set.sound(r.Learned)
			if well && r.InForce() {
				a.replace(kind, set)
			}
			a.note(func(s *adapt.Site) bool { return s.Note(r, well, a.doc.URL, time.Now()) })
			if done = well; done { // one that is not in force yet may be on the next page
				break
			}
		}
		if !done && known <= maxCandidates && kind == a.mainType() && a.mayTry() {
			a.tried(a.relax())
		}
	}
}

// maxCandidates bounds the rules for one type that are kept before no more are made.
const maxCandidates = 3

// relax makes a candidate for a page on which the shipped rules fail: the failing rule made less strict, a rule of
// another application that fits, or what the form of the page tells.
func (a *adaptation) relax() bool {
	kind := a.mainType()
	if kind == "" {
		return false
	}
	learned, method, ok := a.byRelaxing(kind)
	if !ok {
		learned, method, ok = a.byBase(kind)
	}
	if !ok {
		learned, ok = adapt.Shape(a.eval, kind, a.limits.Adapt)
		method = adapt.ByShape
	}
	if !ok || !learned.Has("body") || !a.extract(learned).sound(learned) {
		return false
	}
	a.note(func(s *adapt.Site) bool {
		s.Add(adapt.Rule{Application: a.app, Level: a.level.Name, Learned: learned, Method: method, Instead: a.shippedRule(kind)}, a.doc.URL, time.Now())
		return true
	})
	return true
}

// byRelaxing tries the failing rules of the level themselves.
func (a *adaptation) byRelaxing(kind string) (best adapt.Learned, method string, ok bool) {
	most := 0
	until := time.Now().Add(a.limits.Adapt)
	for i := range a.level.Objects {
		o := &a.level.Objects[i]
		if o.Type != kind || time.Now().After(until) {
			continue
		}
		learned, found := adapt.Relax(a.eval, asLearned(o), time.Until(until))
		if !found || !learned.Has("body") {
			continue
		}
		if set := a.extract(learned); set.sound(learned) && set.worth() > most {
			best, most, ok = learned, set.worth(), true
		}
	}
	return best, adapt.ByRelaxed, ok
}

// byBase tries the rules for the same type of object of other applications, those of the category first.
func (a *adaptation) byBase(kind string) (best adapt.Learned, method string, ok bool) {
	most, until := 0, time.Now().Add(a.limits.Adapt)
	for _, same := range []bool{true, false} {
		for _, app := range a.base.Applications {
			if (app.Category == a.profile.Application.Category) != same || app == a.profile.Application {
				continue
			}
			for _, l := range a.base.Profile(app, "", "").Levels {
				for i := range l.Objects {
					o := &l.Objects[i]
					if time.Now().After(until) {
						return best, adapt.ByBase, ok
					}
					if !l.Terminal || o.Type != kind || len(o.Each.Needs()) == 0 || !o.Needs.Held(a.found) {
						continue
					}
					learned := asLearned(o)
					if set := a.extract(learned); set.sound(learned) && set.worth() > most {
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
		l.Properties = append(l.Properties, adapt.LearnedPart{Name: o.Properties[i].Name, XPath: o.Properties[i].XPath.String()})
	}
	return l
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

// real tells whether the shipped rules lifted a text of the type that is not just the whole page; of types without a
// text whether they lifted anything.
func (a *adaptation) real(kind string) bool {
	if !slices.ContainsFunc(a.level.Objects, func(o kb.Object) bool { return o.Type == kind && o.Has("body") }) {
		return slices.ContainsFunc(a.lifted, func(l adapt.Lifted) bool { return l.Type == kind })
	}
	for _, l := range a.lifted {
		for _, p := range l.Parts {
			if n := a.eval.Tree.Node(p.At); l.Type == kind && p.Name == "body" && n.DataAtom != atom.Body && n.DataAtom != atom.Html {
				return true
			}
		}
	}
	return false
}

func (a *adaptation) shippedRule(kind string) string {
	for i := range a.level.Objects {
		if a.level.Objects[i].Type == kind {
			return a.level.Objects[i].Rule
		}
	}
	return ""
}

// agreement is the share of the objects of before whose longest text was lifted again.
func (v *view) agreement(lifted []adapt.Lifted, prints []adapt.Print) float64 {
	if len(prints) == 0 {
		return 1
	}
	now := map[uint64]bool{}
	for _, p := range adapt.PrintsOf(v.eval.Tree, lifted) {
		for _, q := range p.Properties {
			now[q.Hash] = true
		}
	}
	same := 0
	for i := range prints {
		if at := prints[i].Longest(); at >= 0 && now[prints[i].Properties[at].Hash] {
			same++
		}
	}
	return float64(same) / float64(len(prints))
}

// extraction is what a learned rule lifts.
type extraction struct {
	objects []crawl.Object
	lifted  []adapt.Lifted
}

func (a *adaptation) extract(l adapt.Learned) (set extraction) {
	each, err := xpath.Parse(l.Each)
	if err != nil {
		return set
	}
	o := kb.Object{Type: l.Type, Each: each, Rule: "learned"}
	for _, p := range l.Properties {
		x, err := xpath.Parse(p.XPath)
		if err != nil {
			return set
		}
		o.Properties = append(o.Properties, kb.Property{Name: p.Name, XPath: x, As: asked[p.Name], Many: p.Name == "tags"})
	}
	for _, at := range a.selected(each, nil, a.eval.Tree.Root(), a.limits.Objects) {
		if object, lifted, ok := a.object(&o, at); ok {
			object.Confidence = min(object.Confidence, learnedConfidence)
			set.objects, set.lifted = append(set.objects, object), append(set.lifted, lifted)
		}
	}
	return set
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
	p := adapt.Prints{Application: v.profile.Application.Name, Version: v.doc.Version, Level: v.level.Name, Objects: adapt.PrintsOf(v.eval.Tree, v.lifted)}
	if len(p.Objects) == 0 {
		return nil
	}
	return p.Encode()
}
