package adapt

import (
	"time"

	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/recognise"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// MaxAttempts bounds how often it is tried to learn something of one site without success.
const MaxAttempts = 100

// The rules by which a page's application and level are known here.
const (
	ByFormer = "before"  // what the page was when it was crawled before
	BySite   = "learned" // objects that a rule in force of the site finds
)

// Adapter adapts extraction to the templates of sites.
type Adapter struct {
	Store *Store
	Now   func() time.Time // the date of what is learned; nothing else depends on it
	Steps int              // of each way of learning, see DefaultSteps
}

// State is what recognition and extraction made of a page. Adaptation changes it.
type State struct {
	recognise.Result
	extract.Set
	// Failed reports that what the page held before stands there, but is not extracted any more: its prints are kept.
	Failed bool
}

// adaptation is the work on one page.
type adaptation struct {
	*Adapter
	*State
	page      *extract.Page
	base      *kb.Base
	host      string
	app       string
	rules     []SiteRule // of the page's level
	unadapted *State     // what the page is by itself, if it is taken for what it was before
	err       error      // of the store
}

// Adapt replaces what the shipped rules no longer extract on a site. Objects that the page held before, or must hold by its level,
// are looked for with the rules that were learned of the site; new rules are learned if that fails too. before is what the page
// held when it was crawled before; nil: it is not known. An error comes from the store; the page is adapted nevertheless.
func (a *Adapter) Adapt(base *kb.Base, host string, page *extract.Page, before *Prints, state *State) error {
	w := &adaptation{Adapter: a, State: state, page: page, base: base, host: host}
	w.run(before)
	return w.err
}

// steps are what one way of learning may take: not all that is left of the page, because the rule must be applied then.
func (a *adaptation) steps() int { return min(a.Steps, a.page.Eval.Budget/4*3) }

func (a *adaptation) run(before *Prints) {
	a.useFormer(before)
	if a.Profile == nil {
		return
	}
	a.app = a.Application()
	rules := a.Store.Rules(a.host, a.app)
	if a.Level == nil {
		a.levelBySite(rules)
	}
	a.useFormerLevel(before)
	if a.Level == nil || !a.Level.Terminal {
		return
	}
	for _, r := range rules {
		if r.Level == a.Level.Name {
			a.rules = append(a.rules, r)
		}
	}
	if before != nil && len(before.Objects) > 0 && before.Application == a.app && before.Level == a.Level.Name {
		a.byContent(before)
		return
	}
	a.byRules()
}

// useFormer takes application and level of the earlier crawl, where the page does not show them any more.
func (a *adaptation) useFormer(before *Prints) {
	if before == nil {
		return
	}
	if a.Profile == nil {
		app := a.base.Application(before.Application)
		if app == nil {
			return
		}
		a.Result = recognise.Result{
			Profile: a.base.Profile(app, before.Version, a.host), Version: before.Version, Rule: ByFormer, Confidence: recognise.MaxByHistory,
		}
	}
	if a.Level == nil && before.Application == a.Application() {
		if l := a.Profile.Level(before.Level); l != nil {
			a.SetLevel(l, ByFormer)
			a.extractLevel()
		}
	}
}

func (a *adaptation) extractLevel() { a.page.Level(a.Level, a.Confidence, &a.Set) }

// useFormerLevel takes a page for what it was before, if it seems to be of another level and what it held before is not
// extracted any more.
func (a *adaptation) useFormerLevel(before *Prints) {
	if before == nil || a.Level == nil || before.Application != a.Application() || before.Level == a.Level.Name {
		return
	}
	former := a.Profile.Level(before.Level)
	if former == nil || a.agreement(a.Located, before.Objects) >= Support {
		return
	}
	own := *a.State
	a.unadapted, a.Set = &own, extract.Set{}
	a.SetLevel(former, ByFormer)
	a.extractLevel()
	if len(a.Objects) == 0 { // what the other level found is better than nothing
		a.Set = own.Set
	}
}

// levelBySite finds the level by the objects that rules in force find.
func (a *adaptation) levelBySite(rules []SiteRule) {
	for i := range rules {
		r := &rules[i]
		l := a.Profile.Level(r.Level)
		if l == nil || !r.InForce() || !r.DistinguishesLevel() {
			continue
		}
		x, err := xpath.Parse(r.Each)
		if err != nil {
			continue
		}
		if len(a.page.Select(x, nil, a.page.Eval.Tree.Root(), 1)) > 0 {
			a.SetLevel(l, BySite)
			a.extractLevel()
			return
		}
	}
}

// Encode writes what is remembered of a terminal page for the next time; nil if there is nothing. base is the ID of the base.
func (s *State) Encode(tree *xpath.Tree, base string) []byte {
	if s.Level == nil || !s.Level.Terminal || len(s.Located) == 0 || s.Profile == nil || s.Failed {
		return nil
	}
	p := Prints{Application: s.Application(), Version: s.Version, Level: s.Level.Name, Objects: PrintsOf(tree, s.Located), Base: base}
	if len(p.Objects) == 0 {
		return nil
	}
	return p.Encode()
}
