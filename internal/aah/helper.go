// Package aah is the application-aware helper (paper §4.1): it recognises the web application and
// the level of a page, lifts its web objects and judges its links, by the rules of a knowledge base.
package aah

import (
	"sync/atomic"
	"time"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
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
	hosts  *memory
	folder *folder // nil: the base stays as it is
	// Learned keeps what is learned where templates change; nil: nothing is.
	Learned *adapt.Store
	// Now is the date of what is learned. Nothing else depends on it.
	Now func() time.Time
	// Trouble is told why something learned could not be kept; nil: nobody is.
	Trouble func(error)
}

// New makes a helper of a checked base.
func New(base *kb.Base, limits Limits) *Helper {
	h := &Helper{limits: limits, Now: time.Now, hosts: newMemory(limits.Hosts)}
	h.base.Store(base)
	return h
}

// Use puts another base in force, from the next page on.
func (h *Helper) Use(base *kb.Base) { h.base.Store(base) }

// Base returns the base in force.
func (h *Helper) Base() *kb.Base { return h.base.Load() }

// Input is what the helper is told of a page beside its document.
type Input struct {
	Head []byte // header block of the response
	Mode string // what the definition's field "helper" says; empty: crawl.HelperLenient
	// Before is what the page held when it was crawled before, as Page.Prints had it.
	Before []byte
	// Trace is told what becomes of links, and by which rule: dropped ones become "". Nil: nobody is told.
	Trace func(url, becomes, rule string)
}

// Apply recognises the page, fills in its application, level and objects, and judges its links:
// dropped ones are taken out, the others may get a level and a priority.
func (h *Helper) Apply(d *page.Document, in Input) {
	if d.Root == nil {
		return
	}
	u, err := urls.Trusted(d.URL)
	if err != nil {
		return
	}
	v := &view{
		doc: d, host: u.Host(), base: h.base.Load(), limits: h.limits, mode: in.Mode, trace: in.Trace, learned: h.Learned, now: h.Now,
		eval: xpath.NewEval(d.Root, h.limits.Nodes),
	}
	defer v.eval.Free()
	v.words = scratch.Get().(*kb.Seen)
	defer scratch.Put(v.words)
	d.Base = v.base.ID
	v.look(in.Head)
	known, ok := v.recognise(h.hosts.of(v.host))
	if ok {
		d.Application, d.Version, d.Rule, d.Confidence = known.app.Name, known.version, known.rule, known.confidence
		h.hosts.note(v.host, known)
		v.profile = v.base.Profile(known.app, known.version, v.host)
		v.level, d.LevelRule = v.levelOf(v.profile)
		if v.level != nil {
			d.Level, d.Terminal = v.level.Name, v.level.Terminal
			v.lift(v.level)
		}
	}
	v.eval.Within(v.eval.Budget/2, func() { // the rules for links must have something left
		v.adapt(adapt.DecodePrints(in.Before))
	})
	if !ok || known.rule == "host" && len(v.lifted) == 0 && v.urlOnly {
		h.hosts.miss(v.host)
	}
	v.generic()
	d.Prints = v.prints()
	v.complete()
	if v.content(); d.Content == nil {
		v.segment()
	}
	v.locate()
	v.judge()
	if v.trouble != nil && h.Trouble != nil {
		h.Trouble(v.trouble)
	}
}

// view is a page under the rules.
type view struct {
	doc     *page.Document
	host    string
	base    *kb.Base
	limits  Limits
	mode    string
	eval    *xpath.Eval
	links   kb.Seen // words of one link, for short use
	head    []byte  // of the response, in lower case
	words   *kb.Seen
	found   kb.Found // words of the rules that stand in the page
	profile *kb.Profile
	level   *kb.Level
	lifted  []adapt.Lifted
	learned *adapt.Store
	now     func() time.Time
	before  *tried // what it was found to be, if it is taken for what it was when it was crawled before
	trouble error  // with what is learned
	failed  bool   // what the page held before stands there, but is not lifted any more: its prints are kept
	trace   func(url, becomes, rule string)
	urlOnly bool // the level was told by the URL alone
}

// generic asks the lowest layer, where no application is known or its rules found nothing on a page of worth.
func (v *view) generic() {
	app := v.base.Generic()
	if app == nil || len(v.doc.Objects) > 0 || v.profile != nil && v.level != nil && !v.level.Terminal {
		return
	}
	profile := v.base.Profile(app, "", v.host)
	level, rule := v.levelOf(profile)
	if v.profile == nil {
		if level == nil {
			return
		}
		v.profile, v.level = profile, level
		v.doc.Application, v.doc.Rule, v.doc.Confidence = app.Name, app.File, genericConfidence
		v.doc.Level, v.doc.LevelRule, v.doc.Terminal = level.Name, rule, level.Terminal
	}
	if level != nil {
		v.lift(level)
	}
}

// complete adds what the page says of itself in JSON-LD: all of it where no rule found anything, else what the
// only object of a type lacks.
func (v *view) complete() {
	if v.profile != nil && v.level != nil && !v.level.Terminal {
		return
	}
	if len(v.doc.Objects) > 0 && !v.incomplete() {
		return
	}
	found := v.structured()
	if len(v.doc.Objects) == 0 {
		v.doc.Objects = found
		if len(found) > 0 && v.profile == nil {
			v.doc.Level, v.doc.LevelRule, v.doc.Terminal = levelFor[found[0].Type], found[0].Rule, true
		}
		return
	}
	count, theirs := map[string]int{}, map[string]crawl.Object{}
	for _, o := range v.doc.Objects {
		count[o.Type]++
	}
	for _, o := range found {
		if _, twice := theirs[o.Type]; !twice {
			theirs[o.Type] = o
		}
	}
	for i := range v.doc.Objects {
		o := &v.doc.Objects[i]
		other, ok := theirs[o.Type]
		if !ok || count[o.Type] != 1 {
			continue
		}
		lacking := o.Properties
		for _, p := range other.Properties {
			if p.Name != "body" && lacking.Get(p.Name) == "" {
				o.Properties = append(o.Properties, p)
			}
		}
	}
}

// incomplete tells whether the first object lacks what most have.
func (v *view) incomplete() bool {
	p := v.doc.Objects[0].Properties
	return p.Get("title") == "" || p.Get("author") == "" || p.Get("published") == ""
}

// levelFor is the level of a page that only its own data tell of.
var levelFor = map[string]string{
	"article": "article", "post": "thread", "comment": "article", "question": "question", "answer": "question", "product": "product",
	"video": "media", "image": "media", "repository": "repository", "event": "page",
}

// genericConfidence is that of what a page says of itself.
const genericConfidence = 0.5

// selected evaluates an expression of which the words may stand in the page; one that costs too much selects
// nothing.
func (v *view) selected(x *xpath.Expr, needs kb.Needs, at xpath.Ref, limit int) []xpath.Ref {
	if !needs.Held(v.found) {
		return nil
	}
	refs, err := v.eval.Select(x, at, limit)
	if err != nil {
		return nil
	}
	return refs
}

func attr(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

// Modes of the helper, as definitions name them.
const (
	strict = crawl.HelperStrict
	off    = crawl.HelperOff
)
