// Package aah is the application-aware helper (paper §4.1): by the rules of a knowledge base it recognises the web application
// and the level of a page (package recognise), extracts its web objects (extract), adapts extraction to changed templates
// (adapt), and judges the links of the page.
package aah

import (
	"sync/atomic"
	"time"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/recognise"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// Limits bound what the helper does for one page.
type Limits struct {
	Objects       int `json:"objects_per_page"`
	PropertyBytes int `json:"property_bytes"` // of one property's value
	Nodes         int `json:"helper_nodes"`   // that the rules may look at; the rules that come later select nothing
	Hosts         int `json:"helper_hosts"`   // of which it is remembered what they run
	// AdaptSteps bounds each way of learning from one page, in nodes looked at. What is left of Nodes bounds all ways together.
	AdaptSteps int `json:"adapt_steps"`
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits {
	return Limits{Objects: 500, PropertyBytes: 64 << 10, Nodes: xpath.DefaultBudget, Hosts: 100_000, AdaptSteps: adapt.DefaultSteps}
}

// Helper applies a knowledge base. It is safe for concurrent use.
type Helper struct {
	base   atomic.Pointer[kb.Base]
	limits Limits
	hosts  *recognise.Hosts
	folder *folder // nil: the base stays as it is
	// Adaptations keeps what is learned where templates change; nil: nothing is.
	Adaptations *adapt.Store
	// Now is the date of what is learned. Nothing else depends on it.
	Now func() time.Time
	// OnError is called with the reason why something learned could not be kept; nil: nobody is.
	OnError func(error)
}

// New makes a helper of a checked base.
func New(base *kb.Base, limits Limits) *Helper {
	h := &Helper{limits: limits, Now: time.Now, hosts: recognise.NewHosts(limits.Hosts)}
	h.base.Store(base)
	return h
}

// SetBase replaces the base, from the next page on.
func (h *Helper) SetBase(base *kb.Base) { h.base.Store(base) }

// Base returns the base in force.
func (h *Helper) Base() *kb.Base { return h.base.Load() }

// Input is what the helper gets of a page beside its document.
type Input struct {
	Head []byte // header block of the response
	Mode string // what the definition's field "helper" says; empty: crawl.HelperLenient
	// Before is what the page held when it was crawled before, as Findings.Prints had it.
	Before []byte
	// Trace is called with the new URL of a link and the rule that changed it; "" for a dropped link. Nil: it is not called.
	Trace func(url, becomes, rule string)
}

// Apply recognises the page and its level, extracts its objects, and judges its links in place:
// dropped ones are taken out, the others may get a level and a priority.
func (h *Helper) Apply(d *page.Document, in Input) (found crawl.Findings) {
	if d.Root == nil {
		return found
	}
	u, err := urls.Trusted(d.URL)
	if err != nil {
		return found
	}
	base, host := h.base.Load(), u.Host()
	eval := xpath.NewEval(d.Root, h.limits.Nodes)
	defer eval.Free()
	marks := recognise.Read(base, d, host, in.Head, eval)
	defer marks.Free()
	objects := &extract.Page{Evaluator: marks.Evaluator, Doc: d, Limits: extract.Limits{Objects: h.limits.Objects, PropertyBytes: h.limits.PropertyBytes}}

	state := &adapt.State{}
	result, ok := marks.Recognise(h.hosts.Of(host))
	if ok {
		state.Result = result
		h.hosts.Note(host, result)
		if state.Level != nil {
			objects.Level(state.Level, state.Confidence, &state.Set)
		}
	}
	if h.Adaptations != nil {
		h.adapt(base, host, objects, in.Before, state)
	}
	if !ok || result.Rule == recognise.ByHost && len(state.Located) == 0 && result.ByURL {
		h.hosts.Miss(host)
	}
	h.generic(base, marks, objects, state)
	found = describe(state)
	found.Base, found.Prints = base.ID, state.Encode(eval.Tree, base.ID)
	prose := withoutRules(objects, state, &found)
	if state.Level == nil || state.Level.Terminal {
		objects.Describe(state.Objects, state.Located, state.Confidence)
	}
	objects.Locate(&state.Set)
	found.Objects = state.Objects

	if in.Mode != crawl.HelperOff && state.Profile != nil {
		l := links{
			Evaluator: marks.Evaluator, doc: d, content: prose, host: host, base: base, profile: state.Profile, level: state.Level, mode: in.Mode, trace: in.Trace,
		}
		l.apply()
	}
	return found
}

// adapt corrects what was extracted by what was learned of the site.
func (h *Helper) adapt(base *kb.Base, host string, objects *extract.Page, before []byte, state *adapt.State) {
	adapter := adapt.Adapter{Store: h.Adaptations, Now: h.Now, Steps: h.limits.AdaptSteps}
	objects.Eval.Within(objects.Eval.Budget/2, func() { // the rules for links must have something left
		if err := adapter.Adapt(base, host, objects, adapt.DecodePrints(before), state); err != nil && h.OnError != nil {
			h.OnError(err)
		}
	})
}

// generic applies the generic layer, where no application is known or its rules found nothing on a page that has content.
func (h *Helper) generic(base *kb.Base, marks *recognise.Page, objects *extract.Page, state *adapt.State) {
	app := base.Generic()
	if app == nil || len(state.Objects) > 0 || state.Profile != nil && state.Level != nil && !state.Level.Terminal {
		return
	}
	generic := marks.Generic(app)
	if generic.Level == nil {
		return
	}
	if state.Profile == nil {
		generic.Rule, generic.Confidence = app.File, extract.GenericConfidence
		state.Result = generic
	}
	objects.Level(generic.Level, state.Confidence, &state.Set)
	if state.Level != generic.Level && holdsMany(state.Level) {
		keepMany(&state.Set)
	}
}

// describe says what the page was found to be.
func describe(state *adapt.State) crawl.Findings {
	found := crawl.Findings{Application: state.Application(), Version: state.Version, Rule: state.Rule, Confidence: state.Confidence}
	if l := state.Level; l != nil {
		found.Level, found.LevelRule, found.Terminal = l.Name, state.LevelRule, l.Terminal
	}
	return found
}

// withoutRules adds the objects that the page's own data and the form of its text give, and marks the page's content. It returns those
// marks as links are judged by: of lists none, for there each link would be in the content.
func withoutRules(objects *extract.Page, state *adapt.State, found *crawl.Findings) (prose []bool) {
	terminal := state.Level == nil || state.Level.Terminal
	if state.Profile == nil || terminal {
		had := len(state.Objects)
		state.Objects = objects.Complete(state.Objects, state.Confidence)
		if had == 0 && len(state.Objects) > 0 && state.Profile == nil {
			first := mainOf(state.Objects)
			found.Level, found.LevelRule, found.Terminal = levelOfType[first.Type], first.Rule, true
		}
	}
	if !objects.Rows(&state.Set) && terminal && ofNoApplication(state) && objects.Thread(&state.Set) {
		found.Level, found.LevelRule, found.Terminal = levelOfType["post"], extract.BySegments, true
	}
	if terminal && len(objects.Doc.Blocks) > 0 && (len(state.Objects) > 0 || !holdsMany(state.Level)) {
		made := objects.Supply(state.Level != nil, &state.Set)
		if made && state.Level == nil && state.Profile == nil {
			found.Level, found.LevelRule, found.Terminal = "article", extract.BySegments, true
		}
	}
	found.Content = objects.MarkContent(state.Located)
	prose = found.Content
	if state.Level != nil && !terminal && !wordless[state.Level.Name] {
		found.Content = objects.Listed(state.Located, found.Content)
	}
	if prose == nil && len(objects.Doc.Blocks) > 0 && (terminal || !wordless[state.Level.Name]) {
		if found.Content == nil {
			found.Content = objects.Segments(!terminal || state.Level == nil && len(state.Objects) == 0)
		}
		if terminal || state.Level.Name == "front" {
			prose = objects.Segments(false)
		}
	}
	return prose
}

// ofNoApplication reports whether no application is known whose rules might know the page.
func ofNoApplication(state *adapt.State) bool {
	return state.Profile == nil || state.Profile.Application.Category == "generic"
}

// wordless are the levels whose pages are not for their text: all of it counts.
var wordless = map[string]bool{"login": true, "edit": true, "reply": true, "search": true, "error": true, "message": true}

// mainOf is the object that a page is for, as far as its own data say: a page of questions that are often asked may be about a product.
func mainOf(objects []crawl.Object) crawl.Object {
	best := 0
	for i := range objects {
		if rankOfType[objects[i].Type] > rankOfType[objects[best].Type] {
			best = i
		}
	}
	return objects[best]
}

// rankOfType says which of several types a page is for: that of the highest rank.
var rankOfType = map[string]int{
	"article": 10, "product": 9, "video": 8, "repository": 7, "event": 6, "post": 5, "question": 4, "comment": 3, "answer": 2, "image": 1,
}

// levelOfType is the level of a page of which only its own data (schema.org types and the like) are known.
var levelOfType = map[string]string{
	"article": "article", "post": "thread", "comment": "article", "question": "question", "answer": "question", "product": "product",
	"video": "media", "image": "media", "repository": "repository", "event": "page",
}
