package aah

import (
	"regexp"
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
	var kinds []string
	for _, p := range prints {
		byType[p.Type] = append(byType[p.Type], p)
	}
	for kind, same := range byType {
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
		a.inherit(&learned)
		set, _ := a.extract(learned)
		same := byType[learned.Type]
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
// shipped rules find nothing of the type that is worth the name, and one that was made of known content where it
// finds the same texts as they do and leaves out more that does not belong to them.
func (a *adaptation) unseen() {
	kinds := map[string]bool{}
	if main := a.mainType(); main != "" {
		kinds[main] = true
	}
	for i := range a.rules {
		kinds[a.rules[i].Type] = true
	}
	for kind := range kinds {
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
			a.note(func(s *adapt.Site) bool { return s.Note(r, well, a.doc.URL, time.Now()) })
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
		a.note(func(s *adapt.Site) bool {
			s.Add(adapt.Rule{Application: a.app, Level: a.level.Name, Learned: learned, Method: method, Instead: a.shippedRule(kind)}, a.doc.URL, time.Now())
			return true
		})
		if found = true; method != adapt.ByParts { // of two ways that are as sure, other pages decide
			break
		}
	}
	return found
}

// byShape goes by what the form of the page tells.
func (a *adaptation) byShape(kind string) (learned adapt.Learned, method string, ok bool) {
	learned, ok = adapt.Shape(a.eval, kind, a.limits.Adapt)
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
	learned, ok = adapt.Parts(a.eval, kind, failing, a.limits.Adapt)
	return learned, adapt.ByParts, ok
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
		if set, _ := a.extract(learned); set.sound(learned) && set.worth() > most {
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
					if set, _ := a.extract(learned); set.sound(learned) && set.worth() > most {
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
